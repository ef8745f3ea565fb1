// Functions, arguments, results and meshes as callers see them.
#include <string.h>

#include "support/test.h"
#include "tessera/own.h"
#include "tessera/program.h"

static tsr_program *open_program(const char *path) {
  tsr_program *program = NULL;
  assert_ok(tsr_program_open(path, NULL, &program));
  return program;
}

static void assert_spec(const tsr_program_value *value, const char *wanted) {
  TSR_OWN(text, text);
  assert_non_null(value->spec);
  assert_ok(tsr_spec_print(value->spec, TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), wanted);
}

static void arguments_have_names_types_specs_and_donation(void **state) {
  (void)state;
  TSR_OWN(program, program);
  tsr_program_value value = TSR_PROGRAM_VALUE;
  program = open_program("tests/programs/exported_sharded_2x4_donated/exported.bin");
  const int64_t entry = tsr_program_entry(program);
  assert_ok(tsr_program_argument(program, entry, 0, &value));
  assert_string_equal(value.name, "w");
  assert_string_equal(value.type, "tensor<16x16xf32>");
  assert_int_equal(value.dtype, TSR_F32);
  assert_int_equal(value.shape.rank, 2);
  assert_int_equal(value.shape.dims[1], 16);
  assert_spec(&value, "_, y");
  assert_string_equal(value.mesh, "mesh");
  assert_false(value.donated);
  assert_int_equal(value.aliased, -1);
  assert_ok(tsr_program_argument(program, entry, 1, &value));
  assert_true(value.donated);
  assert_int_equal(value.aliased, 0);
  assert_ok(tsr_program_result(program, entry, 1, &value));
  assert_string_equal(value.name, "result[1]");
  assert_int_equal(value.aliased, -1);
}

static void names_of_arguments_follow_the_source(void **state) {
  (void)state;
  static const struct {
    const char *path, *name;
  } cases[] = {
      {"tests/programs/add_sharded/program.mlir", "arg0"},
      {"tests/programs/add_sharded/program.mlirbc", "a[0]"},
      {"tests/programs/exported_unsharded_named_donated/exported.bin", "params['b']"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TSR_OWN(program, program);
    tsr_program_value value = TSR_PROGRAM_VALUE;
    program = open_program(cases[i].path);
    assert_ok(tsr_program_argument(program, tsr_program_entry(program), 0, &value));
    assert_string_equal(value.name, cases[i].name);
  }
}

static void shardings_of_xla_are_given_as_text(void **state) {
  (void)state;
  TSR_OWN(program, program);
  tsr_program_value value = TSR_PROGRAM_VALUE;
  program = open_program("tests/programs/mlp_gspmd_annotations/program.mlir");
  assert_ok(tsr_program_argument(program, tsr_program_entry(program), 0, &value));
  assert_null(value.spec);
  assert_int_equal(value.sharding[0], '{');
}

static void meshes_are_ours(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  program = open_program("tests/programs/mesh_two_meshes/program.mlir");
  assert_int_equal(tsr_program_mesh_count(program), 3);
  assert_string_equal(tsr_program_mesh_name(program, 0), "mesh");
  assert_null(tsr_program_mesh_name(program, 3));
  assert_ok(tsr_program_mesh_at(program, 0, &mesh));
  assert_true(tsr_mesh_device_count(mesh) > 1);
}

static void functions_are_listed_and_found(void **state) {
  (void)state;
  TSR_OWN(program, program);
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  program = open_program("tests/programs/composite_op/program.mlir");
  const int64_t count = tsr_program_function_count(program);
  assert_true(count > 1);
  assert_int_equal(tsr_program_find_function(program, "main"), tsr_program_entry(program));
  assert_int_equal(tsr_program_find_function(program, "no such"), -1);
  assert_ok(tsr_program_function_at(program, tsr_program_entry(program), &function));
  assert_string_equal(function.name, "main");
  assert_true(function.is_public);
  assert_false(function.declared);
  assert_ok(tsr_program_function_at(program, count - 1, &function));
  assert_false(function.is_public);
}

static void a_program_without_a_vjp_says_so(void **state) {
  (void)state;
  TSR_OWN(program, program);
  tsr_program *vjp = NULL;
  program = open_program("tests/programs/exported_prng_keys/exported.bin");
  tsr_status status = tsr_program_vjp(program, &vjp);
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_NOT_FOUND);
  tsr_status_free(status);
}

static void platforms_of_an_export_are_listed(void **state) {
  (void)state;
  TSR_OWN(program, program);
  tsr_program_info info = TSR_PROGRAM_INFO;
  program = open_program("tests/programs/exported_multi_platform/exported.bin");
  assert_ok(tsr_program_describe(program, &info));
  assert_int_equal(info.platform_count, 3);
  assert_string_equal(info.platforms[0], "cpu");
  assert_string_equal(info.platforms[1], "tpu");
  assert_string_equal(info.platforms[2], "cuda");
}

static void a_vjp_is_a_program_that_outlives_its_file(void **state) {
  (void)state;
  TSR_OWN(program, vjp);
  tsr_program *program = open_program("tests/fuzz/seeds/export/unused_with_vjp");
  tsr_program_info info = TSR_PROGRAM_INFO;
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  assert_ok(tsr_program_vjp(program, &vjp));
  tsr_program_release(program);
  assert_ok(tsr_program_describe(vjp, &info));
  assert_int_equal(info.form, TSR_PROGRAM_EXPORT);
  assert_ok(tsr_program_function_at(vjp, tsr_program_entry(vjp), &function));
  assert_true(function.argument_count > 0 && function.op_count > 0);
}

static void what_is_not_there_is_refused_by_number(void **state) {
  (void)state;
  TSR_OWN(program, program);
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  tsr_program_value value = TSR_PROGRAM_VALUE;
  tsr_program_print_options options = TSR_PROGRAM_PRINT_OPTIONS;
  tsr_mesh *mesh = NULL;
  tsr_program *made = NULL;
  TSR_OWN(text, text);
  program = open_program("tests/programs/add_sharded/program.mlir");
  assert_fails(tsr_program_function_at(program, 1, &function), INDEX_OUT_OF_RANGE,
               "function 1, expected 0 to 0");
  assert_fails(tsr_program_function_at(program, -1, &function), INDEX_OUT_OF_RANGE,
               "function -1, expected 0 to 0");
  assert_fails(tsr_program_argument(program, 0, 2, &value), INDEX_OUT_OF_RANGE,
               "argument 2, expected 0 to 1");
  assert_fails(tsr_program_result(program, 0, -1, &value), INDEX_OUT_OF_RANGE,
               "result -1, expected 0 to 0");
  assert_fails(tsr_program_mesh_at(program, 1, &mesh), INDEX_OUT_OF_RANGE,
               "mesh 1, expected 0 to 0");
  assert_fails(tsr_program_refine(program, NULL, -1, &made), BAD_ARGUMENT,
               "-1 shapes, expected 0 to 2147483647");
  assert_fails(tsr_program_refine(program, NULL, 2, &made), BAD_ARGUMENT,
               "2 shapes, but they are NULL");
  assert_fails(tsr_program_read("t", NULL, 7, NULL, &made), BAD_ARGUMENT,
               "program t has 7 bytes, but they are NULL");
  options.elide_elements = -1;
  assert_fails(tsr_program_print(program, &options, &text), BAD_ARGUMENT,
               "elide_elements is -1, expected 0 or more");
}

static void a_rank_beyond_ours_is_refused(void **state) {
  static const char text[] =
      "func.func @main(%a: "
      "tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1"
      "x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) {\nreturn\n}\n";
  tsr_program *program = NULL;
  (void)state;
  assert_fails(tsr_program_read("t", text, strlen(text), NULL, &program), TOO_LARGE,
               "arg0 has rank 68, expected at most 32");
}

SUITE(program_values, TEST(arguments_have_names_types_specs_and_donation),
      TEST(names_of_arguments_follow_the_source), TEST(shardings_of_xla_are_given_as_text),
      TEST(meshes_are_ours), TEST(functions_are_listed_and_found),
      TEST(a_program_without_a_vjp_says_so), TEST(platforms_of_an_export_are_listed),
      TEST(a_vjp_is_a_program_that_outlives_its_file), TEST(what_is_not_there_is_refused_by_number),
      TEST(a_rank_beyond_ours_is_refused))
