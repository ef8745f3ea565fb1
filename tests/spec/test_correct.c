// Correction: what is dropped, why, and what a strict caller hears instead.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "spec/spec_internal.h"
#include "support/test.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"
#include "tessera/log.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/text.h"
#include "tessera/topology.h"

static tsr_mesh *mesh_of(const char *text) {
  tsr_mesh *mesh = NULL;
  if (*text) assert_ok(tsr_mesh_parse(text, NULL, &mesh));
  return mesh;
}

static tsr_spec *spec_of(const char *text) {
  tsr_spec *spec = NULL;
  assert_ok(tsr_spec_parse(text, TSR_FORM_ANY, &spec));
  return spec;
}

// Corrects and prints the result, then the changes.
static tsr_status correct(const char *mesh_text, const char *spec_text, const char *shape_text,
                          const tsr_correct_options *options, tsr_text *out) {
  tsr_mesh *mesh = mesh_of(mesh_text);
  tsr_spec *spec = spec_of(spec_text), *corrected = NULL;
  tsr_shape shape;
  tsr_changes changes = {0};
  assert_ok(tsr_shape_parse(shape_text, &shape));
  tsr_status status = tsr_spec_correct(spec, mesh, &shape, options, &corrected, &changes);
  if (!status) {
    assert_ok(tsr_spec_print(corrected, TSR_FORM_SHORT, out));
    tsr_text_add_char(out, '\n');
    tsr_changes_print(&changes, out);
    for (int i = 0; i < changes.count; i++) assert_non_null(tsr_change_text(changes.items[i].kind));
  } else {
    assert_null(corrected);
    assert_int_equal(changes.count, 0);
  }
  tsr_changes_deinit(&changes);
  tsr_mesh_release(mesh);
  tsr_spec_release(spec);
  tsr_spec_release(corrected);
  return status;
}

static const tsr_correct_options strict = {.size = sizeof strict, .strict = true};
static const tsr_correct_options keep = {.size = sizeof keep, .keep_group_members = true};
static const tsr_correct_options no_mesh = {.size = sizeof no_mesh, .allow_no_mesh = true};

// `refusal` is what strict says; NULL where there is nothing to change.
static const struct {
  const char *mesh, *spec, *shape, *wanted;
  tsr_cause cause;
  const char *refusal;
} cases[] = {
    {"dp=2,tp=4", "dp, tp", "8,8", "dp, tp\n", 0, NULL},
    {"dp=2,tp=4", "dp", "8,8,8", "dp, _, _\n", 0, NULL},
    {"dp=2,tp=4", "()", "8,8", "()\n", 0, NULL},
    {"dp=2,tp=4", "_, _", "8,8", "()\n", 0, NULL},
    {"dp=2,tp=4", "dp, tp", "0,1",
     "dp, _\ndimension 1: size 1 is not divisible by tp=4, so it is not cut\n",
     TSR_CAUSE_INDIVISIBLE, "dimension 1: size 1 is not divisible by tp=4"},
    {"dp=2,tp=4", "_, tp", "8,10",
     "()\ndimension 1: size 10 is not divisible by tp=4, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_INDIVISIBLE, "dimension 1: size 10 is not divisible by tp=4"},
    {"dp=2,tp=4", "dp+tp, _", "12,8",
     "()\ndimension 0: size 12 is not divisible by 8, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_INDIVISIBLE, "dimension 0: size 12 is not divisible by 8"},
    {"dp=2,tp=4", "dp, fsdp+tp", "8,8",
     "dp, _\ndimension 1: axis \"fsdp\" is not in the mesh, so it is not cut\n",
     TSR_CAUSE_UNKNOWN_MESH_AXIS, "dimension 1: axis \"fsdp\" is not in mesh {dp=2, tp=4}"},
    {"dp=2,tp=4", "dp, tp+_", "8,8",
     "dp, _\ndimension 1: None inside a group is not in the mesh, so it is not cut\n",
     TSR_CAUSE_UNKNOWN_MESH_AXIS, "dimension 1: None inside a group is not in the mesh"},
    {"dp=2,tp=4", "dp, ?", "8,8", "dp, _\ndimension 1: unconstrained means not cut here\n",
     TSR_CAUSE_UNSUPPORTED, "dimension 1: unconstrained means not cut here"},
    {"dp=2,tp=4", "dp, _, tp", "8,8",
     "dp, _\nthe spec has 3 entries, the tensor 2 dimensions, so the rest is dropped\n",
     TSR_CAUSE_RANK_TOO_SMALL, "the spec has 3 entries, the tensor 2 dimensions"},
    {"dp=2,tp=4", "dp", "()",
     "()\nthe spec has 1 entries, the tensor 0 dimensions, so the rest is dropped\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_RANK_TOO_SMALL, "the spec has 1 entries, the tensor 0 dimensions"},
    {"dp=2,tp=4,one=1", "one, one", "7,0", "", TSR_CAUSE_DUPLICATE_MESH_AXIS,
     "axis \"one\" is used twice: in dimension 0 and in 1"},
    {"dp=2,tp=4", "dp, dp", "8,7",
     "dp, _\ndimension 1: size 7 is not divisible by dp=2, so it is not cut\n",
     TSR_CAUSE_INDIVISIBLE, "dimension 1: size 7 is not divisible by dp=2"},
    {"tp=8", "tp:(2)4+?@1", "12", "tp:(2)4+?@1\n", 0, NULL},
    {"tp=8", "tp:(2)4, tp:(1)2", "12,7",
     "tp:(2)4, _\ndimension 1: size 7 is not divisible by tp=2, so it is not cut\n",
     TSR_CAUSE_INDIVISIBLE, "dimension 1: size 7 is not divisible by tp=2"},
    {"tp=8", "tp:(3)2, _", "12,7",
     "()\ndimension 0: a sub-axis of axis \"tp\" does not divide its size 8, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_BAD_SUB_AXIS, "dimension 0: a sub-axis of axis \"tp\" does not divide its size 8"},
    {"dp=2,tp=4", "dp;tp", "16", "dp;tp\n", 0, NULL},
    {"dp=2,tp=4", "dp;tp, _", "12,1",
     "()\ndimension 0: size 12 is not divisible by 8, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_INDIVISIBLE, "dimension 0: size 12 is not divisible by 8"},
    {"tp=4", "tp/cyclic(3)", "7", "tp/cyclic(3)\n", 0, NULL},
    {"dp=2,tp=4", "tp/cyclic(3);dp", "7", "tp/cyclic(3);dp\n", 0, NULL},
    {"dp=2,tp=4", "tp/cyclic(1);dp", "12",
     "()\ndimension 0: size 12 is not divisible by 8, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_INDIVISIBLE, "dimension 0: size 12 is not divisible by 8"},
    {"dp=2", "dp/sizes(3,5)", "8", "dp/sizes(3,5)\n", 0, NULL},
    {"dp=2,tp=3", "dp/sizes(3,5);tp", "8", "dp/sizes(3,5);tp\n", 0, NULL},
    {"dp=2,tp=3", "dp/sizes(4,4);tp", "8",
     "()\ndimension 0: size 8 is not divisible by 6, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_INDIVISIBLE, "dimension 0: size 8 is not divisible by 6"},
    {"dp=2", "dp/sizes(3,5)", "9",
     "()\ndimension 0: its sizes or parts do not fit size 9 in 2 shards, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_BAD_CUT, "dimension 0: its sizes or parts do not fit size 9 in 2 shards"},
    {"dp=4", "dp/sizes(3,5)", "8",
     "()\ndimension 0: its sizes or parts do not fit size 8 in 4 shards, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_BAD_CUT, "dimension 0: its sizes or parts do not fit size 8 in 4 shards"},
    {"tp=4", "tp/parts(q:8/2, k:4/2*2)", "12", "tp/parts(q:8/2, k:4/2*2)\n", 0, NULL},
    {"tp=4,dp=2", "tp/parts(q:8/2, k:4/2*2);dp", "12", "tp/parts(q:8/2, k:4/2*2);dp\n", 0, NULL},
    {"tp=4,dp=3", "tp/parts(q:8/2, k:4/2*2);dp", "12",
     "()\ndimension 0: size 12 is not divisible by 12, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_INDIVISIBLE, "dimension 0: size 12 is not divisible by 12"},
    {"tp=4", "tp/parts(q:8/2, k:4/2*3)", "12",
     "()\ndimension 0: its sizes or parts do not fit size 12 in 4 shards, so it is not cut\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_BAD_CUT, "dimension 0: its sizes or parts do not fit size 12 in 4 shards"},
    {"tp=4", "_ | unreduced=tp+dp", "12",
     "() | unreduced=tp\naxis \"dp\" is not in the mesh, so the axis is dropped\n"
     "nothing left to cut, so the empty spec\n",
     TSR_CAUSE_UNKNOWN_MESH_AXIS, "axis \"dp\" is not in mesh {tp=4}; did you mean \"tp\"?"},
};

static void entries_are_kept_or_dropped_with_a_reason(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text out = TSR_TEXT_EMPTY;
    tsr_status status = correct(cases[i].mesh, cases[i].spec, cases[i].shape, NULL, &out);
    if (*cases[i].wanted) {
      assert_ok(status);
      assert_string_equal(tsr_text_string(&out), cases[i].wanted);
    } else {
      assert_int_equal(tsr_status_cause(status), cases[i].cause);
      tsr_status_free(status);
    }
    tsr_text_deinit(&out);
  }
}

static void strict_refuses_instead(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text out = TSR_TEXT_EMPTY;
    tsr_status status = correct(cases[i].mesh, cases[i].spec, cases[i].shape, &strict, &out);
    assert_message(status, cases[i].refusal ? cases[i].refusal : "");
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    tsr_status_free(status);
    tsr_text_deinit(&out);
  }
}

static void groups_can_keep_their_usable_members(void **state) {
  (void)state;
  static const struct {
    const char *mesh, *spec, *shape, *wanted;
  } rows[] = {
      {"dp=2,tp=4", "fsdp+dp, tp", "8,8",
       "dp, tp\ndimension 0: axis \"fsdp\" is not in the mesh, so the axis is dropped\n"},
      {"dp=2,tp=4", "dp+tp", "12",
       "dp\ndimension 0: size 6 is not divisible by tp=4, so the axis is dropped\n"},
      {"dp=2,tp=4,sp=3", "dp+tp+sp", "12",
       "dp+sp\ndimension 0: size 6 is not divisible by tp=4, so the axis is dropped\n"},
      {"dp=2", "dp+_", "12",
       "dp\ndimension 0: None inside a group is not in the mesh, so the axis is dropped\n"},
      {"dp=2,tp=4", "dp", "7",
       "()\ndimension 0: size 7 is not divisible by dp=2, so it is not cut\n"
       "nothing left to cut, so the empty spec\n"},
      {"dp=2,tp=4", "dp;tp", "12",
       "()\ndimension 0: size 12 is not divisible by 8, so it is not cut\n"
       "nothing left to cut, so the empty spec\n"},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    tsr_text out = TSR_TEXT_EMPTY;
    assert_ok(correct(rows[i].mesh, rows[i].spec, rows[i].shape, &keep, &out));
    assert_string_equal(tsr_text_string(&out), rows[i].wanted);
    tsr_text_deinit(&out);
  }
}

static void without_a_mesh_there_is_an_error_or_the_empty_spec(void **state) {
  (void)state;
  tsr_text out = TSR_TEXT_EMPTY;
  assert_fails_with(correct("", "dp", "8", NULL, &out), NO_MESH_ACTIVE, "no mesh is active");
  assert_ok(correct("", "dp", "8", &no_mesh, &out));
  assert_string_equal(tsr_text_string(&out), "()\nno mesh, so the empty spec\n");
  tsr_text_clear(&out);
  tsr_mesh *mesh = mesh_of("dp=2");
  tsr_scope scope;
  assert_ok(tsr_mesh_enter(mesh, &scope));
  assert_ok(correct("", "dp", "8", NULL, &out));
  assert_string_equal(tsr_text_string(&out), "dp\n");
  tsr_scope_leave(scope);
  tsr_mesh_release(mesh);
  tsr_text_deinit(&out);
}

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  tsr_text out = TSR_TEXT_EMPTY;
  assert_fails_with(correct("dp=2", "dp", "8", &(tsr_correct_options){.size = 7}, &out),
                    BAD_ARGUMENT, "size 7");
  tsr_mesh *mesh = mesh_of("dp=2");
  tsr_spec *spec = spec_of("dp"), *corrected = NULL;
  tsr_status status =
      tsr_spec_correct(spec, mesh, &(tsr_shape){.rank = 1, .dims = {-4}}, NULL, &corrected, NULL);
  assert_non_null(status);
  assert_null(corrected);
  tsr_status_free(status);
  tsr_mesh_release(mesh);
  tsr_spec_release(spec);
}

static void a_product_beyond_64_bits_divides_only_zero(void **state) {
  (void)state;
  tsr_text out = TSR_TEXT_EMPTY;
  assert_ok(correct("x=1024", "x+x+x+x+x+x+x, _", "8,8", NULL, &out));
  assert_non_null(strstr(tsr_text_string(&out), "not divisible by 9223372036854775807"));
  tsr_text_deinit(&out);
  assert_fails_with(correct("x=1024", "x+x+x+x+x+x+x, _", "0,8", NULL, &out), DUPLICATE_MESH_AXIS,
                    "axis \"x\" is used twice in dimension 0");
}

static void a_constraint_can_mean_leave_alone(void **state) {
  (void)state;
  tsr_mesh *mesh = mesh_of("dp=2");
  tsr_spec *spec = spec_of("dp"), *empty = spec_of("()"), *out = spec;
  tsr_changes changes = {.count = 7};
  assert_ok(tsr_spec_constrain(spec, NULL, TSR_SHAPE(8), NULL, &out, &changes));
  assert_null(out);
  assert_int_equal(changes.count, 0);
  out = spec;
  assert_ok(tsr_spec_constrain(empty, mesh, TSR_SHAPE(8), NULL, &out, NULL));
  assert_null(out);
  assert_ok(tsr_spec_constrain(spec, mesh, TSR_SHAPE(7), NULL, &out, &changes));
  assert_int_equal(tsr_spec_desc_of(out)->dim_count, 0);  // replicate now
  assert_int_equal(changes.count, 2);
  tsr_changes_deinit(&changes);
  tsr_spec_release(out);
  tsr_spec_release(spec);
  tsr_spec_release(empty);
  tsr_mesh_release(mesh);
}

static void t5x_constrains_only_accelerators_within_a_mesh(void **state) {
  (void)state;
  tsr_topology *tpu = NULL, *cpu = NULL;
  tsr_mesh *plain = mesh_of("x=4"), *placed = NULL;
  tsr_scope scope;
  assert_ok(tsr_topology_parse("tpu-v4:2x2x1", &tpu));
  assert_ok(tsr_topology_parse("cpu:4", &cpu));
  assert_ok(tsr_mesh_parse("x=4", tpu, &placed));
  assert_false(tsr_t5x_constraint_applies(tpu));
  assert_ok(tsr_mesh_enter(plain, &scope));
  assert_true(tsr_t5x_constraint_applies(tpu));
  assert_false(tsr_t5x_constraint_applies(cpu));
  assert_false(tsr_t5x_constraint_applies(NULL));
  tsr_scope_leave(scope);
  assert_ok(tsr_mesh_enter(placed, &scope));
  assert_true(tsr_t5x_constraint_applies(NULL));
  tsr_scope_leave(scope);
  tsr_mesh_release(plain);
  tsr_mesh_release(placed);
  tsr_topology_release(tpu);
  tsr_topology_release(cpu);
}

static void take_line(void *context, const char *line) { tsr_text_addf(context, "%s\n", line); }

static void the_environment_turns_the_log_on(void **state) {
  (void)state;
  static const struct {
    const char *value;
    bool on;
  } rows[] = {{"true", true},  {"yes", true}, {"1", true},  {"on", true},
              {"True", false}, {"", false},   {"0", false}, {NULL, false}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    tsr_text log = TSR_TEXT_EMPTY, out = TSR_TEXT_EMPTY;
    const tsr_correct_options options = {
        .size = sizeof options, .log = take_line, .log_context = &log};
    if (rows[i].value)
      setenv("LOG_SHARDING_MOVE", rows[i].value, 1);
    else
      unsetenv("LOG_SHARDING_MOVE");
    assert_ok(correct("dp=2", "dp", "7", &options, &out));
    assert_string_equal(
        tsr_text_string(&log),
        rows[i].on ? "sharding corrected: dimension 0: size 7 is not divisible by dp=2, so it is "
                     "not cut\nsharding corrected: nothing left to cut, so the empty spec\n"
                   : "");
    tsr_text_deinit(&log);
    tsr_text_deinit(&out);
  }
}

static void the_log_of_the_process_gets_what_no_option_takes(void **state) {
  (void)state;
  tsr_text log = TSR_TEXT_EMPTY, own = TSR_TEXT_EMPTY, out = TSR_TEXT_EMPTY;
  const tsr_correct_options options = {
      .size = sizeof options, .log = take_line, .log_context = &own};
  setenv("LOG_SHARDING_MOVE", "1", 1);
  tsr_log_set(take_line, &log);
  assert_ok(correct("dp=2", "dp, _", "7,2", NULL, &out));
  assert_non_null(strstr(tsr_text_string(&log),
                         "sharding corrected: dimension 0: size 7 is not divisible by dp=2"));
  tsr_text_clear(&log);
  assert_ok(correct("dp=2", "dp, _", "7,2", &options, &out));
  assert_string_equal(tsr_text_string(&log), "");
  assert_string_not_equal(tsr_text_string(&own), "");
  tsr_log_set(NULL, NULL);
  unsetenv("LOG_SHARDING_MOVE");
  tsr_text_deinit(&log);
  tsr_text_deinit(&own);
  tsr_text_deinit(&out);
}

static void axis_names_come_first_seen_first(void **state) {
  (void)state;
  const char *const texts[] = {"z+y+_, x", "x, y:(1)2, w;v/cyclic(2) | unreduced=u",
                               "? | reduced=t replicated=s", "()"};
  const char *const wanted[] = {"z", "y", "x", "w", "v", "u", "t", "s"};
  const tsr_spec *specs[COUNT_OF(texts)];
  for (size_t i = 0; i < COUNT_OF(texts); i++) specs[i] = spec_of(texts[i]);
  const char **names = NULL;
  int count = 0;
  assert_ok(tsr_spec_axis_names(specs, (int)COUNT_OF(texts), &names, &count));
  assert_int_equal(count, COUNT_OF(wanted));
  for (int i = 0; i < count; i++) assert_string_equal(names[i], wanted[i]);
  free(names);
  assert_ok(tsr_spec_axis_names(NULL, 0, &names, &count));
  assert_int_equal(count, 0);
  free(names);
  for (size_t i = 0; i < COUNT_OF(texts); i++) tsr_spec_release(specs[i]);
}

static void many_axis_names_are_found(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  tsr_spec **specs = calloc(COUNT, sizeof *specs);
  assert_non_null(specs);
  for (int i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "axis%d", i / 2);
    assert_ok(tsr_spec_of((const char *[]){name, "x"}, 2, &specs[i]));
  }
  const char **names = NULL;
  int count = 0;
  assert_ok(tsr_spec_axis_names((const tsr_spec *const *)specs, COUNT, &names, &count));
  assert_int_equal(count, COUNT / 2 + 1);
  assert_string_equal(names[1], "x");
  assert_string_equal(names[COUNT / 2], "axis9999");
  free(names);
  for (int i = 0; i < COUNT; i++) tsr_spec_release(specs[i]);
  free(specs);
}

static tsr_status correct_and_name(void *context) {
  const tsr_spec *spec = context;
  const char **names = NULL;
  int count = 0;
  tsr_mesh *mesh = NULL;
  tsr_spec *corrected = NULL;
  tsr_changes changes = {0};
  TSR_TRY(tsr_spec_axis_names(&spec, 1, &names, &count));
  free(names);
  TSR_TRY(tsr_mesh_parse("dp=2", NULL, &mesh));
  tsr_status status = tsr_spec_correct(spec, mesh, TSR_SHAPE(4, 7, 8), NULL, &corrected, &changes);
  tsr_mesh_release(mesh);
  tsr_spec_release(corrected);
  tsr_changes_deinit(&changes);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  tsr_spec *spec = spec_of("dp, tp, sp+ep | reduced=z");
  unsetenv("LOG_SHARDING_MOVE");
  test_allocation_sweep(correct_and_name, spec);
  tsr_spec_release(spec);
}

SUITE(correct, TEST(entries_are_kept_or_dropped_with_a_reason), TEST(strict_refuses_instead),
      TEST(groups_can_keep_their_usable_members),
      TEST(without_a_mesh_there_is_an_error_or_the_empty_spec), TEST(wrong_arguments_are_refused),
      TEST(a_product_beyond_64_bits_divides_only_zero), TEST(a_constraint_can_mean_leave_alone),
      TEST(t5x_constrains_only_accelerators_within_a_mesh), TEST(the_environment_turns_the_log_on),
      TEST(the_log_of_the_process_gets_what_no_option_takes),
      TEST(axis_names_come_first_seen_first), TEST(many_axis_names_are_found),
      TEST(running_out_of_memory_is_reported))
