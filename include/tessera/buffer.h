// Buffers: blocks of memory that several holders share, and pools that keep their pages.
//
// Touching fresh pages costs more than anything else that is done with large blocks, several times
// a copy. So a buffer that nobody holds any more goes back to its pool with its pages, and the next
// one of about its size gets them. Counting references is safe from any thread.
#ifndef TESSERA_BUFFER_H
#define TESSERA_BUFFER_H

#include <stdint.h>

#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- pools ----

typedef struct tsr_buffer_pool tsr_buffer_pool;  // shared; a buffer keeps its pool alive

// A pool that keeps at most `most_idle` bytes which no buffer uses; the longest unused go first.
// 0 keeps none; -1 keeps up to a quarter of the machine's memory.
TSR_API TSR_MUST_USE tsr_status tsr_buffer_pool_create(int64_t most_idle,
                                                       tsr_buffer_pool **out_pool);
TSR_API tsr_buffer_pool *tsr_buffer_pool_retain(tsr_buffer_pool *pool);
TSR_API void tsr_buffer_pool_release(tsr_buffer_pool *pool);  // NULL is fine
// Gives unused blocks back to the system until at most `most_idle` bytes are left.
TSR_API void tsr_buffer_pool_trim(tsr_buffer_pool *pool, int64_t most_idle);
TSR_API int64_t tsr_buffer_pool_idle(tsr_buffer_pool *pool);    // bytes kept that no buffer uses
TSR_API int64_t tsr_buffer_pool_in_use(tsr_buffer_pool *pool);  // bytes of living buffers
TSR_API int64_t tsr_buffer_pool_peak(tsr_buffer_pool *pool);    // the most that ever were in use

// ---- buffers ----

typedef struct tsr_buffer tsr_buffer;

// `bytes` of memory, aligned to 64 bytes (2 MB for large ones, with huge pages asked for), from
// `pool`, or from the system and back to it when `pool` is NULL. The contents are whatever they
// are.
TSR_API TSR_MUST_USE tsr_status tsr_buffer_create(tsr_buffer_pool *pool, int64_t bytes,
                                                  tsr_buffer **out_buffer);
// The caller's memory as a buffer. `release` (may be NULL) is called once, when the last holder has
// let go, from that holder's thread; not if this function fails. The library writes to it only if
// `writable`.
typedef void tsr_release_fn(void *context, void *data);
TSR_API TSR_MUST_USE tsr_status tsr_buffer_wrap(void *data, int64_t bytes, bool writable,
                                                tsr_release_fn *release, void *context,
                                                tsr_buffer **out_buffer);
TSR_API tsr_buffer *tsr_buffer_retain(tsr_buffer *buffer);
TSR_API void tsr_buffer_release(tsr_buffer *buffer);  // NULL is fine

TSR_API void *tsr_buffer_data(const tsr_buffer *buffer);
TSR_API int64_t tsr_buffer_bytes(const tsr_buffer *buffer);
TSR_API int tsr_buffer_holders(const tsr_buffer *buffer);       // how many references there are
TSR_API bool tsr_buffer_is_borrowed(const tsr_buffer *buffer);  // made by tsr_buffer_wrap
// Whether its one holder may write to it: nobody else holds it, and it is not read-only.
TSR_API bool tsr_buffer_is_writable(const tsr_buffer *buffer);

TSR_END_DECLS

#endif
