// Buffers, for other rooms: who holds one, and what a pool has. The rest is in tessera/buffer.h and
// tessera/engine/buffer.h.
#ifndef TESSERA_BASE_BUFFER_INTERNAL_H
#define TESSERA_BASE_BUFFER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/buffer.h"

int64_t tsr_buffer_pool_idle(tsr_buffer_pool *pool);  // bytes kept that no buffer uses
int64_t tsr_buffer_pool_peak(tsr_buffer_pool *pool);  // the most that ever were in use

int64_t tsr_buffer_bytes(const tsr_buffer *buffer);
int64_t tsr_buffer_holders(const tsr_buffer *buffer);   // how many references there are
bool tsr_buffer_is_borrowed(const tsr_buffer *buffer);  // made by tsr_buffer_wrap
// Whether its one holder may write to it: nobody else holds it, and it is not read-only.
bool tsr_buffer_is_writable(const tsr_buffer *buffer);

#endif
