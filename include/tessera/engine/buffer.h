// Single buffers, to hand memory to arrays or take it from their pools.
//
//   tsr_buffer *buffer = NULL;
//   TSR_TRY(tsr_buffer_wrap(block, bytes, true, free_block, NULL, &buffer));
//   ...  // tsr_array_from_buffers (tessera/engine/array.h), which holds it from then on
//   tsr_buffer_release(buffer);  // free_block is called when the array is gone too
//
// tessera/buffer.h explains buffers and pools.
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
// Frees unused blocks until at most `most_idle` bytes are left.
TSR_API TSR_NONNULL void tsr_buffer_pool_trim(tsr_buffer_pool *pool, int64_t most_idle);
// Bytes of living buffers.
TSR_API TSR_NONNULL int64_t tsr_buffer_pool_in_use(tsr_buffer_pool *pool);

// ---- buffers ----

// `bytes` of memory, aligned to 64 bytes (of the system's, large ones to 2 MB), from `pool`, or
// from the system if `pool` is NULL. The contents are undefined. Fails with no_memory, naming the
// bytes, and with bad_argument if the caller's allocator does not align.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_buffer_create(tsr_buffer_pool *pool, int64_t bytes, tsr_buffer **out_buffer);
// The caller's memory as a buffer. `release` (may be NULL) is called once, by the thread that
// releases the last reference; not if this function fails. The library writes to the memory only if
// `writable`. `data` may be NULL if `bytes` is 0.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(6) tsr_status
    tsr_buffer_wrap(void *data, int64_t bytes, bool writable, tsr_release_fn *release,
                    void *context, tsr_buffer **out_buffer);
TSR_API TSR_NONNULL tsr_buffer *tsr_buffer_retain(tsr_buffer *buffer);
TSR_API void tsr_buffer_release(tsr_buffer *buffer);  // NULL is fine

TSR_API TSR_NONNULL void *tsr_buffer_data(const tsr_buffer *buffer);

TSR_END_DECLS

#endif
