// Propagation as callers ask for it: the same as the pipeline, on any mesh, for the whole corpus.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insight/insight.h"
#include "support/test.h"
#include "tessera/own.h"
#include "tessera/tessera.h"

#define PLAIN                                                   \
  "func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {\n" \
  "  %0 = stablehlo.negate %x : tensor<8x4xf32>\n"              \
  "  return %0 : tensor<8x4xf32>\n}\n"
#define CUT                                                                                    \
  "sdy.mesh @m = <[\"a\"=2]>\n"                                                                \
  "func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"a\"}, {}]>}) -> " \
  "tensor<8x4xf32> {\n"                                                                        \
  "  %0 = stablehlo.negate %x : tensor<8x4xf32>\n"                                             \
  "  return %0 : tensor<8x4xf32>\n}\n"

static tsr_program *read_program(const char *text) {
  tsr_program *program = NULL;
  assert_ok(tsr_program_read("test", text, strlen(text), NULL, &program));
  return program;
}

// ---- meshes ----

static void a_mesh_is_added_or_replaced(void **state) {
  (void)state;
  static const struct {
    const char *program, *mesh, *constraint, *sharding;
  } cases[] = {
      {PLAIN, "a=4", "a, _", "#sdy.sharding<@mesh, [{\"a\"}, {}]>"},
      {CUT, "a=4096", NULL, "#sdy.sharding<@m, [{\"a\"}, {}]>"},
      {CUT, "a=100,b=1000", NULL, "#sdy.sharding<@m, [{\"a\"}, {}]>"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(program, program);
    TSR_OWN(mesh, mesh);
    TSR_OWN(propagation, propagation);
    const tsr_value_constraint constraint = {"arg0", cases[i].constraint};
    tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
    tsr_sharded_value value = TSR_SHARDED_VALUE;
    tsr_program_info info = TSR_PROGRAM_INFO;
    program = read_program(cases[i].program);
    assert_ok(tsr_mesh_parse(cases[i].mesh, NULL, &mesh));
    options.mesh = mesh;
    options.constraints = &constraint;
    options.constraint_count = cases[i].constraint ? 1 : 0;
    assert_ok(tsr_program_propagate(program, &options, &propagation));
    assert_ok(tsr_propagation_find(propagation, "%0", &value));
    assert_string_equal(value.sharding, cases[i].sharding);
    assert_non_null(value.spec);
    assert_ok(tsr_program_describe(tsr_propagation_program(propagation), &info));
    assert_int_equal(info.device_count, tsr_mesh_device_count(mesh));
  }
}

static void what_does_not_fit_a_program_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *program, *mesh, *value, *spec;
    tsr_cause cause;
    const char *part;
  } cases[] = {
      {CUT, "b=2", NULL, NULL, TSR_CAUSE_UNKNOWN_MESH_AXIS, "on mesh {b=2}: "},
      {CUT, NULL, "%0", "z", TSR_CAUSE_UNKNOWN_MESH_AXIS,
       "constraint %0=z: dimension 0: axis \"z\" is not in mesh {a=2}"},
      {CUT, NULL, "%7", "a", TSR_CAUSE_NOT_FOUND, "constraint %7=a: function @main has no value"},
      {CUT, NULL, "%0", "a, _, _", TSR_CAUSE_RANK_TOO_SMALL,
       "constraint %0=a, _, _: the spec has 3 dimensions, expected at most 2"},
      {CUT, NULL, "%0", "a, (", TSR_CAUSE_SYNTAX, "constraint %0=a, (: "},
      {PLAIN, NULL, "%0", "a", TSR_CAUSE_NO_MESH_ACTIVE,
       "constraint %0=a: the program has no mesh, and none was given"},
      {"sdy.mesh @a = <[\"a\"=2]>\nsdy.mesh @b = <[\"b\"=2]>\n" PLAIN, "a=2", NULL, NULL,
       TSR_CAUSE_UNSUPPORTED, "the program has 2 meshes; a mesh replaces the only one"},
      {"func.func @mesh() {\n  return\n}\n" PLAIN, "a=2", NULL, NULL, TSR_CAUSE_BAD_ARGUMENT,
       "the program has a function or an empty mesh @mesh already"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(program, program);
    TSR_OWN(mesh, mesh);
    tsr_propagation *propagation = NULL;
    const tsr_value_constraint constraint = {cases[i].value, cases[i].spec};
    tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
    program = read_program(cases[i].program);
    if (cases[i].mesh) assert_ok(tsr_mesh_parse(cases[i].mesh, NULL, &mesh));
    options.mesh = mesh;
    options.constraints = &constraint;
    options.constraint_count = cases[i].value ? 1 : 0;
    tsr_status status = tsr_program_propagate(program, &options, &propagation);
    if (!status || !strstr(tsr_status_text(status), cases[i].part))
      fail_msg("case %zu: %s", i, status ? tsr_status_text(status) : "no failure");
    tsr_status_free(status);
  }
}

// ---- every program of the corpus ----

static void assert_same_as_pipeline(const tsr_program *program,
                                    const tsr_propagation *propagation) {
  TSR_OWN(program, piped);
  assert_ok(tsr_program_transform(program, "sdy-propagation-pipeline", &piped));
  assert_true(tsr_program_equal(piped, tsr_propagation_program(propagation)));
}

// Names that repeat in regions side by side may be ambiguous; everything else is explained, and
// the sharding that is found is the one that is listed.
static void assert_values_are_explained(const tsr_propagation *propagation) {
  for (int64_t i = 1; i <= propagation->place_count; i++) {
    TSR_OWN(text, name);
    TSR_OWN(text, why);
    if (!tsr_slot_is_shown(propagation, i)) continue;
    tsr_slot_print(propagation, (uint32_t)i, &name);
    tsr_status status = tsr_propagation_explain(propagation, tsr_text_string(&name), -1, &why);
    if (status && tsr_status_cause(status) != TSR_CAUSE_BAD_ARGUMENT)
      fail_msg("%s: %s", tsr_text_string(&name), tsr_status_text(status));
    if (!status && strncmp(tsr_text_string(&why), tsr_text_string(&name), name.length) != 0)
      fail_msg("%s is said to be %s", tsr_text_string(&name), tsr_text_string(&why));
    tsr_status_free(status);
  }
}

// A gain has a source, and each step is older than the one before.
static void assert_chains_end(const tsr_propagation *propagation) {
  for (int64_t i = 0; i < propagation->gain_count; i++) {
    const tsr_gain *gain = &propagation->gains[i], *before = tsr_gain_before(propagation, gain);
    assert_true(gain->source);
    assert_true(!before || before < gain);
  }
}

static int propagate_file(const char *folder) {
  char path[512];
  TSR_OWN(program, program);
  TSR_OWN(propagation, propagation);
  snprintf(path, sizeof path, "tests/programs/%s/program.mlirbc", folder);
  tsr_status status = tsr_program_open(path, NULL, &program);
  tsr_status_free(status);
  if (!program) return 0;
  assert_ok(tsr_program_propagate(program, NULL, &propagation));
  assert_same_as_pipeline(program, propagation);
  assert_values_are_explained(propagation);
  assert_chains_end(propagation);
  return 1;
}

static void every_program_is_propagated_and_every_value_explained(void **state) {
  (void)state;
  DIR *folders = opendir("tests/programs");
  int count = 0;
  assert_non_null(folders);
  for (const struct dirent *entry; (entry = readdir(folders));)
    if (entry->d_name[0] != '.') count += propagate_file(entry->d_name);
  closedir(folders);
  assert_true(count > 50);
}

// ---- strategies ----

static void strategies_decide_conflicts(void **state) {
  (void)state;
  static const struct {
    tsr_propagate_options options;
    const char *sharding, *reason;
  } cases[] = {
      {{.strategy = TSR_PROPAGATE_AGGRESSIVE},
       "#sdy.sharding<@mesh, [{\"y\"}, {}]>",
       "dimension 0 has the axis already"},
      {{.strategy = TSR_PROPAGATE_BASIC_FIRST, .no_op_priorities = true, .conservative = true},
       "#sdy.sharding<@mesh, [{\"y\"}, {}]>",
       "dimension 0 has the axis already"},
      {{.strategy = TSR_PROPAGATE_BASIC},
       NULL,
       "dimension 0 could have the axis too, from %arg0, so neither gets it"},
  };
  TSR_OWN(program, program);
  assert_ok(
      tsr_program_open("tests/programs/matmul_conflict_free_dims/program.mlir", NULL, &program));
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(propagation, propagation);
    TSR_OWN(text, text);
    tsr_propagate_options options = cases[i].options;
    tsr_sharded_value value = TSR_SHARDED_VALUE;
    options.size = sizeof options;
    assert_ok(tsr_program_propagate(program, &options, &propagation));
    assert_ok(tsr_propagation_find(propagation, "%0", &value));
    if (cases[i].sharding)
      assert_string_equal(value.sharding, cases[i].sharding);
    else
      assert_null(value.sharding);
    assert_ok(tsr_propagation_explain(propagation, "%0", 1, &text));
    assert_non_null(strstr(tsr_text_string(&text), cases[i].reason));
  }
}

static void functions_may_be_shared(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(propagation, propagation);
  tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
  options.shared_functions = true;
  assert_ok(tsr_program_open("tests/programs/scan_layers_grad/program.mlir", NULL, &program));
  assert_ok(tsr_program_propagate(program, &options, &propagation));
  assert_values_are_explained(propagation);
}

// ---- memory ----

static tsr_status propagate_and_ask(void *context) {
  tsr_propagation *before = NULL, *after = NULL;
  const tsr_value_constraint constraint = {"%0", "a, _"};
  tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
  tsr_sharded_value value = TSR_SHARDED_VALUE;
  tsr_text text = TSR_TEXT_EMPTY;
  int64_t count = 0;
  tsr_status status = tsr_program_propagate(context, NULL, &before);
  options.constraints = &constraint;
  options.constraint_count = 1;
  if (!status) status = tsr_program_propagate(context, &options, &after);
  if (!status) status = tsr_propagation_find(after, "%0", &value);
  if (!status) status = tsr_propagation_explain(after, "out0", -1, &text);
  if (!status) status = tsr_propagation_compare(before, after, &count, &text);
  tsr_text_deinit(&text);
  tsr_propagation_destroy(before);
  tsr_propagation_destroy(after);
  return status;
}

static tsr_status plan_and_propagate(void *context) {
  tsr_plan *plan = NULL;
  tsr_propagation *propagation = NULL;
  tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
  tsr_status status = tsr_program_plan(context, &plan);
  options.plan = plan;
  if (!status) status = tsr_program_propagate(context, &options, &propagation);
  tsr_propagation_destroy(propagation);
  tsr_plan_release(plan);
  return status;
}

static void propagation_and_explanation_survive_every_failed_allocation(void **state) {
  (void)state;
  TSR_OWN(program, program);
  program = read_program(CUT);
  test_allocation_sweep(propagate_and_ask, program);
  test_allocation_sweep(plan_and_propagate, program);
}

SUITE(propagation, TEST(a_mesh_is_added_or_replaced), TEST(what_does_not_fit_a_program_is_refused),
      TEST(every_program_is_propagated_and_every_value_explained),
      TEST(strategies_decide_conflicts), TEST(functions_may_be_shared),
      TEST(propagation_and_explanation_survive_every_failed_allocation))
