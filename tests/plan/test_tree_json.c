#include <stdlib.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "plan/tree_internal.h"
#include "support/models.h"
#include "support/test.h"

static char *write_tree(const tsr_tree *tree, int indent) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  char *taken = NULL;
  tsr_json_writer_init(&writer, &text, indent);
  tsr_tree_to_json(tree, &writer);
  assert_ok(tsr_text_take(&text, &taken));
  return taken;
}

static void lists_are_read_as_they_are_written(void **state) {
  (void)state;
  static const char json[] =
      "{\n"
      "  \"tensors\": [\n"
      "    {\"path\": \"a.w\", \"dtype\": \"bf16\", \"shape\": [2, 3], \"logical\": [\"x\", "
      "null]},\n"
      "    {\"path\": \"\", \"dtype\": \"i64\", \"shape\": []}\n"
      "  ]\n"
      "}";
  tsr_tree *tree = NULL;
  assert_ok(read_tree(json, &tree));
  char *written = write_tree(tree, 2);
  assert_string_equal(written, json);
  free(written);
  tsr_tree_release(tree);
}

static void nested_objects_become_paths(void **state) {
  (void)state;
  tsr_tree *tree = NULL;
  assert_ok(
      read_tree("{\"z\": {\"w\": {\"dtype\": \"float32\", \"shape\": [4]}, \"none\": {}},"
                " \"shape\": {\"dtype\": {\"dtype\": \"I8\", \"shape\": [],"
                " \"logical\": []}}}",
                &tree));
  char *written = write_tree(tree, 0);
  assert_string_equal(written,
                      "{\"tensors\":[{\"path\":\"z/w\",\"dtype\":\"f32\",\"shape\":[4]},"
                      "{\"path\":\"shape/dtype\",\"dtype\":\"i8\",\"shape\":[],\"logical\":[]}]}");
  free(written);
  tsr_tree_release(tree);
  assert_ok(read_tree("{\"dtype\": \"f32\", \"shape\": [2]}", &tree));
  assert_string_equal(tsr_tree_at(tree, 0)->path, "");
  tsr_tree_release(tree);
  assert_ok(read_tree("{}", &tree));
  assert_int_equal(tsr_tree_count(tree), 0);
  tsr_tree_release(tree);
}

static const struct {
  const char *json, *message;
} faults[] = {
    {"[]", "tree: \"\": wanted an object, found array"},
    {"{\"a\": {\"b\": 3}}", "tree: \"a/b\": wanted an object, found number"},
    {"{\"a\": {\"shape\": [2]}}", "tree: tensor \"a\": dtype: missing, wanted a string"},
    {"{\"a\": {\"dtype\": \"f32\"}}", "tree: tensor \"a\": shape: missing, wanted an array"},
    {"{\"a\": {\"dtype\": \"f32\", \"shape\": [2], \"offset\": 1}}",
     "tree: tensor \"a\": key \"offset\" is not dtype, shape or logical"},
    {"{\"a\": {\"dtype\": \"f32\", \"shape\": [2.5]}}",
     "tree: tensor \"a\": shape: wanted an integer, found 2.5"},
    {"{\"a\": {\"dtype\": \"f32\", \"shape\": [2], \"logical\": []}}",
     "tree: tensor \"a\": logical: 0 names for 1 dimensions"},
    {"{\"tensors\": [{\"path\": \"a\", \"dtype\": \"f33\", \"shape\": []}]}",
     "tree: tensors[0]: element type \"f33\" is unknown; did you mean \"f32\"?"},
    {"{\"tensors\": [3]}", "tree: tensors[0]: wanted an object, found number"},
    {"{\"tensors\": [{\"path\": \"a\\u0000\", \"dtype\": \"f32\", \"shape\": []}]}",
     "tree: tensors[0]: path contains a zero byte"},
    {"{\"tensors\": [], \"mesh\": 1}", "tree: key \"mesh\" is not tensors"},
    {"{\"a\\u0000\": {}}", "tree: a key holds a zero byte"},
};

static void faults_are_placed(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(faults); i++) {
    tsr_tree *tree = NULL;
    tsr_status status = read_tree(faults[i].json, &tree);
    assert_string_equal(tsr_status_text(status), faults[i].message);
    assert_null(tree);
    tsr_status_free(status);
  }
}

static tsr_status read_and_release(void *context) {
  tsr_tree *tree = NULL;
  TSR_TRY(read_tree(context, &tree));
  tsr_tree_release(tree);
  return NULL;
}

static void memory_may_run_out(void **state) {
  (void)state;
  test_allocation_sweep(read_and_release,
                        "{\"tensors\": [{\"path\": \"a\", \"dtype\": \"f32\", \"shape\": [2],"
                        " \"logical\": [\"x\"]}, {\"path\": \"b\", \"dtype\": \"f32\","
                        " \"shape\": []}]}");
  test_allocation_sweep(read_and_release,
                        "{\"a\": {\"b\": {\"dtype\": \"f32\", \"shape\": [2, 3]}}}");
}

SUITE(tree_json, TEST(lists_are_read_as_they_are_written), TEST(nested_objects_become_paths),
      TEST(faults_are_placed), TEST(memory_may_run_out))
