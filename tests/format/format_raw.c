// A format added by one file and one row, as docs/adding-a-format.md describes: bytes of tensors
// one after the other in tensors-0.bin, tensors-1.bin, ..., and an index that says where each one
// is.
//
//   {"schema": "raw/1",
//    "tensors": {"w": {"file": "tensors-0.bin", "offset": 0, "dtype": "f32", "shape": [2, 3]}}}
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "format/reading.h"
#include "json/json.h"
#include "json/json_read.h"
#include "tessera/checkpoint/fsck.h"

static const char index_name[] = "tensors.json";
static const char schema[] = "raw/1";

// ---- reading ----

static tsr_status detect(const tsr_format_probe *probe, bool *out_found) {
  char path[PATH_MAX];
  return probe->folder ? tsr_reading_find_file(probe->path, index_name, path, out_found) : NULL;
}

static tsr_status read_shape(const tsr_json *value, tsr_arena *arena, tsr_tensor *tensor) {
  int64_t *dims = tsr_arena_alloc(arena, sizeof *dims * TSR_MAX_RANK);
  if (!dims) return tsr_fail(NO_MEMORY, "a shape");
  TSR_TRY(tsr_json_want_array(value, "shape"));
  if (tsr_json_count(value) > TSR_MAX_RANK)
    return tsr_fail(BROKEN_FILE, "shape has %zu dimensions, expected at most %d",
                    tsr_json_count(value), TSR_MAX_RANK);
  for (const tsr_json *d = tsr_json_first(value); d; d = tsr_json_next(d))
    TSR_TRY(tsr_json_get_int(d, "shape", &dims[tensor->rank++]));
  tensor->dims = dims;
  return NULL;
}

// Tensors of one file follow each other in the index.
static tsr_status find_file(tsr_checkpoint *checkpoint, const char *name, int *out_file) {
  const tsr_store *store = checkpoint->store;
  char path[PATH_MAX];
  if (!tsr_reading_is_inside(name, strlen(name)))
    return tsr_fail(BROKEN_FILE, "file \"%s\" is outside of the folder", name);
  TSR_TRY(tsr_reading_join(checkpoint->path, name, strlen(name), path));
  *out_file = store->file_count - 1;
  if (store->file_count && !strcmp(store->paths[*out_file], path)) return NULL;
  return tsr_reading_add_file(checkpoint, path, out_file);
}

static tsr_status check_end(const tsr_checkpoint *checkpoint, const tsr_model_tensor *t) {
  const tsr_shape shape = tsr_tensor_shape(&t->tensor);
  const int64_t size = checkpoint->store->file_sizes[t->file];
  int64_t bytes = 0;
  TSR_TRY(tsr_shape_bytes(&shape, t->tensor.dtype, &bytes));
  if (t->begin >= 0 && bytes <= size && t->begin <= size - bytes) return NULL;
  return tsr_fail(BROKEN_FILE, "bytes %lld to %lld, but %s has %lld", (long long)t->begin,
                  (long long)(t->begin + bytes), checkpoint->store->paths[t->file],
                  (long long)size);
}

static tsr_status read_tensor(tsr_checkpoint *checkpoint, const tsr_json *member,
                              tsr_model_tensor *out) {
  static const char *const keys[] = {"file", "offset", "dtype", "shape", NULL};
  tsr_arena *arena = &checkpoint->arena;
  size_t length = 0;
  const char *name = tsr_json_key(member, &length), *file = NULL, *dtype = NULL;
  TSR_TRY(tsr_json_check_keys(member, keys));
  TSR_TRY(tsr_json_copy_string(tsr_json_find(member, "file"), "file", arena, &file));
  TSR_TRY(tsr_json_copy_string(tsr_json_find(member, "dtype"), "dtype", arena, &dtype));
  TSR_TRY(tsr_json_get_int(tsr_json_find(member, "offset"), "offset", &out->begin));
  TSR_TRY(tsr_dtype_parse(dtype, &out->tensor.dtype));
  TSR_TRY(read_shape(tsr_json_find(member, "shape"), arena, &out->tensor));
  out->tensor.path = tsr_arena_copy(arena, name, length);
  if (!out->tensor.path) return tsr_fail(NO_MEMORY, "the name of a tensor");
  TSR_TRY(find_file(checkpoint, file, &out->file));
  return tsr_checkpoint_report(checkpoint, TSR_FAULT_TRUNCATED, checkpoint->store->paths[out->file],
                               out->tensor.path, check_end(checkpoint, out));
}

static tsr_status read_index(tsr_checkpoint *checkpoint, const tsr_json *root) {
  const tsr_json *list = tsr_json_find(root, "tensors");
  int64_t count = 0;
  TSR_TRY(tsr_json_check_schema(root, schema));
  tsr_model_tensor *tensors = calloc(tsr_json_count(list) + 1, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "a list of tensors");
  tsr_status status = NULL;
  for (const tsr_json *m = tsr_json_first(list); m && !status; m = tsr_json_next(m))
    status = read_tensor(checkpoint, m, &tensors[count++]);
  if (!status) status = tsr_reading_add_whole(checkpoint, tensors, count);
  free(tensors);
  return status;
}

static tsr_status read_raw(tsr_checkpoint *checkpoint, const tsr_checkpoint_options *options) {
  char path[PATH_MAX];
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_reading_refuse_plan(checkpoint, options));
  TSR_TRY(tsr_reading_join(checkpoint->path, index_name, strlen(index_name), path));
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = read_index(checkpoint, tsr_json_root(doc));
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

// ---- writing ----

static void name_file(const tsr_dealing *deal, int64_t index, char *out, size_t size) {
  (void)deal;
  snprintf(out, size, "tensors-%lld.bin", (long long)index);
}

static tsr_status lay_out(const tsr_dealing *deal, const tsr_bin *bin, tsr_target_file *file) {
  file->begins = calloc((size_t)bin->count + 1, sizeof *file->begins);
  if (!file->begins) return tsr_fail(NO_MEMORY, "a file of %lld tensors", (long long)bin->count);
  for (int64_t i = 0; i < bin->count; i++) {
    const tsr_view *view = deal->views->items[bin->shards[i].tensor];
    file->begins[i] = file->size;
    file->size += tsr_view_bytes(view, view->elements);
  }
  return NULL;
}

static tsr_status make_index(const tsr_dealing *deal) {
  tsr_json_writer json;
  tsr_json_writer_init(&json, &deal->target->index, 1);
  tsr_json_begin_object(&json);
  tsr_json_write_key(&json, "schema");
  tsr_json_write_string(&json, schema);
  tsr_json_write_key(&json, "tensors");
  tsr_json_begin_object(&json);
  for (int64_t i = 0; i < deal->views->count; i++) {
    const tsr_view *view = deal->views->items[i];
    tsr_json_write_key(&json, view->name);
    tsr_json_begin_inline_object(&json);
    tsr_json_write_key(&json, "file");
    tsr_json_write_string(&json, tsr_dealing_file_of(deal, i));
    tsr_json_write_key(&json, "offset");
    tsr_json_write_int(&json, tsr_store_place(deal->target->store, i, 0, 0)->offset);
    tsr_json_write_key(&json, "dtype");
    tsr_json_write_string(&json, tsr_dtype_name(view->dtype, TSR_NAMES_OWN));
    tsr_json_write_key(&json, "shape");
    tsr_json_write_ints(&json, view->shape.dims, (size_t)view->shape.rank);
    tsr_json_end_object(&json);
  }
  tsr_json_end_object(&json);
  tsr_json_end_object(&json);
  return tsr_target_set_index(deal->target, index_name);
}

// ---- the row ----

static tsr_status check(tsr_fsck *fsck) { return tsr_fsck_open_whole(fsck, TSR_FAULT_BAD_INDEX); }

static const char *const patterns[] = {"tensors-*.bin", index_name, NULL};

static const tsr_format_ops format_raw = {.name = "raw",
                                          .index_name = index_name,
                                          .ending = ".bin",
                                          .patterns = patterns,
                                          .stage = TSR_DETECT_BY_INDEX,
                                          .detect = detect,
                                          .read = read_raw,
                                          .name_file = name_file,
                                          .lay_out = lay_out,
                                          .make_index = make_index,
                                          .check = check};

// A format of the library is a line of TSR_CHECKPOINT_FORMATS instead.
const tsr_format_ops *tsr_format_added(int index) { return index == 0 ? &format_raw : NULL; }
