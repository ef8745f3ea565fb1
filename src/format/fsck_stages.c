// Pipeline stages are checkpoints by themselves: what is wrong with each is told as if it were
// asked for alone, under the name of its folder.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "format/format.h"
#include "format/fsck.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/fsck.h"

// A fault of a stage, whose files are named from the folder of all stages.
static tsr_status take_fault(tsr_fsck *fsck, const char *stage, const tsr_fault *fault) {
  char file[PATH_MAX];
  const char *slash = fault->file[0] ? "/" : "";
  if (snprintf(file, sizeof file, "%s%s%s", stage, slash, fault->file) >= PATH_MAX)
    return tsr_fail(TOO_LARGE, "%s: the path is longer than %d bytes", fault->file, PATH_MAX);
  const tsr_fault_place place = {.kind = fault->kind,
                                 .severity = fault->severity,
                                 .repairable = fault->repairable,
                                 .file = file,
                                 .tensor = fault->tensor};
  return tsr_fsck_add(fsck, &place, "%s", fault->message);
}

static tsr_status check_stage(void *context, const char *path) {
  tsr_fsck *fsck = context, *stage = NULL;
  const tsr_fsck_options options = {.size = sizeof options, .repair = fsck->options.repair};
  tsr_status status = fsck->check_nested(path, &options, &stage);
  if (status) return status;
  for (int64_t i = 0; i < stage->count && !status; i++)
    status = take_fault(fsck, strrchr(path, '/') + 1, &stage->faults[i]);
  fsck->stage_files += tsr_fsck_files(stage);
  fsck->tensors += stage->tensors;
  if (stage->repaired) fsck->repaired = true;
  tsr_fsck_destroy(stage);
  return status;
}

tsr_status tsr_fsck_stages(tsr_fsck *fsck) {
  const tsr_fault_place place = {.kind = TSR_FAULT_DISAGREES};
  const int64_t errors = fsck->totals[TSR_SEVERITY_ERROR];
  tsr_status status = tsr_checkpoint_each_stage(fsck->path, check_stage, fsck);
  if (status) return tsr_fsck_add_failure(fsck, &place, status);
  if (fsck->totals[TSR_SEVERITY_ERROR] > errors) return NULL;
  return tsr_fsck_open_whole(fsck, TSR_FAULT_DISAGREES);
}
