// The logical hash of a tensor's elements in row-major order, independent of how it is stored.
//
// It is XXH3-128 over dtype, shape and the XXH3-128 hash of each block, so blocks can be hashed in
// any order and in little memory.
#ifndef TESSERA_VIEW_TENSOR_HASH_H
#define TESSERA_VIEW_TENSOR_HASH_H

#include "base/progress_internal.h"
#include "tessera/api.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/status.h"
#include "view/tensor_blocks.h"

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
