// Buffers: shared blocks of memory, and pools that keep their pages. Most programs need neither: a
// comm makes its own pool. Use this header to share a pool between comms, limit what it keeps, or
// give it an allocator. tessera/engine/buffer.h makes single buffers.
//
//   tsr_buffer_pool_options options = TSR_BUFFER_POOL_OPTIONS;
//   options.most_idle = INT64_C(1) << 30;
//   TSR_OWN(buffer_pool, pool);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_buffer_pool_create(&options, &pool));
//   comm_options.buffers = pool;  // tessera/comm.h
//
// Touching fresh pages costs several times as much as copying them. So a released buffer goes back
// to its pool with its pages, and the next buffer of about its size gets them. Counting references
// is safe from any thread.
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

// The first gives a block of at least `bytes` (more than 0) at a multiple of `alignment`, or NULL
// without memory. The second takes it back, with the bytes requested. Both are called from any
// thread, and from several at once.
typedef void *tsr_allocate_fn(void *context, int64_t bytes, int64_t alignment);
typedef void tsr_free_fn(void *context, void *block, int64_t bytes);

typedef struct tsr_buffer_pool_options {
  size_t size;  // sizeof(tsr_buffer_pool_options)
  // The most bytes kept that no buffer uses; 0 = a quarter of the machine's memory.
  int64_t most_idle;
  bool keep_none;  // keep no unused byte; most_idle is 0 then
  // The caller's allocator, for all memory of the pool's buffers, aligned to 64 bytes. If it fails,
  // the pool frees its idle blocks and tries once more. Both functions or neither; NULL = the
  // system's, with huge pages.
  tsr_allocate_fn *allocate;
  tsr_free_fn *release;
  void *context;  // of both; must outlive the pool and its buffers
} tsr_buffer_pool_options;
#define TSR_BUFFER_POOL_OPTIONS TSR_SIZED(tsr_buffer_pool_options)

// If more is idle than may be kept, the blocks idle longest are freed first.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(2) tsr_status
    tsr_buffer_pool_create(const tsr_buffer_pool_options *options, tsr_buffer_pool **out_pool);
TSR_API void tsr_buffer_pool_release(tsr_buffer_pool *pool);  // NULL is fine

// ---- buffers ----

// Shared: any threads may hold, read and release it. Its bytes are written only while it has one
// holder.
typedef struct tsr_buffer tsr_buffer;

// Returns borrowed memory to the caller (tsr_host_options, tsr_buffer_wrap). Called once, by the
// thread that releases the last reference.
typedef void tsr_release_fn(void *context, void *data);

TSR_END_DECLS

#endif
