// A transform as it runs, in steps: all of them one after the other in tsr_transform_run, or those
// of several ranks woven together in save_run.c.
//
//   init, begin | join, write ..., flush, finish, close, commit, end
//
// One rank begins: it makes the folder, the journal and the files. Others join, and write into the
// same files. After a failure only `close` and `end` follow.
#ifndef TESSERA_JOB_TRANSFORM_RUN_H
#define TESSERA_JOB_TRANSFORM_RUN_H

#include <pthread.h>

#include "base/progress_internal.h"
#include "job/journal.h"
#include "job/transform.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/pool.h"

// What a worker has of its own.
typedef struct tsr_window_worker {
  void *buffer;          // owned: a window; NULL until needed
  int64_t tensor;        // of the index
  tsr_box_index *index;  // owned: of the tensor it wrote last; NULL = none yet
} tsr_window_worker;

typedef struct tsr_running {
  tsr_transform *t;
  tsr_journal *journal;        // owned; NULL where another rank has it
  tsr_progress *progress;      // owned
  tsr_pool *pool;              // owned
  tsr_window_worker *workers;  // owned
  pthread_mutex_t lock;
  int64_t unflushed;  // bytes written since files were brought to the disk
  bool sync;
  bool begun;      // the folder and the journal are this job's
  bool replaces;   // what is at the destination
  bool finished;   // the result is at the destination
  bool kept;       // some of what is written is worth resuming
  bool resumed;    // some of it was written by a job before
  bool lost;       // something that was written is not on the disk
  bool worthless;  // what is written is of a source that has changed
} tsr_running;

// After a failure there is nothing to end.
TSR_MUST_USE tsr_status tsr_running_init(tsr_running *run, tsr_transform *transform);
// Afterwards `finished` tells whether a job that is resumed had its result there already.
TSR_MUST_USE tsr_status tsr_running_begin(tsr_running *run);
TSR_MUST_USE tsr_status tsr_running_join(tsr_running *run);
// Begins to tell of `bytes` to come.
TSR_MUST_USE tsr_status tsr_running_expect(tsr_running *run, int64_t bytes);
// Writes windows: these, or with NULL the first `count` of all.
TSR_MUST_USE tsr_status tsr_running_write(tsr_running *run, const int64_t *windows, int64_t count);
// Brings what was written to the disk.
TSR_MUST_USE tsr_status tsr_running_flush(tsr_running *run);
// With all windows written: what tells what is in the files.
TSR_MUST_USE tsr_status tsr_running_finish(tsr_running *run);
TSR_MUST_USE tsr_status tsr_running_close(tsr_running *run);
// The result takes its place.
TSR_MUST_USE tsr_status tsr_running_commit(tsr_running *run);
// Removes what is of no use, and gives the first failure.
TSR_MUST_USE tsr_status tsr_running_end(tsr_running *run, tsr_status status);

#endif
