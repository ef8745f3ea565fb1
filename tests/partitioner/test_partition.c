// A train step through the front door: partitioned, compiled, called, saved and restored.
#include <stdlib.h>
#include <string.h>

#include "partitioner/partitioners.h"
#include "support/folder.h"
#include "support/test.h"
#include "tessera/compat/flax.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/engine/buffer.h"
#include "tessera/own.h"
#include "tessera/program.h"

enum { ROWS = 8, COLUMNS = 16, ELEMENTS = ROWS * COLUMNS };

// w, x -> w + x, with x constrained by logical axes inside.
static tsr_program *build_step(void) {
  TSR_OWN(builder, b);
  tsr_program *program = NULL;
  assert_ok(tsr_builder_create("step", &b));
  const tsr_node w = tsr_build_parameter(b, "params['w']", TSR_F32, TSR_SHAPE(ROWS, COLUMNS), NULL);
  const tsr_node x = tsr_build_parameter(b, "x", TSR_F32, TSR_SHAPE(ROWS, COLUMNS), NULL);
  const tsr_node cut = tsr_build_constrain_logical(b, x, "batch, mlp");
  tsr_build_output(b, tsr_build_add(b, w, cut), "result['w']", NULL);
  assert_ok(tsr_builder_finish(b, &program));
  return program;
}

static tsr_partitioner *of_two(void) {
  const tsr_partitioner_options options = partitioner_options(2);
  return partitioner_of("gpu:1x4", &options);
}

static tsr_status partition(const tsr_partitioner *partitioner, tsr_partitioned **out_step) {
  static const tsr_value_constraint specs[] = {{"params", "embed, mlp"}, {"out0", "embed, mlp"}};
  static const char *const donated[] = {"params"};
  TSR_OWN(program, program);
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  program = build_step();
  options.specs = specs;
  options.spec_count = COUNT_OF(specs);
  options.logical = true;
  options.donated = donated;
  options.donated_count = COUNT_OF(donated);
  return tsr_partitioner_partition(partitioner, program, &options, out_step);
}

static void assert_spec(const tsr_partitioned_value *value, const char *wanted) {
  TSR_OWN(text, text);
  assert_ok(tsr_spec_print(value->spec, TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), wanted);
}

static void logical_axes_are_mapped_by_the_partitioners_rules(void **state) {
  (void)state;
  TSR_OWN(partitioner, partitioner);
  TSR_OWN(partitioned, step);
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  tsr_partitioned_info info = TSR_PARTITIONED_INFO;
  partitioner = of_two();
  assert_ok(partition(partitioner, &step));
  assert_null(tsr_mesh_current());
  assert_null(tsr_logical_current());
  assert_ok(tsr_partitioned_describe(step, &info));
  assert_ptr_equal(info.mesh, tsr_partitioner_mesh(partitioner));
  assert_ok(tsr_partitioned_argument(step, 0, &value));
  assert_spec(&value, "_, model");
  assert_int_equal(value.aliased, 0);
}

static void what_is_in_scope_stays(void **state) {
  (void)state;
  TSR_OWN(partitioner, partitioner);
  TSR_OWN(partitioned, step);
  TSR_OWN(mesh, mine);
  tsr_scope scope = 0;
  partitioner = of_two();
  assert_ok(tsr_mesh_parse("mine=2", NULL, &mine));
  assert_ok(tsr_mesh_enter(mine, &scope));
  assert_ok(partition(partitioner, &step));
  assert_ptr_equal(tsr_mesh_current(), mine);
  tsr_scope_leave(scope);
}

static void refusals_leave_no_scope(void **state) {
  (void)state;
  static const tsr_value_constraint spec = {"nothing", "embed"};
  TSR_OWN(partitioner, partitioner);
  TSR_OWN(partitioner, nowhere);
  TSR_OWN(program, program);
  TSR_OWN(mesh, other);
  tsr_partitioned *step = NULL;
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  const tsr_partitioner_options two = partitioner_options(2);
  partitioner = of_two();
  program = build_step();
  options.specs = &spec;
  options.spec_count = 1;
  options.logical = true;
  assert_fails_with(tsr_partitioner_partition(partitioner, program, &options, &step), NOT_FOUND,
                    "nothing");
  assert_null(tsr_mesh_current());
  assert_ok(tsr_mesh_parse("data=4", NULL, &other));
  options.mesh = other;
  assert_fails(tsr_partitioner_partition(partitioner, program, &options, &step), BAD_ARGUMENT,
               "mesh {data=4} is given, expected the partitioner's {data=2,model=2} or none");
  nowhere = partitioner_of(NULL, &two);
  assert_fails(tsr_partitioner_partition(nowhere, program, NULL, &step), NO_MESH_ACTIVE,
               "the partitioner was made without a machine, so it has no mesh");
}

// ---- scopes inside of calls ----

typedef struct seen_scopes {
  const tsr_mesh *mesh;
  const tsr_logical_rules *rules;
} seen_scopes;

static void *look_around(void *context, int64_t bytes, int64_t alignment) {
  seen_scopes *seen = context;
  seen->mesh = tsr_mesh_current();
  seen->rules = tsr_logical_current();
  return aligned_alloc((size_t)alignment,
                       (size_t)((bytes + alignment - 1) / alignment * alignment));
}

static void give_back(void *context, void *block, int64_t bytes) {
  (void)context, (void)bytes;
  free(block);
}

static tsr_comm *watched_comm(seen_scopes *seen) {
  TSR_OWN(buffer_pool, pool);
  tsr_comm *comm = NULL;
  tsr_buffer_pool_options memory = TSR_BUFFER_POOL_OPTIONS;
  tsr_comm_options options = TSR_COMM_OPTIONS;
  memory.keep_none = true;
  memory.allocate = look_around;
  memory.release = give_back;
  memory.context = seen;
  assert_ok(tsr_buffer_pool_create(&memory, &pool));
  options.workers = 1;
  options.buffers = pool;
  assert_ok(tsr_comm_create(4, &options, &comm));
  return comm;
}

static void put_argument(const tsr_partitioned *step, tsr_comm *comm, int64_t index, float first,
                         tsr_array **out_array) {
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  float data[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++) data[i] = first + (float)i;
  assert_ok(tsr_partitioned_argument(step, index, &value));
  assert_ok(tsr_array_shard(comm, value.layout, TSR_F32, data, NULL, out_array));
}

static void calls_enter_the_mesh_and_the_rules(void **state) {
  (void)state;
  seen_scopes seen = {0};
  TSR_OWN(partitioner, partitioner);
  TSR_OWN(partitioned, step);
  TSR_OWN(comm, comm);
  TSR_OWN(compiled, run);
  TSR_OWN(array, result);
  tsr_array *arguments[2] = {NULL};
  const tsr_call_options keep = {.size = sizeof keep, .keep = true};
  partitioner = of_two();
  comm = watched_comm(&seen);
  assert_ok(partition(partitioner, &step));
  assert_ok(tsr_partitioned_compile(step, comm, NULL, &run));
  for (int64_t i = 0; i < 2; i++) put_argument(step, comm, i, 0, &arguments[i]);
  assert_null(seen.mesh);
  assert_ok(tsr_compiled_call(run, arguments, &keep, &result));
  assert_ptr_equal(seen.mesh, tsr_partitioner_mesh(partitioner));
  assert_ptr_equal(seen.rules, tsr_partitioner_logical_axis_rules(partitioner));
  assert_null(tsr_mesh_current());
  for (int64_t i = 0; i < 2; i++) tsr_array_release(arguments[i]);
}

// ---- train states ----

static tsr_array_tree *state_of(tsr_array *w) {
  const tsr_leaf leaf = {.tensor.path = "params/w", .kind = TSR_LEAF_ARRAY, .array = w};
  tsr_array_tree *tree = NULL;
  assert_ok(tsr_array_tree_create(&leaf, 1, &tree));
  return tree;
}

static void a_state_is_saved_and_called_on_again(void **state) {
  (void)state;
  TSR_OWN(partitioner, partitioner);
  TSR_OWN(partitioned, step);
  TSR_OWN(comm, comm);
  TSR_OWN(compiled, run);
  TSR_OWN(plan, axes);
  TSR_OWN(array_tree, before);
  TSR_OWN(array_tree, after);
  TSR_OWN(checkpoint, saved);
  TSR_OWN(array, first);
  TSR_OWN(array, second);
  tsr_array *arguments[2] = {NULL};
  test_folder folder;
  float values[ELEMENTS];
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "state");
  partitioner = of_two();
  assert_ok(partition(partitioner, &step));
  assert_ok(tsr_comm_create(4, NULL, &comm));
  assert_ok(tsr_partitioned_compile(step, comm, NULL, &run));
  put_argument(step, comm, 0, 1, &arguments[0]);
  put_argument(step, comm, 1, 2, &arguments[1]);
  assert_ok(tsr_compiled_call(run, arguments, NULL, &first));
  assert_ok(tsr_partitioned_state_plan(step, &axes));
  before = state_of(first);
  assert_ok(tsr_partitioner_save(partitioner, before, axes, path, comm, NULL));
  assert_ok(tsr_checkpoint_open(path, NULL, &saved));
  assert_ok(tsr_partitioner_restore(partitioner, saved, axes, comm, NULL, &after));
  tsr_array_release(arguments[0]);
  assert_ok(tsr_array_tree_get(after, "params/w", &arguments[0]));
  assert_ok(tsr_compiled_call(run, arguments, NULL, &second));
  assert_ok(tsr_array_gather(second, values, sizeof values, NULL));
  for (int i = 0; i < ELEMENTS; i++) assert_true(values[i] == (float)(5 + 3 * i));
  tsr_array_release(arguments[1]);
  test_folder_remove(&folder);
}

// ---- constraints inside ----

static void logical_constraints_are_written_where_rules_are_in_scope(void **state) {
  (void)state;
  TSR_OWN(partitioner, partitioner);
  TSR_OWN(program, program);
  TSR_OWN(program, plain);
  TSR_OWN(text, text);
  TSR_OWN(text, without);
  tsr_scope scope = 0, rules = 0;
  partitioner = of_two();
  assert_ok(tsr_mesh_enter(tsr_partitioner_mesh(partitioner), &scope));
  assert_ok(tsr_logical_enter(tsr_partitioner_logical_axis_rules(partitioner), &rules));
  program = build_step();
  tsr_scope_leave(scope);
  assert_ok(tsr_program_print(program, NULL, &text));
  assert_non_null(strstr(tsr_text_string(&text),
                         "sdy.sharding_constraint %arg1 <@mesh, [{\"data\"}, {\"model\"}]>"));
  plain = build_step();
  assert_ok(tsr_program_print(plain, NULL, &without));
  assert_null(strstr(tsr_text_string(&without), "sdy"));
}

SUITE(partition, TEST(logical_axes_are_mapped_by_the_partitioners_rules),
      TEST(what_is_in_scope_stays), TEST(refusals_leave_no_scope),
      TEST(calls_enter_the_mesh_and_the_rules), TEST(a_state_is_saved_and_called_on_again),
      TEST(logical_constraints_are_written_where_rules_are_in_scope))
