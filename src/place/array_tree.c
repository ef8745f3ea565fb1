// A tree of arrays is one block: the leaves, then the bytes of their paths. Beside it lies an index
// from path to leaf.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "place/place.h"

struct tsr_array_tree {
  atomic_int references;
  int64_t count;
  tsr_name_index paths;
  tsr_leaf leaves[];
};

// ---- checks ----

static tsr_status check_host(const tsr_leaf *leaf) {
  int64_t bytes = 0;
  TSR_TRY(tsr_shape_bytes(&leaf->shape, leaf->dtype, &bytes));
  if (!leaf->data && bytes)
    return tsr_fail(BAD_ARGUMENT, "a tensor in host memory without data, wanted %lld bytes",
                    (long long)bytes);
  return NULL;
}

static tsr_status check_leaf(const tsr_leaf *leaf) {
  if (leaf->kind == TSR_LEAF_ARRAY) {
    if (!leaf->array) return tsr_fail(BAD_ARGUMENT, "a leaf that is an array has none");
    if (tsr_array_is_deleted(leaf->array))
      return tsr_fail(BAD_ARGUMENT, "the array was donated, so that it holds nothing");
    return NULL;
  }
  if (leaf->kind != TSR_LEAF_HOST && leaf->kind != TSR_LEAF_SHAPE)
    return tsr_fail(BAD_ARGUMENT, "a leaf of kind %d, wanted 0 to %d", (int)leaf->kind,
                    (int)TSR_LEAF_SHAPE);
  TSR_TRY(tsr_shape_check(&leaf->shape));
  if (!tsr_dtype_get(leaf->dtype))
    return tsr_fail(UNKNOWN_DTYPE, "type %d is not known", (int)leaf->dtype);
  return leaf->kind == TSR_LEAF_HOST ? check_host(leaf) : NULL;
}

static tsr_status measure(const tsr_leaf *leaves, int64_t count, size_t *out_text) {
  size_t text = 0;
  if (count < 0 || count > INT32_MAX)
    return tsr_fail(TOO_LARGE, "a tree of %lld leaves, wanted 0 to %d", (long long)count,
                    INT32_MAX);
  for (int64_t i = 0; i < count; i++) {
    const char *path = leaves[i].path;
    if (!path) return tsr_fail(BAD_ARGUMENT, "leaf %lld has no path", (long long)i);
    if (!tsr_utf8_is_valid(path))
      return tsr_fail(BAD_ARGUMENT, "the path of leaf %lld is not UTF-8", (long long)i);
    TSR_TRY_NOTE(check_leaf(&leaves[i]), "leaf \"%s\"", path);
    text += strlen(path) + 1;
  }
  *out_text = text;
  return NULL;
}

// ---- the block ----

// What belongs to the kind of the leaf, held by the tree.
static tsr_leaf hold(const tsr_leaf *leaf, const char *path) {
  tsr_leaf held = {.path = path, .kind = leaf->kind, .dtype = leaf->dtype, .shape = leaf->shape};
  if (leaf->kind == TSR_LEAF_ARRAY) {
    held.array = tsr_array_retain(leaf->array);
    held.dtype = tsr_array_dtype(leaf->array);
    held.shape = tsr_array_shape(leaf->array);
  } else if (leaf->kind == TSR_LEAF_HOST) {
    held.data = leaf->data;
    held.buffer = leaf->buffer ? tsr_buffer_retain(leaf->buffer) : NULL;
  } else {
    held.spec = leaf->spec ? tsr_spec_retain(leaf->spec) : NULL;
  }
  return held;
}

static tsr_status index_paths(tsr_array_tree *tree) {
  for (int64_t i = 0; i < tree->count; i++) {
    int64_t existing = -1;
    TSR_TRY(tsr_name_index_add(&tree->paths, tree->leaves[i].path, i, &existing));
    if (existing >= 0)
      return tsr_fail(DUPLICATE_PATH, "path \"%s\" is given twice, to leaves %lld and %lld",
                      tree->leaves[i].path, (long long)existing, (long long)i);
  }
  return NULL;
}

tsr_status tsr_array_tree_create(const tsr_leaf *leaves, int64_t count, tsr_array_tree **out_tree) {
  size_t text = 0;
  TSR_TRY(measure(leaves, count, &text));
  const size_t leaf_bytes = sizeof *leaves * (size_t)count;
  tsr_array_tree *tree = malloc(sizeof *tree + leaf_bytes + text);
  if (!tree) return tsr_fail(NO_MEMORY, "tree of %lld arrays", (long long)count);
  *tree = (tsr_array_tree){.count = count};
  atomic_init(&tree->references, 1);
  char *at = (char *)tree->leaves + leaf_bytes;
  for (int64_t i = 0; i < count; i++) {
    const size_t bytes = strlen(leaves[i].path) + 1;
    tree->leaves[i] = hold(&leaves[i], memcpy(at, leaves[i].path, bytes));
    at += bytes;
  }
  tsr_status status = index_paths(tree);
  if (status)
    tsr_array_tree_release(tree);
  else
    *out_tree = tree;
  return status;
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
  tsr_name_index_deinit(&mine->paths);
  free(mine);
}

// ---- what is asked of it ----

int64_t tsr_array_tree_count(const tsr_array_tree *tree) { return tree->count; }

const tsr_leaf *tsr_array_tree_leaf(const tsr_array_tree *tree, int64_t index) {
  return index >= 0 && index < tree->count ? &tree->leaves[index] : NULL;
}

const tsr_leaf *tsr_array_tree_find(const tsr_array_tree *tree, const char *path) {
  const int64_t index = tsr_name_index_find(&tree->paths, path);
  return index < 0 ? NULL : &tree->leaves[index];
}

tsr_status tsr_array_tree_get(const tsr_array_tree *tree, const char *path, tsr_array **out_array) {
  const tsr_leaf *leaf = tsr_array_tree_find(tree, path);
  if (!leaf) {
    tsr_suggestion near = tsr_suggestion_for(path);
    for (int64_t i = 0; i < tree->count; i++) tsr_suggestion_offer(&near, tree->leaves[i].path);
    return tsr_fail(NOT_FOUND, "the tree has no leaf \"%s\"" TSR_DID_YOU_MEAN, path,
                    TSR_SUGGESTED(near));
  }
  if (leaf->kind != TSR_LEAF_ARRAY)
    return tsr_fail(UNSUPPORTED_LEAF, "leaf \"%s\" is %s, wanted an array", path,
                    leaf->kind == TSR_LEAF_HOST ? "a tensor in host memory" : "a shape");
  *out_array = leaf->array;
  return NULL;
}

tsr_status tsr_array_tree_shapes(const tsr_array_tree *tree, tsr_tree **out_tree) {
  tsr_tensor *tensors = calloc((size_t)tree->count + 1, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "tree of %lld tensors", (long long)tree->count);
  for (int64_t i = 0; i < tree->count; i++) {
    const tsr_leaf *leaf = &tree->leaves[i];
    tensors[i] = (tsr_tensor){.path = leaf->path,
                              .dtype = leaf->dtype,
                              .rank = leaf->shape.rank,
                              .dims = leaf->shape.dims};
  }
  tsr_status status = tsr_tree_create(tensors, tree->count, out_tree);
  free(tensors);
  return status;
}
