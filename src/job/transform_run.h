// The state of a running transform, and its steps. tsr_transform_run takes them one after another;
// load/save_run.c interleaves those of several ranks.
//
//   init, begin | join, write ..., flush, finish, close, commit, end
//
// One rank begins: it makes the folder, the journal and the files. Others join and write to the
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
  tsr_journal *journal;        // owned; NULL on ranks that joined
  tsr_progress *progress;      // owned
  tsr_pool *pool;              // owned
  tsr_window_worker *workers;  // owned
  pthread_mutex_t lock;
  int64_t unflushed;  // bytes written since the last flush
  bool sync;
  bool begun;        // the folder and the journal are this job's
  bool replaces;     // an existing destination
  bool finished;     // the result is at the destination
  bool resumable;    // some windows are written and in the journal
  bool resumed;      // some windows were written by an earlier job
  bool sync_failed;  // written data may not be on the disk
  bool useless;      // written data must not be resumed: the source changed, or data may be missing
} tsr_transform_state;

// No `end` after a failure.
TSR_MUST_USE tsr_status tsr_transform_state_init(tsr_transform_state *run,
                                                 tsr_transform *transform);
// Sets `finished` if the resumed job had already put its result in place.
TSR_MUST_USE tsr_status tsr_transform_state_begin(tsr_transform_state *run);
// Opens the files that another rank makes.
TSR_MUST_USE tsr_status tsr_transform_state_join(tsr_transform_state *run);
// Starts to report progress towards `bytes`.
TSR_MUST_USE tsr_status tsr_transform_state_expect(tsr_transform_state *run, int64_t bytes);
// Writes `count` windows: these, or with NULL the first of all.
TSR_MUST_USE tsr_status tsr_transform_state_write(tsr_transform_state *run, const int64_t *windows,
                                                  int64_t count);
// Syncs the files, then the journal.
TSR_MUST_USE tsr_status tsr_transform_state_flush(tsr_transform_state *run);
// With all windows written: extras, digests and the index.
TSR_MUST_USE tsr_status tsr_transform_state_finish(tsr_transform_state *run);
TSR_MUST_USE tsr_status tsr_transform_state_close(tsr_transform_state *run);
// Puts the result in place.
TSR_MUST_USE tsr_status tsr_transform_state_commit(tsr_transform_state *run);
// Removes files that are of no use, and returns the first failure.
TSR_MUST_USE tsr_status tsr_transform_state_end(tsr_transform_state *run, tsr_status status);

#endif
