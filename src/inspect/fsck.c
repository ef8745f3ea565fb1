// The driver of fsck. Faults are collected: a check that fails adds a row, and the next check runs.
// Only what prevents any result (memory, a missing path) is a failure.
#include "format/fsck_report.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/hash_internal.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "file/safetensors.h"
#include "format/format.h"
#include "job/job_limits.h"
#include "job/journal.h"
#include "store/checkpoint.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "view/tensor_hash.h"

// ---- the folder ----

// Links out of the folder are normal in the Hugging Face cache, but a copy of the folder loses
// their targets.
static tsr_status check_link(tsr_fsck *fsck, const char *name, const char *path) {
  struct stat info;
  char folder[PATH_MAX], target[PATH_MAX];
  assert(path);
  if (lstat(path, &info) || !S_ISLNK(info.st_mode)) return NULL;
  if (!realpath(path, target))
    return tsr_fsck_add(fsck, &(tsr_fault){.kind = TSR_FAULT_FILE_MISSING, .file = name},
                        "%s: the link points to nothing", path);
  if (!realpath(fsck->path, folder)) return NULL;
  const size_t length = strlen(folder);
  if (!strncmp(target, folder, length) && target[length] == '/') return NULL;
  return tsr_fsck_add(
      fsck, &(tsr_fault){.kind = TSR_FAULT_OUTSIDE, .severity = TSR_SEVERITY_WARNING, .file = name},
      "%s: the link leads out of the folder, to %s", path, target);
}

static tsr_status add_left_over(tsr_fsck *fsck, const char *name, const char *path) {
  return tsr_fsck_add(
      fsck,
      &(tsr_fault){.kind = TSR_FAULT_LEFT_OVER, .severity = TSR_SEVERITY_WARNING, .file = name},
      "%s: left over from an unfinished job", path);
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

// Sorted by name, so that two runs give the same rows.
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

// Files of an unfinished job that was writing to this path.
static tsr_status look_beside(tsr_fsck *fsck) {
  const tsr_fault place = {.kind = TSR_FAULT_LEFT_OVER, .severity = TSR_SEVERITY_WARNING};
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
  if (begun) return tsr_fsck_add(fsck, &place, "%s: a job that writes here is unfinished", journal);
  if (!access(journal, F_OK)) TSR_TRY(add_left_over(fsck, "", journal));
  return access(partial, F_OK) ? NULL : add_left_over(fsck, "", partial);
}

static tsr_status check_format(tsr_fsck *fsck) {
  const tsr_fault unreadable = {.kind = TSR_FAULT_UNREADABLE};
  tsr_checkpoint_format format = TSR_FORMAT_ANY;
  TSR_TRY(look_beside(fsck));
  tsr_status status = tsr_format_detect(fsck->path, &format);
  if (status && fsck->single) return tsr_fsck_add_failure(fsck, &unreadable, status);
  TSR_TRY(status);
  fsck->ending = tsr_format_row(format)->ending;
  if (!fsck->single) TSR_TRY(list_folder(fsck));
  return tsr_format_row(format)->check(fsck);
}

// ---- elements ----

// Reads all elements, tensor by tensor: whether they can be read, whether replicas are equal, and
// whether hashes are those of the manifest.
typedef struct deep_check {
  tsr_fsck *fsck;
  const tsr_checkpoint *model;
  tsr_job_workers workers;
} deep_check;

static tsr_status check_tensor(deep_check *w, int64_t tensor, const tsr_view *view) {
  tsr_hash128 known, found;
  tsr_fault place = {.kind = TSR_FAULT_UNREADABLE, .tensor = view->name};
  tsr_status status = tsr_view_hash(view, w->workers.pool, w->workers.progress, &found);
  if (tsr_status_cause(status) == TSR_CAUSE_COPIES_DIFFER) place.kind = TSR_FAULT_COPIES;
  if (status) return tsr_fsck_add_failure(w->fsck, &place, status);
  if (!tsr_checkpoint_known_hash(w->model, tensor, &known) || tsr_hash128_equal(known, found))
    return NULL;
  place.kind = TSR_FAULT_HASH;
  return tsr_fsck_add(
      w->fsck, &place,
      "%s: tensor \"%s\" has changed since it was written: its hash differs from the "
      "manifest",
      w->fsck->path, view->name);
}

static tsr_status start(deep_check *w, const tsr_views *views) {
  const tsr_fsck_options *options = &w->fsck->options;
  const tsr_job_limits limits = {.max_memory = options->max_memory,
                                 .jobs = tsr_budget_jobs(w->model, options->jobs),
                                 .progress = options->progress,
                                 .progress_context = options->progress_context};
  const int64_t tables = tsr_budget_checkpoint(w->model) + tsr_budget_views(views, NULL);
  return tsr_job_workers_start(&w->workers, &limits, tables,
                               2 * TSR_BLOCK_BYTES + tsr_block_memory(views), "fsck",
                               tsr_views_bytes(views));
}

static tsr_status read_all(tsr_fsck *fsck, const tsr_checkpoint *model) {
  deep_check w = {.fsck = fsck, .model = model};
  tsr_views views = {0};
  TSR_TRY(tsr_views_of(model, TSR_REPLICAS_COMPARE, &views));
  tsr_status status = start(&w, &views);
  for (int64_t i = 0; i < views.count && !status; i++) status = check_tensor(&w, i, views.items[i]);
  tsr_job_workers_stop(&w.workers);
  tsr_views_deinit(&views);
  return status;
}

static tsr_status check_deep(tsr_fsck *fsck) {
  const tsr_checkpoint_options options = {
      .size = sizeof options, .plan = fsck->options.plan, .fallback_dtype = TSR_U8};
  tsr_checkpoint *model = NULL;
  tsr_status status = tsr_checkpoint_open(fsck->path, &options, &model);
  if (tsr_status_cause(status) == TSR_CAUSE_PLAN_REQUIRED) {
    tsr_status_free(status);  // already reported
    return NULL;
  }
  if (status) return tsr_fsck_add_failure(fsck, &(tsr_fault){.kind = TSR_FAULT_DISAGREES}, status);
  const tsr_format_ops *format = tsr_format_row(model->format);
  status = format->check_elements ? format->check_elements(fsck) : read_all(fsck, model);
  tsr_checkpoint_release(model);
  return status;
}

// ---- the whole ----

// An index stands for its folder.
static tsr_status find_folder(tsr_fsck *fsck, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  tsr_text known = TSR_TEXT_EMPTY;
  for (int i = TSR_FORMAT_ANY + 1; tsr_format_row((tsr_checkpoint_format)i); i++) {
    const char *index = tsr_format_row((tsr_checkpoint_format)i)->index_name;
    if (!index) continue;
    tsr_text_addf(&known, "%s%s", known.length ? ", " : "", index);
    if (strcmp(name, index) != 0) continue;
    tsr_text_deinit(&known);
    const size_t length = slash ? (size_t)(slash - path) : 1;
    fsck->path = tsr_arena_copy(&fsck->arena, slash ? path : ".", length ? length : 1);
    return fsck->path ? NULL : tsr_fail(NO_MEMORY, "the path of a folder");
  }
  tsr_status status = tsr_fail(BAD_ARGUMENT, "%s: not a checkpoint index; expected one of %s", path,
                               tsr_text_string(&known));
  tsr_text_deinit(&known);
  return status;
}

static tsr_status check(tsr_fsck *fsck, bool is_folder) {
  fsck->single = !is_folder;
  TSR_TRY(check_format(fsck));
  if (!fsck->options.deep || fsck->totals[TSR_SEVERITY_ERROR]) return NULL;
  // Headers are no longer needed.
  for (int64_t i = 0; i < fsck->file_count; i++) {
    tsr_model_destroy(fsck->files[i].model);
    fsck->files[i].model = NULL;
  }
  return check_deep(fsck);
}

tsr_status tsr_fsck_run(const char *path, const tsr_fsck_options *options, tsr_fsck **out_fsck) {
  struct stat info;
  tsr_fsck_options read;
  TSR_TRY(tsr_sized_read(tsr_fsck_options, options, &read));
  TSR_TRY(
      tsr_job_limits_check(&(tsr_job_limits){.jobs = read.jobs, .max_memory = read.max_memory}));
  if (stat(path, &info))
    return errno == ENOENT ? tsr_fail(NOT_FOUND, "%s: there is no such file or folder", path)
                           : tsr_fail(IO, "%s: %s", path, strerror(errno));
  tsr_fsck *fsck = calloc(1, sizeof *fsck);
  if (!fsck) return tsr_fail(NO_MEMORY, "a list of faults");
  fsck->path = path;
  fsck->options = read;
  fsck->check_nested = tsr_fsck_run;
  const bool described = !S_ISDIR(info.st_mode) && tsr_ends_with(path, ".json");
  tsr_status status = described ? find_folder(fsck, path) : NULL;
  if (!status) status = check(fsck, described || S_ISDIR(info.st_mode));
  if (status)
    tsr_fsck_destroy(fsck);
  else
    *out_fsck = fsck;
  return status;
}
