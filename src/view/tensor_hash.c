// A walk deals the blocks of all views to the workers of a pool as one list, so that a thousand
// small tensors keep them as busy as one large tensor. Blocks and tensors are hashed by XXH3-128,
// in a form that is the same on every machine.
#include "view/tensor_hash.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/pool_internal.h"
#include "base/progress_internal.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"

int64_t tsr_block_elements(tsr_dtype dtype) {
  return (int64_t)TSR_BLOCK_BYTES * 8 / tsr_dtype_info_of(dtype)->bits / 8 * 8;
}

int64_t tsr_block_count(const tsr_view *view) {
  const int64_t block = tsr_block_elements(view->dtype);
  return (view->elements + block - 1) / block;
}

int64_t tsr_block_memory(const tsr_views *views) {
  int64_t most = 0;
  for (int64_t i = 0; i < views->count; i++) {
    const tsr_view *view = views->items[i];
    const int64_t block = tsr_block_elements(view->dtype);
    const int64_t memory = tsr_view_memory(view, view->elements < block ? view->elements : block);
    if (memory > most) most = memory;
  }
  return most;
}

int64_t tsr_owner_of(const int64_t *first, int64_t count, int64_t place) {
  int64_t low = 0, high = count - 1;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (first[middle + 1] <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// ---- the walk ----

typedef struct block_walk {
  tsr_view *const *views;
  const int64_t *first_block;
  int64_t count;
  tsr_progress *progress;
  tsr_block_fn *fn;
  void *context;
  char **buffers;  // owned: one for each worker; NULL until needed
} block_walk;

static tsr_status do_block(void *context, int64_t index, int worker) {
  const block_walk *w = context;
  const int64_t which = tsr_owner_of(w->first_block, w->count, index);
  const tsr_view *view = w->views[which];
  const int64_t block = tsr_block_elements(view->dtype);
  const int64_t first = (index - w->first_block[which]) * block;
  const int64_t left = view->elements - first, count = left < block ? left : block;
  const int64_t bytes = tsr_view_bytes(view, count);
  if (!w->buffers[worker]) w->buffers[worker] = malloc(TSR_BLOCK_BYTES);
  if (!w->buffers[worker]) return tsr_fail(NO_MEMORY, "a block of a tensor");
  w->buffers[worker][bytes - 1] = 0;  // bits past the last element
  TSR_TRY(tsr_view_read(view, first, count, w->buffers[worker]));
  if (w->fn) w->fn(w->context, view, index, w->buffers[worker], count);
  return tsr_progress_add(w->progress, bytes) ? NULL : tsr_fail(CANCELLED, "cancelled");
}

tsr_status tsr_blocks_walk(tsr_view *const *views, const int64_t *first_block, int64_t count,
                           tsr_pool *pool, tsr_progress *progress, tsr_block_fn *fn,
                           void *context) {
  const int workers = pool ? tsr_pool_workers(pool) : 1;
  block_walk w = {views, first_block, count, progress, fn, context, NULL};
  w.buffers = calloc((size_t)workers, sizeof *w.buffers);
  if (!w.buffers) return tsr_fail(NO_MEMORY, "buffers");
  tsr_status status = tsr_pool_run(pool, first_block[count], do_block, &w);
  for (int i = 0; i < workers; i++) free(w.buffers[i]);
  free(w.buffers);
  return status;
}

// ---- hashes ----

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
