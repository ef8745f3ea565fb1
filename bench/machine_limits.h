// What a machine can do at most: multiplications and additions in registers, and bytes read and
// written, on all processors. Measured, since neither follows from the name of a processor.
#ifndef TESSERA_BENCH_MACHINE_LIMITS_H
#define TESSERA_BENCH_MACHINE_LIMITS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool_internal.h"
#include "rounds.h"
#include "tessera/engine/pool.h"

enum { LIMIT_STEPS = 20000000, LIMIT_BYTES = 64 << 20, LIMIT_TRIES = 5 };

typedef struct limit_task {
  char *blocks;
  float sink[64 * 16];
} limit_task;

#if defined(__x86_64__)
#include <immintrin.h>
// Eight chains of fused multiply-adds keep two units of four cycles' latency busy.
__attribute__((target("avx2,fma"))) static float multiply_avx2(int64_t steps) {
  __m256 sums[10];
  const __m256 a = _mm256_set1_ps(0.999F), b = _mm256_set1_ps(0.001F);
  for (int k = 0; k < 10; k++) sums[k] = _mm256_set1_ps((float)k);
  for (int64_t i = 0; i < steps; i++)
    for (int k = 0; k < 10; k++) sums[k] = _mm256_fmadd_ps(sums[k], a, b);
  for (int k = 1; k < 10; k++) sums[0] = _mm256_add_ps(sums[0], sums[k]);
  return _mm256_cvtss_f32(sums[0]);
}

static int64_t multiply_flops(int64_t steps, float *out) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  *out = multiply_avx2(steps / 10);
  return steps / 10 * 10 * 8 * 2;
}
#else
static int64_t multiply_flops(int64_t steps, float *out) {
  (void)steps;
  *out = 0;
  return 0;
}
#endif

static inline tsr_status limit_multiply(void *context, int64_t index, int worker) {
  limit_task *task = context;
  (void)worker;
  multiply_flops(LIMIT_STEPS, &task->sink[index % 64 * 16]);
  return NULL;
}

static inline tsr_status limit_copy(void *context, int64_t index, int worker) {
  limit_task *task = context;
  (void)worker;
  char *block = task->blocks + 2 * index * (int64_t)LIMIT_BYTES;
  memcpy(block, block + LIMIT_BYTES, LIMIT_BYTES);
  return NULL;
}

typedef struct limit_times {
  double wall, cpu;  // CPU time of one processor, if each did its share
} limit_times;

// The least seconds of a task on every worker.
static inline limit_times limit_seconds(tsr_pool *pool, int workers, tsr_task *task,
                                        limit_task *what) {
  limit_times best = {1e9, 1e9};
  for (int i = 0; i < LIMIT_TRIES; i++) {
    const double wall = rounds_clock(CLOCK_MONOTONIC), cpu = rounds_clock(CLOCK_PROCESS_CPUTIME_ID);
    tsr_status_free(tsr_pool_run(pool, workers, task, what));
    const double wall_took = rounds_clock(CLOCK_MONOTONIC) - wall;
    const double cpu_took = (rounds_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu) / workers;
    best.wall = wall_took < best.wall ? wall_took : best.wall;
    best.cpu = cpu_took < best.cpu ? cpu_took : best.cpu;
  }
  return best;
}

// Prints "<GFLOP/s> <GB/s>" by wall time, then both by CPU time, with the processors' number to
// divide CPU time by; the exit code.
static inline int machine_limits_print(void) {
  tsr_pool *pool = NULL;
  static limit_task task;
  float unused = 0;
  tsr_status status = tsr_pool_create(0, &pool);
  if (status) return rounds_fail(status);
  const int workers = tsr_pool_workers(pool);
  task.blocks = malloc((size_t)workers * 2 * LIMIT_BYTES);
  if (!task.blocks) return rounds_fail(tsr_fail(NO_MEMORY, "blocks to copy"));
  memset(task.blocks, 1, (size_t)workers * 2 * LIMIT_BYTES);
  const double flops = (double)workers * (double)multiply_flops(LIMIT_STEPS, &unused);
  const double bytes = (double)workers * 2 * LIMIT_BYTES;
  const limit_times multiply = limit_seconds(pool, workers, limit_multiply, &task);
  const limit_times copy = limit_seconds(pool, workers, limit_copy, &task);
  printf("%.1f %.1f %.1f %.1f %d\n", flops / multiply.wall * 1e-9, bytes / copy.wall * 1e-9,
         flops / multiply.cpu * 1e-9, bytes / copy.cpu * 1e-9, workers);
  free(task.blocks);
  tsr_pool_destroy(pool);
  return 0;
}

#endif
