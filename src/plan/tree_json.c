// Trees as JSON: a list of tensors, or nested objects whose leaves have dtype and shape, as a flax
// tree prints.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "json/json_read.h"
#include "plan/tree.h"

// ---- tensors, also for plan_json.c ----

static tsr_status read_dims(const tsr_json *list, tsr_arena *arena, tsr_tensor *tensor) {
  TSR_TRY(tsr_json_want_array(list, "shape"));
  const size_t rank = tsr_json_count(list);
  if (rank > TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "shape: rank %zu, wanted 0 to %d", rank, TSR_MAX_RANK);
  int64_t *dims = tsr_arena_zeros(arena, rank + 1, sizeof *dims);
  if (!dims) return tsr_fail(NO_MEMORY, "shape");
  tensor->rank = 0;
  for (const tsr_json *size = tsr_json_first(list); size; size = tsr_json_next(size))
    TSR_TRY(tsr_json_get_int(size, "shape", &dims[tensor->rank++]));
  tensor->dims = dims;
  return NULL;
}

static tsr_status read_logical(const tsr_json *list, tsr_arena *arena, tsr_tensor *tensor) {
  tensor->logical = NULL;
  if (!list) return NULL;
  TSR_TRY(tsr_json_want_array(list, "logical"));
  if (tsr_json_count(list) != (size_t)tensor->rank)
    return tsr_fail(BAD_ARGUMENT, "logical: %zu names for %d dimensions", tsr_json_count(list),
                    tensor->rank);
  const char **names = tsr_arena_zeros(arena, (size_t)tensor->rank + 1, sizeof *names);
  if (!names) return tsr_fail(NO_MEMORY, "logical");
  int d = 0;
  for (const tsr_json *name = tsr_json_first(list); name; name = tsr_json_next(name), d++)
    if (tsr_json_kind_of(name) != TSR_JSON_NULL)
      TSR_TRY(tsr_json_copy_string(name, "logical", arena, &names[d]));
  tensor->logical = names;
  return NULL;
}

tsr_status tsr_tensor_from_json(const tsr_json *value, bool with_path, tsr_arena *arena,
                                tsr_tensor *out_tensor) {
  const char *dtype = NULL;
  if (with_path)
    TSR_TRY(tsr_json_copy_string(tsr_json_find(value, "path"), "path", arena, &out_tensor->path));
  TSR_TRY(tsr_json_copy_string(tsr_json_find(value, "dtype"), "dtype", arena, &dtype));
  TSR_TRY(tsr_dtype_parse(dtype, &out_tensor->dtype));
  TSR_TRY(read_dims(tsr_json_find(value, "shape"), arena, out_tensor));
  return read_logical(tsr_json_find(value, "logical"), arena, out_tensor);
}

void tsr_tensor_write(const tsr_tensor *tensor, tsr_json_writer *writer) {
  tsr_json_add_string(writer, "path", tensor->path);
  tsr_json_add_string(writer, "dtype", tsr_dtype_info_of(tensor->dtype)->name);
  tsr_json_add_ints(writer, "shape", tensor->dims, (size_t)tensor->rank);
  if (!tensor->logical) return;
  tsr_json_add_inline_array(writer, "logical");
  for (int d = 0; d < tensor->rank; d++) tsr_json_write_string(writer, tensor->logical[d]);
  tsr_json_end_array(writer);
}

// ---- reading ----

typedef struct tree_reader {
  tsr_arena arena;
  tsr_tensor *tensors;  // owned
  int64_t count, capacity;
  tsr_text path;  // of the object being read
} tree_reader;

static tsr_status add(tree_reader *work, const tsr_tensor *tensor) {
  tsr_tensor *tensors = tsr_grow(work->tensors, work->count, &work->capacity, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "tree of %lld tensors", (long long)work->count);
  work->tensors = tensors;
  tensors[work->count++] = *tensor;
  return NULL;
}

static tsr_status read_list(tree_reader *work, const tsr_json *list) {
  static const char *const keys[] = {"path", "dtype", "shape", "logical", NULL};
  for (const tsr_json *item = tsr_json_first(list); item; item = tsr_json_next(item)) {
    tsr_tensor tensor = {0};
    TSR_TRY_NOTE(tsr_json_check_keys(item, keys), "tensors[%lld]", (long long)work->count);
    TSR_TRY_NOTE(tsr_tensor_from_json(item, true, &work->arena, &tensor), "tensors[%lld]",
                 (long long)work->count);
    TSR_TRY(add(work, &tensor));
  }
  return NULL;
}

// A module may be called "shape" or "dtype", but then it is an object.
static bool is_leaf(const tsr_json *object) {
  const tsr_json *shape = tsr_json_find(object, "shape"), *dtype = tsr_json_find(object, "dtype");
  return (shape && tsr_json_kind_of(shape) != TSR_JSON_OBJECT) ||
         (dtype && tsr_json_kind_of(dtype) != TSR_JSON_OBJECT);
}

static tsr_status read_leaf(tree_reader *work, const tsr_json *leaf) {
  static const char *const keys[] = {"dtype", "shape", "logical", NULL};
  tsr_tensor tensor = {0};
  TSR_TRY(tsr_json_check_keys(leaf, keys));
  TSR_TRY(tsr_tensor_from_json(leaf, false, &work->arena, &tensor));
  TSR_TRY(tsr_text_check(&work->path));
  tensor.path = tsr_arena_copy(&work->arena, tsr_text_string(&work->path), work->path.length);
  return tensor.path ? add(work, &tensor) : tsr_fail(NO_MEMORY, "path");
}

static tsr_status read_nested(tree_reader *work, const tsr_json *value);

static tsr_status read_member(tree_reader *work, const tsr_json *member) {
  size_t length = 0;
  const char *key = tsr_json_key(member, &length);
  if (memchr(key, '\0', length)) return tsr_fail(SYNTAX, "a key holds a zero byte");
  if (work->path.length) tsr_text_add_char(&work->path, '/');
  tsr_text_add_bytes(&work->path, key, length);
  return read_nested(work, member);
}

// Recursion is bounded: the JSON parser accepts 512 levels.
static tsr_status read_nested(tree_reader *work, const tsr_json *value) {
  if (tsr_json_kind_of(value) != TSR_JSON_OBJECT)
    return tsr_fail(JSON_KIND, "\"%s\": wanted an object, found %s", tsr_text_string(&work->path),
                    tsr_json_kind_name(tsr_json_kind_of(value)));
  if (is_leaf(value))
    return tsr_note(read_leaf(work, value), "tensor \"%s\"", tsr_text_string(&work->path));
  const size_t length = work->path.length;
  for (const tsr_json *member = tsr_json_first(value); member; member = tsr_json_next(member)) {
    TSR_TRY(read_member(work, member));
    if (work->path.failed) return tsr_text_check(&work->path);
    work->path.length = length;
    if (work->path.data) work->path.data[length] = '\0';
  }
  return NULL;
}

static tsr_status read_tree(tree_reader *work, const tsr_json *value, tsr_tree **out_tree) {
  static const char *const keys[] = {"tensors", NULL};
  const tsr_json *list = tsr_json_find(value, "tensors");
  if (list && tsr_json_kind_of(list) == TSR_JSON_ARRAY) {
    TSR_TRY(tsr_json_check_keys(value, keys));
    TSR_TRY(read_list(work, list));
  } else {
    TSR_TRY(read_nested(work, value));
  }
  return tsr_tree_create(work->tensors, work->count, out_tree);
}

tsr_status tsr_tree_from_json(const tsr_json *value, tsr_tree **out_tree) {
  tree_reader work = {.arena = TSR_ARENA_EMPTY, .path = TSR_TEXT_EMPTY};
  const tsr_status status = read_tree(&work, value, out_tree);
  tsr_arena_deinit(&work.arena);
  tsr_text_deinit(&work.path);
  free(work.tensors);
  return tsr_note(status, "tree");
}

void tsr_tree_to_json(const tsr_tree *tree, tsr_json_writer *writer) {
  tsr_json_begin_object(writer);
  tsr_json_add_array(writer, "tensors");
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    tsr_json_begin_inline_object(writer);
    tsr_tensor_write(tsr_tree_at(tree, i), writer);
    tsr_json_end_object(writer);
  }
  tsr_json_end_array(writer);
  tsr_json_end_object(writer);
}
