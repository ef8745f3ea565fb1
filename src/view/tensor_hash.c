// XXH3-128 of blocks and tensors. The form that is hashed is the same on every machine.
#include "view/tensor_hash.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/progress_internal.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"

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

static void hash_block(void *context, const tsr_view *view, int64_t index, const void *bytes,
                       int64_t elements) {
  tsr_hash128 *blocks = context;
  blocks[index] = tsr_block_hash(bytes, tsr_view_bytes(view, elements));
}

tsr_status tsr_view_hash(const tsr_view *view, tsr_pool *pool, tsr_progress *progress,
                         tsr_hash128 *out_hash) {
  const int64_t first_block[] = {0, tsr_block_count(view)};
  tsr_view *const one = (tsr_view *)(uintptr_t)view;  // only read
  tsr_hash128 *blocks = calloc((size_t)first_block[1] + 1, sizeof *blocks);
  if (!blocks) return tsr_fail(NO_MEMORY, "hashes of %lld blocks", (long long)first_block[1]);
  tsr_status status = tsr_blocks_walk(&one, first_block, 1, pool, progress, hash_block, blocks);
  if (!status) *out_hash = tsr_blocks_hash(view, blocks);
  free(blocks);
  return status;
}

tsr_status tsr_checkpoint_hash(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                               tsr_hash128 *out_hash) {
  tsr_view *view = NULL;
  TSR_TRY(tsr_view_stored(checkpoint, tensor, TSR_REPLICAS_TRUST, &view));
  tsr_status status = tsr_view_hash(view, pool, NULL, out_hash);
  tsr_view_destroy(view);
  return status;
}
