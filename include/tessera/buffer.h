// Buffers: blocks of memory that several holders share, and pools that keep their pages. Most
// programs need neither: a comm makes its own pool. This header is for those who share a pool
// between comms, limit what it keeps, or give it an allocator; tessera/engine/buffer.h makes single
// buffers.
//
//   tsr_buffer_pool_options options = TSR_BUFFER_POOL_OPTIONS;
//   options.most_idle = INT64_C(1) << 30;
//   TSR_OWN(buffer_pool, pool);  // given back at the end of the block: tessera/own.h
//   TSR_TRY(tsr_buffer_pool_create(&options, &pool));
//   comm_options.buffers = pool;  // tessera/comm.h
//
// Touching fresh pages costs more than anything else that is done with large blocks, several times
// a copy. So a buffer that nobody holds any more goes back to its pool with its pages, and the next
// one of about its size gets them. Counting references is safe from any thread.
#ifndef TESSERA_BUFFER_H
#define TESSERA_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
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

// When more is idle than may be kept, blocks that are unused longest go first.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(2) tsr_status
    tsr_buffer_pool_create(const tsr_buffer_pool_options *options, tsr_buffer_pool **out_pool);
TSR_API void tsr_buffer_pool_release(tsr_buffer_pool *pool);  // NULL is fine

// ---- buffers ----

// Shared: any threads may hold, read and release it. Its bytes are written only while it has one
// holder.
typedef struct tsr_buffer tsr_buffer;

// Gives back memory that the caller has lent, as tsr_host_options and tsr_buffer_wrap do: called
// once, when the last holder has let go, from that holder's thread.
typedef void tsr_release_fn(void *context, void *data);

TSR_END_DECLS

#endif
