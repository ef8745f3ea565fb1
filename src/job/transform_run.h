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

typedef struct tsr_transform_state {
  tsr_transform *t;
  tsr_journal *journal;        // owned; NULL where another rank has it
  tsr_progress *progress;      // owned
  tsr_pool *pool;              // owned
  tsr_window_worker *workers;  // owned
  pthread_mutex_t lock;
  int64_t unflushed;  // bytes written since files were brought to the disk
  bool sync;
  bool begun;        // the folder and the journal are this job's
  bool replaces;     // an existing destination
  bool finished;     // the result is at the destination
  bool resumable;    // some windows are written and in the journal
  bool resumed;      // some windows were written by an earlier job
  bool sync_failed;  // written data may not be on the disk
  bool useless;      // written data must not be resumed: the source changed, or data may be missing
} tsr_transform_state;

// After a failure there is nothing to end.
TSR_MUST_USE tsr_status tsr_transform_state_init(tsr_transform_state *run,
                                                 tsr_transform *transform);
// Afterwards `finished` tells whether a job that is resumed had its result there already.
TSR_MUST_USE tsr_status tsr_transform_state_begin(tsr_transform_state *run);
TSR_MUST_USE tsr_status tsr_transform_state_join(tsr_transform_state *run);
// Begins to tell of `bytes` to come.
TSR_MUST_USE tsr_status tsr_transform_state_expect(tsr_transform_state *run, int64_t bytes);
// Writes windows: these, or with NULL the first `count` of all.
TSR_MUST_USE tsr_status tsr_transform_state_write(tsr_transform_state *run, const int64_t *windows,
                                                  int64_t count);
// Brings what was written to the disk.
TSR_MUST_USE tsr_status tsr_transform_state_flush(tsr_transform_state *run);
// With all windows written: what tells what is in the files.
TSR_MUST_USE tsr_status tsr_transform_state_finish(tsr_transform_state *run);
TSR_MUST_USE tsr_status tsr_transform_state_close(tsr_transform_state *run);
// The result takes its place.
TSR_MUST_USE tsr_status tsr_transform_state_commit(tsr_transform_state *run);
// Removes what is of no use, and gives the first failure.
TSR_MUST_USE tsr_status tsr_transform_state_end(tsr_transform_state *run, tsr_status status);

#endif
