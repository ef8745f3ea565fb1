#include "checkpoint/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"

static const char single_name[] = "model.safetensors";

// ---- paths ----

static char *joined(const char *path, size_t length, const char *end) {
  char *text = malloc(length + strlen(end) + 1);
  if (!text) return NULL;
  memcpy(text, path, length);
  strcpy(text + length, end);
  return text;
}

static char *parent_of(const char *path, size_t length) {
  size_t slash = length;
  while (slash > 0 && path[slash - 1] != '/') slash--;
  if (slash == 0) return joined(".", 1, "");
  return joined(path, slash > 1 ? slash - 1 : 1, "");
}

static bool exists(const char *path) {
  struct stat info;
  return !lstat(path, &info);
}

static bool is_folder(const char *path) {
  struct stat info;
  return !stat(path, &info) && S_ISDIR(info.st_mode);
}

// A folder that is there but empty is as good as none: `mkdir out` comes before many a command.
static bool is_empty_folder(const char *path) {
  DIR *listing = opendir(path);
  bool empty = true;
  if (!listing) return false;
  for (const struct dirent *entry = NULL; empty && (entry = readdir(listing));)
    empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
  closedir(listing);
  return empty;
}

static tsr_status check_free(const tsr_work *work, tsr_existing existing) {
  if (existing == TSR_EXISTING_REPLACE) return NULL;
  const bool there = exists(work->path) && (work->single || !is_empty_folder(work->path));
  if (there) return tsr_fail(ALREADY_THERE, "%s: it is there already", work->path);
  if (existing == TSR_EXISTING_REFUSE && (exists(work->partial) || exists(work->journal)))
    return tsr_fail(ALREADY_THERE, "%s: an unfinished job left it there; resume it, or replace it",
                    exists(work->partial) ? work->partial : work->journal);
  return NULL;
}

tsr_status tsr_work_init(tsr_work *work, const char *path, bool single, tsr_existing existing) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  if (length == 0) return tsr_fail(BAD_ARGUMENT, "the destination has no name");
  *work = (tsr_work){.path = joined(path, length, ""),
                     .partial = joined(path, length, ".partial"),
                     .journal = joined(path, length, ".journal"),
                     .parent = parent_of(path, length),
                     .single = single};
  tsr_status status = work->path && work->partial && work->journal && work->parent
                          ? check_free(work, existing)
                          : tsr_fail(NO_MEMORY, "the path of a destination");
  if (status) tsr_work_deinit(work);
  return status;
}

void tsr_work_deinit(tsr_work *work) {
  free(work->path);
  free(work->partial);
  free(work->journal);
  free(work->parent);
  *work = (tsr_work){0};
}

// The path without links and dots, also of what is not there yet; "" where its folder is not
// either.
static void resolve(const tsr_work *work, char *out) {
  char parent[PATH_MAX];
  const char *slash = strrchr(work->path, '/'), *name = slash ? slash + 1 : work->path;
  out[0] = '\0';
  if (realpath(work->path, out) || !realpath(work->parent, parent)) return;
  if (snprintf(out, PATH_MAX, "%s/%s", strcmp(parent, "/") ? parent : "", name) >= PATH_MAX)
    out[0] = '\0';
}

static bool lies_in(const char *path, const char *folder) {
  const size_t length = strlen(folder);
  return !strncmp(path, folder, length) && (path[length] == '/' || path[length] == '\0');
}

tsr_status tsr_work_check_apart(const tsr_work *work, const tsr_checkpoint *source) {
  char from[PATH_MAX], to[PATH_MAX];
  const char *path = tsr_checkpoint_path(source);
  resolve(work, to);
  if (!to[0] || !realpath(path, from)) return NULL;
  // An index stands for its folder.
  char *slash = strrchr(from, '/');
  if (tsr_checkpoint_format_of(source) != TSR_FORMAT_FILE && !is_folder(from) && slash)
    *slash = '\0';
  if (!strcmp(from, to))
    return tsr_fail(BAD_ARGUMENT, "%s: source and destination are the same", work->path);
  if (lies_in(to, from))
    return tsr_fail(BAD_ARGUMENT, "the destination %s lies in the source %s", work->path, path);
  if (lies_in(from, to))
    return tsr_fail(BAD_ARGUMENT, "the source %s lies in the destination %s", path, work->path);
  return NULL;
}

// ---- space ----

int64_t tsr_work_bytes_free(const tsr_work *work) {
  struct statvfs info;
  int64_t bytes = 0;
  if (statvfs(work->parent, &info)) return -1;
  if (__builtin_mul_overflow((int64_t)info.f_bavail, (int64_t)info.f_frsize, &bytes)) return -1;
  return bytes;
}

// nftw has no context: what it finds goes through a variable of this thread.
static _Thread_local int64_t bytes_found;

static int add_blocks(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)path, (void)where;
  if (kind == FTW_F) bytes_found += (int64_t)info->st_blocks * 512;
  return 0;
}

int64_t tsr_work_bytes_there(const tsr_work *work) {
  bytes_found = 0;
  if (nftw(work->partial, add_blocks, 16, FTW_PHYS)) return 0;
  return bytes_found;
}

// ---- begin and end ----

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path);
}

static tsr_status remove_all(const char *path) {
  if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
    return tsr_fail(IO, "%s: cannot remove it: %s", path, strerror(errno));
  return NULL;
}

static tsr_status remove_file(const char *path) {
  if (unlink(path) && errno != ENOENT)
    return tsr_fail(IO, "%s: cannot remove it: %s", path, strerror(errno));
  return NULL;
}

tsr_status tsr_work_begin(const tsr_work *work, tsr_existing existing) {
  if (existing != TSR_EXISTING_RESUME) {
    TSR_TRY(remove_all(work->partial));
    TSR_TRY(remove_file(work->journal));
  }
  if (mkdir(work->partial, 0777) && errno != EEXIST)
    return tsr_fail(IO, "%s: cannot make the folder: %s", work->partial, strerror(errno));
  return NULL;
}

// In one step, also when something is there: then the two change places.
static tsr_status exchange(const char *from, const char *to) {
  if (!exists(to)) return tsr_io_rename(from, to);
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE)) {
    // Not every file system can. A folder takes the place of an empty one all the same.
    if (errno != EINVAL && errno != ENOSYS)
      return tsr_fail(IO, "%s: cannot put it in its place: %s", to, strerror(errno));
    return tsr_io_rename(from, to);
  }
  return NULL;
}

tsr_status tsr_work_commit(const tsr_work *work, bool sync) {
  tsr_status status = NULL;
  if (sync) TSR_TRY(tsr_io_sync_folder(work->partial));
  if (work->single) {
    char *file = joined(work->partial, strlen(work->partial), "/");
    char *from = file ? joined(file, strlen(file), single_name) : NULL;
    status = from ? tsr_io_rename(from, work->path) : tsr_fail(NO_MEMORY, "the path of a file");
    free(file);
    free(from);
  } else {
    status = exchange(work->partial, work->path);
  }
  if (!status && sync) status = tsr_io_sync_folder(work->parent);
  // From here on the result is there. What is left is only tidied up.
  if (!status) status = remove_all(work->partial);
  if (!status) status = remove_file(work->journal);
  return status;
}
