// Faults of a checkpoint, collected by the check of its format; and the checks that formats share:
// of a safetensors header, which distinguishes a truncated file from a broken one, and by opening.
#include "format/fsck_report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/status_internal.h"
#include "file/safetensors.h"
#include "format/format.h"
#include "json/json.h"
#include "store/checkpoint.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/tree.h"

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

// What later checks ask about the faults so far.
static tsr_status remember(tsr_fsck *fsck, const tsr_fault *fault) {
  int64_t existing = -1;
  if (fault->kind == TSR_FAULT_FILE_MISSING || fault->kind == TSR_FAULT_HEADER ||
      fault->kind == TSR_FAULT_TRUNCATED || fault->kind == TSR_FAULT_UNREADABLE)
    fsck->files_missing = true;
  if (fault->severity != TSR_SEVERITY_ERROR) return NULL;
  return tsr_name_index_add(&fsck->reported, fault->file, 0, &existing);
}

bool tsr_fsck_is_reported(const tsr_fsck *fsck, const char *file) {
  return tsr_name_index_find(&fsck->reported, file) >= 0;
}

tsr_status tsr_fsck_add(tsr_fsck *fsck, const tsr_fault *place, const char *format, ...) {
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
  tsr_fault fault = *place;
  fault.file = tsr_arena_copy(&fsck->arena, file, strlen(file));
  fault.message = message;
  if (place->tensor)
    fault.tensor = tsr_arena_copy(&fsck->arena, place->tensor, strlen(place->tensor));
  if (!fault.file || !fault.message || (place->tensor && !fault.tensor))
    return tsr_fail(NO_MEMORY, "a fault");
  fsck->faults[fsck->count++] = fault;
  fsck->totals[place->severity]++;
  return remember(fsck, &fault);
}

tsr_status tsr_fsck_add_failure(tsr_fsck *fsck, const tsr_fault *place, tsr_status failure) {
  if (!failure) return NULL;
  const tsr_cause cause = tsr_status_cause(failure);
  if (cause == TSR_CAUSE_NO_MEMORY || cause == TSR_CAUSE_CANCELLED) return failure;
  tsr_status status = tsr_fsck_add(fsck, place, "%.*s", TSR_STATUS_LINE(failure));
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

// The end of the tensors of a header, from the start of the file; -1 = unknown.
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

// A refused file that would be legal if it were longer is truncated. Gives the expected size and
// the tensors.
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
  tsr_fault place = {.kind = TSR_FAULT_UNREADABLE, .file = name};
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

// ---- opening ----

// Every fault that the reader of the format reports is a fault of the checkpoint. Faults that
// follow from an earlier one are left out.
typedef struct fault_collector {
  tsr_fsck *fsck;
  int64_t lost;       // tensors without some shard, because of a file that was reported
  const char *first;  // the first of them, in the arena
} fault_collector;

// A path relative to the folder.
static const char *relative(const tsr_fsck *fsck, const char *path) {
  const size_t length = strlen(fsck->path);
  if (!path || strncmp(path, fsck->path, length) != 0) return path;
  path += length;
  return path + strspn(path, "/");
}

// Whether a fault follows from an earlier one. Lost tensors are counted for one summary.
static bool follows(fault_collector *h, tsr_fault_kind kind, const char *file, const char *tensor) {
  if (kind == TSR_FAULT_LOST && h->fsck->files_missing) {
    if (!h->lost++) h->first = tsr_arena_copy(&h->fsck->arena, tensor, strlen(tensor));
    return true;
  }
  return (kind == TSR_FAULT_HEADER || kind == TSR_FAULT_SIZE) &&
         tsr_fsck_is_reported(h->fsck, file);
}

static tsr_status collect(void *context, tsr_fault_kind kind, const char *path, const char *tensor,
                          tsr_status failure) {
  fault_collector *h = context;
  const char *file = relative(h->fsck, path);
  if (tsr_status_cause(failure) == TSR_CAUSE_NO_MEMORY) return failure;
  if (follows(h, kind, file, tensor)) {
    tsr_status_free(failure);
    return NULL;
  }
  if (kind == TSR_FAULT_BAD_MANIFEST) failure = tsr_note(failure, "%s/%s", h->fsck->path, file);
  if (kind == TSR_FAULT_HEADER && tsr_status_cause(failure) == TSR_CAUSE_IO)
    kind = TSR_FAULT_UNREADABLE;
  const tsr_fault place = {.kind = kind, .file = file, .tensor = tensor};
  return tsr_fsck_add_failure(h->fsck, &place, failure);
}

static tsr_status report_lost(const fault_collector *h) {
  if (!h->lost) return NULL;
  if (!h->first) return tsr_fail(NO_MEMORY, "the name of a tensor");
  return tsr_fsck_add(h->fsck, &(tsr_fault){.kind = TSR_FAULT_LOST, .tensor = h->first},
                      "%s: %lld tensors are incomplete because files are missing or broken; the "
                      "first is \"%s\"",
                      h->fsck->path, (long long)h->lost, h->first);
}

static tsr_status index_files(const tsr_fsck *fsck, const tsr_checkpoint *model,
                              tsr_name_index *index) {
  for (int64_t f = 0; f < tsr_checkpoint_file_count(model); f++) {
    int64_t existing = -1;
    TSR_TRY(
        tsr_name_index_add(index, relative(fsck, tsr_checkpoint_file_at(model, f)), f, &existing));
  }
  return NULL;
}

static tsr_status report_surplus(tsr_fsck *fsck, const tsr_checkpoint *model) {
  const tsr_fault place = {.kind = TSR_FAULT_FILE_SURPLUS, .severity = TSR_SEVERITY_WARNING};
  tsr_name_index index = TSR_NAME_INDEX_EMPTY;
  tsr_status status = index_files(fsck, model, &index);
  for (int64_t i = 0; i < fsck->file_count && !status; i++) {
    tsr_fault here = place;
    here.file = fsck->files[i].name;
    if (tsr_name_index_find(&index, here.file) < 0 && !tsr_fsck_is_reported(fsck, here.file))
      status =
          tsr_fsck_add(fsck, &here, "%s/%s: not a file of the checkpoint", fsck->path, here.file);
  }
  tsr_name_index_deinit(&index);
  return status;
}

tsr_status tsr_fsck_open_whole(tsr_fsck *fsck, tsr_fault_kind kind) {
  // An unknown dtype is no fault: any type will do.
  const tsr_checkpoint_options options = {
      .size = sizeof options, .plan = fsck->options.plan, .fallback_dtype = TSR_U8};
  tsr_checkpoint *model = NULL;
  fault_collector h = {.fsck = fsck};
  tsr_fault place = {.kind = kind};
  tsr_status status = tsr_checkpoint_open_reporting(fsck->path, &options, collect, &h, &model);
  if (tsr_status_cause(status) == TSR_CAUSE_PLAN_REQUIRED)
    place = (tsr_fault){.kind = TSR_FAULT_NO_PLAN, .severity = TSR_SEVERITY_NOTE};
  if (status) return tsr_fsck_add_failure(fsck, &place, status);
  fsck->tensors = tsr_tree_count(tsr_checkpoint_tree(model));
  status = report_lost(&h);
  if (!status) status = report_surplus(fsck, model);
  tsr_checkpoint_release(model);
  return status;
}

tsr_status tsr_fsck_slices(tsr_fsck *fsck) {
  for (int64_t i = 0; i < fsck->file_count; i++)
    TSR_TRY(tsr_fsck_read_header(fsck, fsck->files[i].name, &fsck->files[i].model));
  return tsr_fsck_open_whole(fsck, TSR_FAULT_BAD_MANIFEST);
}

// ---- results ----

void tsr_fsck_destroy(tsr_fsck *fsck) {
  if (!fsck) return;
  for (int64_t i = 0; i < fsck->file_count; i++) tsr_model_destroy(fsck->files[i].model);
  tsr_name_index_deinit(&fsck->reported);
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
