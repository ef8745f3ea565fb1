// A builder's life: functions, parameters, outputs, meshes; what a finished program says.
#include "builder/build.h"

#include "tessera/mesh.h"

static void empty(tsr_builder *b) { (void)b; }

// Made before a sweep, so that only allocations of the builder fail.
static tsr_mesh *mesh;

static void make_mesh(void) {
  const tsr_axis axes[] = {{"data", 2, TSR_AXIS_AUTO}, {"model", 2, TSR_AXIS_AUTO}};
  tsr_mesh_desc desc = TSR_MESH_DESC;
  desc.axis_count = 2;
  desc.axes = axes;
  desc.devices = (int64_t[]){1, 0, 3, 2};
  desc.device_count = 4;
  assert_ok(tsr_mesh_create(&desc, &mesh));
}

static void everything(tsr_builder *b) {
  tsr_build_mesh(b, NULL, mesh);
  tsr_parameter_options cut = TSR_PARAMETER_OPTIONS;
  cut.spec = "data, model";
  cut.donate = true;
  const tsr_node w = tsr_build_parameter(b, "w", TSR_F32, TSR_SHAPE(4, 6), &cut);
  const tsr_node x = tsr_build_parameter(b, "x", TSR_F32, TSR_SHAPE(4, 6), &cut);
  tsr_build_begin_function(b, "twice");
  const tsr_node y = F32(4, 6);
  OUT(tsr_build_add(b, y, y));
  tsr_build_end_function(b);
  tsr_node doubled = TSR_NO_NODE;
  tsr_build_call(b, "twice", &x, 1, &doubled, 1);
  tsr_output_options options = TSR_OUTPUT_OPTIONS;
  options.spec = "_, model";
  options.takes = w;
  tsr_build_output(b, tsr_build_constrain(b, doubled, "?, model"), "doubled", &options);
}

static void an_empty_builder_gives_an_empty_main(void **state) {
  (void)state;
  expect_text(empty,
              "module @m {\n"
              "  func.func public @main() {\n"
              "    return\n"
              "  }\n"
              "}\n");
}

static void functions_have_names_shardings_and_donation(void **state) {
  (void)state;
  make_mesh();
  expect_text(
      everything,
      "module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
      "  sdy.mesh @mesh = <[\"data\"=2, \"model\"=2], device_ids=[1, 0, 3, 2]>\n"
      "  func.func public @main(%arg0: tensor<4x6xf32> {sdy.sharding = "
      "#sdy.sharding<@mesh, [{\"data\"}, {\"model\"}]>, tf.aliasing_output = 0 : "
      "i32}, %arg1: tensor<4x6xf32> {jax.buffer_donor = true, sdy.sharding = "
      "#sdy.sharding<@mesh, [{\"data\"}, {\"model\"}]>}) -> (tensor<4x6xf32> "
      "{jax.result_info = \"doubled\", sdy.sharding = #sdy.sharding<@mesh, [{}, "
      "{\"model\"}]>}) {\n"
      "    %0 = call @twice(%arg1) : (tensor<4x6xf32>) -> tensor<4x6xf32>\n"
      "    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {\"model\"}]> : "
      "tensor<4x6xf32>\n"
      "    return %1 : tensor<4x6xf32>\n"
      "  }\n"
      "  func.func private @twice(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {\n"
      "    %0 = stablehlo.add %arg0, %arg0 : tensor<4x6xf32>\n"
      "    return %0 : tensor<4x6xf32>\n"
      "  }\n"
      "}\n");
  tsr_mesh_release(mesh);
}

static void a_program_says_what_was_built(void **state) {
  (void)state;
  make_mesh();
  tsr_program *program = build_program(everything);
  const int64_t entry = tsr_program_entry(program);
  tsr_program_value w = TSR_PROGRAM_VALUE, x = TSR_PROGRAM_VALUE, y = TSR_PROGRAM_VALUE;
  assert_ok(tsr_program_argument(program, entry, 0, &w));
  assert_ok(tsr_program_argument(program, entry, 1, &x));
  assert_ok(tsr_program_result(program, entry, 0, &y));
  assert_string_equal(w.name, "w");
  assert_string_equal(x.name, "x");
  assert_string_equal(y.name, "doubled");
  assert_int_equal(w.aliased, 0);
  assert_int_equal(x.aliased, -1);
  assert_true(w.donated && x.donated);
  assert_string_equal(x.mesh, "mesh");
  tsr_program_info info = TSR_PROGRAM_INFO;
  assert_ok(tsr_program_describe(program, &info));
  assert_int_equal(info.form, TSR_PROGRAM_BUILT);
  assert_string_equal(info.name, "m");
  assert_int_equal(info.device_count, 4);
  tsr_program_release(program);
  tsr_mesh_release(mesh);
}

static void a_builder_is_finished_once(void **state) {
  (void)state;
  TSR_OWN(builder, b);
  TSR_OWN(program, program);
  assert_ok(tsr_builder_create(NULL, &b));
  assert_ok(tsr_builder_finish(b, &program));
  tsr_program *again = NULL;
  assert_fails(tsr_builder_finish(b, &again), BAD_ARGUMENT, "the builder was finished before");
  // Calls after the end do nothing.
  assert_int_equal(F32(4).id, 0);
  tsr_builder_destroy(NULL);
}

static void a_builder_may_outlive_its_program(void **state) {
  (void)state;
  TSR_OWN(builder, b);
  tsr_program *program = NULL;
  make_mesh();
  assert_ok(tsr_builder_create("m", &b));
  tsr_build_mesh(b, NULL, mesh);
  assert_ok(tsr_builder_finish(b, &program));
  tsr_program_release(program);
  tsr_mesh_release(mesh);
}

static void after_a_failure_nodes_are_scalars_without_dtype(void **state) {
  (void)state;
  TSR_OWN(builder, b);
  TSR_OWN(program, program);
  assert_ok(tsr_builder_create("m", &b));
  const tsr_node x = F32(4, 6);
  assert_int_equal(tsr_build_shape_of(b, x).rank, 2);
  assert_int_equal(tsr_build_dtype_of(b, x), TSR_F32);
  assert_false(tsr_builder_failed(b));
  assert_int_equal(tsr_build_add(b, x, TSR_NO_NODE).id, 0);
  assert_true(tsr_builder_failed(b));
  assert_int_equal(tsr_build_shape_of(b, x).rank, 0);
  assert_int_equal(tsr_build_dtype_of(b, x), TSR_DTYPE_NONE);
  assert_fails(tsr_builder_finish(b, &program), BAD_ARGUMENT, "call 2, add: operand 1 is no value");
}

// ---- allocation sweeps ----

static void add_both(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = results[1] = tsr_build_add(b, args[0], args[1]);
}

static void many_ops(tsr_builder *b) {
  const tsr_node x = F32(3, 4), i = I32(2);
  tsr_node results[2] = {TSR_NO_NODE, TSR_NO_NODE};
  tsr_build_scan(b, LIST(F32(4)), 1, &x, 1, 1, add_both, NULL, NULL, results);
  OUT(tsr_build_einsum(b, "ab,b,ab->a", LIST(results[1], results[0], x), 3));
  OUT(tsr_build_scatter(b, "add", x, i, tsr_build_take(b, x, i, 0), 0));
  tsr_node sorted = TSR_NO_NODE;
  tsr_build_sort(b, &x, 1, 1, NULL, NULL, &sorted);
  OUT(tsr_build_layer_norm(b, sorted, TSR_NO_NODE, TSR_NO_NODE, 1e-5));
  tsr_op_options options = TSR_OP_OPTIONS;
  options.attrs = "dimensions = [0]";
  OUT(tsr_build_op(b, "reverse", &x, 1, &options));
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  build_fn *builds[] = {everything, many_ops};
  make_mesh();
  for (size_t i = 0; i < COUNT_OF(builds); i++) test_allocation_sweep(build_and_print, &builds[i]);
  tsr_mesh_release(mesh);
}

SUITE(builder, TEST(an_empty_builder_gives_an_empty_main),
      TEST(functions_have_names_shardings_and_donation), TEST(a_program_says_what_was_built),
      TEST(a_builder_is_finished_once), TEST(a_builder_may_outlive_its_program),
      TEST(after_a_failure_nodes_are_scalars_without_dtype), TEST(every_allocation_may_fail))
