// Single buffers, for those who hand memory to arrays or take it from their pools.
//
//   tsr_buffer *buffer = NULL;
//   TSR_TRY(tsr_buffer_wrap(block, bytes, true, free_block, NULL, &buffer));
//   ...  // tsr_array_from_buffers (tessera/engine/array.h), which holds it from then on
//   tsr_buffer_release(buffer);  // free_block is called when the array is gone too
//
// What buffers and pools are: tessera/buffer.h.
#ifndef TESSERA_ENGINE_BUFFER_H
#define TESSERA_ENGINE_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/buffer.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- pools ----

TSR_API TSR_NONNULL tsr_buffer_pool *tsr_buffer_pool_retain(tsr_buffer_pool *pool);
// Gives unused blocks back to where they are from until at most `most_idle` bytes are left.
TSR_API TSR_NONNULL void tsr_buffer_pool_trim(tsr_buffer_pool *pool, int64_t most_idle);
// Bytes of living buffers.
TSR_API TSR_NONNULL int64_t tsr_buffer_pool_in_use(tsr_buffer_pool *pool);

// ---- buffers ----

// `bytes` of memory, aligned to 64 bytes (of the system's, large ones to 2 MB), from `pool`, or
// from the system and back to it when `pool` is NULL. The contents are whatever they are. Fails
// with no_memory, naming the bytes; with bad_argument where the caller's allocator does not align.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_buffer_create(tsr_buffer_pool *pool, int64_t bytes, tsr_buffer **out_buffer);
// The caller's memory as a buffer. `release` (may be NULL) is called once, when the last holder has
// let go, from that holder's thread; not if this function fails. The library writes to the memory
// only if `writable`. `data` may be NULL where `bytes` is 0.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(6) tsr_status
    tsr_buffer_wrap(void *data, int64_t bytes, bool writable, tsr_release_fn *release,
                    void *context, tsr_buffer **out_buffer);
TSR_API TSR_NONNULL tsr_buffer *tsr_buffer_retain(tsr_buffer *buffer);
TSR_API void tsr_buffer_release(tsr_buffer *buffer);  // NULL is fine

TSR_API TSR_NONNULL void *tsr_buffer_data(const tsr_buffer *buffer);

TSR_END_DECLS

#endif
