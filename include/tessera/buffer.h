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

// Shared; a buffer keeps its pool alive. All functions of a pool are safe from any threads.
typedef struct tsr_buffer_pool tsr_buffer_pool;

// A block of at least `bytes`, which are more than 0, at a multiple of `alignment`; NULL when there
// is no memory. And the block back, with the bytes that were asked for. Both are called from any
// thread, and from several at once.
typedef void *tsr_allocate_fn(void *context, int64_t bytes, int64_t alignment);
typedef void tsr_free_fn(void *context, void *block, int64_t bytes);

typedef struct tsr_buffer_pool_options {
  size_t size;  // sizeof(tsr_buffer_pool_options)
  // Bytes kept at most that no buffer uses; 0 = a quarter of the machine's memory.
  int64_t most_idle;
  bool keep_none;  // keep no unused byte; most_idle is 0 then
  // The caller's allocator: all memory of the pool's buffers comes from it, aligned to 64 bytes,
  // and goes back to it. When it has none, the pool gives back what is idle and asks once more.
  // Both functions or neither: NULL = the system's, with huge pages asked for.
  tsr_allocate_fn *allocate;
  tsr_free_fn *release;
  void *context;  // of both; must live until the pool's last holder and last buffer are gone
} tsr_buffer_pool_options;
#define TSR_BUFFER_POOL_OPTIONS TSR_SIZED(tsr_buffer_pool_options)

// Of unused blocks, those that are unused longest go first. NULL options are defaults.
TSR_API TSR_MUST_USE tsr_status tsr_buffer_pool_create(const tsr_buffer_pool_options *options,
                                                       tsr_buffer_pool **out_pool);
TSR_API tsr_buffer_pool *tsr_buffer_pool_retain(tsr_buffer_pool *pool);
TSR_API void tsr_buffer_pool_release(tsr_buffer_pool *pool);  // NULL is fine
// Gives unused blocks back to where they are from until at most `most_idle` bytes are left.
TSR_API void tsr_buffer_pool_trim(tsr_buffer_pool *pool, int64_t most_idle);
TSR_API int64_t tsr_buffer_pool_idle(tsr_buffer_pool *pool);    // bytes kept that no buffer uses
TSR_API int64_t tsr_buffer_pool_in_use(tsr_buffer_pool *pool);  // bytes of living buffers
TSR_API int64_t tsr_buffer_pool_peak(tsr_buffer_pool *pool);    // the most that ever were in use

// ---- buffers ----

// Shared: any threads may hold, read and release it. Its bytes are written by one holder only
// (tsr_buffer_is_writable).
typedef struct tsr_buffer tsr_buffer;

// `bytes` of memory, aligned to 64 bytes (of the system's, large ones to 2 MB), from `pool`, or
// from the system and back to it when `pool` is NULL. The contents are whatever they are. Fails
// with no_memory, naming the bytes; with bad_argument where the caller's allocator does not align.
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
TSR_API int64_t tsr_buffer_holders(const tsr_buffer *buffer);   // how many references there are
TSR_API bool tsr_buffer_is_borrowed(const tsr_buffer *buffer);  // made by tsr_buffer_wrap
// Whether its one holder may write to it: nobody else holds it, and it is not read-only.
TSR_API bool tsr_buffer_is_writable(const tsr_buffer *buffer);

TSR_END_DECLS

#endif
