// What the create_device_mesh benchmarks share: a 16x16x16 torus, and rounds of ten meshes over it.
#ifndef TESSERA_BENCH_TORUS_ROUNDS_H
#define TESSERA_BENCH_TORUS_ROUNDS_H

#include "rounds.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/topology.h"

typedef struct torus_request {
  tsr_topology *torus;
  const int64_t *shape;
  int rank;
  tsr_jax_mesh_options options;
} torus_request;

static tsr_status make_ten(void *context) {
  const torus_request *r = context;
  for (int i = 0; i < 10; i++) {
    tsr_device_array array = {0};
    TSR_TRY(tsr_jax_create_device_mesh(r->torus, r->shape, r->rank, &r->options, &array, NULL));
    tsr_device_array_deinit(&array);
  }
  return NULL;
}

static int serve_torus(const int64_t *shape, int rank, bool split) {
  torus_request r = {.shape = shape, .rank = rank};
  r.options = (tsr_jax_mesh_options){.size = sizeof r.options, .allow_split_physical_axes = split};
  tsr_status status = tsr_topology_parse("tpu-v4:16x16x16", &r.torus);
  const int code = status ? rounds_fail(status) : rounds_serve(make_ten, &r);
  tsr_topology_release(r.torus);
  return code;
}

#endif
