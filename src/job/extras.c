// Extras are found when a job is decided and copied when all tensors are written.
#include "job/extras.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/status_internal.h"
#include "base/text_internal.h"
#include "format/format.h"
#include "format/reading.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"

static const int64_t most_bytes = INT64_C(64) << 20;
enum { CHUNK = 1 << 18 };

// ---- which ----

// Weights and indices of this format and of others.
static bool is_weights(const char *name) {
  static const char *const ends[] = {".index.json", ".bin",     ".pt",   ".pth", ".ckpt",
                                     ".gguf",       ".msgpack", ".onnx", ".h5",  ".journal"};
  if (tsr_formats_own(name)) return true;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (tsr_ends_with(name, ends[i])) return true;
  return false;
}

// The folder itself, or that of an index; NULL for a single file, which has no extras.
static tsr_status find_folder(tsr_extras *extras, const char *path) {
  const char *slash = strrchr(path, '/');
  struct stat info;
  if (stat(path, &info)) return tsr_fail(IO, "%s: cannot stat it: %s", path, strerror(errno));
  const bool folder = S_ISDIR(info.st_mode);
  if (!folder && !tsr_ends_with(path, ".json")) return NULL;
  const size_t length = folder ? strlen(path) : slash ? (size_t)(slash - path) : 1;
  extras->folder =
      tsr_arena_copy(&extras->arena, folder || slash ? path : ".", length ? length : 1);
  return extras->folder ? NULL : tsr_fail(NO_MEMORY, "the path of a folder");
}

static tsr_status add_extra(tsr_extras *extras, const char *name, int64_t bytes) {
  void *items = tsr_grow(extras->items, extras->count, &extras->capacity, sizeof *extras->items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of files");
  extras->items = items;
  const char *copy = tsr_arena_copy(&extras->arena, name, strlen(name));
  if (!copy) return tsr_fail(NO_MEMORY, "a list of files");
  extras->items[extras->count++] = (tsr_extra){copy, bytes};
  return NULL;
}

static int by_name(const void *left, const void *right) {
  const tsr_extra *a = left, *b = right;
  return strcmp(a->name, b->name);
}

static tsr_status join(const char *folder, const char *name, char *out) {
  if (snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX) return NULL;
  return tsr_fail(TOO_LARGE, "%s/%s: the path is longer than %d bytes", folder, name, PATH_MAX);
}

// Dangling links, folders and large files are left out. The file is opened, so that an unreadable
// one fails now and not after all tensors are written.
static tsr_status consider(void *context, const char *folder, const char *name, bool *out_stop) {
  tsr_extras *extras = context;
  char path[PATH_MAX];
  struct stat info;
  int fd = -1;
  (void)out_stop;
  if (name[0] == '.' || is_weights(name)) return NULL;
  TSR_TRY(join(folder, name, path));
  if (stat(path, &info))
    return errno == ENOENT ? NULL : tsr_fail(IO, "%s: cannot stat it: %s", path, strerror(errno));
  const bool small = S_ISREG(info.st_mode) && info.st_size <= most_bytes;
  if (!small) return NULL;
  TSR_TRY(tsr_io_open(path, &fd));
  tsr_status_free(tsr_io_close(fd, path));  // nothing was written
  return add_extra(extras, name, info.st_size);
}

static tsr_status list(tsr_extras *extras) {
  TSR_TRY(tsr_reading_each_name(extras->folder, consider, extras));
  if (extras->count > 0)
    qsort(extras->items, (size_t)extras->count, sizeof *extras->items, by_name);
  return NULL;
}

tsr_status tsr_extras_find(const tsr_checkpoint *checkpoint, tsr_extras *out_extras) {
  tsr_extras extras = {0};
  TSR_TRY(find_folder(&extras, checkpoint->path));
  tsr_status status = extras.folder ? list(&extras) : NULL;
  if (status)
    tsr_extras_deinit(&extras);
  else
    *out_extras = extras;
  return status;
}

void tsr_extras_deinit(tsr_extras *extras) {
  free(extras->items);
  tsr_arena_deinit(&extras->arena);
  *extras = (tsr_extras){0};
}

int64_t tsr_extras_bytes(const tsr_extras *extras) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < extras->count; i++) bytes += extras->items[i].bytes;
  return bytes;
}

// ---- copying ----

static tsr_status copy_bytes(int from, const char *from_path, int to, const char *to_path,
                             char *buffer) {
  int64_t size = 0;
  TSR_TRY(tsr_io_size(from, from_path, &size));
  TSR_TRY(tsr_io_reserve(to, to_path, size));
  for (int64_t at = 0; at < size; at += CHUNK) {
    const int64_t some = size - at < CHUNK ? size - at : CHUNK;
    TSR_TRY(tsr_io_read(from, from_path, buffer, some, at));
    TSR_TRY(tsr_io_write(to, to_path, buffer, some, at));
  }
  return NULL;
}

static tsr_status copy_file(const char *from_path, const char *to_path, bool sync, char *buffer) {
  int from = -1, to = -1;
  TSR_TRY(tsr_io_open(from_path, &from));
  tsr_status status = tsr_io_create(to_path, &to);
  if (!status) status = copy_bytes(from, from_path, to, to_path, buffer);
  if (!status && sync) status = tsr_io_sync(to, to_path);
  status = tsr_status_first(status, tsr_io_close(to, to_path));
  tsr_status_free(tsr_io_close(from, from_path));  // nothing was written
  return status;
}

tsr_status tsr_extras_copy(const tsr_extras *extras, const char *folder, bool sync) {
  char *buffer = malloc(CHUNK);
  tsr_status status = buffer ? NULL : tsr_fail(NO_MEMORY, "a buffer of %d bytes", CHUNK);
  for (int64_t i = 0; i < extras->count && !status; i++) {
    char from[PATH_MAX], to[PATH_MAX];
    status = join(extras->folder, extras->items[i].name, from);
    if (!status) status = join(folder, extras->items[i].name, to);
    if (!status) status = copy_file(from, to, sync, buffer);
  }
  free(buffer);
  return status;
}
