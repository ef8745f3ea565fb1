// The kernels of copies: loops that move bytes and bits.
#ifndef TESSERA_ELEMENT_COPY_KERNELS_H
#define TESSERA_ELEMENT_COPY_KERNELS_H

#include "element/copy_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/shape.h"

// `run` contiguous bytes, in loops with strides in bytes, outermost first.
typedef struct tsr_byte_box {
  const char *source;
  char *target;
  tsr_copy_stores stores;
  int64_t run;
  int loop_count;
  tsr_copy_loop loops[TSR_MAX_RANK];
} tsr_byte_box;

// Copies a box of at least one byte; may reorder its loops. After streamed stores the caller must
// call tsr_copy_fence before another thread reads the target.
void tsr_copy_bytes(tsr_byte_box *box);
void tsr_copy_fence(void);

// Copies `count` bits from bit `from` of the source to bit `to` of the target; other bits stay
// unchanged. The first bit of a byte is its lowest.
void tsr_copy_bits(const void *source, int64_t from, void *target, int64_t to, int64_t count);

#endif
