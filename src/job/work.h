// Where a result grows until it is finished: a folder beside the destination, which takes its place
// in one step at the end.
#ifndef TESSERA_JOB_WORK_H
#define TESSERA_JOB_WORK_H

#include "job/extras.h"
#include "job/journal.h"
#include "tessera/api.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/status.h"

typedef struct tsr_work {
  char *path;     // owned: the destination
  char *partial;  // owned: path + ".partial", a folder
  char *journal;  // owned: path + ".journal"
  char *result;   // owned: what takes the destination's place: the folder, or its one file
  char *parent;   // owned: the folder that the destination lies in
  bool single;    // the destination is one file: that one of the folder
  const tsr_extras *extras;  // borrowed: files that go along; NULL = none
} tsr_work;

// `single` is the name of the one file that the destination will be; NULL = it will be a folder.
// `extras` live as long as the work.
TSR_MUST_USE tsr_status tsr_work_init(tsr_work *work, const char *path, const char *single,
                                      const tsr_extras *extras);
// Looks at what is there, and whether the result may take its place. Nothing is changed.
TSR_MUST_USE tsr_status tsr_work_check_before(const tsr_work *work, tsr_existing existing);
// The destination is neither the source, nor in its folder, nor the other way round, and no file of
// the source is in what will be removed: one would destroy the other.
TSR_MUST_USE tsr_status tsr_work_check_apart(const tsr_work *work, const tsr_checkpoint *source);
void tsr_work_deinit(tsr_work *work);
// Bytes that may be written on the disk of the destination; -1 = not known.
int64_t tsr_work_bytes_free(const tsr_work *work);
int64_t tsr_work_bytes_there(const tsr_work *work);  // of an unfinished job

// Fails with already_there if something is at the destination.
TSR_MUST_USE tsr_status tsr_work_check_free(const tsr_work *work);
// Makes the folder; what an unfinished job left is removed before.
TSR_MUST_USE tsr_status tsr_work_begin(const tsr_work *work, bool sync);
// What will take the destination's place, as it is known again.
TSR_MUST_USE tsr_status tsr_work_mark(const tsr_work *work, tsr_mark *out_mark);
// Whether it has.
TSR_MUST_USE tsr_status tsr_work_is_done(const tsr_work *work, const tsr_mark *mark,
                                         bool *out_done);
// Everything is written: the result takes the place of the destination, in one step.
TSR_MUST_USE tsr_status tsr_work_commit(const tsr_work *work, bool replaces, bool sync);
// Removes the folder, with what is left in it or was replaced.
TSR_MUST_USE tsr_status tsr_work_remove(const tsr_work *work);

#endif
