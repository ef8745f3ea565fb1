// How a benchmark talks to bench/run: for each line it reads, one round, answered with its times.
#ifndef TESSERA_BENCH_ROUNDS_H
#define TESSERA_BENCH_ROUNDS_H

#include <stdio.h>
#include <time.h>

#include "tessera/status.h"

static inline double rounds_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Tells why a benchmark cannot go on. The exit code.
static inline int rounds_fail(tsr_status status) {
  fprintf(stderr, "%s\n", tsr_status_text(status));
  tsr_status_free(status);
  return 1;
}

// What a round costs, if that is known: bench/run shows it as rates, beside the machine's limits.
typedef struct rounds_costs {
  double flops, bytes;
  double value_bytes, work_bytes;  // memory: of values, and of what steps need besides
} rounds_costs;

// Answers every line of input with the wall and CPU seconds of one call of `round`, after a call of
// `prepare` that is not counted, and with its costs (may be NULL). The exit code.
static inline int rounds_serve_costs(void (*prepare)(void *context),
                                     tsr_status (*round)(void *context), void *context,
                                     const rounds_costs *costs) {
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    if (prepare) prepare(context);
    const double wall = rounds_clock(CLOCK_MONOTONIC), cpu = rounds_clock(CLOCK_PROCESS_CPUTIME_ID);
    tsr_status status = round(context);
    const double wall_end = rounds_clock(CLOCK_MONOTONIC);
    const double cpu_end = rounds_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (status) return rounds_fail(status);
    printf("%.9f %.9f", wall_end - wall, cpu_end - cpu);
    if (costs)
      printf(" %.0f %.0f %.0f %.0f", costs->flops, costs->bytes, costs->value_bytes,
             costs->work_bytes);
    printf("\n");
    fflush(stdout);
  }
  return 0;
}

static inline int rounds_serve_prepared(void (*prepare)(void *context),
                                        tsr_status (*round)(void *context), void *context) {
  return rounds_serve_costs(prepare, round, context, NULL);
}

static inline int rounds_serve(tsr_status (*round)(void *context), void *context) {
  return rounds_serve_prepared(NULL, round, context);
}

#endif
