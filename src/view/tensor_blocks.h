// Blocks: tensors in pieces of about 4 MiB, in row-major order, independent of how they are stored.
// Hashes, statistics and comparisons go block by block.
#ifndef TESSERA_VIEW_TENSOR_BLOCKS_H
#define TESSERA_VIEW_TENSOR_BLOCKS_H

#include "base/progress_internal.h"
#include "tessera/api.h"
#include "tessera/dtype.h"
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

#endif
