// Archives of arrays: each member of the zip archive is a .npy file.
#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "base/room.h"
#include "base/text_internal.h"
#include "base/utf8.h"
#include "element/shape_internal.h"
#include "file/npy_header.h"
#include "file/npy_internal.h"
#include "file/npz.h"
#include "file/replace.h"
#include "file/zip.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"
#include "tessera/text.h"

static const char ending[] = ".npy";
enum { ENDING = sizeof ending - 1, MOST_NAME = 65535 - ENDING };

typedef struct npz_array {
  tsr_npy npy;     // as in the header: offsets count from the start of the member
  tsr_npy placed;  // as callers see it: offsets in the archive, if stored
  const char *name;
} npz_array;

struct tsr_npz {
  tsr_zip zip;
  npz_array *arrays;
};

// ---- reading ----

static tsr_status set_noted_dtype(const char *note, tsr_npy *npy) {
  tsr_dtype dtype = TSR_DTYPE_NONE;
  TSR_TRY(tsr_dtype_parse(note, &dtype));
  return tsr_npy_set_dtype(npy, dtype);
}

static tsr_status read_header(tsr_npz *npz, const tsr_zip_member *member, npz_array *out) {
  char bytes[TSR_NPY_MOST_BYTES];
  const int64_t most = (int64_t)sizeof bytes;
  const int64_t length = member->size < most ? member->size : most;
  TSR_TRY(tsr_zip_read(&npz->zip, member, bytes, length, NULL, 0));
  TSR_TRY(tsr_npy_parse(bytes, (size_t)length, &out->npy));
  if (!out->npy.dtype && member->note) TSR_TRY(set_noted_dtype(member->note, &out->npy));
  if (out->npy.end != member->size)
    return tsr_fail(BROKEN_FILE, "its array ends at byte %lld of %lld", (long long)out->npy.end,
                    (long long)member->size);
  out->placed = out->npy;
  if (member->deflated) return NULL;
  out->placed.begin += member->begin;
  out->placed.end += member->begin;
  return NULL;
}

static tsr_status add_array(tsr_npz *npz, int64_t index) {
  const tsr_zip_member *member = &npz->zip.members[index];
  npz_array *out = &npz->arrays[index];
  const size_t length = strlen(member->name);
  if (length < ENDING || strcmp(member->name + length - ENDING, ending) != 0)
    return tsr_fail(UNSUPPORTED, "its name does not end with %s", ending);
  out->name = tsr_arena_copy(&npz->zip.arena, member->name, length - ENDING);
  if (!out->name) return tsr_fail(NO_MEMORY, "archive");
  return read_header(npz, member, out);
}

static tsr_status read_arrays(tsr_npz *npz) {
  npz->arrays = calloc((size_t)npz->zip.count + 1, sizeof *npz->arrays);
  if (!npz->arrays) return tsr_fail(NO_MEMORY, "archive of %lld arrays", (long long)npz->zip.count);
  for (int64_t i = 0; i < npz->zip.count; i++)
    TSR_TRY_NOTE(add_array(npz, i), "%s: member \"%s\"", npz->zip.path, npz->zip.members[i].name);
  return NULL;
}

tsr_status tsr_npz_open(const char *path, tsr_npz **out_npz) {
  tsr_npz *npz = calloc(1, sizeof *npz);
  if (!npz) return tsr_fail(NO_MEMORY, "archive");
  tsr_status status = tsr_zip_open(path, &npz->zip);
  if (status) {
    free(npz);
    return status;
  }
  status = read_arrays(npz);
  if (status)
    tsr_npz_destroy(npz);
  else
    *out_npz = npz;
  return status;
}

void tsr_npz_destroy(tsr_npz *npz) {
  if (!npz) return;
  tsr_zip_deinit(&npz->zip);
  free(npz->arrays);
  free(npz);
}

int64_t tsr_npz_count(const tsr_npz *npz) { return npz->zip.count; }

static bool has_member(const tsr_npz *npz, int64_t index) {
  return index >= 0 && index < npz->zip.count;
}

static tsr_status check_member(const tsr_npz *npz, int64_t index) {
  if (has_member(npz, index)) return NULL;
  return tsr_fail(INDEX_OUT_OF_RANGE, "%s: member %lld of an archive of %lld", npz->zip.path,
                  (long long)index, (long long)npz->zip.count);
}

const char *tsr_npz_name(const tsr_npz *npz, int64_t index) {
  return has_member(npz, index) ? npz->arrays[index].name : NULL;
}

const tsr_npy *tsr_npz_array(const tsr_npz *npz, int64_t index) {
  return has_member(npz, index) ? &npz->arrays[index].placed : NULL;
}

const tsr_zip_member *tsr_npz_member(const tsr_npz *npz, int64_t index) {
  return &npz->zip.members[index];
}

const char *tsr_npz_record(const tsr_npz *npz, size_t *out_length) {
  *out_length = npz->zip.record_length;
  return npz->zip.record;
}

bool tsr_npz_is_stored(const tsr_npz *npz, int64_t index) {
  return has_member(npz, index) && !npz->zip.members[index].deflated;
}

tsr_status tsr_npz_read(const tsr_npz *npz, int64_t index, void *out_elements, int64_t out_bytes) {
  TSR_TRY(check_member(npz, index));
  const tsr_npy *npy = &npz->arrays[index].npy;
  const tsr_zip_member *member = &npz->zip.members[index];
  char header[TSR_NPY_MOST_BYTES];
  const int64_t bytes = npy->end - npy->begin;
  TSR_TRY_NOTE(tsr_room_check(out_elements, out_bytes, bytes), "%s: member \"%s\"", npz->zip.path,
               member->name);
  TSR_TRY_NOTE(tsr_zip_read(&npz->zip, member, header, npy->begin, out_elements, bytes),
               "%s: member \"%s\"", npz->zip.path, member->name);
  tsr_npy_swap(npy, out_elements, bytes / npy->width);
  return NULL;
}

tsr_status tsr_npz_check(const tsr_npz *npz, int64_t index) {
  TSR_TRY(check_member(npz, index));
  const tsr_zip_member *member = &npz->zip.members[index];
  return tsr_note(tsr_zip_check(&npz->zip, member), "%s: member \"%s\"", npz->zip.path,
                  member->name);
}

// ---- writing ----

// Unpacking an archive creates files by these names.
static bool leaves_folder(const char *name) {
  if (name[0] == '/') return true;
  for (const char *at = name; at; at = strchr(at, '/')) {
    at += at > name;
    if (at[0] == '.' && at[1] == '.' && at[2] == '/') return true;
  }
  return false;
}

static tsr_status check_names(const tsr_npz_item *items, int64_t count) {
  tsr_name_index names = TSR_NAME_INDEX_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < count && !status; i++) {
    int64_t existing = -1;
    if (!tsr_utf8_is_valid(items[i].tensor.path) || strlen(items[i].tensor.path) > MOST_NAME)
      status = tsr_fail(BAD_ARGUMENT, "name \"%.100s\" is not UTF-8, or longer than %d bytes",
                        items[i].tensor.path, MOST_NAME);
    else if (leaves_folder(items[i].tensor.path))
      status = tsr_fail(BAD_ARGUMENT,
                        "array \"%s\" would leave the folder that the archive is unpacked in",
                        items[i].tensor.path);
    if (!status) status = tsr_name_index_add(&names, items[i].tensor.path, i, &existing);
    if (!status && existing >= 0)
      status = tsr_fail(BAD_ARGUMENT, "array \"%s\" is given twice", items[i].tensor.path);
  }
  tsr_name_index_deinit(&names);
  return status;
}

// NumPy does not record the types of ml_dtypes; our note in the directory does.
static tsr_status plan_item(tsr_zip_plan *plan, const char *name, const tsr_npz_item *item,
                            int64_t *out_begin) {
  char *header = NULL;
  size_t length = 0;
  int64_t bytes = 0;
  tsr_npy known;
  tsr_shape shape;
  const tsr_dtype dtype = item->tensor.dtype;
  TSR_TRY(tsr_shape_init(&shape, item->tensor.dims, item->tensor.rank));
  TSR_TRY(tsr_npy_header(dtype, &shape, item->fortran, &header, &length));
  tsr_status status = tsr_npy_parse(header, length, &known);
  if (!status) status = tsr_shape_bytes(&shape, dtype, &bytes);
  const char *note = known.dtype ? NULL : tsr_dtype_name(dtype, TSR_NAMES_OWN);
  if (!status)
    status = tsr_zip_plan_add(plan, name, note, header, (int64_t)length, bytes, out_begin);
  free(header);
  return status;
}

tsr_status tsr_npz_plan(const tsr_npz_item *items, int64_t count, const char *record,
                        tsr_zip_plan *plan, int64_t *out_begins) {
  tsr_text name = TSR_TEXT_EMPTY;
  tsr_status status = check_names(items, count);
  for (int64_t i = 0; i < count && !status; i++) {
    tsr_text_clear(&name);
    tsr_text_add(&name, items[i].tensor.path);
    tsr_text_add(&name, ending);
    status = tsr_text_check(&name);
    if (!status)
      status = tsr_note(plan_item(plan, name.data, &items[i], &out_begins[i]), "array \"%s\"",
                        items[i].tensor.path);
  }
  tsr_text_deinit(&name);
  return status ? status : tsr_zip_plan_end(plan, record, strlen(record));
}

static tsr_status write_items(const tsr_npz_item *items, tsr_zip_plan *plan, const int64_t *begins,
                              tsr_replacement *file) {
  for (int64_t i = 0; i < plan->count; i++) {
    const int64_t bytes = plan->members[i].rest;
    TSR_TRY(tsr_replacement_write(file, items[i].elements, bytes, begins[i]));
    tsr_zip_plan_set_crc(plan, i, tsr_zip_crc(0, items[i].elements, bytes));
  }
  return tsr_zip_plan_write(plan, file->fd, file->path);
}

tsr_status tsr_npz_write(const char *path, const tsr_npz_item *items, int64_t count,
                         bool always_64) {
  tsr_zip_plan plan = {.always_64 = always_64};
  tsr_replacement file;
  int64_t *begins = calloc((size_t)count + 1, sizeof *begins);
  tsr_status status = begins ? tsr_npz_plan(items, count, "", &plan, begins)
                             : tsr_fail(NO_MEMORY, "an archive of %lld arrays", (long long)count);
  status = tsr_note(status, "%s", path);
  if (!status) status = tsr_replacement_begin(&file, path);
  if (!status) status = tsr_replacement_end(&file, write_items(items, &plan, begins, &file));
  tsr_zip_plan_deinit(&plan);
  free(begins);
  return status;
}
