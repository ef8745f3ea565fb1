// A tree of arrays: a tree of tensors for paths, dtypes and shapes, and one block with the leaves.
#include <stdatomic.h>
#include <stdlib.h>

#include "array/array_internal.h"
#include "base/room.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "element/shape_internal.h"
#include "layout/layout.h"
#include "place/place.h"
#include "tessera/engine/buffer.h"

struct tsr_array_tree {
  atomic_int references;
  int64_t count;
  tsr_tree *tensors;  // owned: the leaves' tensors point into it
  tsr_leaf leaves[];
};

// ---- checks ----

static tsr_status check_host(const tsr_leaf *leaf, const tsr_shape *shape) {
  int64_t bytes = 0;
  TSR_TRY(tsr_shape_bytes(shape, leaf->tensor.dtype, &bytes));
  if (!leaf->data && bytes)
    return tsr_fail(BAD_ARGUMENT, "a tensor in host memory without data, wanted %lld bytes",
                    (long long)bytes);
  return NULL;
}

static tsr_status check_leaf(const tsr_leaf *leaf) {
  const tsr_tensor *tensor = &leaf->tensor;
  tsr_shape shape;
  if (leaf->kind == TSR_LEAF_ARRAY) {
    if (!leaf->array) return tsr_fail(BAD_ARGUMENT, "a leaf that is an array has none");
    if (tsr_array_is_deleted(leaf->array))
      return tsr_fail(BAD_ARGUMENT, "the array was donated and holds nothing");
    return NULL;
  }
  if (leaf->kind != TSR_LEAF_HOST && leaf->kind != TSR_LEAF_SHAPE)
    return tsr_fail(BAD_ARGUMENT, "a leaf of kind %d, wanted 0 to %d", (int)leaf->kind,
                    (int)TSR_LEAF_SHAPE);
  if (tensor->rank > 0 && !tensor->dims)
    return tsr_fail(BAD_ARGUMENT, "a tensor of rank %d without dims", tensor->rank);
  TSR_TRY(tsr_shape_init(&shape, tensor->dims, tensor->rank));
  if (!tsr_dtype_info_of(tensor->dtype))
    return tsr_fail(UNKNOWN_DTYPE, "type %d is not known", (int)tensor->dtype);
  return leaf->kind == TSR_LEAF_HOST ? check_host(leaf, &shape) : NULL;
}

static tsr_status check_leaves(const tsr_leaf *leaves, int64_t count) {
  if (count < 0 || count > INT32_MAX)
    return tsr_fail(TOO_LARGE, "a tree of %lld leaves, wanted 0 to %d", (long long)count,
                    INT32_MAX);
  TSR_TRY(tsr_list_check(leaves, count, "leaves"));
  for (int64_t i = 0; i < count; i++) {
    const char *path = leaves[i].tensor.path;
    if (!path) return tsr_fail(BAD_ARGUMENT, "leaf %lld has no path", (long long)i);
    if (!tsr_utf8_is_valid(path))
      return tsr_fail(BAD_ARGUMENT, "the path of leaf %lld is not UTF-8", (long long)i);
    TSR_TRY_NOTE(check_leaf(&leaves[i]), "leaf \"%s\"", path);
  }
  return NULL;
}

// ---- the block ----

// The leaf's tensor; an array gives its own dtype and shape.
static tsr_tensor describe(const tsr_leaf *leaf) {
  tsr_tensor tensor = leaf->tensor;
  if (leaf->kind != TSR_LEAF_ARRAY) return tensor;
  const tsr_layout *layout = tsr_array_layout(leaf->array);
  tensor.dtype = tsr_array_dtype(leaf->array);
  tensor.rank = layout->rank;
  tensor.dims = layout->dims;
  return tensor;
}

static tsr_status make_tensors(const tsr_leaf *leaves, int64_t count, tsr_tree **out_tensors) {
  tsr_tensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "tree of %lld arrays", (long long)count);
  for (int64_t i = 0; i < count; i++) tensors[i] = describe(&leaves[i]);
  tsr_status status = tsr_tree_create(tensors, count, out_tensors);
  free(tensors);
  return status;
}

// A copy of the leaf with the fields of its kind, retained by the tree.
static tsr_leaf hold(const tsr_leaf *leaf, const tsr_tensor *tensor) {
  tsr_leaf held = {.tensor = *tensor, .kind = leaf->kind};
  if (leaf->kind == TSR_LEAF_ARRAY) {
    held.array = tsr_array_retain(leaf->array);
  } else if (leaf->kind == TSR_LEAF_HOST) {
    held.data = leaf->data;
    held.buffer = leaf->buffer ? tsr_buffer_retain(leaf->buffer) : NULL;
  } else {
    held.spec = leaf->spec ? tsr_spec_retain(leaf->spec) : NULL;
  }
  return held;
}

tsr_status tsr_array_tree_create(const tsr_leaf *leaves, int64_t count, tsr_array_tree **out_tree) {
  tsr_tree *tensors = NULL;
  TSR_TRY(check_leaves(leaves, count));
  TSR_TRY(make_tensors(leaves, count, &tensors));
  tsr_array_tree *tree = malloc(sizeof *tree + sizeof *leaves * (size_t)count);
  if (!tree) {
    tsr_tree_release(tensors);
    return tsr_fail(NO_MEMORY, "tree of %lld arrays", (long long)count);
  }
  *tree = (tsr_array_tree){.count = count, .tensors = tensors};
  atomic_init(&tree->references, 1);
  for (int64_t i = 0; i < count; i++) tree->leaves[i] = hold(&leaves[i], tsr_tree_at(tensors, i));
  *out_tree = tree;
  return NULL;
}

tsr_array_tree *tsr_array_tree_retain(const tsr_array_tree *tree) {
  tsr_array_tree *mine = (tsr_array_tree *)tree;
  atomic_fetch_add_explicit(&mine->references, 1, memory_order_relaxed);
  return mine;
}

void tsr_array_tree_release(const tsr_array_tree *tree) {
  tsr_array_tree *mine = (tsr_array_tree *)tree;
  if (!mine || atomic_fetch_sub_explicit(&mine->references, 1, memory_order_acq_rel) != 1) return;
  for (int64_t i = 0; i < mine->count; i++) {
    tsr_array_release(mine->leaves[i].array);
    tsr_buffer_release(mine->leaves[i].buffer);
    tsr_spec_release(mine->leaves[i].spec);
  }
  tsr_tree_release(mine->tensors);
  free(mine);
}

// ---- reading ----

int64_t tsr_array_tree_count(const tsr_array_tree *tree) { return tree->count; }

const tsr_leaf *tsr_array_tree_at(const tsr_array_tree *tree, int64_t index) {
  return index >= 0 && index < tree->count ? &tree->leaves[index] : NULL;
}

const tsr_leaf *tsr_array_tree_find(const tsr_array_tree *tree, const char *path) {
  const int64_t index = tsr_tree_find(tree->tensors, path);
  return index < 0 ? NULL : &tree->leaves[index];
}

tsr_status tsr_array_tree_get(const tsr_array_tree *tree, const char *path, tsr_array **out_array) {
  const int64_t index = tsr_tree_find(tree->tensors, path);
  if (index < 0) {
    tsr_suggestion near = tsr_suggestion_for(path);
    for (int64_t i = 0; i < tree->count; i++)
      tsr_suggestion_offer(&near, tree->leaves[i].tensor.path);
    return tsr_fail(NOT_FOUND, "the tree has no leaf \"%s\"" TSR_DID_YOU_MEAN, path,
                    TSR_SUGGESTED(near));
  }
  const tsr_leaf *leaf = &tree->leaves[index];
  if (leaf->kind != TSR_LEAF_ARRAY)
    return tsr_fail(UNSUPPORTED_LEAF, "leaf \"%s\" is %s, wanted an array", path,
                    leaf->kind == TSR_LEAF_HOST ? "a tensor in host memory" : "a shape");
  *out_array = leaf->array;
  return NULL;
}

tsr_status tsr_array_tree_shapes(const tsr_array_tree *tree, tsr_tree **out_tree) {
  *out_tree = tsr_tree_retain(tree->tensors);
  return NULL;
}
