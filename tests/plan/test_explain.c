#include <string.h>

#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "support/models.h"
#include "support/test.h"

static void assert_explained(const tsr_plan *plan, int64_t index, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_plan_explain(plan, index, &text));
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}

static void the_chain_of_rules_is_told(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("fsdp=2,tp=8");
  tsr_rules *rules = make_rules("norm -> _\n# the rest\nembed -> tp, x\nweight -> fsdp, tp\n");
  const tsr_match_options options = {.size = sizeof options, .allow_unmatched = true};
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  assert_explained(plan, 0,
                   "embed.weight\n"
                   "  type    f32 (100, 16)\n"
                   "  spec    ()\n"
                   "  wanted  tp, x\n"
                   "  mesh    fsdp=2,tp=8\n"
                   "  bytes   6400 per device, 6400 in all\n"
                   "because\n"
                   "  rule 1 (my.rules:3) \"embed\" -> tp, x\n"
                   "  dimension 0: size 100 is not divisible by tp=8, so it is not cut\n"
                   "  dimension 1: axis \"x\" is not in the mesh, so it is not cut\n"
                   "tried first, no match\n"
                   "  rule 0 (my.rules:1) \"norm\"\n"
                   "would have matched too, but came later\n"
                   "  rule 2 (my.rules:4) \"weight\"\n");
  assert_explained(plan, 5,
                   "step\n"
                   "  type    i64 ()\n"
                   "  spec    ()\n"
                   "  mesh    fsdp=2,tp=8\n"
                   "  bytes   8 per device, 8 in all\n"
                   "because\n"
                   "  scalars are not cut\n");
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  rules = make_rules("embed -> tp\n");
  assert_ok(tsr_plan_match(tree, NULL, rules, &options, &plan));
  assert_explained(plan, 2,
                   "layers.0.norm.weight\n"
                   "  type    f32 (16,)\n"
                   "  spec    ()\n"
                   "  bytes   64 per device, 64 in all\n"
                   "because\n"
                   "  no rule matched\n"
                   "tried, no match\n"
                   "  rule 0 (my.rules:1) \"embed\"\n");
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static const struct {
  tsr_plan_note note;
  const char *text;
} notes[] = {
    {{TSR_WHY_RULE, -1, 7, 0, NULL}, "rule 7"},
    {{TSR_WHY_SMALL, -1, -1, 2000, NULL},
     "1600 elements are fewer than the minimum of 2000, so it is not cut"},
    {{TSR_WHY_LOGICAL, 1, 2, 0, NULL}, "dimension 1: rule 2"},
    {{TSR_WHY_LOGICAL_BLOCKED, 1, 2, 0, NULL},
     "dimension 1: rule 2 is skipped: dimension 0 already uses its axis"},
    {{TSR_WHY_DUPLICATE_AXIS, 1, -1, 0, "tp"},
     "dimension 1: axis \"tp\" is used before, so it is dropped here"},
    {{TSR_WHY_CUT_TO_RANK, -1, -1, 3, NULL},
     "the spec has 3 entries, the tensor 2 dimensions, so the rest is dropped"},
    {{TSR_WHY_AXIS_MISSING, 0, -1, 0, "x"},
     "dimension 0: axis \"x\" is not in the mesh, so it is not cut"},
    {{TSR_WHY_SUB_AXIS_MISFIT, 0, -1, 4, "tp"},
     "dimension 0: a sub-axis of axis \"tp\" does not divide its size 4, so it is not cut"},
    {{TSR_WHY_INDIVISIBLE, 0, -1, 8, NULL},
     "dimension 0: size 100 is not divisible by 8, so it is not cut"},
    {{TSR_WHY_CUT_MISFIT, 0, -1, 8, NULL},
     "dimension 0: its sizes or parts do not fit size 100 in 8 shards, so it is not cut"},
    {{TSR_WHY_UNCONSTRAINED, 0, -1, 0, NULL}, "dimension 0: unconstrained means not cut here"},
    {{TSR_WHY_AUTO, 1, -1, 0, "tp"}, "dimension 1: chosen automatically: axis \"tp\""},
    {{TSR_WHY_USER, -1, -1, 0, NULL}, "set by the user"},
    // Notes that were read may say anything.
    {{TSR_WHY_AXIS_MISSING, 40, -1, 0, NULL},
     "dimension 40: None inside a group is not in the mesh"},
};

static void notes_are_put_into_words(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  const char *const specs[6] = {NULL};
  tsr_plan *plan = make_plan(tree, "tp=4", specs);
  for (size_t i = 0; i < COUNT_OF(notes); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_plan_note_print(plan, 0, &notes[i].note, &text);
    if (strncmp(tsr_text_string(&text), notes[i].text, strlen(notes[i].text)) != 0)
      assert_string_equal(tsr_text_string(&text), notes[i].text);
    tsr_text_deinit(&text);
  }
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void logical_rules_are_quoted(void **state) {
  (void)state;
  const char *const names[] = {"embed", "heads"};
  const tsr_tensor tensor = {"w", TSR_F32, 2, (int64_t[]){16, 64}, names};
  tsr_tree *tree = make_tree(&tensor, 1);
  tsr_mesh *mesh = make_mesh("data=2,model=4");
  tsr_logical_rules *rules =
      make_logical_rules("embed -> data+model\nheads -> model\nheads -> _\n");
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_logical(tree, mesh, rules, &plan));
  assert_explained(plan, 0,
                   "w\n"
                   "  type    f32 (16, 64)\n"
                   "  spec    data+model, _\n"
                   "  mesh    data=2,model=4\n"
                   "  bytes   512 per device, 4096 in all\n"
                   "because\n"
                   "  dimension 0: rule 0 (my.logical:1) embed -> data+model\n"
                   "  dimension 1: rule 1 (my.logical:2) heads -> model is skipped: "
                   "dimension 0 already uses its axis\n"
                   "  dimension 1: rule 2 (my.logical:3) heads -> _\n");
  tsr_plan_release(plan);
  tsr_logical_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static tsr_status explain_once(void *context) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = tsr_plan_explain(context, 0, &text);
  tsr_text_deinit(&text);
  return status;
}

static void memory_may_run_out(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("fsdp=2,tp=8");
  tsr_rules *rules = make_rules("norm -> _\nembed -> tp, x\nweight -> fsdp, tp\n");
  const tsr_match_options options = {.size = sizeof options, .allow_unmatched = true};
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  test_allocation_sweep(explain_once, plan);
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

SUITE(explain, TEST(the_chain_of_rules_is_told), TEST(notes_are_put_into_words),
      TEST(logical_rules_are_quoted), TEST(memory_may_run_out))
