// A tree is one block: the tensors, then the sizes and logical names they point to, and last the
// bytes of all names. An index from path to tensor is separate.
#include "plan/tree.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/name_index.h"
#include "base/room.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "element/shape_internal.h"

struct tsr_tree {
  atomic_int references;
  int64_t count, bytes;
  char *warnings;  // owned; NULL = none
  tsr_name_index paths;
  tsr_tensor tensors[];
};

// ---- checks ----

// The contents of the block.
typedef struct block_size {
  size_t dims, names, text;  // sizes, logical names, bytes
  int64_t bytes;             // of the tensors themselves
} block_size;

static tsr_status measure_logical(const tsr_tensor *tensor, block_size *needs) {
  if (!tensor->logical) return NULL;
  for (int d = 0; d < tensor->rank; d++) {
    const char *name = tensor->logical[d];
    if (!name || !*name) continue;
    if (!tsr_utf8_is_valid(name))
      return tsr_fail(BAD_ARGUMENT, "the logical name of dimension %d is not UTF-8", d);
    needs->text += strlen(name) + 1;
  }
  needs->names += (size_t)tensor->rank;
  return NULL;
}

static tsr_status measure_tensor(const tsr_tensor *tensor, block_size *needs) {
  tsr_shape shape;
  int64_t bytes = 0;
  TSR_TRY(tsr_shape_init(&shape, tensor->dims, tensor->rank));
  if (!tsr_dtype_info_of(tensor->dtype))
    return tsr_fail(UNKNOWN_DTYPE, "type %d is not known", (int)tensor->dtype);
  TSR_TRY(tsr_shape_bytes(&shape, tensor->dtype, &bytes));
  if (__builtin_add_overflow(needs->bytes, bytes, &needs->bytes))
    return tsr_fail(OVERFLOW, "the tensors up to here take more than 2^63 bytes");
  needs->dims += (size_t)tensor->rank;
  needs->text += strlen(tensor->path) + 1;
  return measure_logical(tensor, needs);
}

static tsr_status measure(const tsr_tensor *tensors, int64_t count, block_size *out_needs) {
  if (count < 0 || count > INT32_MAX)
    return tsr_fail(TOO_LARGE, "a tree of %lld tensors, wanted 0 to %d", (long long)count,
                    INT32_MAX);
  TSR_TRY(tsr_list_check(tensors, count, "tensors"));
  for (int64_t i = 0; i < count; i++) {
    if (!tensors[i].path) return tsr_fail(BAD_ARGUMENT, "tensor %lld has no path", (long long)i);
    if (!tsr_utf8_is_valid(tensors[i].path))  // JSON could not hold it
      return tsr_fail(BAD_ARGUMENT, "the path of tensor %lld is not UTF-8", (long long)i);
    TSR_TRY_NOTE(measure_tensor(&tensors[i], out_needs), "tensor \"%s\"", tensors[i].path);
  }
  return NULL;
}

// ---- the block ----

// Where the next sizes, names and bytes go.
typedef struct block_cursor {
  int64_t *dims;
  const char **names;
  char *text;
} block_cursor;

static const char *place_text(block_cursor *at, const char *string) {
  const size_t bytes = strlen(string) + 1;
  const char *const placed = memcpy(at->text, string, bytes);
  at->text += bytes;
  return placed;
}

static tsr_tensor place_tensor(block_cursor *at, const tsr_tensor *tensor) {
  const size_t rank = (size_t)tensor->rank;
  tsr_tensor placed = {.path = place_text(at, tensor->path),
                       .dtype = tensor->dtype,
                       .rank = tensor->rank,
                       .dims = at->dims};
  if (rank) memcpy(at->dims, tensor->dims, sizeof *at->dims * rank);
  at->dims += rank;
  if (!tensor->logical) return placed;
  placed.logical = at->names;
  for (size_t d = 0; d < rank; d++) {
    const char *name = tensor->logical[d];
    *at->names++ = name && *name ? place_text(at, name) : NULL;
  }
  return placed;
}

static tsr_tree *place(const tsr_tensor *tensors, int64_t count, const block_size *needs) {
  const size_t tensor_bytes = sizeof *tensors * (size_t)count;
  const size_t dim_bytes = sizeof(int64_t) * needs->dims;
  const size_t name_bytes = sizeof(char *) * needs->names;
  const size_t bytes = sizeof(tsr_tree) + tensor_bytes + dim_bytes + name_bytes + needs->text;
  tsr_tree *tree = malloc(bytes);
  if (!tree) return NULL;
  tsr_memory_prefer_huge(tree, bytes);
  *tree = (tsr_tree){.count = count, .bytes = needs->bytes};
  atomic_init(&tree->references, 1);
  char *const rest = (char *)tree->tensors + tensor_bytes;
  block_cursor at = {(int64_t *)(void *)rest, (const char **)(void *)(rest + dim_bytes),
                     rest + dim_bytes + name_bytes};
  for (int64_t i = 0; i < count; i++) tree->tensors[i] = place_tensor(&at, &tensors[i]);
  return tree;
}

static tsr_status index_paths(tsr_tree *tree) {
  for (int64_t i = 0; i < tree->count; i++) {
    int64_t existing = -1;
    TSR_TRY(tsr_name_index_add(&tree->paths, tree->tensors[i].path, i, &existing));
    if (existing >= 0)
      return tsr_fail(DUPLICATE_PATH, "path \"%s\" is given twice, to tensors %lld and %lld",
                      tree->tensors[i].path, (long long)existing, (long long)i);
  }
  return NULL;
}

tsr_status tsr_tree_create(const tsr_tensor *tensors, int64_t count, tsr_tree **out_tree) {
  block_size needs = {0};
  TSR_TRY(measure(tensors, count, &needs));
  tsr_tree *tree = place(tensors, count, &needs);
  if (!tree) return tsr_fail(NO_MEMORY, "tree of %lld tensors", (long long)count);
  tsr_status status = index_paths(tree);
  if (status)
    tsr_tree_release(tree);
  else
    *out_tree = tree;
  return status;
}

tsr_tree *tsr_tree_retain(const tsr_tree *tree) {
  tsr_tree *mine = (tsr_tree *)tree;
  atomic_fetch_add_explicit(&mine->references, 1, memory_order_relaxed);
  return mine;
}

void tsr_tree_release(const tsr_tree *tree) {
  tsr_tree *mine = (tsr_tree *)tree;
  if (!mine || atomic_fetch_sub_explicit(&mine->references, 1, memory_order_acq_rel) != 1) return;
  tsr_name_index_deinit(&mine->paths);
  free(mine->warnings);
  free(mine);
}

tsr_status tsr_tree_keep_warnings(tsr_tree *tree, const char *lines) {
  if (!*lines) return NULL;
  tree->warnings = strdup(lines);
  return tree->warnings ? NULL : tsr_fail(NO_MEMORY, "warnings about a model");
}

// ---- reading ----

const char *tsr_tree_warnings(const tsr_tree *tree) { return tree->warnings ? tree->warnings : ""; }

int64_t tsr_tree_count(const tsr_tree *tree) { return tree->count; }
int64_t tsr_tree_bytes(const tsr_tree *tree) { return tree->bytes; }

const tsr_tensor *tsr_tree_at(const tsr_tree *tree, int64_t index) {
  return index >= 0 && index < tree->count ? &tree->tensors[index] : NULL;
}

int64_t tsr_tree_find(const tsr_tree *tree, const char *path) {
  return tsr_name_index_find(&tree->paths, path);
}

const char *tsr_tree_nearest(const tsr_tree *tree, const char *path) {
  tsr_suggestion near = tsr_suggestion_for(path);
  for (int64_t i = 0; i < tree->count; i++) tsr_suggestion_offer(&near, tree->tensors[i].path);
  // A shortened name, without ".weight" for instance, is also near.
  for (int64_t i = 0; i < tree->count && !near.best && path[0] && path[1]; i++)
    if (strstr(tree->tensors[i].path, path)) near.best = tree->tensors[i].path;
  return near.best;
}

bool tsr_tensor_same_shape(const tsr_tensor *a, const tsr_tensor *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         !memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank);
}

bool tsr_tensor_same_logical(const tsr_tensor *a, const tsr_tensor *b) {
  if (!a->logical || !b->logical) return a->logical == b->logical;
  for (int d = 0; d < a->rank; d++) {
    const char *left = a->logical[d], *right = b->logical[d];
    if (left && right ? strcmp(left, right) != 0 : left != right) return false;
  }
  return true;
}

static bool same_tensor(const tsr_tensor *a, const tsr_tensor *b) {
  return tsr_tensor_same_shape(a, b) && tsr_tensor_same_logical(a, b) && !strcmp(a->path, b->path);
}

const tsr_tensor *tsr_tree_missing(const tsr_tree *a, const tsr_tree *b) {
  for (int64_t i = 0; i < a->count; i++) {
    const int64_t found = tsr_tree_find(b, a->tensors[i].path);
    if (found < 0 || !same_tensor(&a->tensors[i], &b->tensors[found])) return &a->tensors[i];
  }
  return NULL;
}

bool tsr_tree_equal(const tsr_tree *a, const tsr_tree *b) {
  if (a == b) return true;
  bool same = a->count == b->count;
  for (int64_t i = 0; same && i < a->count; i++) same = same_tensor(&a->tensors[i], &b->tensors[i]);
  return same;
}
