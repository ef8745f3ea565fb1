#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/models.h"
#include "support/test.h"

static tsr_plan *make_matched(const char *mesh_text, tsr_policy policy) {
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = mesh_text ? make_mesh(mesh_text) : NULL;
  tsr_rules *rules = make_rules("embed -> tp, fsdp\nup -> x+fsdp, tp\n. -> fsdp | unreduced=tp\n");
  tsr_plan *plan = NULL;
  const tsr_match_options options = {.size = sizeof options, .policy = policy};
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
  return plan;
}

static void assert_round_trip(const tsr_plan *plan) {
  for (int indent = 0; indent <= 2; indent += 2) {
    char *first = write_plan(plan, indent);
    tsr_plan *again = NULL;
    assert_ok(read_plan(first, &again));
    assert_true(tsr_plan_equal(plan, again));
    assert_int_equal(tsr_plan_bytes_per_device(plan), tsr_plan_bytes_per_device(again));
    char *second = write_plan(again, indent);
    assert_string_equal(first, second);
    tsr_plan_release(again);
    free(second);
    free(first);
  }
}

static void a_plan_reads_as_it_was_written(void **state) {
  (void)state;
  static const char *const meshes[] = {
      "fsdp=2,tp=8", "fsdp=2,tp=8:explicit devices=[3,2,1,0,4,5,6,7,8,9,10,11,12,13,14,15]",
      "tp=4,fsdp=4 abstract", NULL};
  for (size_t i = 0; i < COUNT_OF(meshes); i++)
    for (int policy = 0; policy < TSR_POLICY_COUNT; policy++) {
      tsr_plan *plan = make_matched(meshes[i], (tsr_policy)policy);
      assert_round_trip(plan);
      tsr_plan_release(plan);
    }
}

static void the_text_is_one_line_a_tensor(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {TENSOR("a.w", 6, 8), {.path = "b", .dtype = TSR_BF16}};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_mesh *mesh = make_mesh("tp=4");
  tsr_rules *rules = make_rules("a -> tp, _");
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &plan));
  char *text = write_plan(plan, 2);
  assert_string_equal(
      text,
      "{\n"
      "  \"schema\": \"tessera-plan/1\",\n"
      "  \"mesh\": {\n"
      "    \"axes\": [[\"tp\", 4]]\n"
      "  },\n"
      "  \"rules\": [\n"
      "    [\"a\", [\"tp\", null], {\"file\": \"my.rules\", \"line\": 1}]\n"
      "  ],\n"
      "  \"tensors\": [\n"
      "    {\"path\": \"a.w\", \"dtype\": \"f32\", \"shape\": [6, 8], \"spec\": \"()\", "
      "\"wanted\": "
      "\"tp, _\", \"bytes_per_device\": 192, \"notes\": [{\"why\": \"rule\", \"rule\": 0}, "
      "{\"why\": \"indivisible\", \"dim\": 0, \"argument\": 4, \"axis\": \"tp\"}]},\n"
      "    {\"path\": \"b\", \"dtype\": \"bf16\", \"shape\": [], \"spec\": \"()\", "
      "\"bytes_per_device\": 2, \"notes\": [{\"why\": \"scalar\"}]}\n"
      "  ]\n"
      "}");
  free(text);
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static void logical_plans_keep_their_rules(void **state) {
  (void)state;
  const char *const names[] = {"embed", NULL};
  const tsr_tensor tensors[] = {{"w", TSR_F32, 2, (int64_t[]){16, 64}, names}, TENSOR("v", 3)};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_logical_rules *rules = make_logical_rules("embed -> a+b\n");
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_logical(tree, NULL, rules, &plan));
  assert_round_trip(plan);
  tsr_plan_release(plan);
  tsr_logical_rules_release(rules);
  tsr_tree_release(tree);
}

#define ROW "\"path\":\"a\",\"dtype\":\"f32\",\"shape\":[4]"
#define PLAN(row) \
  "{\"schema\":\"tessera-plan/1\",\"mesh\":{\"axes\":[[\"x\",2]]},\"tensors\":[{" row "}]}"

static const struct {
  const char *json, *message;
} faults[] = {
    {"[]", "plan: wanted an object, found array"},
    {"{}", "plan: schema: missing, wanted a string"},
    {"{\"schema\":\"tessera-plan/2\"}",
     "plan: schema \"tessera-plan/2\" is not the one known here, \"tessera-plan/1\""},
    {"{\"schema\":\"tessera-plan/1\"}", "plan: tensors: missing, wanted an array"},
    {"{\"schema\":\"tessera-plan/1\",\"tensors\":[],\"x\":1}",
     "plan: key \"x\" is not schema, mesh, rules, logical_rules or tensors"},
    {PLAN(ROW), "plan: tensors[0], \"a\": spec: missing, wanted a string"},
    {PLAN(ROW ",\"spec\":\"x+\""), "plan: tensors[0], \"a\": spec: "},
    {PLAN(ROW ",\"spec\":\"x\",\"wanted\":3"),
     "plan: tensors[0], \"a\": wanted: wanted a string, found 3"},
    {PLAN(ROW ",\"spec\":\"x\",\"policy\":\"drop\""),
     "plan: tensors[0], \"a\": policy \"drop\" is none of error, trim, pad and uneven"},
    {PLAN(ROW ",\"spec\":\"x\",\"bytes_per_device\":16"),
     "plan: tensors[0], \"a\": bytes_per_device is 16, but the spec gives 8"},
    {PLAN(ROW ",\"spec\":\"x\",\"notes\":[{\"why\":\"whim\"}]"),
     "plan: tensors[0], \"a\": notes[0]: why: \"whim\" is no reason"},
    {PLAN(ROW ",\"spec\":\"x\",\"notes\":[{\"why\":\"user\",\"dim\":-1}]"),
     "plan: tensors[0], \"a\": notes[0]: dim -1, wanted 0 to "},
    {PLAN(ROW ",\"spec\":\"x\",\"notes\":[{\"why\":\"rule\"}]"),
     "plan: tensors[0], \"a\": notes[0]: rule: missing, wanted the rule's number"},
    {PLAN(ROW ",\"spec\":\"x\",\"notes\":[{\"why\":\"logical_blocked\"}]"),
     "plan: tensors[0], \"a\": notes[0]: rule: missing, wanted the rule's number"},
    {PLAN(ROW ",\"spec\":\"x\",\"notes\":{}"),
     "plan: tensors[0], \"a\": notes: wanted an array, found an object of 0"},
    {PLAN(ROW ",\"spec\":\"x\",\"cut\":1"), "plan: tensors[0], \"a\": key \"cut\" is not path, "},
    {PLAN(ROW ",\"spec\":\"x\"},{" ROW ",\"spec\":\"x\""),
     "plan: path \"a\" is given twice, to tensors 0 and 1"},
    {"{\"schema\":\"tessera-plan/1\",\"rules\":[[\"a\",[]]],\"tensors\":[{" ROW
     ",\"spec\":\"x\",\"notes\":[{\"why\":\"rule\",\"rule\":1}]}]}",
     "plan: tensors[0], \"a\": notes[0]: rule 1, wanted 0 to 0"},
    {"{\"schema\":\"tessera-plan/1\",\"rules\":3,\"tensors\":[]}", "plan: rules: "},
};

static void faults_are_placed(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(faults); i++) {
    tsr_plan *plan = NULL;
    tsr_status status = read_plan(faults[i].json, &plan);
    const char *text = tsr_status_text(status);
    if (strncmp(text, faults[i].message, strlen(faults[i].message)) != 0)
      assert_string_equal(text, faults[i].message);
    assert_null(plan);
    tsr_status_free(status);
  }
}

// What a plan's file is for: to be read again, as a plan and as a model.
static void files_are_plans_and_trees(void **state) {
  (void)state;
  char path[] = "/tmp/tessera_plan_XXXXXX.json";
  const int file = mkstemps(path, 5);
  assert_true(file >= 0);
  tsr_plan *plan = make_matched("fsdp=2,tp=8", TSR_POLICY_ERROR), *again = NULL;
  char *text = write_plan(plan, 2);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  close(file);
  tsr_tree *tree = NULL;
  assert_ok(tsr_plan_open(path, &again));
  assert_true(tsr_plan_equal(plan, again));
  assert_ok(tsr_tree_open(path, &tree));
  assert_true(tsr_tree_equal(tree, tsr_plan_tree(plan)));
  tsr_tree_release(tree);
  tsr_plan_release(again);
  tsr_plan_release(plan);
  free(text);
  unlink(path);
  assert_fails_with(tsr_plan_open(path, &again), IO, "tessera_plan_");
}

static tsr_status read_and_release(void *context) {
  tsr_plan *plan = NULL;
  TSR_TRY(read_plan(context, &plan));
  tsr_plan_release(plan);
  return NULL;
}

static tsr_status write_and_free(void *context) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 0);
  tsr_plan_to_json(context, &writer);
  tsr_status status = tsr_text_check(&text);
  tsr_text_deinit(&text);
  return status;
}

static void memory_may_run_out(void **state) {
  (void)state;
  tsr_plan *plan = make_matched("fsdp=2,tp=8", TSR_POLICY_ERROR);
  char *text = write_plan(plan, 0);
  test_allocation_sweep(read_and_release, text);
  test_allocation_sweep(write_and_free, plan);
  free(text);
  tsr_plan_release(plan);
}

SUITE(plan_json, TEST(a_plan_reads_as_it_was_written), TEST(the_text_is_one_line_a_tensor),
      TEST(logical_plans_keep_their_rules), TEST(faults_are_placed),
      TEST(files_are_plans_and_trees), TEST(memory_may_run_out))
