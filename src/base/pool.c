// One word, `state`, says whether a run is open, which one it is, and how many helpers are in it. A
// helper joins by adding one while the run is open; the caller closes the run when no task is left
// and then waits for those inside. So a run never waits for sleeping helpers, and a helper that
// wakes too late finds the run closed and goes back to sleep.
//
// Tasks are claimed one by one in rising order. Hence, when one fails, all lower ones were claimed
// before it and will be finished: the lowest failure is the same on every run.
//
// Waiting is a short spin, a few yields, then sleep: waking a sleeper takes some 30 microseconds,
// which short runs in quick succession should not pay.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool_internal.h"
#include "tessera/engine/pool.h"
#include "tessera/status.h"

static const uint64_t OPEN = UINT64_C(1) << 32;      // above the number of helpers inside
static const uint64_t NEXT_RUN = UINT64_C(1) << 33;  // above these, the number of the run
static const uint64_t INSIDE_MASK = (UINT64_C(1) << 32) - 1;

enum { SPINS = 200, YIELDS = 50, MOST_WORKERS = 1 << 16 };

typedef struct helper {
  tsr_pool *pool;
  int worker;
  pthread_t thread;
} helper;

struct tsr_pool {
  // The run; written only while no helper is inside.
  tsr_task *task;
  void *context;
  int64_t count;
  _Atomic int64_t next;  // the task to claim
  atomic_flag busy;      // a run is going on
  _Atomic uint64_t state;
  // Sleeping, and failures. Whoever goes to sleep says so before it looks at `state` a last time.
  pthread_mutex_t mutex;
  pthread_cond_t opened, emptied;
  atomic_int sleepers;
  atomic_bool caller_sleeps, stopping;
  tsr_status failure;
  int64_t failed_task;
  int workers, started;  // helpers that have a thread: workers - 1, or fewer while being made
  helper helpers[];
};

int tsr_cpu_count(void) {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC((size_t)cpus);
    if (!set) break;
    const size_t size = CPU_ALLOC_SIZE((size_t)cpus);
    const int error = sched_getaffinity(0, size, set) ? errno : 0;
    const int count = error ? 0 : CPU_COUNT_S(size, set);
    CPU_FREE(set);
    if (count > 0) return count;
    if (error != EINVAL) break;  // else the machine has more than the set can hold
  }
  return 1;
}

static void relax(int round) {
  if (round >= SPINS)
    sched_yield();
  else
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void keep_lowest(tsr_pool *pool, int64_t task, tsr_status status) {
  pthread_mutex_lock(&pool->mutex);
  if (!pool->failure || task < pool->failed_task) {
    const tsr_status old = pool->failure;
    pool->failure = status;
    pool->failed_task = task;
    status = old;
  }
  pthread_mutex_unlock(&pool->mutex);
  tsr_status_free(status);
}

static void do_tasks(tsr_pool *pool, int worker) {
  for (;;) {
    const int64_t task = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
    if (task >= pool->count) return;
    const tsr_status status = pool->task(pool->context, task, worker);
    if (!status) continue;
    keep_lowest(pool, task, status);
    atomic_store_explicit(&pool->next, pool->count, memory_order_relaxed);
  }
}

// Helpers.

// Joins the open run unless it is `*seen`, the one this helper was in last.
static bool try_join(tsr_pool *pool, uint64_t *seen) {
  uint64_t state = atomic_load(&pool->state);
  while (state & OPEN && state / NEXT_RUN != *seen)
    if (atomic_compare_exchange_weak(&pool->state, &state, state + 1)) {
      *seen = state / NEXT_RUN;
      return true;
    }
  return false;
}

static bool sleep_until_run(tsr_pool *pool, uint64_t *seen) {
  bool joined = false;
  pthread_mutex_lock(&pool->mutex);
  atomic_fetch_add(&pool->sleepers, 1);
  while (!atomic_load(&pool->stopping) && !(joined = try_join(pool, seen)))
    pthread_cond_wait(&pool->opened, &pool->mutex);
  atomic_fetch_sub(&pool->sleepers, 1);
  pthread_mutex_unlock(&pool->mutex);
  return joined;
}

// False when the pool is being destroyed.
static bool await_run(tsr_pool *pool, uint64_t *seen) {
  for (int round = 0; round < SPINS + YIELDS; round++) {
    if (atomic_load(&pool->stopping)) return false;
    if (try_join(pool, seen)) return true;
    relax(round);
  }
  return sleep_until_run(pool, seen);
}

static void leave_run(tsr_pool *pool) {
  const uint64_t state = atomic_fetch_sub(&pool->state, 1) - 1;
  if (state & (OPEN | INSIDE_MASK) || !atomic_load(&pool->caller_sleeps)) return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_signal(&pool->emptied);
  pthread_mutex_unlock(&pool->mutex);
}

static void *help(void *context) {
  const helper *self = context;
  uint64_t seen = 0;
  while (await_run(self->pool, &seen)) {
    do_tasks(self->pool, self->worker);
    leave_run(self->pool);
  }
  return NULL;
}

// The caller.

static void open_run(tsr_pool *pool) {
  atomic_store(&pool->state, (atomic_load(&pool->state) & ~OPEN) + NEXT_RUN + OPEN);
  if (!atomic_load(&pool->sleepers)) return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_broadcast(&pool->opened);
  pthread_mutex_unlock(&pool->mutex);
}

static bool is_empty(tsr_pool *pool) { return !(atomic_load(&pool->state) & INSIDE_MASK); }

static void close_run(tsr_pool *pool) {
  atomic_fetch_and(&pool->state, ~OPEN);
  for (int round = 0; round < SPINS + YIELDS; round++) {
    if (is_empty(pool)) return;
    relax(round);
  }
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->caller_sleeps, true);
  while (!is_empty(pool)) pthread_cond_wait(&pool->emptied, &pool->mutex);
  atomic_store(&pool->caller_sleeps, false);
  pthread_mutex_unlock(&pool->mutex);
}

// The worker number of this thread: a helper's own, else 0.
static int worker_here(const tsr_pool *pool) {
  if (!pool) return 0;
  const pthread_t self = pthread_self();
  for (int i = 0; i < pool->workers - 1; i++)
    if (pthread_equal(pool->helpers[i].thread, self)) return pool->helpers[i].worker;
  return 0;
}

static tsr_status run_here(int64_t count, tsr_task *task, void *context, int worker) {
  for (int64_t i = 0; i < count; i++) TSR_TRY(task(context, i, worker));
  return NULL;
}

tsr_status tsr_pool_run(tsr_pool *pool, int64_t count, tsr_task *task, void *context) {
  if (count < 0) return tsr_fail(BAD_ARGUMENT, "%lld tasks, wanted 0 or more", (long long)count);
  // A pool that is busy, perhaps with the very task that calls, is not waited for.
  if (!pool || pool->workers == 1 || count < 2 || atomic_flag_test_and_set(&pool->busy))
    return run_here(count, task, context, worker_here(pool));
  pool->task = task;
  pool->context = context;
  pool->count = count;
  atomic_store(&pool->next, 0);
  open_run(pool);
  do_tasks(pool, 0);
  close_run(pool);
  const tsr_status failure = pool->failure;
  pool->failure = NULL;
  atomic_flag_clear(&pool->busy);
  return failure;
}

// Making and ending.

static tsr_status start_helpers(tsr_pool *pool) {
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  for (; pool->started < pool->workers - 1; pool->started++) {
    helper *h = &pool->helpers[pool->started];
    *h = (helper){.pool = pool, .worker = pool->started + 1};
    error = pthread_create(&h->thread, NULL, help, h);
    if (error) break;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!error) return NULL;
  return tsr_fail(TOO_LARGE, "cannot start thread %d of %d: %s", pool->started + 2, pool->workers,
                  strerror(error));
}

tsr_status tsr_pool_create(int workers, tsr_pool **out_pool) {
  if (workers < 0 || workers > MOST_WORKERS)
    return tsr_fail(BAD_ARGUMENT, "pool of %d workers, wanted 0 to %d", workers, MOST_WORKERS);
  if (!workers) workers = tsr_cpu_count();
  tsr_pool *pool = calloc(1, sizeof *pool + sizeof *pool->helpers * (size_t)(workers - 1));
  if (!pool) return tsr_fail(NO_MEMORY, "pool of %d workers", workers);
  pool->workers = workers;
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->opened, NULL);
  pthread_cond_init(&pool->emptied, NULL);
  atomic_flag_clear(&pool->busy);
  tsr_status status = start_helpers(pool);
  if (status) {
    tsr_pool_destroy(pool);
    return status;
  }
  *out_pool = pool;
  return NULL;
}

void tsr_pool_destroy(tsr_pool *pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->stopping, true);
  pthread_cond_broadcast(&pool->opened);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 0; i < pool->started; i++) pthread_join(pool->helpers[i].thread, NULL);
  pthread_cond_destroy(&pool->opened);
  pthread_cond_destroy(&pool->emptied);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}

int tsr_pool_workers(const tsr_pool *pool) { return pool ? pool->workers : 1; }
