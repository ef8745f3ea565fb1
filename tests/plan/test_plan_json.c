#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "rules/rules_internal.h"
#include "support/models.h"
#include "support/test.h"
#include "topology/topology_internal.h"

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

// A plan on a machine says which, so that its memory is a limit wherever the file is read.
static void the_machine_is_part_of_a_plan(void **state) {
  (void)state;
  static const char *const machines[] = {"gpu:2x4:h100", "tpu-v4:2x2x1", "cpu:8:memory=1G",
                                         "gpu:1x8:a100:order=reversed"};
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    const tsr_tensor tensor = TENSOR("w", 64, 16);
    tsr_topology *machine = NULL;
    tsr_mesh *mesh = NULL;
    tsr_plan *plan = NULL, *again = NULL;
    tsr_tree *tree = make_tree(&tensor, 1);
    tsr_rules *rules = make_rules("w -> tp, _");
    assert_ok(tsr_topology_parse(machines[i], &machine));
    assert_ok(tsr_mesh_parse("tp=4", machine, &mesh));
    assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &plan));
    assert_round_trip(plan);
    char *text = write_plan(plan, 0);
    assert_ok(read_plan(text, &again));
    const tsr_topology *found = tsr_mesh_topology(tsr_plan_mesh(again));
    assert_non_null(found);
    assert_int_equal(tsr_topology_memory_per_device(found),
                     tsr_topology_memory_per_device(machine));
    assert_string_equal(tsr_topology_kind(found), tsr_topology_kind(machine));
    assert_int_equal(tsr_topology_device_count(found), tsr_topology_device_count(machine));
    free(text);
    tsr_plan_release(again);
    tsr_plan_release(plan);
    tsr_rules_release(rules);
    tsr_tree_release(tree);
    tsr_mesh_release(mesh);
    tsr_topology_release(machine);
  }
}

static tsr_plan *make_computed(void) {
  static const tsr_fact facts[] = {{"heads", 4}, {"head_dim", 16}, {"heads", 5}};
  static const char *const keep[] = {"tp", "fsdp"}, *const rename[] = {"tp", "model"};
  const tsr_tensor tensors[] = {TENSOR("layers.0.q", 64, 16), TENSOR("layers.0.o", 16, 64)};
  tsr_mesh *mesh = make_mesh("model=4");
  const tsr_rules_options options = {.size = sizeof options,
                                     .facts = facts,
                                     .fact_count = COUNT_OF(facts),
                                     .keep_axes = keep,
                                     .keep_axis_count = 2,
                                     .rename_axes = rename,
                                     .rename_axis_count = 1,
                                     .mesh = mesh};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_rules *rules = NULL;
  tsr_plan *plan = NULL;
  assert_ok(
      tsr_rules_parse("together attention over tp\n"
                      "q -> tp/parts({heads*head_dim}/{head_dim}), _\n"
                      "o -> _, tp\n"
                      "end\n",
                      "my.rules", &options, &rules));
  assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &plan));
  tsr_rules_release(rules);
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
  return plan;
}

static void rules_keep_what_they_were_computed_from(void **state) {
  (void)state;
  tsr_plan *plan = make_computed(), *again = NULL;
  char *text = write_plan(plan, 0);
  assert_non_null(strstr(text,
                         "\"rules_options\":{\"facts\":{\"heads\":4,\"head_dim\":16},"
                         "\"keep_axes\":[\"tp\",\"fsdp\"],\"rename_axes\":[[\"tp\",\"model\"]]}"));
  assert_non_null(strstr(text,
                         "{\"file\":\"my.rules\",\"line\":2,\"together\":\"attention\","
                         "\"over\":\"model\","
                         "\"written\":\"tp/parts({heads*head_dim}/{head_dim}), _\"}"));
  assert_round_trip(plan);
  assert_ok(read_plan(text, &again));
  int64_t count = 0;
  const tsr_fact *facts = tsr_rules_facts(tsr_plan_rules(again), &count);
  assert_int_equal(count, 2);
  assert_string_equal(facts[1].name, "head_dim");
  assert_int_equal(facts[1].value, 16);
  free(text);
  tsr_plan_release(again);
  tsr_plan_release(plan);
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

#define RULES(options) \
  "{\"schema\":\"tessera-plan/1\",\"rules\":[],\"rules_options\":" options ",\"tensors\":[]}"

static const struct {
  const char *json, *message;
} faults[] = {
    {"[]", "plan: wanted an object, found array"},
    {"{}", "plan: schema: missing, wanted a string"},
    {"{\"schema\":\"tessera-plan/2\"}",
     "plan: schema \"tessera-plan/2\" is not supported, wanted \"tessera-plan/1\""},
    {"{\"schema\":\"tessera-plan/1\"}", "plan: tensors: missing, wanted an array"},
    {"{\"schema\":\"tessera-plan/1\",\"tensors\":[],\"x\":1}",
     "plan: key \"x\" is not schema, mesh, topology, rules, rules_options, logical_rules or "
     "tensors"},
    {PLAN(ROW), "plan: tensors[0], \"a\": spec: missing, wanted a string"},
    {PLAN(ROW ",\"spec\":\"x+\""), "plan: tensors[0], \"a\": spec: "},
    {PLAN(ROW ",\"spec\":\"x\",\"wanted\":3"),
     "plan: tensors[0], \"a\": wanted: wanted a string, found 3"},
    {PLAN(ROW ",\"spec\":\"x\",\"policy\":\"drop\""),
     "plan: tensors[0], \"a\": policy \"drop\" is none of error, trim, pad and uneven"},
    {PLAN(ROW ",\"spec\":\"x\",\"bytes_per_device\":16"),
     "plan: tensors[0], \"a\": bytes_per_device is 16, but the spec gives 8"},
    {PLAN(ROW ",\"spec\":\"x\",\"notes\":[{\"why\":\"whim\"}]"),
     "plan: tensors[0], \"a\": notes[0]: why: \"whim\" is not a known reason"},
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
    {"{\"schema\":\"tessera-plan/1\",\"topology\":{},\"tensors\":[]}",
     "plan: a topology without a mesh, wanted both or the mesh alone"},
    {"{\"schema\":\"tessera-plan/"
     "1\",\"mesh\":{\"axes\":[[\"x\",2]]},\"topology\":3,\"tensors\":[]}",
     "plan: topology: "},
    {"{\"schema\":\"tessera-plan/"
     "1\",\"mesh\":{\"axes\":[[\"x\",2]]},\"topology\":{\"platform\":\"cpu\","
     "\"kind\":\"cpu\",\"devices\":[[0,0,null,null,null,null,null],[0,0,null,null,null,null,null]]}"
     ","
     "\"tensors\":[]}",
     "plan: "},
    {RULES("{\"facts\":3}"),
     "plan: rules: rules_options: facts: wanted an object of whole numbers"},
    {RULES("{\"facts\":{\"heads\":\"many\"}}"), "plan: rules: rules_options: heads: "},
    {RULES("{\"facts\":{\"a\\u0000b\":1}}"), "plan: rules: rules_options: a fact with a zero byte"},
    {RULES("{\"keep_axes\":\"tp\"}"), "plan: rules: rules_options: keep_axes: wanted an array"},
    {RULES("{\"keep_axes\":[1]}"), "plan: rules: rules_options: keep_axes: wanted a string"},
    {RULES("{\"rename_axes\":{}}"), "plan: rules: rules_options: rename_axes: wanted an array"},
    {RULES("{\"rename_axes\":[[\"tp\"]]}"),
     "plan: rules: rules_options: rename_axes: wanted [old, new], found 1 names"},
    {RULES("{\"mesh\":1}"), "plan: rules: rules_options: key \"mesh\" is not "},
    {"{\"schema\":\"tessera-plan/1\",\"rules_options\":{},\"tensors\":[]}",
     "plan: rules_options without rules"},
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
  close(file);
  assert_ok(tsr_plan_save(plan, path));
  tsr_tree *tree = NULL;
  assert_ok(tsr_plan_open(path, &again));
  assert_true(tsr_plan_equal(plan, again));
  assert_ok(tsr_tree_open(path, &tree));
  assert_true(tsr_tree_equal(tree, tsr_plan_tree(plan)));
  tsr_tree_release(tree);
  tsr_plan_release(again);
  unlink(path);
  assert_fails_with(tsr_plan_open(path, &again), IO, "tessera_plan_");
  assert_fails_with(tsr_plan_save(plan, "/nowhere/plan.json"), NOT_FOUND, "/nowhere/plan.json");
  tsr_plan_release(plan);
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
  plan = make_computed();
  text = write_plan(plan, 0);
  test_allocation_sweep(read_and_release, text);
  test_allocation_sweep(write_and_free, plan);
  free(text);
  tsr_plan_release(plan);
}

SUITE(plan_json, TEST(the_machine_is_part_of_a_plan), TEST(rules_keep_what_they_were_computed_from),
      TEST(a_plan_reads_as_it_was_written), TEST(the_text_is_one_line_a_tensor),
      TEST(logical_plans_keep_their_rules), TEST(faults_are_placed),
      TEST(files_are_plans_and_trees), TEST(memory_may_run_out))
