// Static arguments: bound and folded when the program is partitioned.
#include <string.h>

#include "partitioned/step_programs.h"
#include "support/test.h"
#include "tessera/own.h"

// Of two branches the index chooses one; the bool stays a plain operand.
static const char branches[] =
    "func.func @main(%x: tensor<8xf32> loc(\"x\"), %index: tensor<i32> loc(\"index\"), "
    "%flag: tensor<2xi1> loc(\"flag\")) -> (tensor<8xf32>, tensor<2xi1>) {\n"
    "  %0 = \"stablehlo.case\"(%index) ({\n"
    "    %1 = stablehlo.negate %x : tensor<8xf32>\n"
    "    stablehlo.return %1 : tensor<8xf32>\n"
    "  }, {\n"
    "    %1 = stablehlo.add %x, %x : tensor<8xf32>\n"
    "    stablehlo.return %1 : tensor<8xf32>\n"
    "  }) : (tensor<i32>) -> tensor<8xf32>\n"
    "  return %0, %flag : tensor<8xf32>, tensor<2xi1>\n}\n";

static tsr_status partition(const tsr_static_argument *statics, int64_t count,
                            tsr_partitioned **out_step) {
  static const tsr_value_constraint spec = {"x", "a"};
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  program = program_of(branches);
  mesh = mesh_of("a=2");
  options.mesh = mesh;
  options.specs = &spec;
  options.spec_count = 1;
  options.statics = statics;
  options.static_count = count;
  return tsr_program_partition(program, &options, out_step);
}

static void a_static_argument_is_folded_away(void **state) {
  (void)state;
  static const int32_t one = 1;
  static const uint8_t flags[] = {7, 0};
  const tsr_static_argument statics[] = {{"flag", TSR_BOOL, TSR_SHAPE(2), flags},
                                         {"%arg1", TSR_I32, NULL, &one}};
  TSR_OWN(partitioned, step);
  TSR_OWN(text, text);
  TSR_OWN(comm, comm);
  TSR_OWN(compiled, run);
  tsr_partitioned_info info = TSR_PARTITIONED_INFO;
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  float x[8];
  uint8_t given_back[2];
  tsr_array *input = NULL, *outputs[2] = {NULL};
  assert_ok(partition(statics, COUNT_OF(statics), &step));
  assert_ok(tsr_partitioned_describe(step, &info));
  assert_int_equal(info.argument_count, 1);
  assert_ok(tsr_program_print(tsr_partitioned_lower(step, TSR_LOWERED_WHOLE), NULL, &text));
  assert_null(strstr(tsr_text_string(&text), "case"));
  assert_null(strstr(tsr_text_string(&text), "negate"));
  for (int i = 0; i < 8; i++) x[i] = (float)i;
  comm = comm_of(2);
  assert_ok(tsr_partitioned_compile(step, comm, NULL, &run));
  assert_ok(tsr_partitioned_argument(step, 0, &value));
  assert_string_equal(value.name, "x");
  assert_ok(tsr_array_shard(comm, value.layout, value.dtype, x, NULL, &input));
  assert_ok(tsr_compiled_call(run, &input, NULL, outputs));
  assert_ok(tsr_array_gather(outputs[0], x, sizeof x, NULL));
  for (int i = 0; i < 8; i++) assert_true(x[i] == (float)(2 * i));
  assert_ok(tsr_array_gather(outputs[1], given_back, sizeof given_back, NULL));
  assert_int_equal(given_back[0], 1);
  assert_int_equal(given_back[1], 0);
  tsr_array_release(input);
  release_arrays(outputs, 2);
}

static void wrong_static_arguments_are_refused_by_name(void **state) {
  (void)state;
  static const int32_t one = 1;
  const struct {
    tsr_static_argument first, second;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {{"index", TSR_F32, NULL, &one},
       {0},
       TSR_CAUSE_BAD_ARGUMENT,
       "static argument \"index\": its value is f32 (), expected tensor<i32>"},
      {{"index", TSR_I32, TSR_SHAPE(1), &one},
       {0},
       TSR_CAUSE_BAD_ARGUMENT,
       "static argument \"index\": its value is i32 (1,), expected tensor<i32>"},
      {{"index", TSR_I32, NULL, NULL},
       {0},
       TSR_CAUSE_BAD_ARGUMENT,
       "static argument \"index\": data is NULL"},
      {{"index", TSR_I32, NULL, &one},
       {"index", TSR_I32, NULL, &one},
       TSR_CAUSE_BAD_ARGUMENT,
       "static argument \"index\" is given twice"},
      {{"inedx", TSR_I32, NULL, &one},
       {0},
       TSR_CAUSE_NOT_FOUND,
       "static argument \"inedx\": the program has 3 arguments, and none has this name or begins "
       "with it; did you mean \"index\"?"},
      {{NULL, TSR_I32, NULL, &one}, {0}, TSR_CAUSE_BAD_ARGUMENT, "static argument has no name"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_static_argument statics[] = {cases[i].first, cases[i].second};
    tsr_partitioned *step = NULL;
    test_assert_fails(partition(statics, cases[i].second.argument ? 2 : 1, &step), cases[i].cause,
                      cases[i].message, __FILE__, __LINE__);
    assert_null(step);
  }
}

static void one_value_is_not_for_several_arguments(void **state) {
  (void)state;
  static const float zero = 0;
  const tsr_static_argument both = {"params", TSR_F32, NULL, &zero};
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  tsr_partitioned *step = NULL;
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  program = step_program();
  mesh = mesh_of("a=2");
  options.mesh = mesh;
  options.statics = &both;
  options.static_count = 1;
  assert_fails(tsr_program_partition(program, &options, &step), BAD_ARGUMENT,
               "static argument \"params\" means 2 arguments, expected one for a value");
}

// jax.export for several platforms adds an argument: the number of the platform.
static void the_platform_of_an_export_is_bound(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  TSR_OWN(partitioned, step);
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  tsr_partitioned_info info = TSR_PARTITIONED_INFO;
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  assert_ok(
      tsr_program_open("tests/programs/exported_multi_platform/exported.bin", NULL, &program));
  assert_ok(tsr_program_function_at(program, tsr_program_entry(program), &function));
  mesh = mesh_of("a=2");
  options.mesh = mesh;
  assert_ok(tsr_program_partition(program, &options, &step));
  assert_ok(tsr_partitioned_describe(step, &info));
  assert_int_equal(info.argument_count, function.argument_count - 1);
  options.platform = "abacus";
  tsr_partitioned *none = NULL;
  assert_fails_with(tsr_program_partition(program, &options, &none), NOT_FOUND, "not for abacus");
}

SUITE(static_values, TEST(a_static_argument_is_folded_away),
      TEST(wrong_static_arguments_are_refused_by_name),
      TEST(one_value_is_not_for_several_arguments), TEST(the_platform_of_an_export_is_bound))
