// What rules decide about one tensor: eformer's match_partition_rules, tensor by tensor.
#include "rules/rules_internal.h"

#include <stdlib.h>

#include "support/test.h"

static const char text[] = "kernel$ -> tp, fsdp\nscale -> tp\n";

static void assert_decides(const char *path, const tsr_shape *shape, int64_t min_size, bool raw,
                           tsr_decision_kind kind, int64_t rule, const char *spec) {
  tsr_rules *rules = NULL;
  tsr_rule_decision decision;
  tsr_text out = TSR_TEXT_EMPTY;
  assert_ok(tsr_rules_parse(text, "f", NULL, &rules));
  assert_ok(tsr_rules_decide(rules, path, shape, min_size, raw, &decision));
  assert_int_equal(decision.kind, kind);
  assert_int_equal(decision.rule, rule);
  assert_int_equal(decision.spec != NULL, spec != NULL);
  if (spec) {
    assert_ok(tsr_spec_print(decision.spec, TSR_FORM_SHORT, &out));
    assert_string_equal(tsr_text_string(&out), spec);
  }
  tsr_text_deinit(&out);
  tsr_spec_release(decision.spec);
  tsr_rules_release(rules);
}

static void shapes_are_heeded_unless_raw(void **state) {
  (void)state;
  const tsr_shape matrix = {.rank = 2, .dims = {8, 4}}, vector = {.rank = 1, .dims = {8}};
  const tsr_shape scalar = {.rank = 0}, empty = {.rank = 2, .dims = {0, 4}};
  assert_decides("a/kernel", &matrix, 0, false, TSR_DECIDED_BY_RULE, 0, "tp, fsdp");
  assert_decides("a/kernel", &matrix, 32, false, TSR_DECIDED_BY_RULE, 0, "tp, fsdp");
  assert_decides("a/kernel", &matrix, 33, false, TSR_DECIDED_SMALL, 0, "()");
  assert_decides("a/kernel", &vector, 0, false, TSR_DECIDED_CUT_TO_RANK, 0, "tp");
  assert_decides("a/kernel", &scalar, 0, false, TSR_DECIDED_SCALAR, -1, "()");
  assert_decides("a/nothing", &scalar, 0, false, TSR_DECIDED_SCALAR, -1, "()");
  assert_decides("a/nothing", NULL, 0, false, TSR_DECIDED_SCALAR, -1, "()");
  assert_decides("a/nothing", &matrix, 99, false, TSR_DECIDED_NO_RULE, -1, NULL);
  assert_decides("a/scale", &matrix, 0, false, TSR_DECIDED_BY_RULE, 1, "tp");
  assert_decides("a/kernel", &empty, 0, false, TSR_DECIDED_BY_RULE, 0, "tp, fsdp");
  assert_decides("a/kernel", &empty, 1, false, TSR_DECIDED_SMALL, 0, "()");
  assert_decides("a/kernel", &scalar, 99, true, TSR_DECIDED_BY_RULE, 0, "tp, fsdp");
  assert_decides("a/kernel", NULL, 0, true, TSR_DECIDED_BY_RULE, 0, "tp, fsdp");
  assert_decides("a/nothing", NULL, 0, true, TSR_DECIDED_NO_RULE, -1, NULL);
}

static void a_path_without_a_rule_is_named_with_the_nearest(void **state) {
  (void)state;
  tsr_rules *rules = NULL;
  tsr_spec *spec = NULL;
  assert_ok(tsr_rules_parse("down_proj\\.weight -> x\nq_proj\\.kernel -> y\n", "f", NULL, &rules));
  assert_fails(
      tsr_rules_no_rule(rules, "mlp.down_prj.weigth"), NO_RULE,
      "no rule matches \"mlp.down_prj.weigth\"; the nearest is f:1 \"down_proj\\.weight\"");
  assert_fails(tsr_rules_no_rule(rules, "zzz"), NO_RULE, "no rule matches \"zzz\"");
  tsr_rules_release(rules);
  assert_ok(tsr_spec_parse("a", TSR_FORM_SHORT, &spec));
  assert_ok(tsr_rules_create(&(tsr_rule){.pattern = "kernel", .spec = spec}, 1, &rules));
  assert_fails(tsr_rules_no_rule(rules, "a/kernal"), NO_RULE,
               "no rule matches \"a/kernal\"; the nearest is rule 0 \"kernel\"");
  tsr_rules_release(rules);
  tsr_spec_release(spec);
}

static void the_minimum_comes_from_the_environment(void **state) {
  (void)state;
  int64_t size = 0;
  unsetenv("MIN_SHARDING_SIZE");
  assert_ok(tsr_min_sharding_size(&size));
  assert_int_equal(size, 16384);
  setenv("MIN_SHARDING_SIZE", "100", 1);
  assert_ok(tsr_min_sharding_size(&size));
  assert_int_equal(size, 100);
  setenv("MIN_SHARDING_SIZE", "many", 1);
  assert_fails(tsr_min_sharding_size(&size), NOT_AN_INTEGER,
               "MIN_SHARDING_SIZE is \"many\", wanted an integer");
  unsetenv("MIN_SHARDING_SIZE");
}

static tsr_status decide(void *context) {
  const tsr_shape vector = {.rank = 1, .dims = {8}};
  tsr_rule_decision decision = {.spec = NULL};
  tsr_status status = tsr_rules_decide(context, "a/kernel", &vector, 0, false, &decision);
  tsr_spec_release(decision.spec);
  if (status) return status;
  status = tsr_rules_decide(context, "a/kernel", NULL, 0, false, &decision);
  if (!status) tsr_spec_release(decision.spec);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  tsr_rules *rules = NULL;
  assert_ok(tsr_rules_parse(text, "f", NULL, &rules));
  test_allocation_sweep(decide, rules);
  tsr_rules_release(rules);
}

SUITE(decide, TEST(shapes_are_heeded_unless_raw),
      TEST(a_path_without_a_rule_is_named_with_the_nearest),
      TEST(the_minimum_comes_from_the_environment), TEST(running_out_of_memory_is_reported))
