// Resharding a large array, against JAX. Both put the array from its rows to its columns, wait for
// the result and drop it, again and again: after the first round our buffers come from the comm's
// pool with their pages, and JAX's from the allocator of its CPU client, as in a program that does
// this in a loop.
//
// bench: 1 GB f32 16384 x 16384, P('x', None) to P(None, 'x') on 8 devices
// rival: jax.device_put
// bar: 2 x
// rounds: 7
#include <stdlib.h>

#include "rounds.h"
#include "tessera/engine/array.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/tessera.h"

enum { N = 16384, DEVICES = 8 };

typedef struct work {
  tsr_comm *comm;
  tsr_layout *rows, *columns;
  tsr_array *array;
} work;

static tsr_status make_layout(const char *text, tsr_layout **out_layout) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_mesh_parse("x=8", NULL, &mesh);
  if (!status) status = tsr_spec_parse(text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, TSR_SHAPE(N, N), TSR_POLICY_ERROR, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

// Row r of the matrix is r, r + 1, r + 2, ...
static tsr_status fill(void *context, const tsr_local_shard *shard, void *data) {
  float *values = data;
  (void)context;
  for (int64_t r = shard->ranges[0].lo; r < shard->ranges[0].hi; r++)
    for (int64_t c = 0; c < N; c++) *values++ = (float)(r + c);
  return NULL;
}

static tsr_status check(const tsr_array *moved) {
  const float *last = tsr_array_data(moved, DEVICES - 1);
  const int64_t columns = N / DEVICES;
  for (int64_t r = 0; r < N; r += 1023)
    if (last[r * columns] != (float)(r + N - columns))
      return tsr_fail(BROKEN_PLAN, "row %lld came out wrong", (long long)r);
  return NULL;
}

static tsr_status reshard(void *context) {
  const work *w = context;
  tsr_array *moved = NULL;
  TSR_TRY(tsr_array_reshard(w->array, w->columns, NULL, &moved));
  tsr_status status = check(moved);
  tsr_array_release(moved);
  return status;
}

int main(void) {
  work w = {0};
  tsr_status status = tsr_comm_create(DEVICES, NULL, &w.comm);
  if (!status) status = make_layout("x, _", &w.rows);
  if (!status) status = make_layout("_, x", &w.columns);
  if (!status) status = tsr_array_generate(w.comm, w.rows, TSR_F32, fill, NULL, &w.array);
  const int code = status ? rounds_fail(status) : rounds_serve(reshard, &w);
  tsr_array_release(w.array);
  tsr_layout_release(w.rows);
  tsr_layout_release(w.columns);
  tsr_comm_release(w.comm);
  return code;
}
