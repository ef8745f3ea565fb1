// Adds up 8 buffers of 64 MiB. As in arrays, the devices are replicas of the result and share it:
// it is written once. XLA writes it 8 times, which is part of what it pays for a thread per device.
//
// bench: all-reduce of 8 x 64 MiB of f32, one result shared
// rival: XLA psum on 8 host devices
// bar: 1.5 x
#include "large.h"
#include "rounds.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/reduction.h"

enum { DEVICES = 8, COUNT = 16 << 20 };

typedef struct bench {
  tsr_comm *comm;
  void *in[DEVICES], *out[DEVICES];
} bench;

static tsr_status reduce(void *context) {
  bench *b = context;
  const tsr_groups all = {1, DEVICES, (int64_t[]){0, 1, 2, 3, 4, 5, 6, 7}};
  return tsr_comm_all_reduce(b->comm, &all, TSR_F32, TSR_REDUCE_SUM, COUNT,
                             (const void *const *)b->in, b->out);
}

int main(void) {
  static bench b;
  tsr_status status = tsr_comm_create(DEVICES, NULL, &b.comm);
  if (status) return rounds_fail(status);
  void *result = large_alloc(COUNT * sizeof(float), 0);
  for (int i = 0; i < DEVICES; i++) {
    b.in[i] = large_alloc(COUNT * sizeof(float), i);
    b.out[i] = result;
  }
  const int code = rounds_serve(reduce, &b);
  for (int i = 0; i < DEVICES; i++) free(b.in[i]);
  free(result);
  tsr_comm_release(b.comm);
  return code;
}
