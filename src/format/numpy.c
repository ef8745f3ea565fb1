// NumPy's files as checkpoints: an archive (.npz), one array (.npy), or a folder of those.
//
// Arrays are tensors stored whole, called as they are in the archive, or as their file is without
// its ending; a folder that we wrote has an index, which knows better. What is in the other byte
// order, has its first index run fastest, or is packed, is a foreign tensor of the store.
#include "format/numpy.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/text_internal.h"
#include "file/npy_internal.h"
#include "file/npz.h"
#include "format/format.h"
#include "json/json.h"
#include "json/json_read.h"
#include "store/checkpoint.h"
#include "store/checkpoint_metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/tree.h"

static const char ending[] = ".npy";
enum { ENDING = sizeof ending - 1 };

typedef struct array {
  const char *name;  // in the arena of the checkpoint
  tsr_npy npy;
  int file;
  const tsr_zip_member *member;  // of an archive; NULL = a file of its own
} array;

typedef struct array_list {
  tsr_checkpoint *checkpoint;
  const tsr_checkpoint_options *options;
  array *items;  // owned
  int64_t count, capacity;
} array_list;

// ---- types that NumPy forgets ----

// By what was noted beside the array, by what the caller says, or by what is common: of all types
// of two bytes that NumPy does not know, bfloat16 is the one that people have.
static tsr_status recall_dtype(array_list *list, const char *name, tsr_dtype noted, tsr_npy *npy) {
  const int bits = 8 * npy->width;
  const tsr_dtype given = list->options->forgotten;
  if (npy->dtype) return NULL;
  if (noted) return tsr_npy_set_dtype(npy, noted);
  if (given && tsr_dtype_info_of(given)->bits == bits) return tsr_npy_set_dtype(npy, given);
  if (npy->width != 2)
    return tsr_fail(
        UNSUPPORTED,
        "array \"%s\" has elements of %d bits whose type NumPy did not note; it must be "
        "said (tsr_checkpoint_options.forgotten)",
        name, bits);
  tsr_text_addf(
      &list->checkpoint->warnings,
      "array \"%s\" has elements of 16 bits whose type NumPy did not note: taken as bf16\n", name);
  return tsr_npy_set_dtype(npy, TSR_BF16);
}

// ---- arrays become tensors ----

static tsr_status add_array(array_list *list, const char *name, size_t name_length, tsr_dtype noted,
                            const array *found) {
  array *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of arrays");
  list->items = items;
  array *item = &items[list->count];
  *item = *found;
  item->name = tsr_arena_copy(&list->checkpoint->arena, name, name_length);
  if (!item->name) return tsr_fail(NO_MEMORY, "the name of an array");
  TSR_TRY(recall_dtype(list, item->name, noted, &item->npy));
  list->count++;
  return NULL;
}

static tsr_status make_tree(const array_list *list, const tsr_tree **out_tree) {
  tsr_tensor *tensors = calloc((size_t)list->count + 1, sizeof *tensors);
  tsr_tree *tree = NULL;
  if (!tensors) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)list->count);
  for (int64_t i = 0; i < list->count; i++) {
    const array *item = &list->items[i];
    tensors[i] = (tsr_tensor){.path = item->name,
                              .dtype = item->npy.dtype,
                              .rank = item->npy.shape.rank,
                              .dims = item->npy.shape.dims};
  }
  tsr_status status = tsr_tree_create(tensors, list->count, &tree);
  free(tensors);
  *out_tree = tree;
  return status;
}

static tsr_status add_packed(tsr_store *store, const tsr_zip_member *member, int64_t *out_item) {
  const tsr_packed stream = tsr_zip_packed(member);
  if (!store->packed) TSR_TRY(tsr_packed_set_create(&store->packed));
  return tsr_packed_set_add(store->packed, &stream, out_item);
}

static tsr_status add_foreign(tsr_store *store, const tsr_sharding *whole, int64_t tensor,
                              const array *item) {
  const tsr_npy *npy = &item->npy;
  tsr_foreign foreign = {.swapped = npy->swapped, .packed = -1};
  tsr_layout *turned = NULL;
  if (item->member && item->member->deflated)
    TSR_TRY(add_packed(store, item->member, &foreign.packed));
  if (npy->fortran && npy->shape.rank > 1) {
    tsr_shape reversed = {.rank = npy->shape.rank};
    for (int d = 0; d < reversed.rank; d++)
      reversed.dims[d] = npy->shape.dims[reversed.rank - 1 - d];
    TSR_TRY(tsr_layout_create(whole, &reversed, TSR_POLICY_ERROR, &turned));
    foreign.turned = turned;
  }
  if (!foreign.swapped && !foreign.turned && foreign.packed < 0) return NULL;
  return tsr_store_set_foreign(store, tensor, &foreign);
}

static tsr_status make_tensors(const array_list *list) {
  tsr_store *store = list->checkpoint->store;
  tsr_sharding *whole = NULL;
  tsr_status status = tsr_sharding_whole(&whole);
  for (int64_t i = 0; i < list->count && !status; i++) {
    const array *item = &list->items[i];
    int64_t tensor = -1;
    status = tsr_checkpoint_add_whole(list->checkpoint, whole, item->npy.dtype, &item->npy.shape,
                                      item->file, item->npy.begin, &tensor);
    if (!status) status = add_foreign(store, whole, tensor, item);
  }
  tsr_sharding_release(whole);
  return status;
}

// ---- archives ----

static tsr_status read_archive(array_list *list) {
  const char *path = list->checkpoint->path;
  struct stat info;
  tsr_npz *npz = NULL;
  array found = {0};
  TSR_TRY(tsr_npz_open(path, &npz));
  tsr_status status =
      stat(path, &info)
          ? tsr_fail(IO, "%s: it has gone since it was read: %s", path, strerror(errno))
          : tsr_store_add_file(list->checkpoint->store, path, info.st_size, &found.file);
  for (int64_t i = 0; i < tsr_npz_count(npz) && !status; i++) {
    const char *name = tsr_npz_name(npz, i);
    found.npy = *tsr_npz_array(npz, i);
    found.member = tsr_npz_member(npz, i);
    status = tsr_note(add_array(list, name, strlen(name), TSR_DTYPE_NONE, &found), "%s", path);
  }
  size_t length = 0;
  const char *record = tsr_npz_record(npz, &length);
  if (!status && record)
    status = tsr_note(tsr_checkpoint_read_record(list->checkpoint, record, length), "%s", path);
  if (!status) status = make_tree(list, &list->checkpoint->tree);
  if (!status) status = make_tensors(list);
  tsr_npz_destroy(npz);
  return status;
}

// ---- files ----

static tsr_status read_file(array_list *list, const char *path, const char *name,
                            size_t name_length, tsr_dtype noted) {
  array found = {0};
  TSR_TRY(tsr_npy_open(path, &found.npy));
  TSR_TRY(tsr_store_add_file(list->checkpoint->store, path, found.npy.end, &found.file));
  return tsr_note(add_array(list, name, name_length, noted, &found), "%s", path);
}

static tsr_status join(const char *folder, const char *name, size_t length, char *out) {
  if (snprintf(out, PATH_MAX, "%s/%.*s", folder, (int)length, name) < PATH_MAX) return NULL;
  return tsr_fail(TOO_LARGE, "%s: the path of a file in it is longer than %d bytes", folder,
                  PATH_MAX);
}

static bool is_array_name(const char *name) {
  return name[0] != '.' && tsr_ends_with(name, ending);
}

static int array_entry(const struct dirent *entry) { return is_array_name(entry->d_name); }

static tsr_status read_folder(array_list *list) {
  const char *folder = list->checkpoint->path;
  struct dirent **entries = NULL;
  const int count = scandir(folder, &entries, array_entry, alphasort);
  if (count < 0) return tsr_fail(IO, "%s: %s", folder, strerror(errno));
  tsr_status status = NULL;
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    char path[PATH_MAX];
    if (!status) status = join(folder, name, strlen(name), path);
    if (!status) status = read_file(list, path, name, strlen(name) - ENDING, TSR_DTYPE_NONE);
    free(entries[i]);
  }
  free(entries);
  if (!status && !list->count)
    status = tsr_fail(NOT_FOUND, "%s: no file in it ends with %s", folder, ending);
  return status;
}

// ---- the index of a folder ----

static tsr_status read_entry(array_list *list, const tsr_json *member) {
  static const char *const keys[] = {"file", "dtype", NULL};
  const char *file = NULL, *word = NULL;
  size_t length = 0, word_length = 0, name_length = 0;
  const char *name = tsr_json_key(member, &name_length);
  char path[PATH_MAX], dtype_name[32];
  tsr_dtype dtype = TSR_DTYPE_NONE;
  TSR_TRY(tsr_json_check_keys(member, keys));
  TSR_TRY(tsr_json_get_string(tsr_json_find(member, "file"), "file", &file, &length));
  TSR_TRY(tsr_json_get_string(tsr_json_find(member, "dtype"), "dtype", &word, &word_length));
  if (!length || memchr(file, '/', length) || memchr(file, '\0', length) || file[0] == '.')
    return tsr_fail(BROKEN_FILE, "file \"%.*s\" is not one in its folder", (int)length, file);
  if (memchr(name, '\0', name_length))
    return tsr_fail(BROKEN_FILE, "its name goes on after a zero byte");
  snprintf(dtype_name, sizeof dtype_name, "%.*s", (int)word_length, word);
  TSR_TRY(tsr_dtype_parse(dtype_name, &dtype));
  TSR_TRY(join(list->checkpoint->path, file, length, path));
  TSR_TRY(read_file(list, path, name, name_length, dtype));
  const array *found = &list->items[list->count - 1];
  if (found->npy.dtype == dtype) return NULL;
  return tsr_fail(BROKEN_FILE, "it is %s here, but %s in its file",
                  tsr_dtype_name(dtype, TSR_NAMES_OWN),
                  tsr_dtype_name(found->npy.dtype, TSR_NAMES_OWN));
}

static tsr_status read_entries(array_list *list, const tsr_json_doc *doc) {
  static const char *const keys[] = {"schema", "metadata", "tensors", NULL};
  const tsr_json *root = tsr_json_root(doc);
  const tsr_json *tensors = tsr_json_find(root, "tensors");
  TSR_TRY(tsr_json_check_keys(root, keys));
  TSR_TRY(tsr_json_check_schema(root, TSR_NPY_SCHEMA));
  if (!tensors || tsr_json_kind_of(tensors) != TSR_JSON_OBJECT)
    return tsr_json_wrong_kind(tensors, "tensors", "an object");
  for (const tsr_json *m = tsr_json_first(tensors); m; m = tsr_json_next(m)) {
    size_t length = 0;
    const char *name = tsr_json_key(m, &length);
    TSR_TRY_NOTE(read_entry(list, m), "tensor \"%.*s\"", (int)length, name);
  }
  return tsr_checkpoint_read_metadata(list->checkpoint, doc, tsr_json_find(root, "metadata"));
}

static tsr_status read_index(array_list *list, const char *path) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = read_entries(list, doc);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

// Whether a folder has a file of that name, and its path.
static tsr_status find_file(const char *folder, const char *name, char path[PATH_MAX],
                            bool *out_found) {
  struct stat info;
  *out_found = false;
  if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) return NULL;
  return tsr_io_look(path, out_found, &info);
}

static tsr_status find_array(const char *folder, bool *out_found) {
  DIR *listing = opendir(folder);
  tsr_status status = NULL;
  if (!listing) return tsr_fail(IO, "%s: %s", folder, strerror(errno));
  for (const char *name = ""; name && !status && !*out_found;) {
    status = tsr_io_next_name(listing, folder, &name);
    *out_found = !status && name && is_array_name(name);
  }
  closedir(listing);
  return status;
}

tsr_status tsr_checkpoint_has_npy(const char *folder, bool *out_found) {
  static const char *const others[] = {"model.safetensors", "model.safetensors.index.json"};
  char path[PATH_MAX];
  bool other = false;
  TSR_TRY(find_file(folder, TSR_NPY_INDEX, path, out_found));
  if (*out_found) return NULL;
  for (int i = 0; i < 2 && !other; i++) TSR_TRY(find_file(folder, others[i], path, &other));
  return other ? NULL : find_array(folder, out_found);
}

// ---- what a file is ----

static tsr_status read_start(const char *path, char bytes[8]) {
  int fd = -1;
  int64_t size = 0;
  TSR_TRY(tsr_io_open(path, &fd));
  tsr_status status = tsr_io_size(fd, path, &size);
  if (!status) status = tsr_io_read(fd, path, bytes, size < 8 ? size : 8, 0);
  tsr_status_free(tsr_io_close(fd, path));  // nothing was written
  return status;
}

// A safetensors file starts with the length of its header, whose four high bytes are zero; in an
// archive they are not, unless it is empty, and then the length would be too large.
tsr_status tsr_checkpoint_numpy_kind(const char *path, tsr_checkpoint_format *out_format) {
  static const char zeros[4];
  char bytes[8] = {0};
  *out_format = TSR_FORMAT_ANY;
  if (tsr_ends_with(path, ".safetensors")) return NULL;  // it says what it should be
  TSR_TRY(read_start(path, bytes));
  const bool member = !memcmp(bytes, "PK\3\4", 4) && memcmp(bytes + 4, zeros, 4) != 0;
  const bool archive = member || !memcmp(bytes, "PK\5\6", 4) || tsr_ends_with(path, ".npz");
  const bool one = !memcmp(bytes, "\x93NUMPY", 6) || tsr_ends_with(path, ".npy");
  *out_format = archive ? TSR_FORMAT_NPZ : one ? TSR_FORMAT_NPY : TSR_FORMAT_ANY;
  return NULL;
}

// ---- the whole ----

static tsr_status read_files(array_list *list) {
  const char *path = list->checkpoint->path, *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  char index[PATH_MAX];
  struct stat info;
  bool indexed = false;
  if (stat(path, &info)) return tsr_fail(IO, "%s: %s", path, strerror(errno));
  const size_t length = strlen(name) - (tsr_ends_with(name, ending) ? ENDING : 0);
  if (S_ISDIR(info.st_mode)) TSR_TRY(find_file(path, TSR_NPY_INDEX, index, &indexed));
  TSR_TRY(!S_ISDIR(info.st_mode) ? read_file(list, path, name, length, TSR_DTYPE_NONE)
          : indexed              ? read_index(list, index)
                                 : read_folder(list));
  TSR_TRY(make_tree(list, &list->checkpoint->tree));
  return make_tensors(list);
}

tsr_status tsr_checkpoint_read_numpy(tsr_checkpoint *checkpoint,
                                     const tsr_checkpoint_options *options) {
  array_list list = {.checkpoint = checkpoint, .options = options};
  if (options->plan)
    return tsr_fail(BAD_ARGUMENT,
                    "%s: tensors are stored whole here, so that no plan tells how they are cut",
                    checkpoint->path);
  tsr_status status =
      checkpoint->format == TSR_FORMAT_NPZ ? read_archive(&list) : read_files(&list);
  free(list.items);
  return status;
}
