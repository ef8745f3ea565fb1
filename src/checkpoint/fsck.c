// Faults are collected, not thrown: a check that fails adds a row and the next one goes on. Only
// what keeps us from saying anything (memory, a path that is not there) is a failure.
#include "checkpoint/fsck.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ends_with.h"
#include "base/grow.h"
#include "base/io.h"
#include "base/json.h"
#include "base/sized.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/fsck_internal.h"
#include "checkpoint/journal.h"
#include "checkpoint/numpy.h"
#include "file/safetensors.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"

static const char *const fault_names[TSR_FAULT_COUNT] = {
#define X(id, word) [TSR_FAULT_##id] = (word),
    TSR_FAULTS(X)
#undef X
};

const char *tsr_fault_name(tsr_fault_kind kind) {
  return (unsigned)kind < TSR_FAULT_COUNT ? fault_names[kind] : NULL;
}

const char *tsr_severity_name(tsr_severity severity) {
  static const char *const names[TSR_SEVERITY_COUNT] = {"error", "warning", "note"};
  return (unsigned)severity < TSR_SEVERITY_COUNT ? names[severity] : NULL;
}

// ---- collecting ----

// What others ask about the faults so far, so that they need not look through all of them.
static tsr_status remember(tsr_fsck *fsck, const tsr_fault *fault) {
  int64_t existing = -1;
  if (fault->kind == TSR_FAULT_FILE_MISSING || fault->kind == TSR_FAULT_HEADER ||
      fault->kind == TSR_FAULT_TRUNCATED || fault->kind == TSR_FAULT_UNREADABLE)
    fsck->files_lost = true;
  if (fault->severity != TSR_SEVERITY_ERROR) return NULL;
  return tsr_name_index_add(&fsck->told, fault->file, 0, &existing);
}

bool tsr_fsck_is_told(const tsr_fsck *fsck, const char *file) {
  return tsr_name_index_find(&fsck->told, file) >= 0;
}

tsr_status tsr_fsck_add(tsr_fsck *fsck, const tsr_fault_place *place, const char *format, ...) {
  tsr_fault *faults = tsr_grow(fsck->faults, fsck->count, &fsck->capacity, sizeof *faults);
  if (!faults) return tsr_fail(NO_MEMORY, "a list of faults");
  fsck->faults = faults;
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *message = tsr_arena_alloc(&fsck->arena, (size_t)length + 1);
  if (message) vsnprintf(message, (size_t)length + 1, format, again);
  va_end(again);
  const char *file = place->file ? place->file : "";
  tsr_fault fault = {.kind = place->kind,
                     .severity = place->severity,
                     .repairable = place->repairable,
                     .file = tsr_arena_copy(&fsck->arena, file, strlen(file)),
                     .message = message};
  if (place->tensor)
    fault.tensor = tsr_arena_copy(&fsck->arena, place->tensor, strlen(place->tensor));
  if (!fault.file || !fault.message || (place->tensor && !fault.tensor))
    return tsr_fail(NO_MEMORY, "a fault");
  fsck->faults[fsck->count++] = fault;
  fsck->totals[place->severity]++;
  return remember(fsck, &fault);
}

tsr_status tsr_fsck_add_failure(tsr_fsck *fsck, const tsr_fault_place *place, tsr_status failure) {
  if (!failure) return NULL;
  const tsr_cause cause = tsr_status_cause(failure);
  if (cause == TSR_CAUSE_NO_MEMORY || cause == TSR_CAUSE_CANCELLED) return failure;
  tsr_status status = tsr_fsck_add(fsck, place, "%s", tsr_status_text(failure));
  tsr_status_free(failure);
  return status;
}

tsr_status tsr_fsck_path(tsr_fsck *fsck, const char *name, const char **out_path) {
  const size_t folder = strlen(fsck->path), length = strlen(name);
  char *path = tsr_arena_alloc(&fsck->arena, folder + length + 2);
  if (!path) return tsr_fail(NO_MEMORY, "the path of a file");
  memcpy(path, fsck->path, folder);
  path[folder] = '/';
  memcpy(path + folder + 1, name, length + 1);
  *out_path = path;
  return NULL;
}

// ---- one file ----

// Where the tensors of a header end, from the start of the file; -1 if that cannot be said.
static int64_t end_of_tensors(const char *header, uint64_t length) {
  tsr_json_doc *doc = NULL;
  int64_t most = 0;
  tsr_status status = tsr_json_parse(header, length, &doc);
  const bool readable = !status;
  tsr_status_free(status);
  if (!readable) return -1;
  for (const tsr_json *m = tsr_json_first(tsr_json_root(doc)); m; m = tsr_json_next(m)) {
    int64_t end = 0;
    tsr_status_free(
        tsr_json_get_int(tsr_json_at(tsr_json_find(m, "data_offsets"), 1), "end", &end));
    if (end > most) most = end;
  }
  tsr_json_destroy(doc);
  int64_t all = 0;
  return __builtin_add_overflow(most, 8 + (int64_t)length, &all) ? -1 : all;
}

// Whether a file that was refused would be legal if it were longer: then it was cut off. Gives the
// size it should have, and its tensors.
static tsr_status find_truncation(const char *path, int64_t size, int64_t *out_wanted,
                                  tsr_model **out_model) {
  uint64_t length = 0;
  int fd = -1;
  TSR_TRY(tsr_io_open(path, &fd));
  tsr_status status = size >= 8 ? tsr_io_read(fd, path, &length, 8, 0) : NULL;
  char *bytes = NULL;
  if (!status && size >= 8 && length <= (uint64_t)size - 8 && length <= 100000000) {
    bytes = malloc(length + 8);
    status = bytes ? tsr_io_read(fd, path, bytes, (int64_t)length + 8, 0)
                   : tsr_fail(NO_MEMORY, "a header");
  }
  if (!status && bytes) {
    const int64_t wanted = end_of_tensors(bytes + 8, length);
    tsr_status refused =
        wanted > size ? tsr_safetensors_parse(bytes, length + 8, wanted, out_model) : NULL;
    if (tsr_status_cause(refused) == TSR_CAUSE_NO_MEMORY) {
      status = refused;
    } else {
      if (wanted > size && !refused) *out_wanted = wanted;
      tsr_status_free(refused);
    }
  }
  free(bytes);
  tsr_status closed = tsr_io_close(fd, path);
  tsr_status_free(closed);  // nothing was written
  return status;
}

tsr_status tsr_fsck_read_header(tsr_fsck *fsck, const char *name, tsr_model **out_model) {
  const char *path = fsck->path;
  struct stat info;
  if (*name) TSR_TRY(tsr_fsck_path(fsck, name, &path));
  tsr_fault_place place = {.kind = TSR_FAULT_UNREADABLE, .file = name};
  if (stat(path, &info)) return tsr_fsck_add(fsck, &place, "%s: %s", path, strerror(errno));
  tsr_status status = tsr_safetensors_open(path, out_model);
  const tsr_cause cause = tsr_status_cause(status);
  if (!status || cause == TSR_CAUSE_NO_MEMORY) return status;
  place.kind = cause == TSR_CAUSE_IO ? TSR_FAULT_UNREADABLE : TSR_FAULT_HEADER;
  int64_t wanted = 0;
  tsr_status search =
      cause == TSR_CAUSE_IO ? NULL : find_truncation(path, info.st_size, &wanted, out_model);
  if (tsr_status_cause(search) == TSR_CAUSE_NO_MEMORY) {
    tsr_status_free(status);
    return search;
  }
  tsr_status_free(search);
  if (!wanted) return tsr_fsck_add_failure(fsck, &place, status);
  tsr_status_free(status);
  place.kind = TSR_FAULT_TRUNCATED;
  return tsr_fsck_add(fsck, &place, "%s: the file has %lld bytes, but its tensors end at byte %lld",
                      path, (long long)info.st_size, (long long)wanted);
}

// ---- the folder ----

// Links that lead out of the folder are how Hugging Face's own cache looks, but a folder that is
// copied loses what they point to.
static tsr_status check_link(tsr_fsck *fsck, const char *name, const char *path) {
  struct stat info;
  char folder[PATH_MAX], target[PATH_MAX];
  assert(path);
  if (lstat(path, &info) || !S_ISLNK(info.st_mode)) return NULL;
  if (!realpath(path, target))
    return tsr_fsck_add(fsck, &(tsr_fault_place){.kind = TSR_FAULT_FILE_MISSING, .file = name},
                        "%s: the link points to nothing", path);
  if (!realpath(fsck->path, folder)) return NULL;
  const size_t length = strlen(folder);
  if (!strncmp(target, folder, length) && target[length] == '/') return NULL;
  return tsr_fsck_add(
      fsck,
      &(tsr_fault_place){.kind = TSR_FAULT_OUTSIDE, .severity = TSR_SEVERITY_WARNING, .file = name},
      "%s: the link leads out of the folder, to %s", path, target);
}

static tsr_status add_left_over(tsr_fsck *fsck, const char *name, const char *path) {
  return tsr_fsck_add(
      fsck,
      &(tsr_fault_place){
          .kind = TSR_FAULT_LEFT_OVER, .severity = TSR_SEVERITY_WARNING, .file = name},
      "%s: left over from a job that was not finished", path);
}

static tsr_status look_at_entry(tsr_fsck *fsck, const char *name) {
  const char *path = NULL;
  TSR_TRY(tsr_fsck_path(fsck, name, &path));
  TSR_TRY(check_link(fsck, name, path));
  if (tsr_ends_with(name, ".partial") || tsr_ends_with(name, ".journal") ||
      tsr_ends_with(name, ".part") || tsr_ends_with(name, ".incomplete"))
    return add_left_over(fsck, name, path);
  if (!tsr_ends_with(name, fsck->ending)) return NULL;
  tsr_fsck_file *files =
      tsr_grow(fsck->files, fsck->file_count, &fsck->file_capacity, sizeof *files);
  if (!files) return tsr_fail(NO_MEMORY, "a list of files");
  fsck->files = files;
  const char *copy = tsr_arena_copy(&fsck->arena, name, strlen(name));
  if (!copy) return tsr_fail(NO_MEMORY, "the name of a file");
  files[fsck->file_count++] = (tsr_fsck_file){.name = copy};
  return NULL;
}

// In the order of names, so that two runs say the same.
static tsr_status list_folder(tsr_fsck *fsck) {
  struct dirent **entries = NULL;
  const int count = scandir(fsck->path, &entries, NULL, alphasort);
  if (count < 0) return tsr_fail(IO, "%s: %s", fsck->path, strerror(errno));
  tsr_status status = NULL;
  for (int i = 0; i < count; i++) {
    if (!status && entries[i]->d_name[0] != '.') status = look_at_entry(fsck, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return status;
}

// What a job that was to write here and was stopped left beside it.
static tsr_status look_beside(tsr_fsck *fsck) {
  const tsr_fault_place place = {.kind = TSR_FAULT_LEFT_OVER, .severity = TSR_SEVERITY_WARNING};
  char partial[PATH_MAX], journal[PATH_MAX];
  size_t length = strlen(fsck->path);
  while (length > 1 && fsck->path[length - 1] == '/') length--;
  const int n = (int)length;
  if (snprintf(partial, sizeof partial, "%.*s.partial", n, fsck->path) >= PATH_MAX ||
      snprintf(journal, sizeof journal, "%.*s.journal", n, fsck->path) >= PATH_MAX)
    return NULL;
  tsr_journal_state state;
  tsr_status status = tsr_journal_look(journal, &state);
  if (tsr_status_cause(status) == TSR_CAUSE_NO_MEMORY) return status;
  const bool begun = !status && state.begun;
  tsr_status_free(status);
  if (begun)
    return tsr_fsck_add(fsck, &place, "%s: a job that was to write here was not finished", journal);
  if (!access(journal, F_OK)) TSR_TRY(add_left_over(fsck, "", journal));
  return access(partial, F_OK) ? NULL : add_left_over(fsck, "", partial);
}

// ---- files and folders ----

static tsr_status check_single(tsr_fsck *fsck) {
  const tsr_fault_place unreadable = {.kind = TSR_FAULT_UNREADABLE};
  tsr_checkpoint_format numpys = TSR_FORMAT_ANY;
  tsr_model *model = NULL;
  fsck->single = true;
  TSR_TRY(look_beside(fsck));
  tsr_status status = tsr_checkpoint_numpy_kind(fsck->path, &numpys);
  if (status) return tsr_fsck_add_failure(fsck, &unreadable, status);
  if (numpys != TSR_FORMAT_ANY) return tsr_fsck_numpy_file(fsck);
  TSR_TRY(tsr_fsck_read_header(fsck, "", &model));
  if (model) fsck->tensors = tsr_model_count(model);
  tsr_model_destroy(model);
  return NULL;
}

static tsr_status check_folder(tsr_fsck *fsck) {
  tsr_checkpoint_format format = TSR_FORMAT_ANY;
  TSR_TRY(tsr_checkpoint_folder_format(fsck->path, &format));
  fsck->ending = format == TSR_FORMAT_NPY ? ".npy" : ".safetensors";
  TSR_TRY(look_beside(fsck));
  TSR_TRY(list_folder(fsck));
  if (format == TSR_FORMAT_NPY) return tsr_fsck_arrays(fsck);
  if (format == TSR_FORMAT_TESSERA || format == TSR_FORMAT_RANKS) return tsr_fsck_cut(fsck);
  if (format == TSR_FORMAT_STAGES) return tsr_fsck_stages(fsck);
  return tsr_fsck_folder(fsck);
}

// ---- the whole ----

// What describes a folder stands for the folder.
static tsr_status find_folder(tsr_fsck *fsck, const char *path) {
  static const char *const known[] = {"model.safetensors.index.json", "manifest.json",
                                      TSR_RANKS_PLAN};
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(name, known[i]) != 0) continue;
    const size_t length = slash ? (size_t)(slash - path) : 1;
    fsck->path = tsr_arena_copy(&fsck->arena, slash ? path : ".", length ? length : 1);
    return fsck->path ? NULL : tsr_fail(NO_MEMORY, "the path of a folder");
  }
  return tsr_fail(BAD_ARGUMENT,
                  "%s: of files that end with .json, %s, %s and %s tell of a checkpoint", path,
                  known[0], known[1], known[2]);
}

static tsr_status check(tsr_fsck *fsck, bool is_folder) {
  TSR_TRY(is_folder ? check_folder(fsck) : check_single(fsck));
  if (!fsck->options.deep || fsck->totals[TSR_SEVERITY_ERROR]) return NULL;
  // What was read of the headers makes room.
  for (int64_t i = 0; i < fsck->file_count; i++) {
    tsr_model_destroy(fsck->files[i].model);
    fsck->files[i].model = NULL;
  }
  return tsr_fsck_deep(fsck);
}

tsr_status tsr_fsck_run(const char *path, const tsr_fsck_options *options, tsr_fsck **out_fsck) {
  struct stat info;
  tsr_fsck_options read;
  TSR_TRY(tsr_sized_read(tsr_fsck_options, options, &read));
  if (read.jobs < 0 || read.max_memory < 0)
    return tsr_fail(BAD_ARGUMENT, "%d jobs and %lld bytes of memory, wanted 0 or more", read.jobs,
                    (long long)read.max_memory);
  if (stat(path, &info))
    return errno == ENOENT ? tsr_fail(NOT_FOUND, "%s: there is no such file or folder", path)
                           : tsr_fail(IO, "%s: %s", path, strerror(errno));
  tsr_fsck *fsck = calloc(1, sizeof *fsck);
  if (!fsck) return tsr_fail(NO_MEMORY, "a list of faults");
  fsck->path = path;
  fsck->options = read;
  const bool described = !S_ISDIR(info.st_mode) && tsr_ends_with(path, ".json");
  tsr_status status = described ? find_folder(fsck, path) : NULL;
  if (!status) status = check(fsck, described || S_ISDIR(info.st_mode));
  if (status)
    tsr_fsck_destroy(fsck);
  else
    *out_fsck = fsck;
  return status;
}

void tsr_fsck_destroy(tsr_fsck *fsck) {
  if (!fsck) return;
  for (int64_t i = 0; i < fsck->file_count; i++) tsr_model_destroy(fsck->files[i].model);
  tsr_name_index_deinit(&fsck->told);
  tsr_arena_deinit(&fsck->arena);
  free(fsck->files);
  free(fsck->faults);
  free(fsck);
}

int64_t tsr_fsck_count(const tsr_fsck *fsck) { return fsck->count; }

const tsr_fault *tsr_fsck_at(const tsr_fsck *fsck, int64_t index) {
  return index >= 0 && index < tsr_fsck_count(fsck) ? &fsck->faults[index] : NULL;
}

int64_t tsr_fsck_total(const tsr_fsck *fsck, tsr_severity severity) {
  return (unsigned)severity < TSR_SEVERITY_COUNT ? fsck->totals[severity] : 0;
}

int64_t tsr_fsck_tensors(const tsr_fsck *fsck) { return fsck->tensors; }
int64_t tsr_fsck_files(const tsr_fsck *fsck) {
  return fsck->single ? 1 : fsck->file_count + fsck->stage_files;
}
bool tsr_fsck_repaired(const tsr_fsck *fsck) { return fsck->repaired; }
