// Every function that takes an enum value, by itself or in a struct, and returns a status refuses
// one that is not listed, and leaves its outputs as they were.
#include <limits.h>

#include "advice/plan_auto_internal.h"
#include "array/array_internal.h"
#include "contract/world.h"
#include "element/dtype_internal.h"
#include "file/npy_internal.h"
#include "mesh/mesh_internal.h"
#include "rules/axes_internal.h"
#include "rules/logical_internal.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/npy.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/placer.h"
#include "tessera/compat/torch.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/topology.h"
#include "transfer/transfer_internal.h"

typedef tsr_status enum_fn(world *w, int value);

#define OUT(place) world_out(w, place)
#define SIZED(place, type) world_sized_out(w, place, sizeof(type))

static tsr_status fill(void *context, const tsr_local_shard *part, void *data) {
  (void)context, (void)part, (void)data;
  return NULL;
}

static const int64_t members[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const tsr_groups groups = {.count = 4, .size = 2, .members = members};
static const char *const data_axis[] = {"data"};

// ---- the calls: name, a value past the last one, the call ----

#define CALLS(X)                                                                                  \
  X(program_propagate, TSR_PROPAGATE_BASIC_FIRST + 1, propagate_by(w, v))                         \
  X(array_zeros, TSR_DTYPE_COUNT, tsr_array_zeros(w->comm, w->layout, (tsr_dtype)v, OUT(0)))      \
  X(array_empty, TSR_DTYPE_COUNT, tsr_array_empty(w->comm, w->layout, (tsr_dtype)v, OUT(0)))      \
  X(array_shard, TSR_DTYPE_COUNT,                                                                 \
    tsr_array_shard(w->comm, w->layout, (tsr_dtype)v, w->host, NULL, OUT(0)))                     \
  X(array_put, TSR_DTYPE_COUNT,                                                                   \
    tsr_array_put(w->comm, w->mesh, "data", TSR_SHAPE(8), (tsr_dtype)v, w->host, OUT(0)))         \
  X(array_load_npy, TSR_DTYPE_COUNT, load_npy_as(w, v))                                           \
  X(array_from_host_local, TSR_DTYPE_COUNT,                                                       \
    tsr_array_from_host_local(w->comm, w->layout, (tsr_dtype)v, w->host, NULL, OUT(0)))           \
  X(array_from_buffers, TSR_DTYPE_COUNT,                                                          \
    tsr_array_from_buffers(w->comm, w->layout, (tsr_dtype)v, (tsr_buffer *[8]){NULL}, OUT(0)))    \
  X(placements_kind, TSR_PLACEMENT_PARTIAL + 1, placed_as(w, v, TSR_REDUCE_SUM))                  \
  X(placements_reduction, TSR_SPEC_REDUCTION_COUNT, placed_as(w, TSR_PLACEMENT_PARTIAL, v))       \
  X(array_generate, TSR_DTYPE_COUNT,                                                              \
    tsr_array_generate(w->comm, w->layout, (tsr_dtype)v, fill, NULL, OUT(0)))                     \
  X(convert_from, TSR_DTYPE_COUNT, tsr_convert((tsr_dtype)v, w->host, TSR_F32, OUT(0), 1))        \
  X(convert_to, TSR_DTYPE_COUNT, tsr_convert(TSR_F32, w->host, (tsr_dtype)v, OUT(0), 1))          \
  X(dtype_bytes, TSR_DTYPE_COUNT, tsr_dtype_bytes((tsr_dtype)v, 1, OUT(0)))                       \
  X(shape_bytes, TSR_DTYPE_COUNT, tsr_shape_bytes(TSR_SHAPE(2), (tsr_dtype)v, OUT(0)))            \
  X(copy_plan_certify, TSR_DTYPE_COUNT,                                                           \
    tsr_copy_plan_certify(w->copy_plan, (tsr_dtype)v, SIZED(0, tsr_certificate)))                 \
  X(relabel, TSR_DTYPE_COUNT, tsr_relabel(w->copy_plan, (tsr_dtype)v, SIZED(0, tsr_relabelling))) \
  X(sequence_create, TSR_DTYPE_COUNT,                                                             \
    tsr_sequence_create(w->sharding, w->other_sharding, TSR_SHAPE(8, 16), (tsr_dtype)v, NULL,     \
                        OUT(0)))                                                                  \
  X(sequence_create_method, TSR_SEQUENCE_METHOD_COUNT, sequence_by(w, v))                         \
  X(memory_rule_spec, TSR_DTYPE_COUNT,                                                            \
    tsr_memory_rule_spec(TSR_SHAPE(8), (tsr_dtype)v, w->mesh, 1, NULL, 0, OUT(0), OUT(1)))        \
  X(tree_create, TSR_DTYPE_COUNT,                                                                 \
    tsr_tree_create(&(tsr_tensor){.path = "x", .dtype = (tsr_dtype)v}, 1, OUT(0)))                \
  X(array_tree_create_dtype, TSR_DTYPE_COUNT, leaf_of(w, TSR_LEAF_SHAPE, (tsr_dtype)v))           \
  X(array_tree_create_kind, TSR_LEAF_SHAPE + 1, leaf_of(w, (tsr_leaf_kind)v, TSR_F32))            \
  X(comm_all_gather, TSR_DTYPE_COUNT,                                                             \
    tsr_comm_all_gather(w->comm, &groups, (tsr_dtype)v, 1, 1, ins(w), outs(w)))                   \
  X(comm_all_reduce, TSR_DTYPE_COUNT,                                                             \
    tsr_comm_all_reduce(w->comm, &groups, (tsr_dtype)v, TSR_REDUCE_SUM, 1, ins(w), outs(w)))      \
  X(comm_all_reduce_op, TSR_REDUCTION_COUNT,                                                      \
    tsr_comm_all_reduce(w->comm, &groups, TSR_F32, (tsr_reduction)v, 1, ins(w), outs(w)))         \
  X(comm_reduce_scatter, TSR_REDUCTION_COUNT,                                                     \
    tsr_comm_reduce_scatter(w->comm, &groups, TSR_F32, (tsr_reduction)v, 1, 1, ins(w), outs(w)))  \
  X(comm_permute, TSR_DTYPE_COUNT,                                                                \
    tsr_comm_permute(w->comm, &(tsr_pair){0, 1}, 1, (tsr_dtype)v, 1, ins(w), outs(w)))            \
  X(comm_broadcast, TSR_DTYPE_COUNT,                                                              \
    tsr_comm_broadcast(w->comm, &groups, 0, (tsr_dtype)v, 1, ins(w), outs(w)))                    \
  X(layout_create, TSR_POLICY_COUNT,                                                              \
    tsr_layout_create(w->sharding, TSR_SHAPE(8, 16), (tsr_policy)v, OUT(0)))                      \
  X(plan_match, TSR_POLICY_COUNT, match_by(w, v))                                                 \
  X(placer_create, TSR_POLICY_COUNT, place_by(w, v))                                              \
  X(array_constrain, TSR_POLICY_COUNT, constrain_by(w, v))                                        \
  X(mesh_create, TSR_AXIS_MANUAL + 1, mesh_of(w, v))                                              \
  X(mesh_with_types, TSR_AXIS_MANUAL + 1,                                                         \
    tsr_mesh_with_types(w->mesh, &(tsr_axis_type){(tsr_axis_type)v}, 1, OUT(0)))                  \
  X(axes_zip, TSR_AXIS_MANUAL + 1,                                                                \
    tsr_axes_zip(data_axis, 1, &(int64_t){2}, 1, &(tsr_axis_type){(tsr_axis_type)v}, 1, OUT(0)))  \
  X(mesh_collective_cost, TSR_COLLECTIVE_COUNT,                                                   \
    tsr_mesh_collective_cost(w->mesh, (tsr_collective)v, data_axis, 1, 1, OUT(0)))                \
  X(topology_create, TSR_PLATFORM_COUNT, topology_of(w, v))                                       \
  X(spec_parse, TSR_FORM_SHARDY + 1, tsr_spec_parse("x", (tsr_spec_form)v, OUT(0)))               \
  X(spec_print, TSR_FORM_SHARDY + 1, print_as(w, v))                                              \
  X(spec_create_stage, TSR_STAGE_PARTS + 1, spec_of(w, v, TSR_REDUCE_SUM))                        \
  X(spec_create_reduction, TSR_SPEC_REDUCTION_COUNT, spec_of(w, TSR_STAGE_EVEN, v))               \
  X(logical_names_init, TSR_ENTRY_UNCONSTRAINED + 1,                                              \
    tsr_logical_names_init(OUT(0), &(tsr_logical_entry){.kind = (tsr_entry_kind)v}, 1))           \
  X(logical_constrain, TSR_FALLBACK_NO_CONSTRAINT + 1, constrain_logical(w, v))                   \
  X(axes_create, TSR_FIELD_COUNT,                                                                 \
    tsr_axes_create(&(tsr_field_value){.field = (tsr_axis_field)v}, 1, OUT(0)))                   \
  X(axes_resolve, TSR_MODE_COUNT,                                                                 \
    tsr_axes_resolve(w->axes, NULL, &(tsr_logical_names){0, NULL, NULL}, (tsr_mode)v, OUT(0)))    \
  X(axes_resolve_request, TSR_MODE_BY_DIM + 1, resolve_request(w, v, TSR_MODE_TRAIN))             \
  X(axes_resolve_request_mode, TSR_MODE_COUNT, resolve_request(w, TSR_MODE_FIXED, v))             \
  X(array_reshard, TSR_RESHARD_METHOD_COUNT, reshard_by(w, v))                                    \
  X(checkpoint_open, TSR_FORMAT_COUNT, open_as(w, v, TSR_DTYPE_NONE))                             \
  X(checkpoint_open_dtype, TSR_DTYPE_COUNT, open_as(w, TSR_FORMAT_ANY, v))                        \
  X(load_create, TSR_DTYPE_COUNT, load_as(w, v, 0))                                               \
  X(load_replicas, TSR_REPLICAS_COMPARE + 1, load_as(w, TSR_DTYPE_NONE, v))                       \
  X(transform_replicas, TSR_REPLICAS_COMPARE + 1, transform_comparing(w, v))                      \
  X(verify_replicas, TSR_REPLICAS_COMPARE + 1, verify_comparing(w, v))                            \
  X(transform_format, TSR_FORMAT_COUNT, transform_to(w, v, TSR_DTYPE_NONE, 0))                    \
  X(transform_dtype, TSR_DTYPE_COUNT, transform_to(w, TSR_FORMAT_ANY, v, 0))                      \
  X(transform_existing, TSR_EXISTING_RESUME + 1,                                                  \
    transform_to(w, TSR_FORMAT_ANY, TSR_DTYPE_NONE, v))                                           \
  X(save_format, TSR_FORMAT_COUNT, save_to(w, v, TSR_DTYPE_NONE, 0))                              \
  X(save_dtype, TSR_DTYPE_COUNT, save_to(w, TSR_FORMAT_ANY, v, 0))                                \
  X(save_existing, TSR_EXISTING_RESUME + 1, save_to(w, TSR_FORMAT_ANY, TSR_DTYPE_NONE, v))

// The file is there: its elements are compared with what is wanted.
static tsr_status load_npy_as(world *w, int dtype) {
  static const float elements[8 * 16] = {0};
  const char *path = test_folder_path(&w->folder, "elements.npy");
  assert_ok(tsr_npy_write(path, TSR_F32, TSR_SHAPE(8, 16), false, elements));
  return tsr_array_load_npy(w->comm, w->layout, path, (tsr_dtype)dtype, OUT(0));
}

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

static tsr_status propagate_by(world *w, int v) {
  tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
  options.strategy = (tsr_propagate_strategy)v;
  return tsr_program_propagate(w->program, &options, OUT(0));
}

static tsr_status sequence_by(world *w, int v) {
  const tsr_sequence_options options = {.size = sizeof options, .method = (tsr_sequence_method)v};
  return tsr_sequence_create(w->sharding, w->other_sharding, TSR_SHAPE(8, 16), TSR_F32, &options,
                             OUT(0));
}

static tsr_status leaf_of(world *w, tsr_leaf_kind kind, tsr_dtype dtype) {
  const tsr_leaf leaf = {.tensor = tsr_tensor_of("x", dtype, TSR_SHAPE(4)), .kind = kind};
  return tsr_array_tree_create(&leaf, 1, OUT(0));
}

static tsr_status match_by(world *w, int v) {
  const tsr_match_options options = {.size = sizeof options, .policy = (tsr_policy)v};
  return tsr_plan_match(w->tree, w->mesh, w->rules, &options, OUT(0));
}

static tsr_status place_by(world *w, int v) {
  const tsr_place_options options = {.size = sizeof options, .policy = (tsr_policy)v};
  return tsr_placer_create(w->plan, &options, OUT(0));
}

static tsr_status constrain_by(world *w, int v) {
  const tsr_place_options options = {.size = sizeof options, .policy = (tsr_policy)v};
  return tsr_array_constrain(w->array, w->other_spec, w->mesh, &options, OUT(0),
                             SIZED(1, tsr_place_report));
}

static tsr_status mesh_of(world *w, int v) {
  const tsr_axis axis = {"x", 2, (tsr_axis_type)v};
  const tsr_mesh_desc desc = {.size = sizeof desc, .axis_count = 1, .axes = &axis};
  return tsr_mesh_create(&desc, OUT(0));
}

static tsr_status topology_of(world *w, int v) {
  const tsr_device device = {.id = 0, .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = (tsr_platform)v,
                                  .kind = "cpu",
                                  .device_count = 1,
                                  .devices = &device};
  return tsr_topology_create(&desc, OUT(0));
}

static tsr_status print_as(world *w, int v) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = tsr_spec_print(w->spec, (tsr_spec_form)v, &text);
  tsr_text_deinit(&text);
  return status;
}

static tsr_status spec_of(world *w, int kind, int reduction) {
  const tsr_axis_ref axis = {.name = "x"};
  const tsr_stage stage = {.kind = (tsr_stage_kind)kind, .axis_count = 1, .axes = &axis};
  const tsr_spec_dim dim = {.stage_count = 1, .stages = &stage};
  const tsr_spec_desc desc = {
      .size = sizeof desc, .dim_count = 1, .dims = &dim, .reduction = (tsr_reduction)reduction};
  return tsr_spec_create(&desc, OUT(0));
}

static tsr_status constrain_logical(world *w, int v) {
  const tsr_logical_entry name = TSR_LOGICAL_NAME("batch");
  return tsr_logical_constrain(&(tsr_logical_names){1, &name, NULL}, w->logical, w->mesh,
                               (tsr_fallback)v, OUT(0));
}

static tsr_status resolve_request(world *w, int kind, int mode) {
  const tsr_logical_names names = {0, NULL, NULL};
  const tsr_axes_request request = {.size = sizeof request,
                                    .names = &names,
                                    .mode = {.kind = (tsr_mode_kind)kind, .mode = (tsr_mode)mode},
                                    .shape = TSR_SHAPE(4, 4)};
  return tsr_axes_resolve_request(w->axes, NULL, &request, OUT(0));
}

static tsr_status reshard_by(world *w, int v) {
  const tsr_reshard_options options = {.size = sizeof options, .method = (tsr_reshard_method)v};
  return tsr_array_reshard(w->array, w->other, &options, OUT(0));
}

static tsr_status open_as(world *w, int format, int dtype) {
  const tsr_checkpoint_options options = {.size = sizeof options,
                                          .format = (tsr_checkpoint_format)format,
                                          .fallback_dtype = (tsr_dtype)dtype};
  return tsr_checkpoint_open(tsr_checkpoint_path(w->checkpoint), &options, OUT(0));
}

static tsr_status load_as(world *w, int dtype, int replicas) {
  const tsr_load_options options = {
      .size = sizeof options, .dtype = (tsr_dtype)dtype, .replicas = (tsr_replicas)replicas};
  return tsr_load_create(w->checkpoint, w->plan, w->comm, &options, OUT(0));
}

static tsr_status transform_to(world *w, int format, int dtype, int existing) {
  const tsr_transform_options options = {.size = sizeof options,
                                         .format = (tsr_checkpoint_format)format,
                                         .dtype = (tsr_dtype)dtype,
                                         .existing = (tsr_existing)existing};
  return tsr_transform_create(w->checkpoint, test_folder_path(&w->folder, "t"), &options, OUT(0));
}

static tsr_status transform_comparing(world *w, int v) {
  const tsr_transform_options options = {.size = sizeof options, .replicas = (tsr_replicas)v};
  return tsr_transform_create(w->checkpoint, test_folder_path(&w->folder, "t"), &options, OUT(0));
}

static tsr_status verify_comparing(world *w, int v) {
  const tsr_verify_options options = {.size = sizeof options, .replicas = (tsr_replicas)v};
  return tsr_checkpoint_verify(w->checkpoint, w->checkpoint, &options, OUT(0));
}

static tsr_status save_to(world *w, int format, int dtype, int existing) {
  const tsr_save_options options = {.size = sizeof options,
                                    .format = (tsr_checkpoint_format)format,
                                    .dtype = (tsr_dtype)dtype,
                                    .existing = (tsr_existing)existing};
  return tsr_save_create(w->arrays, test_folder_path(&w->folder, "s"), w->comm, &options, OUT(0));
}

static tsr_status placed_as(world *w, int kind, int reduction) {
  const tsr_placements placements = {
      2, {{.kind = (tsr_placement_kind)kind, .reduction = (tsr_reduction)reduction}}};
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_placements_print(&placements, &text);  // names no reduction that is not listed
  tsr_text_deinit(&text);
  return tsr_placements_to_spec(&placements, w->mesh, 2, NULL, OUT(0));
}

#define CALL(name, count, call) \
  static tsr_status call_##name(world *w, int v) { return (void)w, call; }
CALLS(CALL)
#undef CALL

static void values_that_are_not_listed_are_refused(void **state) {
  world *w = *state;
  static const struct {
    const char *name;
    int count;
    enum_fn *call;
  } rows[] = {
#define ROW(name, count, call) {#name, (int)(count), call_##name},
      CALLS(ROW)
#undef ROW
  };
  int failures = 0;
  for (size_t r = 0; r < COUNT_OF(rows); r++) {
    const int bad[] = {-1, rows[r].count, INT_MAX, INT_MIN};
    for (size_t b = 0; b < COUNT_OF(bad); b++)
      failures += world_judge(w, rows[r].name, bad[b], rows[r].call(w, bad[b]));
  }
  if (failures) fail_msg("%d calls do not keep the contract", failures);
}

int suite_enums(void);
int suite_enums(void) {
  const struct CMUnitTest tests[] = {TEST(values_that_are_not_listed_are_refused)};
  return cmocka_run_group_tests_name("enums", tests, world_set_up, world_tear_down);
}
