// Arrays whose memory is the caller's: an allocator that counts, behind a pool that keeps nothing
// which no array uses.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

typedef struct tally {
  int64_t taken, given_back;  // one worker takes and gives back here: more would need atomics
} tally;

static void *take(void *context, int64_t bytes, int64_t alignment) {
  ((tally *)context)->taken += bytes;
  const int64_t whole = (bytes + alignment - 1) / alignment * alignment;
  return aligned_alloc((size_t)alignment, (size_t)whole);
}

static void give_back(void *context, void *block, int64_t bytes) {
  ((tally *)context)->given_back += bytes;
  free(block);
}

static tsr_status use(tally *bytes) {
  const float matrix[16][16] = {{0}};
  tsr_buffer_pool_options memory = TSR_BUFFER_POOL_OPTIONS;
  memory.keep_none = true;
  memory.allocate = take;
  memory.release = give_back;
  memory.context = bytes;
  tsr_comm_options options = TSR_COMM_OPTIONS;
  TSR_OWN(buffer_pool, pool);
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, array);
  TSR_TRY(tsr_buffer_pool_create(&memory, &pool));
  options.workers = 1;
  options.buffers = pool;
  TSR_TRY(tsr_comm_create(4, &options, &comm));
  TSR_TRY(tsr_mesh_parse("x=4", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, "x, _", TSR_SHAPE(16, 16), TSR_F32, matrix, &array));
  printf("in use: %" PRId64 " bytes\n", tsr_buffer_pool_in_use(pool));
  return NULL;
}

int main(void) {
  tally bytes = {0, 0};
  tsr_status status = use(&bytes);
  printf("taken: %" PRId64 ", all given back: %s\n", bytes.taken,
         bytes.taken == bytes.given_back ? "yes" : "no");
  return tsr_status_exit(status);
}
