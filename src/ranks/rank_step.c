// The table of steps, and what they share.
#include <stdlib.h>
#include <string.h>

#include "ranks/rank_fold.h"
#include "ranks/rank_step_internal.h"

// Only the ranks of a group would know its root.
static tsr_status check_root(bool dynamic) {
  return dynamic ? tsr_fail(UNSUPPORTED, "a root that is computed") : NULL;
}

static tsr_status prepare_pick(const void *description, void **out_extra) {
  const tsr_lane_pick *pick = description;
  *out_extra = NULL;
  return check_root(pick->dynamic_root);
}

static tsr_status prepare_reduction(const void *description, void **out_extra) {
  const tsr_lane_reduction *reduction = description;
  TSR_TRY(check_root(reduction->dynamic_root));
  return tsr_fold_programs_create(description, (tsr_fold_programs **)out_extra);
}

static void destroy_reduction(void *extra) { tsr_fold_programs_destroy(extra); }

static const tsr_rank_step rows[] = {
    {tsr_lane_exchange_run, tsr_rank_exchange, NULL, NULL},
    {tsr_lane_pick_run, tsr_rank_pick, prepare_pick, NULL},
    {tsr_lane_reduction_run, tsr_rank_reduction, prepare_reduction, destroy_reduction},
};

const tsr_rank_step *tsr_rank_step_of(tsr_kernel_fn *kernel) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].kernel == kernel) return &rows[i];
  return NULL;
}

// ---- members ----

tsr_status tsr_member_map_init(tsr_member_map *map, const tsr_lane_groups *groups) {
  const size_t lanes = (size_t)groups->lanes;
  map->group = malloc((2 * lanes + 1) * sizeof *map->group);
  if (!map->group) return tsr_fail(NO_MEMORY, "groups of %d devices", groups->lanes);
  map->index = map->group + lanes;
  memset(map->group, -1, 2 * lanes * sizeof *map->group);
  for (int g = 0; g < groups->group_count; g++)
    for (int i = groups->starts[g]; i < groups->starts[g + 1]; i++) {
      map->group[groups->members[i]] = g;
      map->index[groups->members[i]] = i - groups->starts[g];
    }
  return NULL;
}

void tsr_member_map_deinit(tsr_member_map *map) { free(map->group); }
