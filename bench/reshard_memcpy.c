// Reshards a 1 GiB array of f32 from rows to columns, P('x', None) -> P(None, 'x'), on 8 devices:
// 65536 x 4096 elements, so that what goes from one device to another has rows of 2 KiB. The rival
// copies as many bytes by memcpy, on the same workers, in the pieces that suited it best (1 MiB).
//
// bench: reshard 1 GiB, rows to columns, rows of 2 KiB, 8 devices
// rival: memcpy of as many bytes on the same threads
// bar: 0.8 x
#include "large.h"
#include "rounds.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"

enum { DEVICES = 8, ROWS = 65536, COLUMNS = 4096, PIECE = 1 << 20 };
static const int64_t shard_bytes = (int64_t)ROWS * COLUMNS * 4 / DEVICES;

typedef struct bench {
  tsr_comm *comm;
  void *in[DEVICES], *out[DEVICES];
  tsr_copy copies[DEVICES * DEVICES];
} bench;

// Device `from` has rows of all columns, device `to` wants columns of all rows.
static void plan(bench *b) {
  const int64_t rows = ROWS / DEVICES, columns = COLUMNS / DEVICES;
  for (int64_t to = 0; to < DEVICES; to++) {
    for (int64_t from = 0; from < DEVICES; from++) {
      b->copies[to * DEVICES + from] = (tsr_copy){.source = from,
                                                  .target = to,
                                                  .from = to * columns,
                                                  .to = from * rows * columns,
                                                  .length = columns,
                                                  .loop_count = 1,
                                                  .loops = {{rows, COLUMNS, columns}}};
    }
  }
}

static tsr_status reshard(void *context) {
  bench *b = context;
  const tsr_exchange part = {.copies = b->copies,
                             .copy_count = DEVICES * DEVICES,
                             .bits = 32,
                             .in = (const void *const *)b->in,
                             .out = b->out};
  return tsr_comm_exchange(b->comm, &part, 1);
}

static tsr_status copy_piece(void *context, int64_t index, int worker) {
  (void)worker;
  const bench *b = context;
  const int64_t pieces = shard_bytes / PIECE, at = index % pieces * PIECE;
  memcpy((char *)b->out[index / pieces] + at, (const char *)b->in[index / pieces] + at, PIECE);
  return NULL;
}

static tsr_status copy(void *context) {
  bench *b = context;
  return tsr_pool_run(tsr_comm_pool(b->comm), DEVICES * (shard_bytes / PIECE), copy_piece, b);
}

int main(int argc, char **argv) {
  (void)argv;
  static bench b;
  tsr_status status = tsr_comm_create(DEVICES, NULL, &b.comm);
  if (status) return rounds_fail(status);
  for (int i = 0; i < DEVICES; i++) {
    b.in[i] = large_alloc((size_t)shard_bytes, i);
    b.out[i] = large_alloc((size_t)shard_bytes, 0);
  }
  plan(&b);
  const int code = rounds_serve(argc > 1 ? copy : reshard, &b);
  for (int i = 0; i < DEVICES; i++) {
    free(b.in[i]);
    free(b.out[i]);
  }
  tsr_comm_release(b.comm);
  return code;
}
