// Workers: a persistent pool of threads that runs numbered tasks. For engines (tsr_comm_pool gives
// a comm's workers) and for loops of other programs.
//
//   static tsr_status one(void *context, int64_t index, int worker) { ... }
//   TSR_TRY(tsr_pool_run(pool, count, one, &what));
#ifndef TESSERA_ENGINE_POOL_H
#define TESSERA_ENGINE_POOL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// One owner. Any threads may run tasks on it. Destroy it only when no run is active.
typedef struct tsr_pool tsr_pool;

// Makes a pool of `workers` threads, the caller being one of them; 0 = one for each processor
// that this process may use.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_pool_create(int workers, tsr_pool **out_pool);
TSR_API void tsr_pool_destroy(tsr_pool *pool);  // NULL is fine

// Task `index` of a run, done by `worker` (0 = the caller's thread).
typedef tsr_status tsr_task(void *context, int64_t index, int worker);

// Runs tasks 0 .. count-1 and returns when all are done. Tasks start in rising order.
// After a failure no further task starts; of several failures that of the lowest task is returned,
// which is the same on every run. A NULL pool, or a pool that is busy with another run, runs the
// tasks in order on the calling thread. So a task may run tasks on its own pool, and threads may
// share a pool without waiting for each other.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_pool_run(tsr_pool *pool, int64_t count, tsr_task *task, void *context);

TSR_END_DECLS

#endif
