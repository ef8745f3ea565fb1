// Hugging Face folders: one file, or an index from tensors to files. The index is checked against
// the headers in both directions, since loaders accept whatever they find.
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/text_internal.h"
#include "file/model.h"
#include "file/safetensors.h"
#include "json/json.h"
#include "json/json_read.h"
#include "tessera/text.h"

static const char index_name[] = "model.safetensors.index.json";
static const char single_name[] = "model.safetensors";

static tsr_status join(const char *folder, const char *name, size_t name_length, char *out) {
  const size_t folder_length = strlen(folder);
  if (folder_length + name_length + 2 > PATH_MAX)
    return tsr_fail(TOO_LARGE, "%s: the path is longer than %d bytes", folder, PATH_MAX);
  memcpy(out, folder, folder_length);
  out[folder_length] = '/';
  memcpy(out + folder_length + 1, name, name_length);
  out[folder_length + 1 + name_length] = '\0';
  return NULL;
}

static void folder_of(const char *path, char *out) {
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) : 1;
  memcpy(out, slash ? path : ".", length);
  out[length] = '\0';
  if (slash == path) strcpy(out, "/");
}

// A file named by an index must be in its folder.
static tsr_status check_file_name(const char *name, size_t length) {
  const bool outside = !length || memchr(name, '/', length) || memchr(name, '\0', length) ||
                       (length == 2 && !memcmp(name, "..", 2)) || (length == 1 && name[0] == '.');
  if (!outside) return NULL;
  return tsr_fail(BROKEN_FILE, "the index names file \"%.*s\", which is not in its folder",
                  (int)length, name);
}

static bool has_file(const tsr_model *model, const char *path) {
  for (int i = 0; i < model->file_count; i++)
    if (!strcmp(model->files[i], path)) return true;
  return false;
}

tsr_status tsr_index_map(const tsr_json_doc *doc, const tsr_json **out_map) {
  const tsr_json *root = tsr_json_root(doc), *map = tsr_json_find(root, "weight_map");
  if (tsr_json_kind_of(root) != TSR_JSON_OBJECT)
    return tsr_json_wrong_kind(root, "the index", "an object with \"weight_map\"");
  if (!map || tsr_json_kind_of(map) != TSR_JSON_OBJECT)
    return tsr_json_wrong_kind(map, "weight_map", "an object with the file of each tensor");
  *out_map = map;
  return NULL;
}

tsr_status tsr_index_file(const tsr_json *member, const char **out_file, size_t *out_length) {
  size_t length = 0;
  const char *name = tsr_json_key(member, &length);
  if (memchr(name, '\0', length))
    return tsr_fail(BROKEN_FILE, "the name of tensor \"%.*s\" contains a zero byte", (int)length,
                    name);
  TSR_TRY_NOTE(tsr_json_get_string(member, "its file", out_file, out_length), "tensor \"%.*s\"",
               (int)length, name);
  return NULL;
}

// Reads the header of every file of the index once, in order of appearance.
static tsr_status read_files(tsr_model *model, const tsr_json *map, const char *folder) {
  const char *last = NULL;
  size_t last_length = 0;
  for (const tsr_json *m = tsr_json_first(map); m; m = tsr_json_next(m)) {
    const char *file = NULL;
    size_t length = 0;
    TSR_TRY(tsr_index_file(m, &file, &length));
    assert(file);
    // Tensors of one file are mostly consecutive.
    if (last && length == last_length && !memcmp(file, last, length)) continue;
    last = file;
    last_length = length;
    TSR_TRY(check_file_name(file, length));
    char path[PATH_MAX];
    TSR_TRY(join(folder, file, length, path));
    if (!has_file(model, path)) TSR_TRY(tsr_model_read_file(model, path));
  }
  return NULL;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static tsr_status check_entry(const tsr_model *model, const tsr_json *member) {
  size_t key_length = 0, length = 0;
  const char *key = tsr_json_key(member, &key_length), *file = NULL;
  TSR_TRY(tsr_index_file(member, &file, &length));
  assert(file);
  char *name = strndup(key, key_length);
  if (!name) return tsr_fail(NO_MEMORY, "index");
  const int64_t found = tsr_model_find(model, name);
  tsr_status status = NULL;
  if (found < 0) {
    status = tsr_fail(BROKEN_FILE, "the index says that %.*s holds tensor \"%s\", but it does not",
                      (int)length, file, name);
  } else {
    const char *holder = base_name(model->files[model->tensors[found].file]);
    if (strlen(holder) != length || memcmp(holder, file, length) != 0)
      status = tsr_fail(BROKEN_FILE, "the index says that %.*s holds tensor \"%s\", but %s does",
                        (int)length, file, name, holder);
  }
  free(name);
  return status;
}

// Every tensor of the index is in its file, and every tensor of the files in the index.
static tsr_status check_against_files(const tsr_model *model, const tsr_json *map) {
  for (const tsr_json *m = tsr_json_first(map); m; m = tsr_json_next(m))
    TSR_TRY(check_entry(model, m));
  if (model->count == (int64_t)tsr_json_count(map)) return NULL;
  for (int64_t i = 0; i < model->count; i++)
    if (!tsr_json_find(map, model->tensors[i].tensor.path))
      return tsr_fail(BROKEN_FILE, "tensor \"%s\" of %s is not in the index",
                      model->tensors[i].tensor.path,
                      base_name(model->files[model->tensors[i].file]));
  return NULL;
}

static void check_total(tsr_model *model, const tsr_json *root) {
  const tsr_json *total = tsr_json_find(tsr_json_find(root, "metadata"), "total_size");
  if (!total) return;
  int64_t bytes = 0;
  tsr_status status = tsr_json_get_int(total, "total_size", &bytes);
  if (status)
    tsr_text_addf(&model->warnings, "index: %s\n", tsr_status_text(status));
  else if (bytes != model->bytes)
    tsr_text_addf(&model->warnings, "index: total_size is %lld, but the tensors take %lld bytes\n",
                  (long long)bytes, (long long)model->bytes);
  tsr_status_free(status);
}

static tsr_status read_index(tsr_model *model, const char *path) {
  char folder[PATH_MAX];
  if (strlen(path) >= sizeof folder) return tsr_fail(TOO_LARGE, "%s: the path is too long", path);
  folder_of(path, folder);
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_model_check_link(path));
  TSR_TRY(tsr_json_read_file(path, &doc));
  const tsr_json *map = NULL;
  tsr_status status = tsr_index_map(doc, &map);
  if (!status) status = read_files(model, map, folder);
  if (!status) status = check_against_files(model, map);
  if (!status) check_total(model, tsr_json_root(doc));
  if (!status && !model->count) tsr_text_add(&model->warnings, "index: it names no tensor\n");
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

// ---- folders without a model ----

static bool is_index(const char *name) { return tsr_ends_with(name, ".safetensors.index.json"); }

// Weights in formats that are not supported here.
static bool is_foreign(const char *name) {
  static const char *const ends[] = {".bin",  ".pt", ".pth",  ".ckpt",
                                     ".gguf", ".h5", ".onnx", ".msgpack"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (tsr_ends_with(name, ends[i])) return true;
  return false;
}

static int is_weights(const struct dirent *entry) {
  const char *name = entry->d_name;
  return is_index(name) || tsr_ends_with(name, ".safetensors") || is_foreign(name);
}

// The error for a folder without a model; it names what is there instead.
static tsr_status not_a_model(const char *folder) {
  struct dirent **entries = NULL;
  const int count = scandir(folder, &entries, is_weights, alphasort);
  const char *index = NULL, *file = NULL, *foreign = NULL;
  int files = 0;
  for (int i = count - 1; i >= 0; i--) {
    const char *name = entries[i]->d_name;
    if (is_index(name))
      index = name;
    else if (is_foreign(name))
      foreign = name;
    else
      file = name, files++;
  }
  tsr_text hint = TSR_TEXT_EMPTY;
  if (index)
    tsr_text_addf(&hint, "; name %s/%s itself", folder, index);
  else if (files > 1)
    tsr_text_addf(&hint, "; it has %d other files, such as %s", files, file);
  else if (file)
    tsr_text_addf(&hint, "; name %s/%s itself", folder, file);
  else if (foreign)
    tsr_text_addf(&hint, "; the format of %s is not supported", foreign);
  const tsr_cause cause = !index && files > 1 ? TSR_CAUSE_NO_INDEX : TSR_CAUSE_NOT_FOUND;
  tsr_status status = tsr_fail_at(cause, __FILE__, __LINE__, "%s: neither %s nor %s is there%s",
                                  folder, index_name, single_name, tsr_text_string(&hint));
  for (int i = 0; i < count; i++) free(entries[i]);
  free(entries);
  tsr_text_deinit(&hint);
  return status;
}

static tsr_status read_folder(tsr_model *model, const char *folder) {
  char path[PATH_MAX];
  TSR_TRY(join(folder, index_name, sizeof index_name - 1, path));
  struct stat info;
  bool there = false;
  TSR_TRY(tsr_io_look(path, &there, &info));
  if (there) return read_index(model, path);
  TSR_TRY(join(folder, single_name, sizeof single_name - 1, path));
  TSR_TRY(tsr_io_look(path, &there, &info));
  if (there) return tsr_model_read_file(model, path);
  return not_a_model(folder);
}

tsr_status tsr_model_open(const char *path, tsr_model **out_model) {
  struct stat info;
  if (stat(path, &info)) return tsr_fail(IO, "%s: %s", path, strerror(errno));
  tsr_model *model = NULL;
  TSR_TRY(tsr_model_create(&model));
  tsr_status status = S_ISDIR(info.st_mode)          ? read_folder(model, path)
                      : tsr_ends_with(path, ".json") ? read_index(model, path)
                                                     : tsr_model_read_file(model, path);
  if (!status) status = tsr_text_check(&model->warnings);
  return tsr_model_give(status, model, out_model);
}
