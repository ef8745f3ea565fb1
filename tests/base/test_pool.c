
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/pool_internal.h"
#include "support/test.h"
#include "tessera/engine/pool.h"

enum { TASKS = 1000 };

typedef struct tally {
  int64_t results[TASKS];
  atomic_int runs[TASKS];
  int workers;
  atomic_bool worker_out_of_range;
} tally;

static tsr_status square(void *context, int64_t index, int worker) {
  tally *t = context;
  if (worker < 0 || worker >= t->workers) t->worker_out_of_range = true;
  t->results[index] = index * index;  // plain: the pool must order it before the caller's read
  t->runs[index]++;
  return NULL;
}

static void every_task_runs_once_whatever_the_pool(void **state) {
  (void)state;
  for (int workers = 0; workers <= 5; workers++) {
    tsr_pool *pool = NULL;
    if (workers) assert_ok(tsr_pool_create(workers, &pool));
    assert_int_equal(tsr_pool_workers(pool), workers ? workers : 1);
    for (int64_t count = 0; count <= TASKS; count = count * 3 + 1) {
      tally *t = calloc(1, sizeof *t);
      assert_non_null(t);
      t->workers = workers ? workers : 1;
      assert_ok(tsr_pool_run(pool, count, square, t));
      for (int i = 0; i < TASKS; i++) {
        assert_int_equal(t->runs[i], i < count);
        assert_int_equal(t->results[i], i < count ? i * i : 0);
      }
      assert_false(t->worker_out_of_range);
      free(t);
    }
    tsr_pool_destroy(pool);
  }
}

static tsr_status count_task(void *context, int64_t index, int worker) {
  (void)index;
  (void)worker;
  atomic_fetch_add((atomic_int *)context, 1);
  return NULL;
}

static void runs_follow_each_other_quickly_or_slowly(void **state) {
  (void)state;
  tsr_pool *pool;
  atomic_int total = 0;
  assert_ok(tsr_pool_create(3, &pool));
  for (int i = 0; i < 2000; i++) assert_ok(tsr_pool_run(pool, 3, count_task, &total));
  for (int i = 0; i < 5; i++) {
    // Long enough for the helpers to fall asleep.
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    assert_ok(tsr_pool_run(pool, 100, count_task, &total));
  }
  assert_int_equal(total, 6500);
  tsr_pool_destroy(pool);
}

// Waits until all workers are in a task at the same time: passes only if they truly run together.
static tsr_status meet(void *context, int64_t index, int worker) {
  atomic_int *here = context;
  (void)index;
  atomic_fetch_or(here, 1 << worker);
  while (atomic_load(here) != 7) sched_yield();
  return NULL;
}

static void workers_run_at_the_same_time(void **state) {
  (void)state;
  tsr_pool *pool;
  atomic_int here = 0;
  assert_ok(tsr_pool_create(3, &pool));
  assert_ok(tsr_pool_run(pool, 3, meet, &here));
  tsr_pool_destroy(pool);
}

// The caller falls asleep while the helper is at work.
static tsr_status linger(void *context, int64_t index, int worker) {
  (void)index;
  atomic_int *here = context;
  atomic_fetch_or(here, 1 << worker);
  while ((atomic_load(here) & 3) != 3) sched_yield();
  if (worker) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  if (worker) atomic_fetch_or(here, 4);
  return NULL;
}

static void the_caller_waits_for_the_last_task(void **state) {
  (void)state;
  tsr_pool *pool;
  atomic_int here = 0;
  assert_ok(tsr_pool_create(2, &pool));
  assert_ok(tsr_pool_run(pool, 2, linger, &here));
  assert_int_equal(here, 7);
  tsr_pool_destroy(pool);
}

typedef struct trouble {
  int64_t first, step;
  atomic_int started;
} trouble;

static tsr_status fail_some(void *context, int64_t index, int worker) {
  trouble *t = context;
  (void)worker;
  atomic_fetch_add(&t->started, 1);
  if (index < t->first || (index - t->first) % t->step) return NULL;
  return tsr_fail(BAD_ARGUMENT, "task %lld", (long long)index);
}

static void the_lowest_failure_is_returned_every_time(void **state) {
  (void)state;
  for (int workers = 1; workers <= 4; workers++) {
    tsr_pool *pool;
    assert_ok(tsr_pool_create(workers, &pool));
    for (int round = 0; round < 200; round++) {
      trouble t = {.first = round % 50, .step = 1 + round % 3};
      char message[32];
      snprintf(message, sizeof message, "task %d", round % 50);
      assert_fails(tsr_pool_run(pool, 100000, fail_some, &t), BAD_ARGUMENT, message);
      // With helpers, tasks go on until the failing one's worker is given the time to say so.
      assert_true(workers > 1 || t.started == round % 50 + 1);
      // A failure leaves nothing behind.
      atomic_int total = 0;
      assert_ok(tsr_pool_run(pool, 10, count_task, &total));
      assert_int_equal(total, 10);
    }
    tsr_pool_destroy(pool);
  }
}

typedef struct nest {
  tsr_pool *pool, *other;
  atomic_int inner;
  atomic_bool wrong_worker;
  int worker[4];  // scratch that must belong to one thread at a time
} nest;

static tsr_status inner_task(void *context, int64_t index, int worker) {
  nest *n = context;
  n->worker[worker] = (int)index;
  if (n->worker[worker] != (int)index) n->wrong_worker = true;
  n->inner++;
  return NULL;
}

static tsr_status outer_task(void *context, int64_t index, int worker) {
  nest *n = context;
  (void)index;
  (void)worker;
  TSR_TRY(tsr_pool_run(n->pool, 10, inner_task, n));
  return tsr_pool_run(n->other, 10, count_task, &n->inner);
}

static void tasks_may_run_tasks(void **state) {
  (void)state;
  nest n = {0};
  assert_ok(tsr_pool_create(4, &n.pool));
  assert_ok(tsr_pool_create(2, &n.other));
  assert_ok(tsr_pool_run(n.pool, 100, outer_task, &n));
  assert_int_equal(n.inner, 2000);
  assert_false(n.wrong_worker);
  tsr_pool_destroy(n.pool);
  tsr_pool_destroy(n.other);
}

static void *run_many(void *context) {
  nest *n = context;
  for (int i = 0; i < 100; i++) tsr_status_free(tsr_pool_run(n->pool, 20, count_task, &n->inner));
  return NULL;
}

static void threads_may_share_a_pool(void **state) {
  (void)state;
  nest n = {0};
  pthread_t threads[3];
  assert_ok(tsr_pool_create(2, &n.pool));
  for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_many, &n), 0);
  for (int i = 0; i < 3; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_int_equal(n.inner, 6000);
  tsr_pool_destroy(n.pool);
}

static void the_size_comes_from_the_affinity_mask(void **state) {
  (void)state;
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  assert_int_equal(tsr_cpu_count(), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  tsr_pool *pool;
  assert_ok(tsr_pool_create(0, &pool));
  const int workers = tsr_pool_workers(pool), cpus = tsr_cpu_count();
  tsr_pool_destroy(pool);
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
  assert_int_equal(workers, 1);
  assert_int_equal(cpus, 1);
  tsr_pool_destroy(NULL);
  assert_fails(tsr_pool_create(-1, &pool), BAD_ARGUMENT, "pool of -1 workers, wanted 0 to 65536");
}

static tsr_status create_once(void *context) {
  (void)context;
  tsr_pool *pool;
  TSR_TRY(tsr_pool_create(2, &pool));
  tsr_pool_destroy(pool);
  return NULL;
}

static void creating_survives_running_out_of_memory(void **state) {
  (void)state;
  test_allocation_sweep(create_once, NULL);
}

SUITE(pool, TEST(every_task_runs_once_whatever_the_pool),
      TEST(runs_follow_each_other_quickly_or_slowly), TEST(workers_run_at_the_same_time),
      TEST(the_caller_waits_for_the_last_task), TEST(the_lowest_failure_is_returned_every_time),
      TEST(tasks_may_run_tasks), TEST(threads_may_share_a_pool),
      TEST(the_size_comes_from_the_affinity_mask), TEST(creating_survives_running_out_of_memory))
