// engine/buffer.h
#ifndef TSR_ENGINE_BUFFER_H
#define TSR_ENGINE_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/buffer.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Of unused blocks, those that are unused longest go first. NULL options are defaults.
TSR_API tsr_buffer_pool *tsr_buffer_pool_retain(tsr_buffer_pool *pool);
// Gives unused blocks back to where they are from until at most `most_idle` bytes are left.
TSR_API void tsr_buffer_pool_trim(tsr_buffer_pool *pool, int64_t most_idle);
TSR_API int64_t tsr_buffer_pool_in_use(tsr_buffer_pool *pool);  // bytes of living buffers

// `bytes` of memory, aligned to 64 bytes (of the system's, large ones to 2 MB), from `pool`, or
// from the system and back to it when `pool` is NULL. The contents are whatever they are. Fails
// with no_memory, naming the bytes; with bad_argument where the caller's allocator does not align.
TSR_API TSR_MUST_USE tsr_status tsr_buffer_create(tsr_buffer_pool *pool, int64_t bytes,
                                                  tsr_buffer **out_buffer);
// The caller's memory as a buffer. `release` (may be NULL) is called once, when the last holder has
// let go, from that holder's thread; not if this function fails. The library writes to it only if
// `writable`.
TSR_API TSR_MUST_USE tsr_status tsr_buffer_wrap(void *data, int64_t bytes, bool writable,
                                                tsr_release_fn *release, void *context,
                                                tsr_buffer **out_buffer);
TSR_API tsr_buffer *tsr_buffer_retain(tsr_buffer *buffer);
TSR_API void tsr_buffer_release(tsr_buffer *buffer);  // NULL is fine

TSR_API void *tsr_buffer_data(const tsr_buffer *buffer);

TSR_END_DECLS

#endif
