// The work folder: a result is written beside its destination and replaces it in one step at the
// end.
#ifndef TESSERA_JOB_WORK_H
#define TESSERA_JOB_WORK_H

#include "base/arena.h"
#include "job/extras.h"
#include "job/journal.h"
#include "tessera/api.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/status.h"

typedef struct tsr_work {
  tsr_arena arena;           // the paths
  const char *path;          // the destination
  const char *partial;       // path + ".partial", a folder
  const char *journal;       // path + ".journal"
  const char *result;        // what replaces the destination: the folder, or its one file
  const char *parent;        // the folder of the destination
  bool single;               // the destination is one file
  const tsr_extras *extras;  // borrowed: files that are copied too; NULL = none
} tsr_work;

// `single` is the name of the one file of the result; NULL = the result is a folder. `extras` must
// outlive the work.
TSR_MUST_USE tsr_status tsr_work_init(tsr_work *work, const char *path, const char *single,
                                      const tsr_extras *extras);
// Whether the result may replace what exists. Changes nothing.
TSR_MUST_USE tsr_status tsr_work_check_before(const tsr_work *work, tsr_existing existing);
// Fails if source and destination are the same, one is inside the other, or a file of the source is
// in a folder that will be removed.
TSR_MUST_USE tsr_status tsr_work_check_apart(const tsr_work *work, const tsr_checkpoint *source);
void tsr_work_deinit(tsr_work *work);
// Free bytes on the disk of the destination; -1 = unknown.
int64_t tsr_work_bytes_free(const tsr_work *work);
int64_t tsr_work_bytes_there(const tsr_work *work);  // of an unfinished job

// Fails with already_there if the destination exists.
TSR_MUST_USE tsr_status tsr_work_check_free(const tsr_work *work);
// The failure for a file or folder of an unfinished job.
TSR_MUST_USE tsr_status tsr_work_refuse_left(const char *path);
// Makes the folder, after removing that of an unfinished job.
TSR_MUST_USE tsr_status tsr_work_begin(const tsr_work *work, bool sync);
// The mark of a file or folder.
TSR_MUST_USE tsr_status tsr_work_mark(const char *path, tsr_mark *out_mark);
// Whether the destination is the result with this mark.
TSR_MUST_USE tsr_status tsr_work_is_done(const tsr_work *work, const tsr_mark *mark,
                                         bool *out_done);
// Puts the result in place, in one step.
TSR_MUST_USE tsr_status tsr_work_commit(const tsr_work *work, bool replaces, bool sync);
// Removes the folder and what is in it, the replaced destination included.
TSR_MUST_USE tsr_status tsr_work_remove(const tsr_work *work);

#endif
