// Every function that takes a count, by itself or in a struct, and returns a status refuses one
// below 0, and leaves its outputs as they were.
#include <limits.h>

#include "contract/world.h"
#include "mesh/mesh_build_internal.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/eformer_mesh.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/compat/torch.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/topology.h"

typedef tsr_status count_fn(world *w, int n);

#define OUT(place) world_out(w, place)
#define SIZED(place, type) world_sized_out(w, place, sizeof(type))

static const int64_t members[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const tsr_groups groups = {.count = 4, .size = 2, .members = members};
static const char *const data_axis[] = {"data"};
static const tsr_axis x_axis = {"x", 2, TSR_AXIS_AUTO};
static const tsr_range range = {0, 1};
static const tsr_logical_entry batch = {TSR_ENTRY_NAME, 1, (const char *const[]){"batch"}};
#define NAMES(n) (&(tsr_logical_names){n, &batch, NULL})

// ---- the calls: name, call ----

#define CALLS(X)                                                                                 \
  X(array_gather, tsr_array_gather(w->array, OUT(0), n, NULL))                                   \
  X(array_to_host_local, tsr_array_to_host_local(w->array, OUT(0), n, NULL))                     \
  X(array_reshard_all, tsr_array_reshard_all(&w->array, other(w), n, NULL, OUT(0)))              \
  X(array_tree_create,                                                                           \
    tsr_array_tree_create(&(tsr_leaf){.tensor.path = "x", .array = w->array}, n, OUT(0)))        \
  X(axes_create, tsr_axes_create(&(tsr_field_value){0}, n, OUT(0)))                              \
  X(axes_replace, tsr_axes_replace(w->axes, &(tsr_field_value){0}, n, OUT(0)))                   \
  X(buffer_create, tsr_buffer_create(NULL, n, OUT(0)))                                           \
  X(buffer_wrap, tsr_buffer_wrap(w->host, n, false, NULL, NULL, OUT(0)))                         \
  X(checkpoint_read, tsr_checkpoint_read(w->checkpoint, 0, NULL, OUT(0), n))                     \
  X(checkpoint_read_shard,                                                                       \
    tsr_checkpoint_read_shard(w->checkpoint, 0, w->layout, 0, NULL, OUT(0), n, NULL))            \
  X(comm_create, tsr_comm_create(n, NULL, OUT(0)))                                               \
  X(comm_open, tsr_comm_open("threads", n, NULL, OUT(0)))                                        \
  X(comm_all_reduce,                                                                             \
    tsr_comm_all_reduce(w->comm, &groups, TSR_F32, TSR_REDUCE_SUM, n, ins(w), outs(w)))          \
  X(comm_permute, tsr_comm_permute(w->comm, &(tsr_pair){0, 1}, 1, TSR_F32, n, ins(w), outs(w)))  \
  X(comm_permute_pairs,                                                                          \
    tsr_comm_permute(w->comm, &(tsr_pair){0, 1}, n, TSR_F32, 1, ins(w), outs(w)))                \
  X(comm_broadcast, tsr_comm_broadcast(w->comm, &groups, 0, TSR_F32, n, ins(w), outs(w)))        \
  X(comm_broadcast_groups,                                                                       \
    tsr_comm_broadcast(w->comm, &(tsr_groups){.count = n, .size = 2, .members = members}, 0,     \
                       TSR_F32, 1, ins(w), outs(w)))                                             \
  X(comm_exchange, tsr_comm_exchange(w->comm, &(tsr_exchange){0}, n))                            \
  X(comm_exchange_copies,                                                                        \
    tsr_comm_exchange(                                                                           \
        w->comm, &(tsr_exchange){.copy_count = n, .bits = 32, .in = ins(w), .out = outs(w)}, 1)) \
  X(convert, tsr_convert(TSR_F32, w->host, TSR_F64, OUT(0), n))                                  \
  X(layout_from_boxes,                                                                           \
    tsr_layout_from_boxes(w->mesh, TSR_SHAPE(1), n, &(int64_t){1}, &range, OUT(0)))              \
  X(layout_from_boxes_of,                                                                        \
    tsr_layout_from_boxes(NULL, TSR_SHAPE(1), 1, &(int64_t){n}, &range, OUT(0)))                 \
  X(layout_from_flat, tsr_layout_from_flat(w->mesh, TSR_SHAPE(1), n, &range, OUT(0)))            \
  X(logical_rules_create, tsr_logical_rules_create(&(tsr_logical_rule){0}, n, OUT(0)))           \
  X(logical_to_mesh_axes, tsr_logical_to_mesh_axes(NAMES(n), w->logical, OUT(0), OUT(1)))        \
  X(logical_add_axis, tsr_logical_add_axis(NAMES(n), 0, "z", OUT(0)))                            \
  X(logical_remove_axis, tsr_logical_remove_axis(NAMES(n), 0, "batch", OUT(0)))                  \
  X(logical_constrain, tsr_logical_constrain(NAMES(n), w->logical, w->mesh, 0, OUT(0)))          \
  X(logical_from_sharding_rules, tsr_logical_from_sharding_rules(NAMES(n), w->logical, OUT(0)))  \
  X(logical_get_pspec, tsr_logical_get_pspec(NAMES(n), w->logical, OUT(0)))                      \
  X(logical_shard_value, tsr_logical_shard_value(NAMES(n), w->logical, w->mesh, OUT(0), OUT(1))) \
  X(axes_resolve_spec, tsr_axes_resolve_spec(w->axes, NULL, NAMES(n), TSR_MODE_TRAIN, OUT(0)))   \
  X(pool_run, tsr_pool_run(tsr_comm_pool(w->comm), n, fail_always, NULL))                        \
  X(placements_to_spec,                                                                          \
    tsr_placements_to_spec(&(tsr_placements){.count = n}, w->mesh, 2, NULL, OUT(0)))             \
  X(t5x_get_mesh,                                                                                \
    tsr_t5x_get_mesh(w->topology, &(tsr_hardware_mesh){.count = n}, 0, false, OUT(0)))           \
  X(mesh_create, mesh_of(w, n, 0))                                                               \
  X(mesh_create_devices, mesh_of(w, 1, n))                                                       \
  X(mesh_groups, tsr_mesh_groups(w->mesh, data_axis, n, OUT(0)))                                 \
  X(mesh_axes_size, tsr_mesh_axes_size(w->mesh, data_axis, n, OUT(0)))                           \
  X(mesh_axes_index, tsr_mesh_axes_index(w->mesh, 0, data_axis, n, OUT(0)))                      \
  X(chunker_shard_id, tsr_chunker_shard_id(w->chunker, 0, data_axis, n, OUT(0)))                 \
  X(chunker_replica_id, tsr_chunker_replica_id(w->chunker, 0, data_axis, n, OUT(0)))             \
  X(mesh_flatten, tsr_mesh_flatten(w->mesh, data_axis, n, "all", OUT(0)))                        \
  X(mesh_transpose, tsr_mesh_transpose(w->mesh, data_axis, n, OUT(0)))                           \
  X(mesh_collective_cost,                                                                        \
    tsr_mesh_collective_cost(w->mesh, TSR_COLLECTIVE_ALL_GATHER, data_axis, n, 1, OUT(0)))       \
  X(mesh_collective_cost_bytes,                                                                  \
    tsr_mesh_collective_cost(w->mesh, TSR_COLLECTIVE_ALL_GATHER, data_axis, 1, n, OUT(0)))       \
  X(mesh_search, tsr_mesh_search(w->topology, &x_axis, n, NULL, OUT(0), OUT(1)))                 \
  X(mesh_with_types, tsr_mesh_with_types(w->mesh, &(tsr_axis_type){0}, n, OUT(0)))               \
  X(jax_make_mesh, tsr_jax_make_mesh(w->topology, &x_axis, n, false, OUT(0)))                    \
  X(eformer_create_mesh_names, eformer_mesh(w, n, 0, 0))                                         \
  X(eformer_create_mesh_dims, eformer_mesh(w, 0, n, 0))                                          \
  X(eformer_create_mesh_types, eformer_mesh(w, 0, 0, n))                                         \
  X(plan_analyze, tsr_plan_analyze(w->plan, data_axis, n, SIZED(0, tsr_analysis)))               \
  X(plan_auto, plan_auto(w, n))                                                                  \
  X(plan_fit, plan_fit(w, n))                                                                    \
  X(plan_check, plan_check(w, n))                                                                \
  X(program_refine, tsr_program_refine(w->program, TSR_SHAPE(8), n, OUT(0)))                     \
  X(program_partition_specs, partition(w, n, 0, 0))                                              \
  X(program_partition_donated, partition(w, 0, n, 0))                                            \
  X(program_partition_statics, partition(w, 0, 0, n))                                            \
  X(program_propagate, propagate(w, n))                                                          \
  X(rules_create, tsr_rules_create(&(tsr_rule){0}, n, OUT(0)))                                   \
  X(rules_parse_facts, parse_rules(w, n, 0, 0))                                                  \
  X(rules_parse_kept, parse_rules(w, 0, n, 0))                                                   \
  X(rules_parse_renamed, parse_rules(w, 0, 0, n))                                                \
  X(map_apply, map_apply(w, n))                                                                  \
  X(spec_create_dims, spec_of(w, n, 1, 1, 0))                                                    \
  X(spec_create_stages, spec_of(w, 1, n, 1, 0))                                                  \
  X(spec_create_axes, spec_of(w, 1, 1, n, 0))                                                    \
  X(spec_create_unreduced, spec_of(w, 1, 1, 1, n))                                               \
  X(topology_create, topology_of(w, n))                                                          \
  X(tree_create, tsr_tree_create(&(tsr_tensor){.path = "x", .dtype = TSR_F32}, n, OUT(0)))       \
  X(load_create, load_some(w, n))                                                                \
  X(save_create, save_some(w, n, 0))                                                             \
  X(save_create_metadata, save_some(w, 0, n))                                                    \
  X(transform_create, transform_some(w, n))

static tsr_status fail_always(void *context, int64_t index, int worker) {
  (void)context, (void)worker;
  return tsr_fail(NOT_FOUND, "task %lld was run", (long long)index);
}

static tsr_status propagate(world *w, int n) {
  const tsr_value_constraint constraint = {"%x", "x"};
  tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
  options.constraints = &constraint;
  options.constraint_count = n;
  return tsr_program_propagate(w->program, &options, OUT(0));
}

static tsr_status partition(world *w, int specs, int donated, int statics) {
  static const float zeros[8] = {0};
  const tsr_value_constraint spec = {"%arg0", "x"};
  const tsr_static_argument value = {"%arg0", TSR_F32, TSR_SHAPE(8), zeros};
  const char *const name = "%arg0";
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  options.specs = &spec;
  options.spec_count = specs;
  options.donated = &name;
  options.donated_count = donated;
  options.statics = &value;
  options.static_count = statics;
  return tsr_program_partition(w->program, &options, OUT(0));
}

static const tsr_layout *const *other(world *w) { return (const tsr_layout *const *)&w->other; }

static const void *const *ins(world *w) {
  static const void *in[8];
  for (int d = 0; d < 8; d++) in[d] = w->host;
  return in;
}

static void *const *outs(world *w) {
  static void *out[8];
  for (int d = 0; d < 8; d++) out[d] = (char *)OUT(0) + (ptrdiff_t)64 * d;
  return out;
}

static tsr_status mesh_of(world *w, int axes, int devices) {
  const tsr_mesh_desc desc = {.size = sizeof desc,
                              .axis_count = axes,
                              .axes = &x_axis,
                              .device_count = devices,
                              .devices = members};
  return tsr_mesh_create(&desc, OUT(0));
}

static tsr_status eformer_mesh(world *w, int names, int dims, int types) {
  const tsr_eformer_mesh_options options = {.size = sizeof options,
                                            .axis_dims = members,
                                            .axis_dim_count = dims,
                                            .axis_names = data_axis,
                                            .axis_name_count = names,
                                            .axis_types = &(tsr_axis_type){0},
                                            .axis_type_count = types};
  return tsr_eformer_create_mesh(w->topology, &options, OUT(0));
}

static tsr_status plan_auto(world *w, int n) {
  const tsr_auto_options options = {.size = sizeof options, .names = data_axis, .name_count = n};
  return tsr_plan_auto(w->tree, w->mesh, &options, OUT(0));
}

static tsr_status plan_fit(world *w, int n) {
  const tsr_fit_options options = {.size = sizeof options, .names = data_axis, .name_count = n};
  return tsr_plan_fit(w->tree, w->mesh, &options, OUT(0), NULL);
}

static tsr_status plan_check(world *w, int n) {
  const tsr_check_options options = {
      .size = sizeof options, .facts = &(tsr_fact){.name = "a"}, .fact_count = n};
  return tsr_plan_check(w->plan, &options, OUT(0));
}

static tsr_status parse_rules(world *w, int facts, int kept, int renamed) {
  const tsr_rules_options options = {.size = sizeof options,
                                     .facts = &(tsr_fact){.name = "a"},
                                     .fact_count = facts,
                                     .keep_axes = data_axis,
                                     .keep_axis_count = kept,
                                     .rename_axes = data_axis,
                                     .rename_axis_count = renamed};
  return tsr_rules_parse(".* -> ()\n", "rules", &options, OUT(0));
}

static tsr_status map_apply(world *w, int n) {
  tsr_map *map = NULL;
  const tsr_map_options options = {
      .size = sizeof options, .facts = &(tsr_fact){.name = "a"}, .fact_count = n};
  assert_ok(tsr_map_parse("c = a\n", "map", &map));
  tsr_status status = tsr_map_apply(map, w->tree, &options, OUT(0));
  tsr_map_release(map);
  return status;
}

static tsr_status spec_of(world *w, int dims, int stages, int axes, int unreduced) {
  const tsr_axis_ref axis = {.name = "x"};
  const tsr_stage stage = {.axis_count = axes, .axes = &axis};
  const tsr_spec_dim dim = {.stage_count = stages, .stages = &stage};
  const tsr_spec_desc desc = {.size = sizeof desc,
                              .dim_count = dims,
                              .dims = &dim,
                              .unreduced = &axis,
                              .unreduced_count = unreduced};
  return tsr_spec_create(&desc, OUT(0));
}

static tsr_status topology_of(world *w, int n) {
  const tsr_device device = {.id = 0, .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  const tsr_topology_desc desc = {
      .size = sizeof desc, .kind = "cpu", .device_count = n, .devices = &device};
  return tsr_topology_create(&desc, OUT(0));
}

static tsr_status load_some(world *w, int n) {
  const tsr_load_options options = {
      .size = sizeof options, .include = data_axis, .include_count = n};
  return tsr_load_create(w->checkpoint, w->plan, w->comm, &options, OUT(0));
}

static tsr_status save_some(world *w, int n, int metadata) {
  const tsr_save_options options = {.size = sizeof options,
                                    .exclude = data_axis,
                                    .exclude_count = n,
                                    .metadata = &(tsr_metadata){"key", "value"},
                                    .metadata_count = metadata};
  return tsr_save_create(w->arrays, test_folder_path(&w->folder, "s"), w->comm, &options, OUT(0));
}

static tsr_status transform_some(world *w, int n) {
  const tsr_transform_options options = {
      .size = sizeof options, .casts = &(tsr_cast_rule){"a", TSR_BF16}, .cast_count = n};
  return tsr_transform_create(w->checkpoint, test_folder_path(&w->folder, "t"), &options, OUT(0));
}

#define CALL(name, call) \
  static tsr_status call_##name(world *w, int n) { return (void)w, call; }
CALLS(CALL)
#undef CALL

static void counts_below_zero_are_refused(void **state) {
  world *w = *state;
  static const struct {
    const char *name;
    count_fn *call;
  } rows[] = {
#define ROW(name, call) {#name, call_##name},
      CALLS(ROW)
#undef ROW
  };
  int failures = 0;
  for (size_t r = 0; r < COUNT_OF(rows); r++) {
    const int bad[] = {-1, INT_MIN};
    for (size_t b = 0; b < COUNT_OF(bad); b++)
      failures += world_judge(w, rows[r].name, bad[b], rows[r].call(w, bad[b]));
  }
  if (failures) fail_msg("%d calls do not keep the contract", failures);
}

int suite_counts(void);
int suite_counts(void) {
  const struct CMUnitTest tests[] = {TEST(counts_below_zero_are_refused)};
  return cmocka_run_group_tests_name("counts", tests, world_set_up, world_tear_down);
}
