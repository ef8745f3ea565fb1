// Trees, for other rooms: JSON, tensors chosen by pattern, and tensors grouped by it. The rest is
// in tessera/tree.h.
#ifndef TESSERA_PLAN_TREE_INTERNAL_H
#define TESSERA_PLAN_TREE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/status.h"
#include "tessera/tree.h"

// {"tensors": [{"path", "dtype", "shape", "logical"?}, ...]}, or nested objects whose leaves are
// {"dtype", "shape", "logical"?}: paths are then joined with "/" and keys keep their order. Types
// are known by any of their names; unknown keys are errors.
TSR_MUST_USE tsr_status tsr_tree_from_json(const tsr_json *value, tsr_tree **out_tree);
void tsr_tree_to_json(const tsr_tree *tree, tsr_json_writer *writer);

// Warnings about the files it was opened from, one line each; "" = none.
const char *tsr_tree_warnings(const tsr_tree *tree);

// The path nearest to a misspelt or shortened one; NULL = none is near.
const char *tsr_tree_nearest(const tsr_tree *tree, const char *path);
// The same tensors in the same order.
bool tsr_tree_equal(const tsr_tree *a, const tsr_tree *b);
// The first tensor of `a` without an equal in `b` (path, dtype, shape, logical axes); NULL = none.
const tsr_tensor *tsr_tree_missing(const tsr_tree *a, const tsr_tree *b);

// Selects tensors that match any pattern of `include` (none given: all) and none of `exclude`.
// Patterns are searched for as in rules.
typedef struct tsr_tree_filter {
  const char *const *include, *const *exclude;
  int64_t include_count, exclude_count;
} tsr_tree_filter;
// Their indices, ascending, in a block to free(). A pattern that matches no tensor is refused, and
// so is a filter that leaves none.
TSR_MUST_USE tsr_status tsr_tree_select(const tsr_tree *tree, const tsr_tree_filter *filter,
                                        int64_t **out_tensors, int64_t *out_count);

// Tensors whose paths differ only in numbers ("layers.0.", "layers.1.") and that agree in dtype,
// shape and logical axes, shown as one pattern: "layers.*.mlp.up_proj.weight", 32 of them. A number
// is a whole component between '.', '/' and brackets; in paths with '/', "layers_0" has one too.
// Groups come in the order of their first members.
typedef struct tsr_tree_group {
  const char *pattern;
  int64_t count;
  const int64_t *members;  // indices, ascending
} tsr_tree_group;
typedef struct tsr_tree_groups {
  int64_t count;
  tsr_tree_group *items;
  void *memory;  // owned: what the items point to
} tsr_tree_groups;
// Members also agree in their key; NULL keys = all agree.
TSR_MUST_USE tsr_status tsr_tree_group_by(const tsr_tree *tree, const uint64_t *keys,
                                          tsr_tree_groups *out_groups);
// `layers.*.w (32 tensors)`, or the path of a single one.
void tsr_tree_group_print(const tsr_tree_group *group, const tsr_tree *tree, tsr_text *out);
void tsr_tree_groups_deinit(tsr_tree_groups *groups);

#endif
