// Programs partitioned for a mesh: specs by name, what is asked of them, and what is refused.
#include <string.h>

#include "partitioned/step_programs.h"
#include "support/test.h"
#include "tessera/compat/flax.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/own.h"

static void specs_by_name_decide_the_layouts(void **state) {
  (void)state;
  TSR_OWN(partitioned, step);
  TSR_OWN(text, text);
  static const struct {
    const char *name, *path, *spec;
    bool donated;
    int64_t aliased;
  } wanted[ARGUMENT_COUNT] = {{"params['w']", "params/w", "_, model", true, RESULT_W},
                              {"params['b']", "params/b", "model", true, RESULT_B},
                              {"x", "x", "data, _", false, -1},
                              {"rate", "rate", "()", false, -1}};
  step = step_on("data=2,model=4");
  for (int64_t i = 0; i < ARGUMENT_COUNT; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    assert_ok(tsr_partitioned_argument(step, i, &value));
    assert_string_equal(value.name, wanted[i].name);
    assert_string_equal(value.path, wanted[i].path);
    assert_string_equal(spec_text(&value, &text), wanted[i].spec);
    assert_int_equal(value.donated, wanted[i].donated);
    assert_int_equal(value.aliased, wanted[i].aliased);
    assert_int_equal(tsr_layout_device_count(value.layout), 8);
  }
  tsr_partitioned_value result = TSR_PARTITIONED_VALUE;
  assert_ok(tsr_partitioned_result(step, RESULT_W, &result));
  assert_string_equal(spec_text(&result, &text), "_, model");
  assert_int_equal(result.aliased, ARGUMENT_W);
}

static void it_says_what_it_costs(void **state) {
  (void)state;
  TSR_OWN(partitioned, step);
  tsr_partitioned_info info = TSR_PARTITIONED_INFO;
  step = step_on("data=2,model=4");
  assert_ok(tsr_partitioned_describe(step, &info));
  assert_int_equal(info.device_count, 8);
  assert_int_equal(tsr_mesh_axis_count(info.mesh), 2);
  assert_int_equal(info.argument_count, ARGUMENT_COUNT);
  assert_int_equal(info.result_count, RESULT_COUNT);
  assert_int_equal(info.argument_bytes, 4 * (INPUTS * 1 + 1 + BATCH / 2 * INPUTS + 1));
  assert_int_equal(info.result_bytes, 4 * (1 + INPUTS * 1 + 1));
  assert_true(info.collective_count > 0);
  assert_true(info.collective_bytes > 0);
}

static void both_programs_can_be_printed(void **state) {
  (void)state;
  TSR_OWN(partitioned, step);
  TSR_OWN(text, before);
  TSR_OWN(text, after);
  step = step_on("data=2,model=4");
  assert_ok(tsr_program_print(tsr_partitioned_lower(step, TSR_LOWERED_WHOLE), NULL, &before));
  assert_ok(tsr_program_print(tsr_partitioned_lower(step, TSR_LOWERED_DEVICE), NULL, &after));
  assert_non_null(strstr(tsr_text_string(&before), "tensor<16x8xf32> {sdy.sharding"));
  assert_non_null(strstr(tsr_text_string(&before), "jax.buffer_donor = true"));
  assert_null(strstr(tsr_text_string(&before), "all_reduce"));
  assert_non_null(strstr(tsr_text_string(&after), "stablehlo.all_reduce"));
  assert_non_null(strstr(tsr_text_string(&after), "tensor<8x8xf32>"));
  assert_null(tsr_partitioned_lower(step, TSR_LOWERED_FORM_COUNT));
}

static void a_mesh_keeps_axes_of_size_one(void **state) {
  (void)state;
  TSR_OWN(partitioned, step);
  tsr_partitioned_info info = TSR_PARTITIONED_INFO;
  step = step_on("data=4,model=1");
  assert_ok(tsr_partitioned_describe(step, &info));
  assert_int_equal(tsr_mesh_axis_count(info.mesh), 2);
  assert_int_equal(info.device_count, 4);
}

static void operands_that_are_gathered_are_listed(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(partitioned, partitioned);
  tsr_partitioned_info info = TSR_PARTITIONED_INFO;
  tsr_partition_fallback fallback = TSR_PARTITION_FALLBACK;
  assert_ok(tsr_program_open("tests/programs/reshape_inner_sharded/program.mlir", NULL, &program));
  assert_ok(tsr_program_partition(program, NULL, &partitioned));
  assert_ok(tsr_partitioned_describe(partitioned, &info));
  assert_int_equal(info.fallback_count, 1);
  assert_ok(tsr_partitioned_fallback_at(partitioned, 0, &fallback));
  assert_string_equal(fallback.op, "stablehlo.reshape");
  assert_string_equal(fallback.axes, "y");
  assert_int_equal(fallback.dim, 1);
  assert_true(fallback.bytes > 0);
  assert_non_null(strstr(fallback.cause, "shards"));
  assert_fails(tsr_partitioned_fallback_at(partitioned, 1, &fallback), INDEX_OUT_OF_RANGE,
               "fallback 1, there are 1");
}

static void the_state_is_what_results_replace(void **state) {
  (void)state;
  static const tsr_value_constraint spec = {"x", "data"};
  TSR_OWN(partitioned, step);
  TSR_OWN(plan, plan);
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  TSR_OWN(partitioned, stateless);
  TSR_OWN(text, text);
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  tsr_plan *none = NULL;
  step = step_on("data=2,model=4");
  assert_ok(tsr_partitioned_state_plan(step, &plan));
  assert_int_equal(tsr_plan_count(plan), 2);
  assert_ok(tsr_spec_print(tsr_plan_find_spec(plan, "params/w"), TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), "_, model");
  program = step_program();
  mesh = mesh_of("data=2");
  options.mesh = mesh;
  options.specs = &spec;
  options.spec_count = 1;
  assert_ok(tsr_program_partition(program, &options, &stateless));
  assert_fails(tsr_partitioned_state_plan(stateless, &none), NOT_FOUND,
               "no result of the program takes the memory of an argument");
}

// JAX names arguments only where it exports them.
static void arguments_without_names_are_called_as_their_results(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(partitioned, step);
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  assert_ok(tsr_program_open("tests/programs/gpt2_train_step_sgd/program.mlir", NULL, &program));
  assert_ok(tsr_program_partition(program, NULL, &step));
  assert_ok(tsr_partitioned_argument(step, 0, &value));
  assert_string_equal(value.name, "[1]['layers'][0]['b1']");
  assert_string_equal(value.path, "1/layers/0/b1");
  assert_ok(tsr_partitioned_argument(step, 29, &value));
  assert_string_equal(value.path, "arg29");
}

// ---- scopes ----

static void the_mesh_and_logical_rules_in_scope_are_used(void **state) {
  (void)state;
  static const tsr_value_constraint specs[] = {{"x", "batch, _"}, {"params['w']", "embed, mlp"}};
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  TSR_OWN(logical_rules, rules);
  TSR_OWN(partitioned, step);
  TSR_OWN(text, text);
  tsr_scope scope = 0, inner = 0;
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  program = step_program();
  mesh = mesh_of("data=2,model=2");
  assert_ok(tsr_logical_rules_parse("batch -> data\nmlp -> model\n", NULL, &rules));
  options.specs = specs;
  options.spec_count = COUNT_OF(specs);
  options.logical = true;
  assert_ok(tsr_mesh_enter(mesh, &scope));
  assert_fails_with(tsr_program_partition(program, &options, &step), BAD_ARGUMENT,
                    "no logical rules are in scope");
  assert_ok(tsr_logical_enter(rules, &inner));
  assert_ok(tsr_program_partition(program, &options, &step));
  tsr_scope_leave(scope);
  assert_ok(tsr_partitioned_argument(step, ARGUMENT_W, &value));
  assert_string_equal(spec_text(&value, &text), "_, model");
  assert_ok(tsr_partitioned_argument(step, ARGUMENT_X, &value));
  assert_string_equal(spec_text(&value, &text), "data, _");
}

// ---- names that begin others ----

static void a_name_may_mean_all_below_it(void **state) {
  (void)state;
  static const tsr_value_constraint specs[] = {{"params", "model"}, {"result[1]", "_"}};
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  TSR_OWN(partitioned, step);
  TSR_OWN(text, text);
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  program = step_program();
  mesh = mesh_of("model=4");
  options.mesh = mesh;
  options.specs = specs;
  options.spec_count = COUNT_OF(specs);
  assert_ok(tsr_program_partition(program, &options, &step));
  assert_ok(tsr_partitioned_argument(step, ARGUMENT_W, &value));
  assert_string_equal(spec_text(&value, &text), "model, _");
  assert_ok(tsr_partitioned_argument(step, ARGUMENT_B, &value));
  assert_string_equal(spec_text(&value, &text), "model");
  assert_ok(tsr_partitioned_result(step, RESULT_B, &value));
  assert_string_equal(spec_text(&value, &text), "_");
}

// ---- refusals ----

static void what_does_not_fit_is_refused_by_name(void **state) {
  (void)state;
  static const struct {
    const char *mesh, *value, *spec, *donated;
    tsr_cause cause;
    const char *part;
  } cases[] = {
      {NULL, NULL, NULL, NULL, TSR_CAUSE_NO_MESH_ACTIVE, "no mesh"},
      {"a=3", "x", "a", NULL, TSR_CAUSE_INDIVISIBLE, "x: "},
      {"a=2", "x", "b", NULL, TSR_CAUSE_UNKNOWN_MESH_AXIS, "axis \"b\" is not in mesh {a=2}"},
      {"a=2", "y", "a", NULL, TSR_CAUSE_NOT_FOUND, "y"},
      {"a=2", NULL, NULL, "parms", TSR_CAUSE_NOT_FOUND, "donated argument \"parms\""},
      {"a=2", "x", NULL, NULL, TSR_CAUSE_BAD_ARGUMENT, "a spec has no text"},
  };
  TSR_OWN(program, program);
  program = step_program();
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(mesh, mesh);
    tsr_partitioned *step = NULL;
    tsr_partition_options options = TSR_PARTITION_OPTIONS;
    const tsr_value_constraint spec = {cases[i].value, cases[i].spec};
    if (cases[i].mesh) mesh = mesh_of(cases[i].mesh);
    options.mesh = mesh;
    options.specs = &spec;
    options.spec_count = cases[i].value ? 1 : 0;
    options.donated = &cases[i].donated;
    options.donated_count = cases[i].donated ? 1 : 0;
    tsr_status status = tsr_program_partition(program, &options, &step);
    assert_non_null(status);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    assert_non_null(strstr(tsr_status_text(status), cases[i].part));
    tsr_status_free(status);
    assert_null(step);
  }
}

static void values_are_counted(void **state) {
  (void)state;
  TSR_OWN(partitioned, step);
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  step = step_on("data=2,model=2");
  assert_fails(tsr_partitioned_argument(step, 4, &value), INDEX_OUT_OF_RANGE,
               "argument 4, the program has 4");
  assert_fails(tsr_partitioned_result(step, -1, &value), INDEX_OUT_OF_RANGE,
               "result -1, the program has 3");
}

static tsr_status partition_in_sweep(void *context) {
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  tsr_partitioned *step = NULL;
  const char *donated = "params";
  const tsr_value_constraint spec = {"params", "model"};
  TSR_OWN(mesh, mesh);
  TSR_TRY(tsr_mesh_parse("model=2", NULL, &mesh));
  options.mesh = mesh;
  options.specs = &spec;
  options.spec_count = 1;
  options.donated = &donated;
  options.donated_count = 1;
  TSR_TRY(tsr_program_partition(context, &options, &step));
  tsr_partitioned_release(step);
  return NULL;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  TSR_OWN(program, program);
  program = step_program();
  test_allocation_sweep(partition_in_sweep, program);
}

SUITE(partitioned, TEST(specs_by_name_decide_the_layouts), TEST(it_says_what_it_costs),
      TEST(both_programs_can_be_printed), TEST(a_mesh_keeps_axes_of_size_one),
      TEST(operands_that_are_gathered_are_listed), TEST(the_state_is_what_results_replace),
      TEST(arguments_without_names_are_called_as_their_results),
      TEST(the_mesh_and_logical_rules_in_scope_are_used), TEST(a_name_may_mean_all_below_it),
      TEST(what_does_not_fit_is_refused_by_name), TEST(values_are_counted),
      TEST(every_allocation_may_fail))
