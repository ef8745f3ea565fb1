// Buffers, for other rooms: counts of references and bytes. The rest is in tessera/buffer.h and
// tessera/engine/buffer.h.
#ifndef TESSERA_BASE_BUFFER_INTERNAL_H
#define TESSERA_BASE_BUFFER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/buffer.h"

int64_t tsr_buffer_pool_idle(tsr_buffer_pool *pool);  // bytes kept that no buffer uses
int64_t tsr_buffer_pool_peak(tsr_buffer_pool *pool);  // the most that were in use

int64_t tsr_buffer_bytes(const tsr_buffer *buffer);
int64_t tsr_buffer_holders(const tsr_buffer *buffer);   // how many references there are
bool tsr_buffer_is_borrowed(const tsr_buffer *buffer);  // made by tsr_buffer_wrap
// Whether the holder may write to it: it is the only one, and the buffer is not read-only.
bool tsr_buffer_is_writable(const tsr_buffer *buffer);

#endif
