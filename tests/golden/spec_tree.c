// Trees of specs as eformer's recordings write them: nested dicts and lists with {"$": "spec"}
// leaves.
#include <stdio.h>

#include "base/text_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "spec/spec_internal.h"

typedef struct walk {
  const golden_case *c;
  const tsr_tree *tree;
  const tsr_spec **specs;
  tsr_text path;
  int64_t leaves;
} walk;

static tsr_status visit(walk *at, const tsr_json *value);

static tsr_status visit_child(walk *at, const char *key, size_t length, const tsr_json *child) {
  const size_t before = at->path.length;
  if (before) tsr_text_add_char(&at->path, '/');
  tsr_text_add_bytes(&at->path, key, length);
  TSR_TRY(visit(at, child));
  at->path.length = before;
  if (at->path.data) at->path.data[before] = '\0';
  return NULL;
}

static tsr_status visit_list(walk *at, const tsr_json *list) {
  int index = 0;
  for (const tsr_json *child = tsr_json_first(list); child; child = tsr_json_next(child)) {
    char key[16];
    const int length = snprintf(key, sizeof key, "%d", index++);
    TSR_TRY(visit_child(at, key, (size_t)length, child));
  }
  return NULL;
}

static tsr_status visit_dict(walk *at, const tsr_json *dict) {
  for (const tsr_json *child = tsr_json_first(dict); child; child = tsr_json_next(child)) {
    size_t length = 0;
    const char *key = tsr_json_key(child, &length);
    TSR_TRY(visit_child(at, key, length, child));
  }
  return NULL;
}

static tsr_status visit_spec(walk *at, const tsr_json *leaf) {
  tsr_spec *spec = NULL;
  const int64_t row = tsr_tree_find(at->tree, tsr_text_string(&at->path));
  if (row < 0)
    return tsr_fail(TREE_MISMATCH, "a spec for \"%s\", which is no tensor",
                    tsr_text_string(&at->path));
  TSR_TRY(tsr_spec_from_json(tsr_json_find(leaf, "spec"), &spec));
  at->specs[row] = spec;
  at->leaves++;
  return NULL;
}

// Recursion is bounded: the reader of JSON takes no more than 512 levels.
static tsr_status visit(walk *at, const tsr_json *value) {
  const tsr_json *kind = tsr_json_find(value, "$");
  if (golden_is_null(value)) return NULL;
  if (tsr_json_is_string(kind, "spec")) return visit_spec(at, value);
  if (tsr_json_is_string(kind, "tuple")) return visit_list(at, tsr_json_find(value, "items"));
  if (kind) return tsr_fail(UNSUPPORTED, "a tree of specs with other leaves");
  if (tsr_json_kind_of(value) == TSR_JSON_ARRAY) return visit_list(at, value);
  return visit_dict(at, value);
}

tsr_status golden_read_spec_tree(const golden_case *c, const tsr_json *value, const tsr_tree *tree,
                                 const tsr_spec **out_specs) {
  walk at = {.c = c, .tree = tree, .specs = out_specs, .path = TSR_TEXT_EMPTY};
  tsr_status status = visit(&at, value);
  if (!status && at.leaves != tsr_tree_count(tree))
    status = tsr_fail(TREE_MISMATCH, "%lld specs for %lld tensors", (long long)at.leaves,
                      (long long)tsr_tree_count(tree));
  tsr_text_deinit(&at.path);
  return status;
}
