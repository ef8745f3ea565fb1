// A result and the destination it replaces are exchanged by one rename. Whether the file system can
// do that is tried before the first window is written.
#include "job/work.h"

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
#include "base/text_internal.h"
#include "job/journal.h"
#include "job/replaceable.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"

// ---- paths ----

static char *joined(tsr_arena *arena, const char *path, size_t length, const char *end) {
  char *text = tsr_arena_alloc(arena, length + strlen(end) + 1);
  if (!text) return NULL;
  memcpy(text, path, length);
  strcpy(text + length, end);
  return text;
}

static char *parent_of(tsr_arena *arena, const char *path, size_t length) {
  size_t slash = length;
  while (slash > 0 && path[slash - 1] != '/') slash--;
  return slash ? joined(arena, path, slash > 1 ? slash - 1 : 1, "") : joined(arena, ".", 1, "");
}

static bool is_folder(const char *path) {
  struct stat info;
  return !stat(path, &info) && S_ISDIR(info.st_mode);
}

typedef enum place_content { NOTHING, EMPTY_FOLDER, FOLDER, NO_FOLDER } place_content;

static tsr_status look_into(const char *folder, place_content *out_content) {
  const char *name = NULL;
  DIR *listing = opendir(folder);
  if (!listing) return tsr_fail(IO, "%s: cannot list the folder: %s", folder, strerror(errno));
  tsr_status status = tsr_io_next_name(listing, folder, &name);
  closedir(listing);
  *out_content = name ? FOLDER : EMPTY_FOLDER;
  return status;
}

static tsr_status look(const char *path, place_content *out_content) {
  struct stat info;
  bool there = false;
  TSR_TRY(tsr_io_look(path, &there, &info));
  if (there && S_ISDIR(info.st_mode)) return look_into(path, out_content);
  *out_content = there ? NO_FOLDER : NOTHING;
  return NULL;
}

tsr_status tsr_work_mark(const char *path, tsr_mark *out_mark) {
  struct stat info;
  bool there = false;
  TSR_TRY(tsr_io_look(path, &there, &info));
  *out_mark = (tsr_mark){0};
  if (there)
    *out_mark = (tsr_mark){(uint64_t)info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  return NULL;
}

tsr_status tsr_work_is_done(const tsr_work *work, const tsr_mark *mark, bool *out_done) {
  tsr_mark there;
  TSR_TRY(tsr_work_mark(work->path, &there));
  *out_done = mark->inode && tsr_mark_equal(mark, &there);
  return NULL;
}

// An empty folder does not count: users run `mkdir out` first.
tsr_status tsr_work_check_free(const tsr_work *work) {
  place_content there = NOTHING;
  TSR_TRY(look(work->path, &there));
  if (there == NOTHING || (there == EMPTY_FOLDER && !work->single)) return NULL;
  return tsr_fail(ALREADY_THERE, "%s: already exists", work->path);
}

// A resumed job may have a destination that it will replace, or has replaced.
static tsr_status check_resumed(const tsr_work *work) {
  tsr_journal_state state;
  bool done = false;
  TSR_TRY(tsr_replaceable_check_left(work->partial, work->journal));
  TSR_TRY(tsr_journal_look(work->journal, &state));
  TSR_TRY(tsr_work_is_done(work, &state.committed, &done));
  if (state.begun && (state.replaces || done)) return NULL;
  return tsr_work_check_free(work);
}

static tsr_status check_replaced(const tsr_work *work) {
  TSR_TRY(tsr_replaceable_check_left(work->partial, work->journal));
  return tsr_replaceable_check(work->path, work->extras);
}

tsr_status tsr_work_refuse_left(const char *path) {
  return tsr_fail(ALREADY_THERE, "%s: left by an unfinished job", path);
}

tsr_status tsr_work_check_before(const tsr_work *work, tsr_existing existing) {
  TSR_TRY(tsr_replaceable_check_mount(work->path, work->parent));
  if (existing == TSR_EXISTING_REPLACE) return check_replaced(work);
  if (existing == TSR_EXISTING_RESUME) return check_resumed(work);
  TSR_TRY(tsr_work_check_free(work));
  for (int i = 0; i < 2; i++) {
    const char *left = i == 0 ? work->partial : work->journal;
    place_content there = NOTHING;
    TSR_TRY(look(left, &there));
    if (there != NOTHING) return tsr_work_refuse_left(left);
  }
  return NULL;
}

// Whether the path ends in a name that a rename can take: not ".", ".." or the root.
static bool has_name(const char *path, size_t length) {
  while (length > 0 && path[length - 1] == '.') length--;
  const size_t dots = strspn(path + length, ".");
  return dots > 2 || (length > 0 && path[length - 1] != '/') || (length == 0 && !dots);
}

tsr_status tsr_work_init(tsr_work *work, const char *path, const char *single,
                         const tsr_extras *extras) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  if (length == 0) return tsr_fail(BAD_ARGUMENT, "the destination has no name");
  if (!has_name(path, length))
    return tsr_fail(BAD_ARGUMENT,
                    "%s: the destination needs a name of its own, not \".\", \"..\" or \"/\"",
                    path);
  char end[64] = ".partial";
  if (single) snprintf(end, sizeof end, ".partial/%s", single);
  *work = (tsr_work){.single = single != NULL, .extras = extras};
  work->path = joined(&work->arena, path, length, "");
  work->partial = joined(&work->arena, path, length, ".partial");
  work->journal = joined(&work->arena, path, length, ".journal");
  work->result = joined(&work->arena, path, length, end);
  work->parent = parent_of(&work->arena, path, length);
  if (work->path && work->partial && work->journal && work->result && work->parent) return NULL;
  tsr_work_deinit(work);
  return tsr_fail(NO_MEMORY, "the path of a destination");
}

void tsr_work_deinit(tsr_work *work) {
  tsr_arena_deinit(&work->arena);
  *work = (tsr_work){0};
}

// The path without links and dots, also if only its folder exists; "" if that does not either.
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

// No file of the source may be removed, wherever links lead.
static tsr_status check_file_apart(const tsr_work *work, const char *to, const char *partial,
                                   const char *file) {
  char from[PATH_MAX];
  if (!realpath(file, from)) return NULL;
  if (lies_in(from, to))
    return tsr_fail(BAD_ARGUMENT, "%s of the source is %s, which is in the destination %s", file,
                    from, work->path);
  if (!partial || !lies_in(from, partial)) return NULL;
  return tsr_fail(BAD_ARGUMENT,
                  "%s of the source is in %s, which the job for %s needs; choose another "
                  "destination",
                  file, work->partial, work->path);
}

tsr_status tsr_work_check_apart(const tsr_work *work, const tsr_checkpoint *source) {
  char from[PATH_MAX], to[PATH_MAX];
  const char *path = tsr_checkpoint_path(source);
  resolve(work, to);
  if (!to[0] || !realpath(path, from)) return NULL;
  // An index stands for its folder.
  char *slash = strrchr(from, '/');
  if (tsr_ends_with(from, ".json") && !is_folder(from) && slash) *slash = '\0';
  if (!strcmp(from, to))
    return tsr_fail(BAD_ARGUMENT, "%s: source and destination are the same", work->path);
  if (lies_in(to, from))
    return tsr_fail(BAD_ARGUMENT, "the destination %s is inside the source %s", work->path, path);
  if (lies_in(from, to))
    return tsr_fail(BAD_ARGUMENT, "the source %s is inside the destination %s", path, work->path);
  const char *partial = realpath(work->partial, from);
  for (int64_t i = 0; i < tsr_checkpoint_file_count(source); i++)
    TSR_TRY(check_file_apart(work, to, partial, tsr_checkpoint_file_at(source, i)));
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

// nftw passes no context.
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

static bool cannot_exchange(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

// A plain rename replaces a file by a file, and an empty folder by a folder.
static tsr_status check_exchange(const tsr_work *work, bool *out_needed) {
  place_content there = NOTHING;
  TSR_TRY(look(work->path, &there));
  *out_needed = there == FOLDER || there == (work->single ? EMPTY_FOLDER : NO_FOLDER);
  return NULL;
}

static tsr_status remove_folder(const char *path) {
  return rmdir(path) ? tsr_fail(IO, "%s: cannot remove it: %s", path, strerror(errno)) : NULL;
}

static tsr_status exchange_folders(const tsr_work *work, const char *one, const char *other) {
  TSR_TRY(tsr_io_make_folder(one));
  TSR_TRY(tsr_io_make_folder(other));
  if (renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)) {
    if (!cannot_exchange(errno))
      return tsr_fail(IO, "%s: cannot rename it: %s", one, strerror(errno));
    return tsr_fail(UNSUPPORTED,
                    "%s: this file system cannot exchange files in one step; remove it first, or "
                    "write elsewhere",
                    work->path);
  }
  TSR_TRY(remove_folder(one));
  return remove_folder(other);
}

// Tries an exchange on two folders in the work folder.
static tsr_status try_exchange(const tsr_work *work) {
  const size_t length = strlen(work->partial);
  tsr_arena arena = {0};
  const char *one = joined(&arena, work->partial, length, "/one");
  const char *other = joined(&arena, work->partial, length, "/two");
  tsr_status status = one && other ? exchange_folders(work, one, other)
                                   : tsr_fail(NO_MEMORY, "the path of a folder");
  tsr_arena_deinit(&arena);
  return status;
}

tsr_status tsr_work_begin(const tsr_work *work, bool sync) {
  bool swap = false;
  TSR_TRY(remove_all(work->partial));
  TSR_TRY(tsr_io_make_folder(work->partial));
  TSR_TRY(check_exchange(work, &swap));
  if (swap) TSR_TRY(try_exchange(work));
  return sync ? tsr_io_sync_folder(work->parent) : NULL;
}

// Without `replaces`, never overwrites a destination created meanwhile; with it, checks again what
// would be deleted.
static tsr_status put_in_place(const tsr_work *work, bool replaces) {
  bool swap = false;
  if (replaces) TSR_TRY(tsr_replaceable_check(work->path, work->extras));
  if (replaces) TSR_TRY(check_exchange(work, &swap));
  const unsigned flags = swap ? RENAME_EXCHANGE : work->single && !replaces ? RENAME_NOREPLACE : 0;
  if (!flags) return tsr_io_rename(work->result, work->path);
  if (!renameat2(AT_FDCWD, work->result, AT_FDCWD, work->path, flags)) return NULL;
  if (errno == EEXIST || !cannot_exchange(errno) || swap)
    return tsr_fail(IO, "%s: cannot put it in its place: %s", work->path, strerror(errno));
  TSR_TRY(tsr_work_check_free(work));
  return tsr_io_rename(work->result, work->path);
}

tsr_status tsr_work_commit(const tsr_work *work, bool replaces, bool sync) {
  TSR_TRY(put_in_place(work, replaces));
  return sync ? tsr_io_sync_folder(work->parent) : NULL;
}

tsr_status tsr_work_remove(const tsr_work *work) { return remove_all(work->partial); }
