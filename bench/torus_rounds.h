// What the create_device_mesh benchmarks share: a 16x16x16 torus, and rounds of ten meshes over it.
#ifndef TESSERA_BENCH_TORUS_ROUNDS_H
#define TESSERA_BENCH_TORUS_ROUNDS_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tessera/mesh_build.h"

static void must(tsr_status status) {
  if (!status) return;
  fprintf(stderr, "%s\n", tsr_status_text(status));
  exit(1);
}

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Answers every line of input with the wall and CPU seconds of ten meshes of this shape.
static int serve_rounds(const int64_t *shape, int rank, bool split) {
  tsr_topology *torus = NULL;
  must(tsr_topology_parse("tpu-v4:16x16x16", &torus));
  const tsr_jax_mesh_options options = {.size = sizeof options, .allow_split_physical_axes = split};
  for (int c = getchar(); c != EOF; c = getchar()) {
    if (c != '\n') continue;
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < 10; i++) {
      tsr_device_array array = {0};
      must(tsr_jax_create_device_mesh(torus, shape, rank, &options, &array, NULL));
      tsr_device_array_deinit(&array);
    }
    const double wall_end = seconds(CLOCK_MONOTONIC), cpu_end = seconds(CLOCK_PROCESS_CPUTIME_ID);
    printf("%.9f %.9f\n", wall_end - wall, cpu_end - cpu);
    fflush(stdout);
  }
  tsr_topology_release(torus);
  return 0;
}

#endif
