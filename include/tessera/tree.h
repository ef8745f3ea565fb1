// Tree: the named tensors of a model, as a flat list of paths.
//
// A tensor has a path ("model.layers.0.mlp.up_proj.weight"), an element type and a shape, and may
// carry logical axis names. 100,000 tensors are ordinary; nothing here holds tensor bytes.
// Immutable once made, hence safe to share.
#ifndef TESSERA_TREE_H
#define TESSERA_TREE_H

#include "tessera/dtype.h"
#include "tessera/json.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_tree tsr_tree;  // immutable, shared by any threads

// Copies everything. Paths are UTF-8 and unique ("" is one too: a tree may be a single tensor), and
// all tensors together take less than 2^63 bytes.
TSR_API TSR_MUST_USE tsr_status tsr_tree_create(const tsr_tensor *tensors, int64_t count,
                                                tsr_tree **out_tree);
// {"tensors": [{"path", "dtype", "shape", "logical"?}, ...]}, or nested objects whose leaves are
// {"dtype", "shape", "logical"?}: paths are then joined with "/" and keys keep their order. Types
// are known by any of their names; unknown keys are errors.
TSR_API TSR_MUST_USE tsr_status tsr_tree_from_json(const tsr_json *value, tsr_tree **out_tree);
TSR_API void tsr_tree_to_json(const tsr_tree *tree, tsr_json_writer *writer);
// What a user may give where a model is asked for: a safetensors file, a folder or index of Hugging
// Face's form (headers only are read, strictly), or a JSON file as above. A plan's file is one too.
TSR_API TSR_MUST_USE tsr_status tsr_tree_open(const char *path, tsr_tree **out_tree);

// What was odd but not wrong about the files it was opened from, one line each; "" = nothing.
TSR_API const char *tsr_tree_warnings(const tsr_tree *tree);

TSR_API tsr_tree *tsr_tree_retain(const tsr_tree *tree);
TSR_API void tsr_tree_release(const tsr_tree *tree);  // NULL is fine

TSR_API int64_t tsr_tree_count(const tsr_tree *tree);
TSR_API const tsr_tensor *tsr_tree_at(const tsr_tree *tree, int64_t index);
TSR_API int64_t tsr_tree_find(const tsr_tree *tree, const char *path);  // -1 if there is none
// The path nearest to a misspelt or shortened one; NULL if none is near.
TSR_API const char *tsr_tree_nearest(const tsr_tree *tree, const char *path);
TSR_API int64_t tsr_tree_bytes(const tsr_tree *tree);  // of all tensors
// The same tensors in the same order.
TSR_API bool tsr_tree_equal(const tsr_tree *a, const tsr_tree *b);

// Which tensors are meant: those that match any of the patterns to include (none given: all), and
// none of those to exclude. Patterns are searched for as those of rules are.
typedef struct tsr_tree_filter {
  const char *const *include, *const *exclude;
  int64_t include_count, exclude_count;
} tsr_tree_filter;
// Their indices, ascending, in a block to free(). A pattern that matches no tensor is refused, and
// so is a filter that leaves none.
TSR_API TSR_MUST_USE tsr_status tsr_tree_select(const tsr_tree *tree, const tsr_tree_filter *filter,
                                                int64_t **out_tensors, int64_t *out_count);

// Tensors that differ only in numbers of their paths ("layers.0.", "layers.1.") and agree in type,
// shape and logical axes, shown as one pattern: "layers.*.mlp.up_proj.weight", 32 of them. A number
// is a whole part of a path between '.', '/' and brackets; where '/' parts it, "layers_0" has one
// too. Groups come in the order of their first members.
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
TSR_API TSR_MUST_USE tsr_status tsr_tree_group_by_pattern(const tsr_tree *tree,
                                                          tsr_tree_groups *out_groups);
TSR_API void tsr_tree_groups_deinit(tsr_tree_groups *groups);

TSR_END_DECLS

#endif
