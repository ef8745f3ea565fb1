// Blocks: tensors in pieces of about 4 MiB, in row-major order, independent of how they are stored.
// Hashes, statistics and comparisons go block by block.
//
// The logical hash of a tensor is XXH3-128 over dtype, shape and the XXH3-128 hash of each block,
// so blocks can be hashed in any order and in little memory.
#ifndef TESSERA_VIEW_TENSOR_HASH_H
#define TESSERA_VIEW_TENSOR_HASH_H

#include "base/progress_internal.h"
#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/status.h"
#include "view/view.h"

enum { TSR_BLOCK_BYTES = 4 << 20 };

// Elements of a block: 4 MiB, or slightly less so that every block starts at a byte.
int64_t tsr_block_elements(tsr_dtype dtype);
int64_t tsr_block_count(const tsr_view *view);
// Bytes that reading a block takes besides its buffer: the maximum over the views.
int64_t tsr_block_memory(const tsr_views *views);

// The i with first[i] <= place < first[i + 1], for i < count.
int64_t tsr_owner_of(const int64_t *first, int64_t count, int64_t place);

// Receives a block; `index` counts the blocks of all views.
typedef void tsr_block_fn(void *context, const tsr_view *view, int64_t index, const void *bytes,
                          int64_t elements);
// Reads every block of `count` views by the workers of a pool (NULL = the caller). Blocks of view i
// are first_block[i] to first_block[i + 1]. `fn` and `progress` may be NULL. Fails with cancelled
// if the progress function says so.
TSR_MUST_USE tsr_status tsr_blocks_walk(tsr_view *const *views, const int64_t *first_block,
                                        int64_t count, tsr_pool *pool, tsr_progress *progress,
                                        tsr_block_fn *fn, void *context);

// ---- hashes ----

tsr_hash128 tsr_block_hash(const void *bytes, int64_t length);
// The hash of a block that comes in pieces.
typedef struct tsr_hasher tsr_hasher;
tsr_hasher *tsr_hasher_create(void);          // NULL without memory
void tsr_hasher_destroy(tsr_hasher *hasher);  // NULL is fine
void tsr_hasher_reset(tsr_hasher *hasher);    // before the first piece
void tsr_hasher_copy(tsr_hasher *to, const tsr_hasher *from);
void tsr_hasher_add(tsr_hasher *hasher, const void *bytes, int64_t length);
tsr_hash128 tsr_hasher_digest(const tsr_hasher *hasher);
// The hash of a tensor from those of its blocks.
tsr_hash128 tsr_blocks_hash(const tsr_view *view, const tsr_hash128 *blocks);
// Reads and hashes a tensor by the workers of a pool; `progress` may be NULL.
TSR_MUST_USE tsr_status tsr_view_hash(const tsr_view *view, tsr_pool *pool, tsr_progress *progress,
                                      tsr_hash128 *out_hash);

#endif
