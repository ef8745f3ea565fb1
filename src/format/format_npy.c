// NumPy's arrays (.npy): one file, or a folder with a file for each tensor.
//
// A folder that we wrote has an index, tessera-npy.json, with the file and the dtype of each
// tensor: NumPy's headers lack some dtypes, and names of files cannot hold every name of a tensor.
// In other folders, and for one file, a tensor has the name of its file without the ending.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_internal.h"
#include "file/file_metadata.h"
#include "file/npy_internal.h"
#include "format/format.h"
#include "format/numpy_arrays.h"
#include "format/reading.h"
#include "json/json.h"
#include "json/json_read.h"
#include "view/tensor_hash.h"

static const char ending[] = ".npy";
static const char index_name[] = "tessera-npy.json";
static const char schema[] = "tessera-npy/1";
enum { ENDING = sizeof ending - 1, HASH_DIGITS = 32, MOST_KEPT = 200 };

// ---- detecting ----

static bool is_array_name(const char *name) {
  return name[0] != '.' && tsr_ends_with(name, ending);
}

static tsr_status find_array(void *context, const char *folder, const char *name, bool *out_stop) {
  (void)folder;
  *(bool *)context = *out_stop = is_array_name(name);
  return NULL;
}

// Arrays beside a safetensors model are not the model.
static tsr_status detect_folder(const char *folder, bool *out_found) {
  static const char *const others[] = {"model.safetensors", "model.safetensors.index.json"};
  char path[PATH_MAX];
  bool other = false;
  TSR_TRY(tsr_reading_find_file(folder, index_name, path, out_found));
  if (*out_found) return NULL;
  for (int i = 0; i < 2 && !other; i++)
    TSR_TRY(tsr_reading_find_file(folder, others[i], path, &other));
  return other ? NULL : tsr_reading_each_name(folder, find_array, out_found);
}

static tsr_status detect(const tsr_format_probe *probe, bool *out_found) {
  if (probe->folder) return detect_folder(probe->path, out_found);
  *out_found = !memcmp(probe->start, "\x93NUMPY", 6) || tsr_ends_with(probe->path, ending);
  return NULL;
}

// ---- reading ----

static tsr_status read_file(tsr_numpy_arrays *list, const char *path, const char *name,
                            size_t name_length, tsr_dtype noted) {
  tsr_numpy_array found = {0};
  TSR_TRY(tsr_npy_open(path, &found.npy));
  TSR_TRY(tsr_store_add_file(list->checkpoint->store, path, found.npy.end, &found.file));
  return tsr_note(tsr_numpy_arrays_add(list, name, name_length, noted, &found), "%s", path);
}

static int array_entry(const struct dirent *entry) { return is_array_name(entry->d_name); }

static tsr_status read_folder(tsr_numpy_arrays *list) {
  const char *folder = list->checkpoint->path;
  struct dirent **entries = NULL;
  const int count = scandir(folder, &entries, array_entry, alphasort);
  if (count < 0) return tsr_fail(IO, "%s: %s", folder, strerror(errno));
  tsr_status status = NULL;
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    char path[PATH_MAX];
    if (!status) status = tsr_reading_join(folder, name, strlen(name), path);
    if (!status) status = read_file(list, path, name, strlen(name) - ENDING, TSR_DTYPE_NONE);
    free(entries[i]);
  }
  free(entries);
  if (!status && !list->count)
    status = tsr_fail(NOT_FOUND, "%s: no file in it ends with %s", folder, ending);
  return status;
}

static tsr_status read_entry(tsr_numpy_arrays *list, const tsr_json *member) {
  static const char *const keys[] = {"file", "dtype", NULL};
  const char *file = NULL, *word = NULL;
  size_t length = 0, name_length = 0;
  const char *name = tsr_json_key(member, &name_length);
  char path[PATH_MAX];
  tsr_dtype dtype = TSR_DTYPE_NONE;
  TSR_TRY(tsr_json_check_keys(member, keys));
  TSR_TRY(tsr_json_get_string(tsr_json_find(member, "file"), "file", &file, &length));
  TSR_TRY(tsr_json_copy_string(tsr_json_find(member, "dtype"), "dtype", &list->checkpoint->arena,
                               &word));
  if (!tsr_reading_is_inside(file, length))
    return tsr_fail(BROKEN_FILE, "file \"%.*s\" is not one in its folder", (int)length, file);
  if (memchr(name, '\0', name_length))
    return tsr_fail(BROKEN_FILE, "the name contains a zero byte");
  TSR_TRY(tsr_dtype_parse(word, &dtype));
  TSR_TRY(tsr_reading_join(list->checkpoint->path, file, length, path));
  TSR_TRY(read_file(list, path, name, name_length, dtype));
  const tsr_numpy_array *found = &list->items[list->count - 1];
  if (found->npy.dtype == dtype) return NULL;
  return tsr_fail(BROKEN_FILE, "dtype is %s in the index, but %s in the file",
                  tsr_dtype_name(dtype, TSR_NAMES_OWN),
                  tsr_dtype_name(found->npy.dtype, TSR_NAMES_OWN));
}

static tsr_status read_entries(tsr_numpy_arrays *list, const tsr_json_doc *doc) {
  static const char *const keys[] = {"schema", "metadata", "tensors", NULL};
  const tsr_json *root = tsr_json_root(doc);
  const tsr_json *tensors = tsr_json_find(root, "tensors");
  TSR_TRY(tsr_json_check_keys(root, keys));
  TSR_TRY(tsr_json_check_schema(root, schema));
  if (!tensors || tsr_json_kind_of(tensors) != TSR_JSON_OBJECT)
    return tsr_json_wrong_kind(tensors, "tensors", "an object");
  for (const tsr_json *m = tsr_json_first(tensors); m; m = tsr_json_next(m)) {
    size_t length = 0;
    const char *name = tsr_json_key(m, &length);
    TSR_TRY_NOTE(read_entry(list, m), "tensor \"%.*s\"", (int)length, name);
  }
  return tsr_checkpoint_read_metadata(list->checkpoint, doc, tsr_json_find(root, "metadata"));
}

static tsr_status read_index(tsr_numpy_arrays *list, const char *path) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = read_entries(list, doc);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

static tsr_status read_path(tsr_numpy_arrays *list) {
  const char *path = list->checkpoint->path, *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  char index[PATH_MAX];
  struct stat info;
  bool indexed = false;
  if (stat(path, &info)) return tsr_fail(IO, "%s: %s", path, strerror(errno));
  const size_t length = strlen(name) - (tsr_ends_with(name, ending) ? ENDING : 0);
  if (S_ISDIR(info.st_mode)) TSR_TRY(tsr_reading_find_file(path, index_name, index, &indexed));
  TSR_TRY(!S_ISDIR(info.st_mode) ? read_file(list, path, name, length, TSR_DTYPE_NONE)
          : indexed              ? read_index(list, index)
                                 : read_folder(list));
  return tsr_numpy_arrays_finish(list);
}

static tsr_status read_npy(tsr_checkpoint *checkpoint, const tsr_checkpoint_options *options) {
  tsr_numpy_arrays list = {.checkpoint = checkpoint, .options = options};
  TSR_TRY(tsr_reading_refuse_plan(checkpoint, options));
  tsr_status status = read_path(&list);
  free(list.items);
  return status;
}

// ---- the destination: names of files ----

// Characters that are safe in file names, and do not make an option, a hidden file or a path. A ~
// marks names that were cut off, so two tensors never share a file.
static bool is_plain(unsigned char c, bool first) {
  if (c < 0x20 || c == 0x7f || (first && (c == '.' || c == '-'))) return false;
  return !strchr("/\\%:*?\"<>|~", c);
}

void tsr_npy_file_name(const char *tensor, char out[TSR_NPY_FILE_NAME]) {
  const size_t most = TSR_NPY_FILE_NAME - 1 - ENDING;
  size_t length = 0, kept = 0;
  if (!*tensor) out[length++] = '%';  // no other name is a lone %
  for (const char *c = tensor; *c && length <= most; c++) {
    const bool plain = is_plain((unsigned char)*c, c == tensor);
    if (length + (plain ? 1 : 3) > most) {
      length = most + 1;
      break;
    }
    if (plain)
      out[length++] = *c;
    else
      length += (size_t)snprintf(out + length, 4, "%%%02X", (unsigned char)*c);
    // A name is cut off between UTF-8 characters.
    if (length <= MOST_KEPT && ((unsigned char)c[1] & 0xc0) != 0x80) kept = length;
  }
  if (length > most) {
    const tsr_hash128 hash = tsr_block_hash(tensor, (int64_t)strlen(tensor));
    length = kept + (size_t)snprintf(out + kept, HASH_DIGITS + 2, "~%016llx%016llx",
                                     (unsigned long long)hash.high, (unsigned long long)hash.low);
  }
  memcpy(out + length, ending, ENDING + 1);
}

static void name_file(const tsr_dealing *deal, int64_t index, char *out, size_t size) {
  char name[TSR_NPY_FILE_NAME];
  tsr_npy_file_name(deal->views->items[deal->bins[index].shards[0].tensor]->name, name);
  snprintf(out, size, "%s", name);
}

// ---- the destination: headers and the index ----

static tsr_status lay_out(const tsr_dealing *deal, const tsr_bin *bin, tsr_target_file *file) {
  const tsr_view *view = deal->views->items[bin->shards[0].tensor];
  size_t length = 0;
  file->begins = calloc(1, sizeof *file->begins);
  if (!file->begins) return tsr_fail(NO_MEMORY, "a file of one tensor");
  TSR_TRY_NOTE(tsr_npy_header(view->dtype, &view->shape, false, &file->header, &length),
               "tensor \"%s\"", view->name);
  file->header_bytes = file->begins[0] = (int64_t)length;
  file->size = file->header_bytes + tsr_view_bytes(view, view->elements);
  return NULL;
}

static tsr_status make_index(const tsr_dealing *deal) {
  tsr_json_writer json;
  tsr_json_writer_init(&json, &deal->target->index, 1);
  tsr_json_begin_object(&json);
  tsr_json_add_string(&json, "schema", schema);
  if (deal->options->metadata_count > 0) {
    tsr_json_write_key(&json, "metadata");
    TSR_TRY(tsr_metadata_write(deal->options->metadata, deal->options->metadata_count, &json));
  }
  tsr_json_add_object(&json, "tensors");
  for (int64_t i = 0; i < deal->views->count; i++) {
    tsr_json_write_key(&json, deal->views->items[i]->name);
    tsr_json_begin_inline_object(&json);
    tsr_json_add_string(&json, "file", tsr_dealing_file_of(deal, i));
    tsr_json_add_string(&json, "dtype",
                        tsr_dtype_name(deal->views->items[i]->dtype, TSR_NAMES_OWN));
    tsr_json_end_object(&json);
  }
  tsr_json_end_object(&json);
  tsr_json_end_object(&json);
  return tsr_target_set_index(deal->target, index_name);
}

// ---- checking ----

static tsr_status check_header(tsr_fsck *fsck, const char *name) {
  const char *path = NULL;
  tsr_npy npy;
  TSR_TRY(tsr_fsck_path(fsck, name, &path));
  tsr_status failure = tsr_npy_open(path, &npy);
  const bool unreadable = tsr_status_cause(failure) == TSR_CAUSE_IO;
  const tsr_fault place = {.kind = unreadable ? TSR_FAULT_UNREADABLE : TSR_FAULT_HEADER,
                           .file = name};
  return tsr_fsck_add_failure(fsck, &place, failure);
}

static tsr_status check(tsr_fsck *fsck) {
  if (fsck->single) return tsr_fsck_open_whole(fsck, TSR_FAULT_HEADER);
  for (int64_t i = 0; i < fsck->file_count; i++) TSR_TRY(check_header(fsck, fsck->files[i].name));
  return fsck->totals[TSR_SEVERITY_ERROR] ? NULL : tsr_fsck_open_whole(fsck, TSR_FAULT_DISAGREES);
}

static const char *const patterns[] = {"*.npy", index_name, NULL};

const tsr_format_ops tsr_format_npy = {.name = "npy",
                                       .index_name = index_name,
                                       .ending = ending,
                                       .patterns = patterns,
                                       .file_per_tensor = true,
                                       .fallback_dtype = true,
                                       .stage = TSR_DETECT_BY_ENDING,
                                       .detect = detect,
                                       .read = read_npy,
                                       .name_file = name_file,
                                       .lay_out = lay_out,
                                       .make_index = make_index,
                                       .check = check};
