// The logical hash: of a tensor's elements in row-major order, whatever way it is stored.
//
// XXH3-128 of each block of about 4 MiB, then XXH3-128 over type, shape and the blocks' hashes. So
// it does not depend on sharding, blocks can be hashed in any order, and a tensor of any size is
// hashed in little memory.
#ifndef TESSERA_VIEW_TENSOR_HASH_H
#define TESSERA_VIEW_TENSOR_HASH_H

#include "base/progress_internal.h"
#include "tessera/api.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/status.h"
#include "view/tensor_blocks.h"

tsr_hash128 tsr_block_hash(const void *bytes, int64_t length);
// The same of a block that comes in pieces.
typedef struct tsr_hasher tsr_hasher;
tsr_hasher *tsr_hasher_create(void);          // NULL without memory
void tsr_hasher_destroy(tsr_hasher *hasher);  // NULL is fine
void tsr_hasher_reset(tsr_hasher *hasher);    // before the first piece
void tsr_hasher_copy(tsr_hasher *to, const tsr_hasher *from);
void tsr_hasher_add(tsr_hasher *hasher, const void *bytes, int64_t length);
tsr_hash128 tsr_hasher_digest(const tsr_hasher *hasher);
// Of the whole tensor, from the hashes of its blocks.
tsr_hash128 tsr_blocks_hash(const tsr_view *view, const tsr_hash128 *blocks);
// All of it, by the workers of a pool, a block each at a time; `progress` may be NULL.
TSR_MUST_USE tsr_status tsr_view_hash(const tsr_view *view, tsr_pool *pool, tsr_progress *progress,
                                      tsr_hash128 *out_hash);

#endif
