// Every sized struct that the library is given, from callers with older and newer headers.
#include <stdio.h>
#include <string.h>

#include "element/slice.h"
#include "inspect/inspect_internal.h"
#include "sized_structs/scene.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/eformer_mesh.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "tessera/engine/transport.h"
#include "tessera/own.h"
#include "tessera/program.h"
#include "transfer/transfer_internal.h"

// ---- a call for each ----

// `given` may be NULL or as short or long as it says itself.
#define CALL(name) static tsr_status name(scene *s, const void *given)

CALL(call_chunk) {
  tsr_chunker *chunker = NULL;
  tsr_chunk chunk;
  TSR_TRY(tsr_chunker_create(s->mesh, &chunker));
  tsr_status status = tsr_chunker_local_chunk(chunker, 0, &s->shape, s->spec, given, &chunk);
  tsr_chunker_release(chunker);
  return status;
}

CALL(call_host) {
  float host[8 * 16];
  return tsr_array_gather(s->array, host, sizeof host, given);
}

CALL(call_reshard) {
  tsr_array *moved = NULL;
  TSR_TRY(tsr_array_reshard(s->array, s->columns, given, &moved));
  tsr_array_release(moved);
  return NULL;
}

CALL(call_program) {
  static const char text[] = "func.func @f() {\n  return\n}\n";
  tsr_program *program = NULL;
  (void)s;
  TSR_TRY(tsr_program_read("f", text, sizeof text - 1, given, &program));
  tsr_program_release(program);
  return NULL;
}

CALL(call_compile) {
  tsr_executable *executable = NULL;
  TSR_TRY(tsr_executable_compile(s->program, given, &executable));
  tsr_executable_release(executable);
  return NULL;
}

CALL(call_propagate) {
  TSR_OWN(propagation, propagation);
  return tsr_program_propagate(s->program, given, &propagation);
}

CALL(call_partition) {
  TSR_OWN(partitioned, partitioned);
  return tsr_program_partition(s->program, given, &partitioned);
}

CALL(call_compiled) {
  TSR_OWN(array, argument);
  TSR_OWN(array, result);
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  TSR_TRY(tsr_partitioned_argument(s->partitioned, 0, &value));
  TSR_TRY(tsr_array_zeros(s->comm, value.layout, value.dtype, &argument));
  return tsr_compiled_call(s->compiled, &argument, given, &result);
}

CALL(call_preflight) {
  TSR_OWN(preflight, preflight);
  return tsr_preflight_create(s->propagation, given, &preflight);
}

CALL(call_program_print) {
  TSR_OWN(text, text);
  return tsr_program_print(s->program, given, &text);
}

CALL(call_request) {
  tsr_axes *axes = NULL;
  tsr_spec *spec = NULL;
  (void)s;
  TSR_TRY(tsr_axes_create(NULL, 0, &axes));
  tsr_status status = tsr_axes_resolve_request(axes, NULL, given, &spec);
  tsr_axes_release(axes);
  tsr_spec_release(spec);
  return status;
}

CALL(call_checkpoint) {
  tsr_checkpoint *opened = NULL;
  TSR_TRY(tsr_checkpoint_open(test_folder_path(&s->folder, "model"), given, &opened));
  tsr_checkpoint_release(opened);
  return NULL;
}

CALL(call_buffer_pool) {
  (void)s;
  tsr_buffer_pool *pool = NULL;
  TSR_TRY(tsr_buffer_pool_create(given, &pool));
  tsr_buffer_pool_release(pool);
  return NULL;
}

CALL(call_comm) {
  tsr_comm *comm = NULL;
  (void)s;
  TSR_TRY(tsr_comm_create(2, given, &comm));
  tsr_comm_release(comm);
  return NULL;
}

static tsr_status exchange_nothing(tsr_comm *comm, const tsr_exchange *parts, int64_t part_count) {
  (void)comm, (void)parts, (void)part_count;
  return NULL;
}

static tsr_status reduce_nothing(tsr_comm *comm, const tsr_reduce_job *job) {
  (void)comm, (void)job;
  return NULL;
}

static const tsr_engine idle = {
    .size = sizeof idle, .name = "idle", .exchange = exchange_nothing, .reduce = reduce_nothing};
static const int64_t two_devices[] = {0, 2};
static const tsr_engine_desc idle_desc = {
    .size = sizeof idle_desc, .engine = &idle, .rank_count = 1, .first_devices = two_devices};

CALL(call_engine_desc) {
  tsr_comm *comm = NULL;
  (void)s;
  TSR_TRY(tsr_comm_create_with_engine(given, NULL, &comm));
  tsr_comm_release(comm);
  return NULL;
}

CALL(call_engine) {
  tsr_engine_desc desc = idle_desc;
  desc.engine = given;
  return call_engine_desc(s, &desc);
}

CALL(call_fsck) {
  tsr_fsck *report = NULL;
  TSR_TRY(tsr_fsck_run(test_folder_path(&s->folder, "model"), given, &report));
  tsr_fsck_destroy(report);
  return NULL;
}

CALL(call_inspect) {
  tsr_inspection *listing = NULL;
  TSR_TRY(tsr_inspection_create(s->checkpoint, given, &listing));
  tsr_inspection_destroy(listing);
  return NULL;
}

CALL(call_values) {
  tsr_slice slice;
  tsr_text text = TSR_TEXT_EMPTY;
  TSR_TRY(tsr_slice_parse("0, 0", &s->shape, &slice));
  tsr_status status = tsr_checkpoint_print_values(s->checkpoint, 0, &slice, given, &text);
  tsr_text_deinit(&text);
  return status;
}

CALL(call_load) {
  tsr_array_tree *loaded = NULL;
  TSR_TRY(tsr_checkpoint_load(s->checkpoint, s->plan, s->comm, given, &loaded));
  tsr_array_tree_release(loaded);
  return NULL;
}

CALL(call_save) {
  tsr_save *save = NULL;
  TSR_TRY(tsr_save_create(s->state, test_folder_path(&s->folder, "again"), s->comm, given, &save));
  tsr_save_destroy(save);
  return NULL;
}

CALL(call_transform) {
  tsr_transform *job = NULL;
  const char *path = test_folder_path(&s->folder, "other");
  TSR_TRY(tsr_transform_create(s->checkpoint, path, given, &job));
  tsr_transform_destroy(job);
  return NULL;
}

CALL(call_verify) {
  tsr_verification *result = NULL;
  TSR_TRY(tsr_checkpoint_verify(s->checkpoint, s->checkpoint, given, &result));
  tsr_verification_destroy(result);
  return NULL;
}

CALL(call_map) {
  tsr_mapping *mapping = NULL;
  TSR_TRY(tsr_map_apply(s->map, s->tree, given, &mapping));
  tsr_mapping_release(mapping);
  return NULL;
}

CALL(call_mesh) {
  tsr_mesh *mesh = NULL;
  (void)s;
  TSR_TRY(tsr_mesh_create(given, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

CALL(call_jax_mesh) {
  tsr_device_array array;
  TSR_TRY(tsr_jax_create_device_mesh(s->topology, (int64_t[]){4, 2}, 2, given, &array, NULL));
  tsr_device_array_deinit(&array);
  return NULL;
}

CALL(call_t5x_mesh) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_t5x_default_mesh(s->topology, given, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

CALL(call_eformer_mesh) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_eformer_create_mesh(s->topology, given, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

CALL(call_partitioner) {
  tsr_partitioner *partitioner = NULL;
  TSR_TRY(tsr_partitioner_create(s->topology, given, &partitioner));
  tsr_partitioner_release(partitioner);
  return NULL;
}

CALL(call_data_layout) {
  tsr_data_layout layout;
  return tsr_partitioner_data_layout(s->partitioner, 0, 8, given, &layout);
}

CALL(call_move) {
  tsr_array_tree *moved = NULL;
  tsr_partitioner_set_params_on_devices(s->partitioner, false);
  TSR_TRY(tsr_partitioner_move_params(s->partitioner, s->state, s->plan, given, &moved));
  tsr_array_tree_release(moved);
  return NULL;
}

CALL(call_place) {
  tsr_array *placed = NULL;
  TSR_TRY(tsr_array_constrain(s->array, s->spec, s->mesh, given, &placed, NULL));
  tsr_array_release(placed);
  return NULL;
}

CALL(call_match) {
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_plan_match(s->tree, s->mesh, s->rules, given, &plan));
  tsr_plan_release(plan);
  return NULL;
}

CALL(call_check) {
  tsr_findings findings;
  TSR_TRY(tsr_plan_check(s->plan, given, &findings));
  tsr_findings_deinit(&findings);
  return NULL;
}

CALL(call_auto) {
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_plan_auto(s->tree, s->mesh, given, &plan));
  tsr_plan_release(plan);
  return NULL;
}

CALL(call_fit) {
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_plan_fit(s->tree, s->mesh, given, &plan, NULL));
  tsr_plan_release(plan);
  return NULL;
}

CALL(call_rules) {
  tsr_rules *rules = NULL;
  (void)s;
  TSR_TRY(tsr_rules_parse("w -> x", "rules", given, &rules));
  tsr_rules_release(rules);
  return NULL;
}

CALL(call_sequence) {
  tsr_sequence *sequence = NULL;
  TSR_TRY(tsr_sequence_create(s->by_rows, s->by_columns, &s->shape, TSR_F32, given, &sequence));
  tsr_sequence_release(sequence);
  return NULL;
}

CALL(call_spec) {
  tsr_spec *spec = NULL;
  (void)s;
  TSR_TRY(tsr_spec_create(given, &spec));
  tsr_spec_release(spec);
  return NULL;
}

CALL(call_correct) {
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_correct(s->spec, s->mesh, &s->shape, given, &spec, NULL));
  tsr_spec_release(spec);
  return NULL;
}

CALL(call_topology) {
  tsr_topology *topology = NULL;
  (void)s;
  TSR_TRY(tsr_topology_create(given, &topology));
  tsr_topology_release(topology);
  return NULL;
}

CALL(call_copy_plan) {
  tsr_copy_plan *plan = NULL;
  TSR_TRY(tsr_copy_plan_create(s->rows, s->columns, given, &plan));
  tsr_copy_plan_release(plan);
  return NULL;
}

// ---- programs that are built ----

typedef void build_fn(tsr_builder *b, tsr_node x, const void *given);

// A builder keeps what is wrong until it is finished.
static tsr_status build(build_fn *call, const void *given) {
  TSR_OWN(builder, b);
  TSR_OWN(program, program);
  TSR_TRY(tsr_builder_create(NULL, &b));
  call(b, tsr_build_parameter(b, "x", TSR_F32, TSR_SHAPE(1, 2, 2, 1), NULL), given);
  return tsr_builder_finish(b, &program);
}

static void build_attention(tsr_builder *b, tsr_node x, const void *given) {
  (void)tsr_build_attention(b, x, x, x, given);
}
static void build_convolution(tsr_builder *b, tsr_node x, const void *given) {
  (void)tsr_build_convolution(b, x, tsr_build_splat(b, TSR_F32, TSR_SHAPE(1, 1, 1, 1), 1), given);
}
static void build_dot(tsr_builder *b, tsr_node x, const void *given) {
  (void)tsr_build_dot_general(b, x, x, given);
}
static void build_op(tsr_builder *b, tsr_node x, const void *given) {
  (void)tsr_build_op(b, "tanh", &x, 1, given);
}
static void build_output(tsr_builder *b, tsr_node x, const void *given) {
  tsr_build_output(b, x, "y", given);
}
static void build_parameter(tsr_builder *b, tsr_node x, const void *given) {
  (void)x;
  (void)tsr_build_parameter(b, "y", TSR_F32, TSR_SHAPE(2), given);
}
static void give_back(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)b, (void)context;
  results[0] = args[0];
}
static void build_scan(tsr_builder *b, tsr_node x, const void *given) {
  tsr_node stacked;
  tsr_build_scan(b, NULL, 0, &x, 1, 1, give_back, NULL, given, &stacked);
}

#define CALL_OF_BUILDER(name)  \
  CALL(call_##name) {          \
    (void)s;                   \
    return build(name, given); \
  }
CALL_OF_BUILDER(build_attention)
CALL_OF_BUILDER(build_convolution)
CALL_OF_BUILDER(build_dot)
CALL_OF_BUILDER(build_op)
CALL_OF_BUILDER(build_output)
CALL_OF_BUILDER(build_parameter)
CALL_OF_BUILDER(build_scan)

// ---- the table ----

static const tsr_logical_entry request_entries[] = {{.kind = TSR_ENTRY_NONE}};
static const tsr_logical_names request_names = {1, request_entries, NULL};
static const tsr_axes_request request = {
    .size = sizeof request, .names = &request_names, .mode = {.kind = TSR_MODE_FIXED}};
static const tsr_device device = {.slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
static const tsr_topology_desc machine = {
    .size = sizeof machine, .kind = "cpu", .device_count = 1, .devices = &device};
static const tsr_partitioner_options in_four = {.size = sizeof in_four, .num_partitions = 4};

typedef tsr_status call_fn(scene *s, const void *given);

// NULL `good` = all defaults, of which any beginning is as good. Otherwise `needed` bytes of it
// are.
static const struct {
  const char *name;
  size_t size, needed;
  const void *good;
  call_fn *call;
} rows[] = {
// clang-format off
#define ROW(type, call) {#type, sizeof(type), 0, NULL, call}
#define ROW_OF(type, good, last, call) \
  {#type, sizeof(type), offsetof(type, last) + sizeof((good)->last), good, \
   call}
    ROW(tsr_attention_options, call_build_attention),
    ROW(tsr_auto_options, call_auto),
    ROW_OF(tsr_axes_request, &request, mode, call_request),
    ROW(tsr_check_options, call_check),
    ROW(tsr_checkpoint_options, call_checkpoint),
    ROW(tsr_call_options, call_compiled),
    ROW(tsr_chunk_options, call_chunk),
    ROW(tsr_buffer_pool_options, call_buffer_pool),
    ROW(tsr_comm_options, call_comm),
    ROW(tsr_convolution_options, call_build_convolution),
    ROW(tsr_copy_plan_options, call_copy_plan),
    ROW(tsr_correct_options, call_correct),
    ROW(tsr_compile_options, call_compile),
    ROW(tsr_data_layout_options, call_data_layout),
    ROW(tsr_dot_options, call_build_dot),
    ROW(tsr_eformer_mesh_options, call_eformer_mesh),
    ROW_OF(tsr_engine, &idle, reduce, call_engine),
    ROW_OF(tsr_engine_desc, &idle_desc, first_devices, call_engine_desc),
    ROW(tsr_fit_options, call_fit),
    ROW(tsr_fsck_options, call_fsck),
    ROW(tsr_host_options, call_host),
    ROW(tsr_inspect_options, call_inspect),
    ROW(tsr_jax_mesh_options, call_jax_mesh),
    ROW(tsr_load_options, call_load),
    ROW(tsr_map_options, call_map),
    ROW(tsr_match_options, call_match),
    ROW(tsr_mesh_desc, call_mesh),
    ROW_OF(tsr_move_options, (const tsr_move_options *)NULL, comm, call_move),
    ROW(tsr_op_options, call_build_op),
    ROW(tsr_output_options, call_build_output),
    ROW(tsr_parameter_options, call_build_parameter),
    ROW(tsr_partition_options, call_partition),
    ROW_OF(tsr_partitioner_options, &in_four, num_partitions, call_partitioner),
    ROW(tsr_place_options, call_place),
    ROW(tsr_preflight_options, call_preflight),
    ROW(tsr_program_options, call_program),
    ROW(tsr_program_print_options, call_program_print),
    ROW(tsr_propagate_options, call_propagate),
    ROW(tsr_reshard_options, call_reshard),
    ROW(tsr_rules_options, call_rules),
    ROW(tsr_save_options, call_save),
    ROW(tsr_scan_options, call_build_scan),
    ROW(tsr_sequence_options, call_sequence),
    ROW(tsr_spec_desc, call_spec),
    ROW(tsr_t5x_mesh_options, call_t5x_mesh),
    ROW_OF(tsr_topology_desc, &machine, devices, call_topology),
    ROW(tsr_transform_options, call_transform),
    ROW(tsr_values_options, call_values),
    ROW(tsr_verify_options, call_verify),
    // clang-format on
};

// A struct of row `row` that is `size` bytes long and says so.
static fenced give(const scene *s, size_t row, size_t size) {
  fenced f = fence(size < sizeof size ? sizeof size : size);
  const size_t known = size < rows[row].size ? size : rows[row].size;
  if (rows[row].good) memcpy(f.at, rows[row].good, known);
  // The comm of a move is no constant.
  if (rows[row].needed && !rows[row].good && known >= rows[row].needed)
    memcpy((char *)f.at + offsetof(tsr_move_options, comm), &s->comm, sizeof s->comm);
  memcpy(f.at, &size, sizeof size);
  return f;
}

static void assert_taken(scene *s, size_t row, size_t size) {
  const fenced f = give(s, row, size);
  const tsr_status status = rows[row].call(s, f.at);
  if (status) fail_msg("%s of %zu bytes: %s", rows[row].name, size, tsr_status_text(status));
  unfence(f);
}

static void assert_refused(scene *s, size_t row, fenced f, const char *message) {
  test_assert_fails_with(rows[row].call(s, f.at), TSR_CAUSE_BAD_ARGUMENT, message, __FILE__,
                         __LINE__);
  unfence(f);
}

static void each_row(void (*look)(scene *s, size_t row)) {
  scene s;
  scene_make(&s);
  for (size_t i = 0; i < COUNT_OF(rows); i++) look(&s, i);
  scene_free(&s);
}

// Options may be NULL; descriptions and requests may not.
static void look_at_null(scene *s, size_t row) {
  if (!strstr(rows[row].name, "_options")) return;
  tsr_status status = rows[row].call(s, NULL);
  if (status && !rows[row].needed)
    fail_msg("%s: NULL is refused: %s", rows[row].name, tsr_status_text(status));
  tsr_status_free(status);
}

static void look_at_shorter(scene *s, size_t row) {
  const size_t least = rows[row].needed ? rows[row].needed : sizeof(size_t);
  for (size_t size = (least + 7) / 8 * 8; size <= rows[row].size; size += 8)
    assert_taken(s, row, size);
}

static void look_at_longer(scene *s, size_t row) {
  assert_taken(s, row, rows[row].size + 8);
  assert_taken(s, row, rows[row].size + 256);
  static const size_t places[] = {0, 7, 8, 255};
  for (size_t i = 0; i < COUNT_OF(places); i++) {
    char message[96];
    const fenced f = give(s, row, rows[row].size + 256);
    ((char *)f.at)[rows[row].size + places[i]] = 1;
    snprintf(message, sizeof message, "%s has size %zu and a field set at byte %zu", rows[row].name,
             rows[row].size + 256, rows[row].size + places[i]);
    assert_refused(s, row, f, message);
  }
}

static void look_at_no_size(scene *s, size_t row) {
  static const size_t sizes[] = {0, 1, 7, SIZE_MAX};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    char message[96];
    const fenced f = give(s, row, rows[row].size);
    memcpy(f.at, &sizes[i], sizeof sizes[i]);
    snprintf(message, sizeof message, "%s has size %zu, wanted %zu: initialise it with TSR_",
             rows[row].name, sizes[i], rows[row].size);
    assert_refused(s, row, f, message);
  }
}

static void null_is_all_defaults(void **state) {
  (void)state;
  each_row(look_at_null);
}

static void structs_of_older_callers_are_taken_and_not_read_past(void **state) {
  (void)state;
  each_row(look_at_shorter);
}

static void structs_of_newer_callers_are_taken_if_they_end_in_zeros(void **state) {
  (void)state;
  each_row(look_at_longer);
}

static void structs_without_a_size_are_refused(void **state) {
  (void)state;
  each_row(look_at_no_size);
}

// For an older caller, who knows the number of partitions only.
static tsr_status partition(void *context) {
  const size_t size = offsetof(tsr_partitioner_options, model_parallel_submesh);
  const fenced f = fence(size);
  memcpy(f.at, &in_four, size);
  memcpy(f.at, &size, sizeof size);
  tsr_status status = call_partitioner(context, f.at);
  unfence(f);
  return status;
}

static void older_callers_survive_every_failing_allocation(void **state) {
  (void)state;
  scene s;
  scene_make(&s);
  test_allocation_sweep(partition, &s);
  scene_free(&s);
}

SUITE(sized_given, TEST(null_is_all_defaults),
      TEST(structs_of_older_callers_are_taken_and_not_read_past),
      TEST(structs_of_newer_callers_are_taken_if_they_end_in_zeros),
      TEST(structs_without_a_size_are_refused),
      TEST(older_callers_survive_every_failing_allocation))
