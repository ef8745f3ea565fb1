// All-reduces whose order is the transport's choice (tsr_comm_options.fast).
#include <stdlib.h>
#include <string.h>

#include "comm/call.h"
#include "ranks/rank_step_internal.h"

static const struct {
  tsr_tile_op op;
  tsr_reduction reduction;
} reductions[] = {
    {TSR_TILE_ADD, TSR_REDUCE_SUM},     {TSR_TILE_MULTIPLY, TSR_REDUCE_PRODUCT},
    {TSR_TILE_MAXIMUM, TSR_REDUCE_MAX}, {TSR_TILE_MINIMUM, TSR_REDUCE_MIN},
    {TSR_TILE_AND, TSR_REDUCE_AND},     {TSR_TILE_OR, TSR_REDUCE_OR},
};

static bool find_reduction(const tsr_lane_reduction *r, tsr_reduction *out) {
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
    if (reductions[i].op == r->op) {
      *out = reductions[i].reduction;
      return tsr_dtype_info_of(r->dtype)->bits >= 8 && tsr_comm_reduces(r->dtype, *out);
    }
  return false;
}

// Whether each class gets its result from one group: two groups with equal members might not give
// the same bits then, and lanes of a class hold the same.
static bool is_of_one_group(const tsr_class_places *out, const tsr_member_map *map) {
  for (int c = 0; c < tsr_class_count(out->classes); c++) {
    const int group = map->group[out->holders[out->starts[c]]];
    for (int i = out->starts[c]; i < out->starts[c + 1]; i++)
      if (group < 0 || map->group[out->holders[i]] != group) return false;
  }
  return true;
}

static bool is_fast(const tsr_lane_reduction *r, const tsr_rank_call *call,
                    const tsr_member_map *map, tsr_reduction *out_reduction) {
  // All groups have as many members where there is an arity.
  if (!tsr_comm_is_fast(call->moves->lanes->comm) || !r->arity || r->scattered || r->to_root)
    return false;
  if (!find_reduction(r, out_reduction)) return false;
  for (int i = 0; i < r->count; i++)
    if (!is_of_one_group(call->out[i], map)) return false;
  return true;
}

// What the comm wants: groups of devices, and lists of the local ones.
typedef struct fast_lists {
  int64_t *members;
  const void **in;
  void **out;
} fast_lists;

static tsr_status reduce_value(const tsr_lane_reduction *r, const tsr_rank_call *call,
                               const fast_lists *lists, int value, tsr_reduction op) {
  const tsr_rank_lanes *lanes = call->moves->lanes;
  const tsr_groups groups = {r->groups.group_count, r->arity, lists->members};
  const int64_t count = r->values[value].outer * r->values[value].run;
  for (int i = 0; i < lanes->lanes; i++) {
    const int64_t local = tsr_comm_local_index(lanes->comm, lanes->devices[i]);
    if (local < 0) continue;
    lists->in[local] = call->call->inputs[value * lanes->lanes + i];
    lists->out[local] = call->call->outputs[value * lanes->lanes + i];
  }
  if (!count) return NULL;
  return tsr_all_reduce_agreed(lanes->comm, &groups, r->dtype, op, count, lists->in, lists->out);
}

static tsr_status reduce_values(const tsr_lane_reduction *r, const tsr_rank_call *call,
                                const fast_lists *lists, tsr_reduction op) {
  if (!lists->members || !lists->in || !lists->out)
    return tsr_fail(NO_MEMORY, "groups of %d devices", r->groups.lanes);
  const int count = r->groups.starts[r->groups.group_count];
  for (int i = 0; i < count; i++)
    lists->members[i] = call->moves->lanes->devices[r->groups.members[i]];
  for (int i = 0; i < r->count; i++) TSR_TRY(reduce_value(r, call, lists, i, op));
  return NULL;
}

tsr_status tsr_rank_reduce_fast(const tsr_lane_reduction *reduction, const tsr_rank_call *call,
                                const tsr_member_map *map, bool *out_done) {
  const size_t lanes = (size_t)reduction->groups.lanes + 1;
  tsr_reduction op = TSR_REDUCE_SUM;
  *out_done = is_fast(reduction, call, map, &op);
  if (!*out_done) return NULL;
  const fast_lists lists = {calloc(lanes, sizeof *lists.members), calloc(lanes, sizeof *lists.in),
                            calloc(lanes, sizeof *lists.out)};
  const tsr_status status = reduce_values(reduction, call, &lists, op);
  free(lists.members);
  free(lists.in);
  free(lists.out);
  return status;
}
