// Functions that return a plain value answer a bad index with NULL, -1 or 0, as status.h says.
#include <limits.h>

#include "array/array_internal.h"
#include "array/chunks_internal.h"
#include "contract/world.h"
#include "element/reduction.h"
#include "file/npy_internal.h"
#include "format/fsck_report.h"
#include "inspect/verify_internal.h"
#include "job/transform_internal.h"
#include "layout/layout_internal.h"
#include "map/map_internal.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh_internal.h"
#include "place/place_internal.h"
#include "advice/advice_internal.h"
#include "plan/plan_internal.h"
#include "rules/axes_internal.h"
#include "rules/logical_internal.h"
#include "rules/rules_internal.h"
#include "spec/sharding_internal.h"
#include "spec/spec_internal.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/reduce.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "topology/topology_internal.h"
#include "transfer/transfer_internal.h"

typedef bool answers_fn(world *w, int64_t index);

#define INT(index) world_int(index)
#define OUT(place) world_out(w, place)

// ---- name, how many there are, whether the answer is the documented one ----

#define ANSWERS(X)                                                                         \
  X(array_device, 8, tsr_array_device(w->array, i) == -1)                                  \
  X(array_find_device, 8, tsr_array_local_find(w->array, i) == -1)                         \
  X(array_data, 8, !tsr_array_data(w->array, i))                                           \
  X(array_buffer, 8, !tsr_array_buffer(w->array, i, OUT(0)))                               \
  X(array_tree_leaf, 2, !tsr_array_tree_at(w->arrays, i))                                  \
  X(checkpoint_layout, 2, !tsr_checkpoint_layout(w->checkpoint, i))                        \
  X(checkpoint_file, files(w), !tsr_checkpoint_file_at(w->checkpoint, i))                  \
  X(checkpoint_file_bytes, files(w), !tsr_checkpoint_file_bytes(w->checkpoint, i))         \
  X(checkpoint_copies, 2, !tsr_checkpoint_copies(w->checkpoint, i))                        \
  X(checkpoint_find, 2, !tsr_checkpoint_find(w->checkpoint, i, 0, 0, OUT(0)))              \
  X(checkpoint_find_shard, 8, !tsr_checkpoint_find(w->checkpoint, 0, i, 0, OUT(0)))        \
  X(checkpoint_find_copy, 8, !tsr_checkpoint_find(w->checkpoint, 0, 0, i, OUT(0)))         \
  X(checkpoint_known_hash, 2, !tsr_checkpoint_known_hash(w->checkpoint, i, OUT(0)))        \
  X(chunker_process, 2, tsr_chunker_process_at(w->chunker, i) == -1)                       \
  X(comm_rank_of, 8, tsr_comm_rank_of(w->comm, i) == -1)                                   \
  X(comm_local_index, 8, tsr_comm_local_index(w->comm, i) == -1)                           \
  X(dynamic_axes_at, 1000, !tsr_dynamic_axes_at(i))                                        \
  X(fsck_fault, tsr_fsck_count(w->fsck), !tsr_fsck_at(w->fsck, i))                         \
  X(layout_shard, 8, tsr_layout_shard(w->layout, i) == -1)                                 \
  X(layout_shard_of_boxes, 8, tsr_layout_shard(w->boxes, i) == -1)                         \
  X(layout_device, 8, tsr_layout_device_at(w->layout, i) == -1)                            \
  X(layout_find_device, 8, tsr_layout_device_find(w->layout, i) == -1)                     \
  X(layout_shard_coords, 8, !tsr_layout_shard_coords(w->layout, i, OUT(0)))                \
  X(layout_shard_coords_of_boxes, 2, !tsr_layout_shard_coords(w->boxes, i, OUT(0)))        \
  X(layout_dim_shards, 2, !tsr_layout_dim_shards(w->layout, INT(i)))                       \
  X(layout_dim_shards_of_boxes, 2, !tsr_layout_dim_shards(w->boxes, INT(i)))               \
  X(layout_replica, 8, tsr_layout_replica_at(w->layout, i, 0) == -1)                       \
  X(layout_replica_of_boxes, 2, tsr_layout_replica_at(w->boxes, i, 0) == -1)               \
  X(layout_replica_index, 1, tsr_layout_replica_at(w->layout, 0, i) == -1)                 \
  X(layout_replica_id, 8, tsr_layout_replica_id(w->layout, i) == -1)                       \
  X(layout_replica_id_of_boxes, 8, tsr_layout_replica_id(w->boxes, i) == -1)               \
  X(layout_shard_shape, 8, !tsr_layout_shard_shape(w->layout, i, OUT(0)))                  \
  X(layout_shard_shape_of_boxes, 2, !tsr_layout_shard_shape(w->boxes, i, OUT(0)))          \
  X(layout_buffer_shape, 8, !tsr_layout_buffer_shape(w->layout, i, OUT(0)))                \
  X(layout_buffer_shape_padded, 8, !tsr_layout_buffer_shape(w->padded, i, OUT(0)))         \
  X(layout_shard_elements, 8, !tsr_layout_shard_elements(w->layout, i))                    \
  X(layout_buffer_elements, 8, !tsr_layout_buffer_elements(w->padded, i))                  \
  X(logical_rules_get, 1, !tsr_logical_rules_at(w->logical, i))                            \
  X(map_preset_name, 1000, !tsr_map_preset_at(i))                                          \
  X(mapping_line, 1, !tsr_mapping_line(w->mapping, i))                                     \
  X(mesh_axis, 2, !tsr_mesh_axis_at(w->mesh, INT(i)))                                      \
  X(mesh_device, 8, tsr_mesh_device_at(w->mesh, i) == -1)                                  \
  X(mesh_coords, 8, !tsr_mesh_coords(w->mesh, i, OUT(0)))                                  \
  X(mesh_position, 4, tsr_mesh_position(w->mesh, (int64_t[]){0, i}) == -1)                 \
  X(mesh_process, 8, tsr_mesh_process(w->mesh, i) == -1)                                   \
  X(mesh_find_device, 8, tsr_mesh_device_find(w->mesh, i) == -1)                           \
  X(npz_name, 1, !tsr_npz_name(w->npz, i))                                                 \
  X(npz_array, 1, !tsr_npz_array(w->npz, i))                                               \
  X(npz_is_stored, 1, !tsr_npz_is_stored(w->npz, i))                                       \
  X(plan_spec, tsr_plan_spec_count(w->plan), !tsr_plan_spec_at(w->plan, i))                \
  X(plan_final, 2, tsr_plan_final(w->plan, i) == -1)                                       \
  X(plan_note_print, 2, prints_nothing(w, i))                                              \
  X(preset_family, 1000, !tsr_preset_family_at(i))                                         \
  X(preset_model_type, 1000, !tsr_preset_model_type_at(i, OUT(0)))                         \
  X(rules_get, 2, !tsr_rules_at(w->rules, i))                                              \
  X(sequence_step_at, steps(w), !tsr_sequence_step_at(w->sequence, i))                     \
  X(sharding_stage_index, 2, tsr_sharding_stage_index(w->sharding, INT(i), 0, 0) == -1)    \
  X(sharding_stage_index_of, 1, tsr_sharding_stage_index(w->sharding, 0, INT(i), 0) == -1) \
  X(sharding_stage_index_at, 8, tsr_sharding_stage_index(w->sharding, 0, 0, i) == -1)      \
  X(t5x_get_coords, 8, !tsr_t5x_get_coords(w->topology, i, OUT(0)))                        \
  X(t5x_bounds, 8, !tsr_t5x_bounds_from_last_device(w->topology, i, OUT(0)))               \
  X(topology_find, 8, tsr_topology_device_find(w->topology, i) == -1)                      \
  X(topology_level, 8, !tsr_topology_level(w->topology, i, 0))                             \
  X(topology_hops, 8, !tsr_topology_hops(w->topology, 0, i))                               \
  X(topology_cost, 8, !(tsr_topology_cost(w->topology, 0, i, 100) > 0))                    \
  X(transform_file, outputs(w), !tsr_transform_file_at(w->transform, i))                   \
  X(transform_file_bytes, outputs(w), !tsr_transform_file_bytes(w->transform, i))          \
  X(transform_extra, extras(w), !tsr_transform_extra_at(w->transform, i))                  \
  X(tree_tensor, 2, !tsr_tree_at(w->tree, i))                                              \
  X(verification_row, rows_of(w), !tsr_verification_at(w->verification, i))

static int64_t files(world *w) { return tsr_checkpoint_file_count(w->checkpoint); }
static int64_t steps(world *w) { return tsr_sequence_step_count(w->sequence); }
static int64_t rows_of(world *w) { return tsr_verification_count(w->verification); }
static int64_t outputs(world *w) { return tsr_transform_certificate_of(w->transform)->files; }
static int64_t extras(world *w) { return tsr_transform_certificate_of(w->transform)->extras; }

static bool prints_nothing(world *w, int64_t i) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_plan_row row = TSR_PLAN_ROW;
  assert_ok(tsr_plan_at(w->plan, 0, &row));
  tsr_plan_note_print(w->plan, i, &row.notes[0], &text);
  tsr_verification_print_row(w->verification, i, &text);
  const bool nothing = !*tsr_text_string(&text);
  tsr_text_deinit(&text);
  return nothing;
}

#define ANSWER(name, count, test) \
  static bool answer_##name(world *w, int64_t i) { return (void)w, test; }
ANSWERS(ANSWER)
#undef ANSWER

static void bad_indices_have_the_documented_answer(void **state) {
  world *w = *state;
  const struct {
    const char *name;
    int64_t count;
    answers_fn *answers;
  } rows[] = {
#define ROW(name, count, test) {#name, count, answer_##name},
      ANSWERS(ROW)
#undef ROW
  };
  int failures = 0;
  for (size_t r = 0; r < COUNT_OF(rows); r++) {
    const int64_t bad[] = {-1, rows[r].count, INT64_C(1) << 32, INT64_MAX, INT64_MIN};
    for (size_t b = 0; b < COUNT_OF(bad); b++) {
      if (!rows[r].answers(w, bad[b]))
        failures += complain("%s with %lld has another answer", rows[r].name, (long long)bad[b]);
      if (!world_is_untouched(w)) failures += complain("%s wrote to its output", rows[r].name);
    }
  }
  if (failures) fail_msg("%d calls do not keep the contract", failures);
}

// Dimensions past a spec's length are not cut: those are no bad indices.
static void dimensions_past_a_spec_are_uncut(void **state) {
  world *w = *state;
  assert_int_equal(tsr_sharding_dim_at(w->sharding, 2)->shards, 1);
  assert_null(tsr_sharding_dim_at(w->sharding, -1));
  assert_int_equal(tsr_comm_first_device(w->comm, tsr_comm_rank_count(w->comm)), 8);
}

// ---- names of enum values ----

#define NAMES(X)                                                         \
  X(tsr_axis_type_name, tsr_axis_type, TSR_AXIS_MANUAL + 1)              \
  X(tsr_change_text, tsr_change_kind, TSR_CHANGE_COUNT)                  \
  X(tsr_checkpoint_format_name, tsr_checkpoint_format, TSR_FORMAT_COUNT) \
  X(tsr_fault_name, tsr_fault_kind, TSR_FAULT_COUNT)                     \
  X(tsr_field_name, tsr_axis_field, TSR_FIELD_COUNT)                     \
  X(tsr_field_token, tsr_axis_field, TSR_FIELD_COUNT)                    \
  X(tsr_finding_text, tsr_finding_kind, TSR_FINDING_COUNT)               \
  X(tsr_finding_word, tsr_finding_kind, TSR_FINDING_COUNT)               \
  X(tsr_level_name, tsr_level, TSR_LEVEL_COUNT)                          \
  X(tsr_lint_text, tsr_lint_kind, TSR_LINT_COUNT)                        \
  X(tsr_lint_word, tsr_lint_kind, TSR_LINT_COUNT)                        \
  X(tsr_mode_name, tsr_mode, TSR_MODE_COUNT)                             \
  X(tsr_outcome_text, tsr_outcome, TSR_OUTCOME_COUNT)                    \
  X(tsr_outcome_word, tsr_outcome, TSR_OUTCOME_COUNT)                    \
  X(tsr_platform_name, tsr_platform, TSR_PLATFORM_COUNT)                 \
  X(tsr_policy_name, tsr_policy, TSR_POLICY_COUNT)                       \
  X(tsr_reduction_name, tsr_reduction, TSR_REDUCTION_COUNT)              \
  X(tsr_severity_name, tsr_severity, TSR_SEVERITY_COUNT)                 \
  X(tsr_step_kind_name, tsr_step_kind, TSR_STEP_COUNT)                   \
  X(tsr_verdict_name, tsr_verdict, TSR_VERDICT_COUNT)                    \
  X(tsr_verdict_text, tsr_verdict, TSR_VERDICT_COUNT)                    \
  X(tsr_why_text, tsr_why, TSR_WHY_COUNT)                                \
  X(tsr_why_word, tsr_why, TSR_WHY_COUNT)

static void values_that_are_not_listed_have_no_name(void **state) {
  (void)state;
#define CHECK(function, type, count)                                       \
  {                                                                        \
    const int bad[] = {-1, (int)(count), INT_MAX, INT_MIN};                \
    for (size_t b = 0; b < COUNT_OF(bad); b++)                             \
      if (function((type)bad[b])) fail_msg(#function " names %d", bad[b]); \
  }
  NAMES(CHECK)
#undef CHECK
}

static void values_that_are_not_listed_are_counted_nowhere(void **state) {
  world *w = *state;
  const int bad[] = {-1, 1000, INT_MAX, INT_MIN};
  for (size_t b = 0; b < COUNT_OF(bad); b++) {
    assert_int_equal(tsr_fsck_total(w->fsck, (tsr_severity)bad[b]), 0);
    assert_int_equal(tsr_verification_total(w->verification, (tsr_verdict)bad[b]), 0);
    assert_null(tsr_axes_at(w->axes, (tsr_axis_field)bad[b]));
    assert_false(tsr_axes_is_given(w->axes, (tsr_axis_field)bad[b]));
    assert_null(tsr_topology_link(w->topology, (tsr_level)bad[b]));
    assert_null(tsr_dtype_info_of((tsr_dtype)bad[b]));
    assert_null(tsr_dtype_name((tsr_dtype)bad[b], TSR_NAMES_OWN));
    assert_null(tsr_dtype_name(TSR_F32, (tsr_ecosystem)bad[b]));
    assert_false(tsr_reduction_allows((tsr_reduction)bad[b], TSR_F32));
    assert_false(tsr_reduction_allows(TSR_REDUCE_SUM, (tsr_dtype)bad[b]));
    assert_false(tsr_convertible((tsr_dtype)bad[b], TSR_F32));
    assert_int_equal(tsr_reduce_partial_dtype((tsr_dtype)bad[b]), TSR_DTYPE_NONE);
  }
}

int suite_values(void);
int suite_values(void) {
  const struct CMUnitTest tests[] = {TEST(bad_indices_have_the_documented_answer),
                                     TEST(dimensions_past_a_spec_are_uncut),
                                     TEST(values_that_are_not_listed_have_no_name),
                                     TEST(values_that_are_not_listed_are_counted_nowhere)};
  return cmocka_run_group_tests_name("values", tests, world_set_up, world_tear_down);
}
