#include "checkpoint/hash.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BLOCK_BYTES = 4 << 20 };

int64_t tsr_block_elements(tsr_dtype dtype) {
  return (int64_t)BLOCK_BYTES * 8 / tsr_dtype_get(dtype)->bits / 8 * 8;
}

int64_t tsr_block_count(const tsr_view *view) {
  const int64_t block = tsr_block_elements(view->dtype);
  return (view->elements + block - 1) / block;
}

static tsr_hash128 from_xxh(XXH128_hash_t hash) { return (tsr_hash128){hash.low64, hash.high64}; }

tsr_hash128 tsr_block_hash(const void *bytes, int64_t length) {
  return from_xxh(XXH3_128bits(bytes, (size_t)length));
}

struct tsr_hasher {
  XXH3_state_t state;
};

// The state wants an alignment that malloc does not promise.
tsr_hasher *tsr_hasher_create(void) {
  const size_t align = _Alignof(tsr_hasher);
  return aligned_alloc(align, (sizeof(tsr_hasher) + align - 1) / align * align);
}

void tsr_hasher_destroy(tsr_hasher *hasher) { free(hasher); }

void tsr_hasher_reset(tsr_hasher *hasher) { XXH3_128bits_reset(&hasher->state); }

void tsr_hasher_copy(tsr_hasher *to, const tsr_hasher *from) { *to = *from; }

void tsr_hasher_add(tsr_hasher *hasher, const void *bytes, int64_t length) {
  XXH3_128bits_update(&hasher->state, bytes, (size_t)length);
}

tsr_hash128 tsr_hasher_digest(const tsr_hasher *hasher) {
  return from_xxh(XXH3_128bits_digest(&hasher->state));
}

// Numbers are hashed as eight bytes, lowest first, on every machine.
static void add_number(XXH3_state_t *state, uint64_t number) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> (8 * i));
  XXH3_128bits_update(state, bytes, sizeof bytes);
}

tsr_hash128 tsr_blocks_hash(const tsr_view *view, const tsr_hash128 *blocks) {
  XXH3_state_t state;
  const char *dtype = tsr_dtype_name(view->dtype, TSR_NAMES_OWN);
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, dtype, strlen(dtype) + 1);
  add_number(&state, (uint64_t)view->shape.rank);
  for (int d = 0; d < view->shape.rank; d++) add_number(&state, (uint64_t)view->shape.dims[d]);
  for (int64_t i = 0; i < tsr_block_count(view); i++) {
    add_number(&state, blocks[i].low);
    add_number(&state, blocks[i].high);
  }
  return from_xxh(XXH3_128bits_digest(&state));
}

// ---- all of a view ----

typedef struct hashing {
  const tsr_view *view;
  tsr_hash128 *blocks;
  void **buffers;  // one for each worker, of one block; NULL until needed
  tsr_progress *progress;
} hashing;

static tsr_status hash_block(void *context, int64_t index, int worker) {
  const hashing *work = context;
  const int64_t block = tsr_block_elements(work->view->dtype), first = index * block;
  const int64_t left = work->view->elements - first, count = left < block ? left : block;
  if (!work->buffers[worker]) work->buffers[worker] = malloc(BLOCK_BYTES);
  if (!work->buffers[worker]) return tsr_fail(NO_MEMORY, "a block of a tensor");
  // Bits past the last element of a block are not part of it.
  const int64_t bytes = tsr_view_bytes(work->view, count);
  ((char *)work->buffers[worker])[bytes - 1] = 0;
  TSR_TRY(tsr_view_read(work->view, first, count, work->buffers[worker]));
  work->blocks[index] = tsr_block_hash(work->buffers[worker], bytes);
  return tsr_progress_add(work->progress, bytes) ? NULL : tsr_fail(CANCELLED, "cancelled");
}

tsr_status tsr_view_hash(const tsr_view *view, tsr_pool *pool, tsr_progress *progress,
                         tsr_hash128 *out_hash) {
  const int64_t count = tsr_block_count(view);
  const int workers = pool ? tsr_pool_workers(pool) : 1;
  hashing work = {.view = view,
                  .progress = progress,
                  .blocks = calloc((size_t)count + 1, sizeof *work.blocks),
                  .buffers = calloc((size_t)workers, sizeof *work.buffers)};
  tsr_status status = work.blocks && work.buffers
                          ? tsr_pool_run(pool, count, hash_block, &work)
                          : tsr_fail(NO_MEMORY, "hashes of %lld blocks", (long long)count);
  if (!status) *out_hash = tsr_blocks_hash(view, work.blocks);
  for (int i = 0; work.buffers && i < workers; i++) free(work.buffers[i]);
  free(work.buffers);
  free(work.blocks);
  return status;
}

tsr_status tsr_checkpoint_hash(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                               tsr_hash128 *out_hash) {
  tsr_view *view = NULL;
  TSR_TRY(tsr_view_stored(checkpoint, tensor, TSR_COPIES_TRUSTED, &view));
  tsr_status status = tsr_view_hash(view, pool, NULL, out_hash);
  tsr_view_destroy(view);
  return status;
}
