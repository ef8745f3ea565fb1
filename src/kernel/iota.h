// Tensors made of numbers or bits alone: counting, and bits read as another type.
#ifndef TESSERA_KERNEL_IOTA_H
#define TESSERA_KERNEL_IOTA_H

#include <stdbool.h>

#include "tessera/dtype.h"
#include "tile/kernel_call.h"

// Element e of `elements` is the number e / inner % count.
typedef struct tsr_iota {
  tsr_dtype dtype;
  int64_t inner, count, elements;
} tsr_iota;
tsr_status tsr_iota_run(const void *description, const tsr_kernel_call *call);

// Elements of `from_bits` become elements of `to_bits`, one of them narrower than a byte: bits are
// numbered through the tensor, the low ones of an element first.
typedef struct tsr_bitcast {
  int from_bits, to_bits;
  bool is_signed;    // results narrower than a byte are extended by their sign
  int64_t elements;  // of the result
} tsr_bitcast;
tsr_status tsr_bitcast_run(const void *description, const tsr_kernel_call *call);

#endif
