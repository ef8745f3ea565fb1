// Finding the collectives between random specs of rank 3 on four axes.
//
// bench: sequences of 1000 random changes, rank 3, mesh 2x2x2x2
// bar: 0.5 s
#include <stdlib.h>
#include <string.h>

#include "rounds.h"
#include "spec/spec_internal.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"

enum { SPECS = 200, CHANGES = 1000, RANK = 3, AXES = 4 };

typedef struct bench {
  tsr_sharding *shardings[SPECS];
  uint64_t random;
} bench;

static int draw(bench *b, int count) {
  b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((b->random >> 33) % (uint64_t)count);
}

// Every axis on some dimension or on none, in random order.
static tsr_status make_spec(bench *b, tsr_spec **out_spec) {
  char entries[RANK][2 * AXES] = {"", "", ""};
  char axes[] = "xyzw";
  for (int i = AXES; i-- > 0;) {
    const int at = draw(b, i + 1), dim = draw(b, RANK + 1);
    const char axis = axes[at];
    axes[at] = axes[i];
    if (dim == RANK) continue;
    if (*entries[dim]) strcat(entries[dim], "+");
    strncat(entries[dim], &axis, 1);
  }
  return tsr_spec_of((const char *const[]){entries[0], entries[1], entries[2]}, RANK, out_spec);
}

static tsr_status make(bench *b) {
  tsr_mesh *mesh = NULL;
  tsr_status status = tsr_mesh_parse("x=2,y=2,z=2,w=2", NULL, &mesh);
  for (int i = 0; !status && i < SPECS; i++) {
    tsr_spec *spec = NULL;
    status = make_spec(b, &spec);
    if (!status) status = tsr_sharding_bind(mesh, spec, false, &b->shardings[i]);
    tsr_spec_release(spec);
  }
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status find_sequences(void *context) {
  bench *b = context;
  for (int i = 0; i < CHANGES; i++) {
    const tsr_sharding *from = b->shardings[draw(b, SPECS)], *to = b->shardings[draw(b, SPECS)];
    tsr_sequence *sequence = NULL;
    TSR_TRY(tsr_sequence_create(from, to, TSR_SHAPE(256, 256, 256), TSR_F32, NULL, &sequence));
    tsr_sequence_release(sequence);
  }
  return NULL;
}

int main(void) {
  bench b = {.random = 1};
  tsr_status status = make(&b);
  const int code = status ? rounds_fail(status) : rounds_serve(find_sequences, &b);
  for (int i = 0; i < SPECS; i++) tsr_sharding_release(b.shardings[i]);
  return code;
}
