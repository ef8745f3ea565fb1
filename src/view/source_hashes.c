// Block states are atomic, so workers never wait for each other; the thread that hashes the last
// block of a tensor compares the whole.
#include "view/source_hashes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/tree.h"
#include "view/tensor_hash.h"

// One thread takes a block and hashes it; later reads of it are not hashed. A block that an earlier
// job has read counts too, but is compared if it is read again.
enum { UNSEEN, TAKEN, SEEN, RESTORED, TAKEN_AGAIN };

typedef struct source_tensor {
  atomic_llong left;    // blocks not read yet
  atomic_bool touched;  // some of it was read
} source_tensor;

struct tsr_source_hashes {
  const tsr_checkpoint *source;
  int64_t count, block_count;
  source_tensor *tensors;  // owned
  int64_t *first_block;    // owned: of each tensor, and one past the last
  tsr_hash128 *blocks;     // owned
  atomic_uchar *seen;      // owned: of each block
  pthread_mutex_t lock;    // of the list below
  int64_t *fresh;          // owned: blocks not taken for the journal yet
  int64_t fresh_count;
};

// ---- tensors as views ----

static tsr_view view_of(const tsr_checkpoint *source, int64_t tensor) {
  const tsr_tensor *t = tsr_tree_at(source->tree, tensor);
  return (tsr_view){.name = t->path,
                    .dtype = t->dtype,
                    .shape = tsr_tensor_shape(t),
                    .elements = tsr_tensor_elements(t)};
}

static int64_t count_blocks(const tsr_checkpoint *source, int64_t tensor) {
  const tsr_view view = view_of(source, tensor);
  return tsr_block_count(&view);
}

int64_t tsr_source_hashes_memory(const tsr_checkpoint *source) {
  const int64_t count = tsr_tree_count(source->tree), lines = (count + 256) * 96;
  const int64_t tensor = (int64_t)(sizeof(source_tensor) + sizeof(int64_t));
  const int64_t block = (int64_t)(sizeof(tsr_hash128) + sizeof(int64_t) + 1);
  int64_t blocks = 0;
  for (int64_t i = 0; i < count; i++) blocks += count_blocks(source, i);
  return source->hashes ? count * tensor + blocks * block + lines : 0;
}

// ---- life ----

void tsr_source_hashes_clear(tsr_source_hashes *hashes) {
  for (int64_t i = 0; i < hashes->count; i++) {
    const int64_t blocks = hashes->first_block[i + 1] - hashes->first_block[i];
    atomic_init(&hashes->tensors[i].left, blocks);
    atomic_init(&hashes->tensors[i].touched, false);
  }
  for (int64_t i = 0; i < hashes->block_count; i++) atomic_init(&hashes->seen[i], UNSEEN);
  hashes->fresh_count = 0;
}

static tsr_status make_tables(tsr_source_hashes *h) {
  const size_t count = (size_t)h->count + 1;
  h->first_block = calloc(count, sizeof *h->first_block);
  if (!h->first_block) return tsr_fail(NO_MEMORY, "hashes of %lld tensors", (long long)h->count);
  for (int64_t i = 0; i < h->count; i++)
    h->first_block[i + 1] = h->first_block[i] + count_blocks(h->source, i);
  h->block_count = h->first_block[h->count];
  const size_t blocks = (size_t)h->block_count + 1;
  h->tensors = malloc(sizeof *h->tensors * count);
  h->blocks = malloc(sizeof *h->blocks * blocks);
  h->seen = malloc(sizeof *h->seen * blocks);
  h->fresh = malloc(sizeof *h->fresh * blocks);
  if (!h->tensors || !h->blocks || !h->seen || !h->fresh)
    return tsr_fail(NO_MEMORY, "hashes of %lld blocks", (long long)h->block_count);
  tsr_source_hashes_clear(h);
  return NULL;
}

tsr_status tsr_source_hashes_create(const tsr_checkpoint *source, tsr_source_hashes **out_hashes) {
  *out_hashes = NULL;
  if (!source->hashes) return NULL;
  tsr_source_hashes *h = calloc(1, sizeof *h);
  if (!h) return tsr_fail(NO_MEMORY, "hashes of a source");
  *h = (tsr_source_hashes){.source = source, .count = tsr_tree_count(source->tree)};
  if (pthread_mutex_init(&h->lock, NULL)) {
    free(h);
    return tsr_fail(NO_MEMORY, "a lock");
  }
  tsr_status status = make_tables(h);
  if (status)
    tsr_source_hashes_destroy(h);
  else
    *out_hashes = h;
  return status;
}

void tsr_source_hashes_destroy(tsr_source_hashes *hashes) {
  if (!hashes) return;
  pthread_mutex_destroy(&hashes->lock);
  free(hashes->tensors);
  free(hashes->first_block);
  free(hashes->blocks);
  free(hashes->seen);
  free(hashes->fresh);
  free(hashes);
}

// ---- comparing ----

static tsr_status say_damaged(const tsr_source_hashes *h, int64_t tensor, tsr_hash128 found) {
  const tsr_store *store = h->source->store;
  const int64_t shards = tsr_layout_shard_count(store->tensors[tensor].layout);
  const tsr_shard_place *place = tsr_store_place_to_read(store, tensor, 0, -1);
  tsr_text hashes = TSR_TEXT_EMPTY;
  tsr_text_add(&hashes, "the hash ");
  tsr_hash128_print(found, &hashes);
  tsr_text_add(&hashes, ", but the manifest says ");
  tsr_hash128_print(h->source->hashes[tensor], &hashes);
  tsr_status status = tsr_text_check(&hashes);
  if (!status)
    status =
        tsr_fail(SOURCE_DAMAGED, "what %s%s of it has %s: the source is damaged, or was changed",
                 place->file < 0 ? h->source->path : store->paths[place->file],
                 shards > 1 ? " and other files hold" : " holds", tsr_text_string(&hashes));
  tsr_text_deinit(&hashes);
  return status;
}

// Called when all blocks are read.
static tsr_status compare(const tsr_source_hashes *h, int64_t tensor) {
  const tsr_view view = view_of(h->source, tensor);
  const tsr_hash128 found = tsr_blocks_hash(&view, h->blocks + h->first_block[tensor]);
  return tsr_hash128_equal(found, h->source->hashes[tensor]) ? NULL : say_damaged(h, tensor, found);
}

// Sets a block that this thread has taken.
static tsr_status set_block(tsr_source_hashes *h, int64_t tensor, int64_t block, tsr_hash128 hash,
                            unsigned char seen) {
  h->blocks[block] = hash;
  atomic_store_explicit(&h->seen[block], seen, memory_order_release);
  const long long left = atomic_fetch_sub(&h->tensors[tensor].left, 1) - 1;
  return left == 0 ? compare(h, tensor) : NULL;
}

static bool take_block(tsr_source_hashes *h, int64_t block, unsigned char from, unsigned char to) {
  return atomic_compare_exchange_strong(&h->seen[block], &from, to);
}

static tsr_status compare_restored(tsr_source_hashes *h, int64_t tensor, int64_t block,
                                   tsr_hash128 hash) {
  const bool same = tsr_hash128_equal(h->blocks[block], hash);
  const tsr_dtype dtype = tsr_tree_at(h->source->tree, tensor)->dtype;
  const int64_t first = (block - h->first_block[tensor]) * tsr_block_elements(dtype);
  if (same) atomic_store_explicit(&h->seen[block], SEEN, memory_order_release);
  if (same) return NULL;
  return tsr_fail(SOURCE_DAMAGED,
                  "from element %lld on it is not what the job that is resumed has read: the "
                  "source is damaged, or was changed",
                  (long long)first);
}

static tsr_status add_block(tsr_source_hashes *h, int64_t tensor, int64_t block, const char *bytes,
                            int64_t length) {
  if (take_block(h, block, RESTORED, TAKEN_AGAIN))
    return compare_restored(h, tensor, block, tsr_block_hash(bytes, length));
  if (!take_block(h, block, UNSEEN, TAKEN)) return NULL;
  const tsr_hash128 hash = tsr_block_hash(bytes, length);
  TSR_TRY(set_block(h, tensor, block, hash, SEEN));
  pthread_mutex_lock(&h->lock);
  h->fresh[h->fresh_count++] = block;
  pthread_mutex_unlock(&h->lock);
  return NULL;
}

tsr_status tsr_source_hashes_add(tsr_source_hashes *hashes, int64_t tensor, int64_t first,
                                 int64_t count, const void *bytes) {
  source_tensor *t = &hashes->tensors[tensor];
  const tsr_view view = view_of(hashes->source, tensor);
  const int64_t block = tsr_block_elements(view.dtype);
  atomic_store_explicit(&t->touched, true, memory_order_relaxed);
  for (int64_t at = (first + block - 1) / block * block; at < first + count; at += block) {
    const int64_t some = tsr_least(block, view.elements - at);
    if (at + some > first + count) break;
    const char *start = (const char *)bytes + tsr_view_bytes(&view, at - first);
    if ((at - first) * tsr_dtype_info_of(view.dtype)->bits % 8) break;  // it begins within a byte
    TSR_TRY(add_block(hashes, tensor, hashes->first_block[tensor] + at / block, start,
                      tsr_view_bytes(&view, some)));
  }
  return NULL;
}

tsr_dtype tsr_source_hashes_dtype(const tsr_source_hashes *hashes, int64_t tensor) {
  return tsr_tree_at(hashes->source->tree, tensor)->dtype;
}

bool tsr_source_hashes_block(const tsr_source_hashes *hashes, int64_t tensor, int64_t block,
                             tsr_hash128 *out_hash) {
  const int64_t at = hashes->first_block[tensor] + block;
  if (atomic_load_explicit(&hashes->seen[at], memory_order_acquire) != SEEN) return false;
  *out_hash = hashes->blocks[at];
  return true;
}

// ---- journals ----

bool tsr_source_hashes_next(tsr_source_hashes *hashes, int64_t *out_block, tsr_hash128 *out_hash) {
  pthread_mutex_lock(&hashes->lock);
  const bool any = hashes->fresh_count > 0;
  if (any) *out_block = hashes->fresh[--hashes->fresh_count];
  pthread_mutex_unlock(&hashes->lock);
  if (any) *out_hash = hashes->blocks[*out_block];
  return any;
}

tsr_status tsr_source_hashes_restore(tsr_source_hashes *hashes, int64_t block, tsr_hash128 hash) {
  if (block < 0 || block >= hashes->block_count) return NULL;
  if (!take_block(hashes, block, UNSEEN, TAKEN)) return NULL;
  const int64_t tensor = tsr_owner_of(hashes->first_block, hashes->count, block);
  atomic_store(&hashes->tensors[tensor].touched, true);
  return set_block(hashes, tensor, block, hash, RESTORED);
}

tsr_source_checked tsr_source_hashes_count(const tsr_source_hashes *hashes) {
  tsr_source_checked result = {0};
  for (int64_t i = 0; hashes && i < hashes->count; i++) {
    const source_tensor *t = &hashes->tensors[i];
    if (!atomic_load(&t->touched)) continue;
    result.checked += atomic_load(&t->left) == 0;
    result.unchecked += atomic_load(&t->left) > 0;
  }
  return result;
}
