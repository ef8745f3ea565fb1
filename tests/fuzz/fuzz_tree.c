// Whatever the JSON: no crash; a tree that comes out of it is written and read back as itself,
// finds its tensors, and every tensor is in exactly one group.
#include <assert.h>
#include <stdint.h>

#include "element/shape_internal.h"
#include "json/json.h"
#include "plan/tree_internal.h"
#include "tessera/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsr_status read_tree(const char *bytes, size_t length, tsr_tree **out) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(bytes, length, &doc));
  tsr_status status = tsr_tree_from_json(tsr_json_root(doc), out);
  tsr_json_destroy(doc);
  return status;
}

static void check_round_trip(const tsr_tree *tree) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_tree *again = NULL;
  tsr_json_writer_init(&writer, &text, 2);
  tsr_tree_to_json(tree, &writer);
  tsr_status status = read_tree(tsr_text_string(&text), text.length, &again);
  assert(!status && tsr_tree_equal(tree, again));
  tsr_tree_release(again);
  tsr_text_deinit(&text);
}

static void check_tensors(const tsr_tree *tree) {
  int64_t bytes = 0, members = 0;
  tsr_tree_groups groups;
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    const tsr_tensor *tensor = tsr_tree_at(tree, i);
    assert(tsr_tree_find(tree, tensor->path) == i);
    bytes += tsr_tensor_bytes(tensor);
  }
  assert(bytes == tsr_tree_bytes(tree));
  tsr_status status = tsr_tree_group_by(tree, NULL, &groups);
  assert(!status);
  for (int64_t g = 0; g < groups.count; g++) members += groups.items[g].count;
  assert(members == tsr_tree_count(tree));
  tsr_tree_groups_deinit(&groups);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_tree *tree = NULL;
  tsr_status status = read_tree((const char *)data, size, &tree);
  if (status) {
    assert(*tsr_status_text(status) && !tree);
    tsr_status_free(status);
    return 0;
  }
  check_round_trip(tree);
  check_tensors(tree);
  tsr_tree_release(tree);
  return 0;
}
