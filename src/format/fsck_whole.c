// Checking by opening: every fault that the reader of the format reports is a fault of the
// checkpoint. Faults that follow from an earlier one are left out.
#include <string.h>

#include "format/format.h"
#include "format/fsck_report.h"
#include "store/checkpoint.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/tree.h"

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
