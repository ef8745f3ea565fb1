// Outputs are untouched when memory runs out, wherever it does: every allocation of each call fails
// once. A call gets all of its outputs, also those that may be NULL.
#include <stdlib.h>

#include "advice/plan_auto_internal.h"
#include "contract/world.h"
#include "layout/layout_internal.h"
#include "place/place_internal.h"
#include "advice/advice_internal.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "rules/axes_internal.h"
#include "rules/logical_internal.h"
#include "rules/rules_internal.h"
#include "spec/spec_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/engine/array.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "transfer/transfer_internal.h"

#define OUT(place) world_out(w, place)
#define SIZED(place, type) world_sized_out(w, place, sizeof(type))
#define MADE(type) (*(type *)world_out(w, 0))

static const char *const data_axis[] = {"data"};
static const tsr_logical_names batch_names = {
    1, &(tsr_logical_entry){TSR_ENTRY_NAME, 1, (const char *const[]){"batch"}}, NULL};

static void release_all(world *w) {
  tsr_array **made = world_out(w, 0);
  tsr_array_release(made[0]);
  tsr_array_release(made[1]);
}

// ---- name, call, how to free what it made ----

#define CALLS(X)                                                                                \
  X(array_local, tsr_array_local_at(w->array, 0, SIZED(0, tsr_local_shard)), (void)0)           \
  X(array_constrain,                                                                            \
    tsr_array_constrain(w->array, w->other_spec, w->mesh, NULL, OUT(0),                         \
                        SIZED(1, tsr_place_report)),                                            \
    (tsr_array_release(MADE(tsr_array *)), tsr_place_report_deinit(OUT(1))))                    \
  X(array_reshard_all,                                                                          \
    tsr_array_reshard_all((tsr_array *[]){w->array, w->array},                                  \
                          (const tsr_layout *[]){w->other, w->other}, 2, NULL, OUT(0)),         \
    release_all(w))                                                                             \
  X(array_tree_extract_shardings, tsr_array_tree_extract_shardings(w->arrays, w->mesh, OUT(0)), \
    tsr_sharding_release(MADE(tsr_sharding *)))                                                 \
  X(checkpoint_hash, tsr_checkpoint_hash(w->checkpoint, 0, NULL, OUT(0)), (void)0)              \
  X(checkpoint_stats, tsr_checkpoint_stats(w->checkpoint, 0, NULL, OUT(0)), (void)0)            \
  X(copies_init_into, tsr_copies_init_into(OUT(0), w->copy_plan, 0), tsr_copies_deinit(OUT(0))) \
  X(layout_addressable, tsr_layout_addressable(w->layout, 0, 0, OUT(0)), (void)0)               \
  X(layout_index_map, tsr_layout_index_map(w->layout, OUT(0)), (void)0)                         \
  X(layout_index_map_of_boxes, tsr_layout_index_map(w->boxes, OUT(0)), (void)0)                 \
  X(layout_jax_replica_ids, tsr_layout_jax_replica_ids(w->layout, OUT(0)), (void)0)             \
  X(layout_process_hull, tsr_layout_process_hull(w->layout, 0, OUT(0), OUT(1)), (void)0)        \
  X(layout_process_shards, tsr_layout_process_shards(w->layout, 0, OUT(0)), (void)0)            \
  X(layout_runs, tsr_layout_runs(w->layout, 0, 0, OUT(0), OUT(1)), free(MADE(tsr_run *)))       \
  X(logical_to_mesh_axes, tsr_logical_to_mesh_axes(&batch_names, w->logical, OUT(0), OUT(1)),   \
    tsr_spec_release(MADE(tsr_spec *)))                                                         \
  X(logical_names_of, tsr_logical_names_of(data_axis, 1, OUT(0)),                               \
    tsr_logical_names_deinit(OUT(0)))                                                           \
  X(memory_rule_spec,                                                                           \
    tsr_memory_rule_spec(TSR_SHAPE(8, 16), TSR_F32, w->mesh, 64, NULL, 0, OUT(0), OUT(1)),      \
    tsr_spec_release(MADE(tsr_spec *)))                                                         \
  X(mesh_groups, tsr_mesh_groups(w->mesh, data_axis, 1, OUT(0)), tsr_groups_deinit(OUT(0)))     \
  X(pieces_init, tsr_pieces_init(OUT(0), w->layout, 0), tsr_pieces_deinit(OUT(0)))              \
  X(plan_analyze, tsr_plan_analyze(w->plan, NULL, 0, SIZED(0, tsr_analysis)),                   \
    tsr_analysis_deinit(OUT(0)))                                                                \
  X(plan_check, tsr_plan_check(w->plan, NULL, OUT(0)), tsr_findings_deinit(OUT(0)))             \
  X(plan_device_bytes, tsr_plan_device_bytes(w->plan, OUT(0)), (void)0)                         \
  X(plan_diff_create, tsr_plan_diff_create(w->plan, w->plan, SIZED(0, tsr_plan_diff)),          \
    tsr_plan_diff_deinit(OUT(0)))                                                               \
  X(plan_fit, fit(w), tsr_plan_release(MADE(tsr_plan *)))                                       \
  X(plan_group, tsr_plan_group(w->plan, OUT(0)), tsr_tree_groups_deinit(OUT(0)))                \
  X(relabel, tsr_relabel(w->copy_plan, TSR_F32, SIZED(0, tsr_relabelling)),                     \
    tsr_relabelling_deinit(OUT(0)))                                                             \
  X(rules_lint, tsr_rules_lint(w->rules, w->tree, w->mesh, OUT(0)), tsr_lints_deinit(OUT(0)))   \
  X(rules_match_one, tsr_rules_match_one(w->rules, 0, "a", OUT(0)), (void)0)                    \
  X(sequence_step_pairs, tsr_sequence_step_pairs(w->sequence, permute_of(w), OUT(0), OUT(1)),   \
    free(MADE(tsr_pair *)))                                                                     \
  X(spec_axis_names,                                                                            \
    tsr_spec_axis_names((const tsr_spec *[]){w->spec, w->other_spec}, 2, OUT(0), OUT(1)),       \
    free(MADE(void *)))                                                                         \
  X(spec_correct, tsr_spec_correct(w->spec, w->mesh, TSR_SHAPE(7, 16), NULL, OUT(0), OUT(1)),   \
    (tsr_spec_release(MADE(tsr_spec *)), tsr_changes_deinit(OUT(1))))                           \
  X(tree_select, tsr_tree_select(w->tree, &(tsr_tree_filter){0}, OUT(0), OUT(1)),               \
    free(MADE(int64_t *)))

static tsr_status fit(world *w) {
  const tsr_fit_options options = {.size = sizeof options, .limit = 256};
  return tsr_plan_fit(w->tree, w->mesh, &options, OUT(0), SIZED(1, tsr_fit_report));
}

static int permute_of(world *w) {
  for (int s = 0; s < tsr_sequence_step_count(w->sequence); s++)
    if (tsr_sequence_step_at(w->sequence, s)->kind == TSR_STEP_PERMUTE) return s;
  fail_msg("the sequence has no permute");
  return -1;
}

typedef struct trial {
  world *w;
  const char *name;
  tsr_status (*call)(world *w);
  void (*undo)(world *w);
  int failures;
} trial;

#define CALL(name, call, undo)                             \
  static tsr_status call_##name(world *w) { return call; } \
  static void undo_##name(world *w) { (void)w, (void)(undo); }
CALLS(CALL)
#undef CALL

static tsr_status run(void *context) {
  trial *t = context;
  void *volatile first = malloc(1);  // some calls take no memory, which a sweep would find strange
  if (!first) return tsr_fail(NO_MEMORY, "the first byte");
  free(first);
  tsr_status status = t->call(t->w);
  if (!status) t->undo(t->w);
  const bool untouched = world_is_untouched(t->w);
  if (status && !untouched) t->failures += complain("%s wrote to an output", t->name);
  return status;
}

static void outputs_are_untouched_when_memory_runs_out(void **state) {
  world *w = *state;
  trial trials[] = {
#define ROW(name, call, undo) {w, #name, call_##name, undo_##name, 0},
      CALLS(ROW)
#undef ROW
  };
  int failures = 0;
  for (size_t i = 0; i < COUNT_OF(trials); i++) {
    test_allocation_sweep(run, &trials[i]);
    failures += trials[i].failures;
  }
  if (failures) fail_msg("%d calls wrote to outputs", failures);
}

int suite_outputs(void);
int suite_outputs(void) {
  const struct CMUnitTest tests[] = {TEST(outputs_are_untouched_when_memory_runs_out)};
  return cmocka_run_group_tests_name("outputs", tests, world_set_up, world_tear_down);
}
