// Every function that takes an index and returns a status refuses one that is out of range, by
// cause and with a message, and leaves its outputs as they were.
#include <limits.h>
#include <string.h>

#include "array/chunks_internal.h"
#include "comm/comm_internal.h"
#include "contract/world.h"
#include "file/npy_internal.h"
#include "layout/layout_internal.h"
#include "mesh/mesh_internal.h"
#include "partitioner/partitioner_internal.h"
#include "rules/rules_internal.h"
#include "spec/sharding_internal.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "transfer/transfer_internal.h"

typedef tsr_status indexed_fn(world *w, int64_t index);

#define INT(index) world_int(index)
#define OUT(place) world_out(w, place)

// ---- the calls: name, how many there are, cause, call ----

#define CALLS(X)                                                                                   \
  X(array_local, 8, INDEX_OUT_OF_RANGE,                                                            \
    tsr_array_local_at(w->array, i, &(tsr_local_shard){.size = sizeof(tsr_local_shard)}))          \
  X(array_write, 8, INDEX_OUT_OF_RANGE, tsr_array_write(w->array, i, OUT(0)))                      \
  X(array_to_dlpack, 8, INDEX_OUT_OF_RANGE, tsr_array_to_dlpack(w->array, i, OUT(0)))              \
  X(array_to_dlpack_unversioned, 8, INDEX_OUT_OF_RANGE,                                            \
    tsr_array_to_dlpack_unversioned(w->array, i, OUT(0)))                                          \
  X(checkpoint_read, 2, INDEX_OUT_OF_RANGE,                                                        \
    tsr_checkpoint_read(w->checkpoint, i, NULL, OUT(0), 8))                                        \
  X(checkpoint_hash, 2, INDEX_OUT_OF_RANGE, tsr_checkpoint_hash(w->checkpoint, i, NULL, OUT(0)))   \
  X(checkpoint_stats, 2, INDEX_OUT_OF_RANGE, tsr_checkpoint_stats(w->checkpoint, i, NULL, OUT(0))) \
  X(checkpoint_read_shard, 2, INDEX_OUT_OF_RANGE,                                                  \
    tsr_checkpoint_read_shard(w->checkpoint, i, w->layout, 0, NULL, OUT(0), 8, NULL))              \
  X(checkpoint_read_shard_of, 8, INDEX_OUT_OF_RANGE,                                               \
    tsr_checkpoint_read_shard(w->checkpoint, 0, w->layout, i, NULL, OUT(0), 8, NULL))              \
  X(plan_get, 2, INDEX_OUT_OF_RANGE,                                                               \
    tsr_plan_at(w->plan, i, &(tsr_plan_row){.size = sizeof(tsr_plan_row)}))                        \
  X(plan_layout, 2, INDEX_OUT_OF_RANGE, tsr_plan_layout(w->plan, i, OUT(0)))                       \
  X(plan_explain, 2, INDEX_OUT_OF_RANGE, explain(w, i))                                            \
  X(layout_box, 8, INDEX_OUT_OF_RANGE, tsr_layout_box(w->layout, i, OUT(0)))                       \
  X(layout_box_of_boxes, 2, INDEX_OUT_OF_RANGE, tsr_layout_box(w->boxes, i, OUT(0)))               \
  X(layout_runs, 2, INDEX_OUT_OF_RANGE, tsr_layout_runs(w->layout, INT(i), 0, OUT(0), OUT(1)))     \
  X(layout_runs_of, 2, INDEX_OUT_OF_RANGE, tsr_layout_runs(w->layout, 0, i, OUT(0), OUT(1)))       \
  X(layout_addressable, 2, INDEX_OUT_OF_RANGE,                                                     \
    tsr_layout_addressable(w->layout, 0, INT(i), OUT(0)))                                          \
  X(layout_process_shards, 2, INDEX_OUT_OF_RANGE,                                                  \
    tsr_layout_process_shards(w->layout, INT(i), OUT(0)))                                          \
  X(layout_process_hull, 2, PROCESS_NOT_IN_MESH,                                                   \
    tsr_layout_process_hull(w->layout, i, OUT(0), OUT(1)))                                         \
  X(program_function_at, 1, INDEX_OUT_OF_RANGE,                                                    \
    tsr_program_function_at(w->program, i,                                                         \
                            &(tsr_program_function){.size = sizeof(tsr_program_function)}))        \
  X(program_argument, 1, INDEX_OUT_OF_RANGE,                                                       \
    tsr_program_argument(w->program, 0, i,                                                         \
                         &(tsr_program_value){.size = sizeof(tsr_program_value)}))                 \
  X(program_argument_of, 1, INDEX_OUT_OF_RANGE,                                                    \
    tsr_program_argument(w->program, i, 0,                                                         \
                         &(tsr_program_value){.size = sizeof(tsr_program_value)}))                 \
  X(program_result, 1, INDEX_OUT_OF_RANGE,                                                         \
    tsr_program_result(w->program, 0, i, &(tsr_program_value){.size = sizeof(tsr_program_value)})) \
  X(program_result_of, 1, INDEX_OUT_OF_RANGE,                                                      \
    tsr_program_result(w->program, i, 0, &(tsr_program_value){.size = sizeof(tsr_program_value)})) \
  X(preflight_reshard_at, 1, INDEX_OUT_OF_RANGE,                                                   \
    tsr_preflight_reshard_at(w->preflight, i,                                                      \
                             &(tsr_preflight_reshard){.size = sizeof(tsr_preflight_reshard)}))     \
  X(partitioned_argument, 1, INDEX_OUT_OF_RANGE,                                                   \
    tsr_partitioned_argument(w->partitioned, i,                                                    \
                             &(tsr_partitioned_value){.size = sizeof(tsr_partitioned_value)}))     \
  X(partitioned_fallback_at, 0, INDEX_OUT_OF_RANGE,                                                \
    tsr_partitioned_fallback_at(                                                                   \
        w->partitioned, i, &(tsr_partition_fallback){.size = sizeof(tsr_partition_fallback)}))     \
  X(partitioned_result, 1, INDEX_OUT_OF_RANGE,                                                     \
    tsr_partitioned_result(w->partitioned, i,                                                      \
                           &(tsr_partitioned_value){.size = sizeof(tsr_partitioned_value)}))       \
  X(executable_argument, 1, INDEX_OUT_OF_RANGE,                                                    \
    tsr_executable_argument(w->executable, i,                                                      \
                            &(tsr_executable_value){.size = sizeof(tsr_executable_value)}))        \
  X(executable_result, 1, INDEX_OUT_OF_RANGE,                                                      \
    tsr_executable_result(w->executable, i,                                                        \
                          &(tsr_executable_value){.size = sizeof(tsr_executable_value)}))          \
  X(executable_peak_at, 2, INDEX_OUT_OF_RANGE,                                                     \
    tsr_executable_peak_at(w->executable, i, OUT(0), OUT(1)))                                      \
  X(program_mesh_at, 1, INDEX_OUT_OF_RANGE, tsr_program_mesh_at(w->program, i, OUT(0)))            \
  X(pieces_init, 8, INDEX_OUT_OF_RANGE, tsr_pieces_init(OUT(0), w->layout, i))                     \
  X(pieces_init_of_boxes, 2, INDEX_OUT_OF_RANGE, tsr_pieces_init(OUT(0), w->boxes, i))             \
  X(rules_match_one, 2, INDEX_OUT_OF_RANGE, tsr_rules_match_one(w->rules, i, "a", OUT(0)))         \
  X(logical_remove_axis, 2, INDEX_OUT_OF_RANGE, remove_axis(w, i))                                 \
  X(mesh_axes_index, 8, INDEX_OUT_OF_RANGE,                                                        \
    tsr_mesh_axes_index(w->mesh, i, (const char *const[]){"data"}, 1, OUT(0)))                     \
  X(mesh_slice, 2, INDEX_OUT_OF_RANGE, tsr_mesh_slice(w->mesh, "data", i, OUT(0)))                 \
  X(mesh_axis_cost, 2, INDEX_OUT_OF_RANGE, tsr_mesh_axis_cost(w->mesh, INT(i), OUT(0)))            \
  X(mesh_local, 2, PROCESS_NOT_IN_MESH, tsr_mesh_local(w->mesh, i, OUT(0)))                        \
  X(mesh_local_box, 2, PROCESS_NOT_IN_MESH, tsr_mesh_local_box(w->mesh, i, OUT(0), OUT(1)))        \
  X(sub_axis_groups, 2, BAD_SUB_AXIS, sub_axis_groups(w, INT(i)))                                  \
  X(chunker_chunks, 2, PROCESS_NOT_IN_MESH, tsr_chunker_chunks(w->chunker, i, OUT(0)))             \
  X(chunker_shard_id, 2, PROCESS_NOT_IN_MESH,                                                      \
    tsr_chunker_shard_id(w->chunker, i, (const char *const[]){"data"}, 1, OUT(0)))                 \
  X(chunker_replica_id, 2, PROCESS_NOT_IN_MESH,                                                    \
    tsr_chunker_replica_id(w->chunker, i, NULL, 0, OUT(0)))                                        \
  X(chunker_local_chunk, 2, PROCESS_NOT_IN_MESH,                                                   \
    tsr_chunker_local_chunk(w->chunker, i, TSR_SHAPE(8, 16), w->spec, NULL, OUT(0)))               \
  X(partitioner_data_shards, 2, PROCESS_NOT_IN_MESH,                                               \
    tsr_partitioner_data_shards(w->partitioner, i, OUT(0)))                                        \
  X(partitioner_data_layout, 2, PROCESS_NOT_IN_MESH,                                               \
    tsr_partitioner_data_layout(w->partitioner, i, 8, NULL, OUT(0)))                               \
  X(sequence_step_groups, steps(w), INDEX_OUT_OF_RANGE,                                            \
    tsr_sequence_step_groups(w->sequence, i, OUT(0)))                                              \
  X(sequence_step_pairs, steps(w), INDEX_OUT_OF_RANGE,                                             \
    tsr_sequence_step_pairs(w->sequence, i, OUT(0), OUT(1)))                                       \
  X(copies_init_into, 8, INDEX_OUT_OF_RANGE, tsr_copies_init_into(OUT(0), w->copy_plan, i))        \
  X(copies_init_out_of, 8, INDEX_OUT_OF_RANGE, tsr_copies_init_out_of(OUT(0), w->copy_plan, i))    \
  X(npz_read, 1, INDEX_OUT_OF_RANGE, tsr_npz_read(w->npz, i, OUT(0), 8))                           \
  X(npz_check, 1, INDEX_OUT_OF_RANGE, tsr_npz_check(w->npz, i))                                    \
  X(comm_broadcast, 2, BAD_ARGUMENT, broadcast(w, i))                                              \
  X(comm_all_to_all, 2, BAD_ARGUMENT, all_to_all(w, INT(i)))                                       \
  X(comm_permute, 8, BAD_ARGUMENT, permute(w, i))                                                  \
  X(comm_measure_between, 8, BAD_ARGUMENT, tsr_comm_measure_between(w->comm, i, 0, 64, OUT(0)))

static tsr_status explain(world *w, int64_t i) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = tsr_plan_explain(w->plan, i, &text);
  tsr_text_deinit(&text);
  return status;
}

static tsr_status remove_axis(world *w, int64_t i) {
  // Counted from the end too, as Python does: -1 is the last one.
  const tsr_logical_entry items[] = {TSR_LOGICAL_NAME("x"), TSR_LOGICAL_NAME("y")};
  return tsr_logical_remove_axis(&(tsr_logical_names){2, items, NULL}, i == -1 ? -3 : i, "x",
                                 OUT(0));
}

static tsr_status sub_axis_groups(world *w, int i) {
  return tsr_sub_axis_groups(w->mesh, &(tsr_sub_axis){.axis = i, .pre = 1, .size = 2}, 1, OUT(0));
}

static int64_t steps(world *w) { return tsr_sequence_step_count(w->sequence); }

// Two devices a group; every device reads and writes memory of its own.
static const int64_t members[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const tsr_groups groups = {.count = 4, .size = 2, .members = members};

typedef struct buffers {
  const void *in[8];
  void *out[8];
} buffers;

static buffers buffers_of(world *w) {
  buffers b;
  for (int d = 0; d < 8; d++) {
    b.in[d] = w->host;
    b.out[d] = (char *)OUT(0) + (ptrdiff_t)64 * d;
  }
  return b;
}

static tsr_status broadcast(world *w, int64_t i) {
  const buffers b = buffers_of(w);
  return tsr_comm_broadcast(w->comm, &groups, i, TSR_F32, 4, b.in, b.out);
}

static tsr_status all_to_all(world *w, int i) {
  const buffers b = buffers_of(w);
  return tsr_comm_all_to_all(w->comm, &groups, TSR_F32, TSR_SHAPE(2, 2), i, 0, b.in, b.out);
}

static tsr_status permute(world *w, int64_t i) {
  const buffers b = buffers_of(w);
  return tsr_comm_permute(w->comm, &(tsr_pair){i, 0}, 1, TSR_F32, 4, b.in, b.out);
}

#define CALL(name, count, cause, call) \
  static tsr_status call_##name(world *w, int64_t i) { return (void)w, call; }
CALLS(CALL)
#undef CALL

static void bad_indices_are_refused_and_write_nothing(void **state) {
  world *w = *state;
  const struct {
    const char *name;
    int64_t count;
    tsr_cause cause;
    indexed_fn *call;
  } rows[] = {
#define ROW(name, count, cause, call) {#name, count, TSR_CAUSE_##cause, call_##name},
      CALLS(ROW)
#undef ROW
  };
  int failures = 0;
  for (size_t r = 0; r < COUNT_OF(rows); r++) {
    const int64_t bad[] = {-1, rows[r].count, INT64_C(1) << 32, INT64_MAX, INT64_MIN};
    for (size_t b = 0; b < COUNT_OF(bad); b++) {
      tsr_status status = rows[r].call(w, bad[b]);
      if (tsr_status_cause(status) != rows[r].cause)
        failures += complain("%s with %lld: %s (%s)", rows[r].name, (long long)bad[b],
                             tsr_cause_slug(tsr_status_cause(status)), tsr_status_text(status));
      if (!strlen(tsr_status_text(status))) failures += complain("%s says nothing", rows[r].name);
      if (!world_is_untouched(w)) failures += complain("%s wrote to its output", rows[r].name);
      tsr_status_free(status);
    }
  }
  if (failures) fail_msg("%d calls do not keep the contract", failures);
}

int suite_indices(void);
int suite_indices(void) {
  const struct CMUnitTest tests[] = {TEST(bad_indices_are_refused_and_write_nothing)};
  return cmocka_run_group_tests_name("indices", tests, world_set_up, world_tear_down);
}
