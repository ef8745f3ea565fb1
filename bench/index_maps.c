// The ranges that each of 4096 devices holds, for shapes that were never asked for before.
//
// bench: index maps of 200 fresh shapes near (8192, 8192, 64), 4096 devices
// rival: jax devices_indices_map
// bar: 20 x
#include <stdlib.h>

#include "rounds.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/spec.h"

enum { SHAPES = 200, DEVICES = 16 * 16 * 16, RANK = 3 };

typedef struct bench {
  tsr_sharding *sharding;
  tsr_range *map;
  int64_t next;  // shape; JAX keeps what it has computed, so none comes twice
} bench;

static tsr_shape shape_of(int64_t number) {
  return *TSR_SHAPE(8192 + 16 * (number % 100), 8192 + 16 * (number / 100 % 100),
                    64 + 16 * (number / 10000));
}

static tsr_status map_shapes(void *context) {
  bench *b = context;
  for (int i = 0; i < SHAPES; i++) {
    const tsr_shape shape = shape_of(b->next++);
    tsr_layout *layout = NULL;
    TSR_TRY(tsr_layout_create(b->sharding, &shape, TSR_POLICY_ERROR, &layout));
    tsr_status status = tsr_layout_index_map(layout, b->map);
    tsr_layout_release(layout);
    if (status) return status;
    const tsr_range last = b->map[DEVICES * RANK - 1];
    if (last.hi != shape.dims[2]) return tsr_fail(BROKEN_LAYOUT, "the last device's range");
  }
  return NULL;
}

static tsr_status make(bench *b) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_status status = tsr_mesh_parse("x=16,y=16,z=16", NULL, &mesh);
  if (!status) status = tsr_spec_parse("x, y, z", TSR_FORM_SHORT, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &b->sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  b->map = malloc(sizeof *b->map * DEVICES * RANK);
  if (!status && !b->map) status = tsr_fail(NO_MEMORY, "the index map");
  return status;
}

int main(void) {
  bench b = {NULL, NULL, 0};
  tsr_status status = make(&b);
  const int code = status ? rounds_fail(status) : rounds_serve(map_shapes, &b);
  tsr_sharding_release(b.sharding);
  free(b.map);
  return code;
}
