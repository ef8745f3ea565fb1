// Statistics of a block of elements, and differences of two blocks.
#ifndef TESSERA_INSPECT_ELEMENTS_H
#define TESSERA_INSPECT_ELEMENTS_H

#include <math.h>

#include "tessera/checkpoint/verify.h"
#include "tessera/dtype.h"

// Sums over a block; joined, they give the statistics of a tensor.
typedef struct tsr_sums {
  int64_t count, nans, infinities;
  double min, max, sum, squares;
} tsr_sums;

#define TSR_SUMS_EMPTY \
  { 0, 0, 0, HUGE_VAL, -HUGE_VAL, 0, 0 }

// Elements start at the first byte of a buffer; sub-byte ones are packed.
void tsr_sums_add(tsr_sums *sums, tsr_dtype dtype, const void *elements, int64_t count);
void tsr_sums_join(tsr_sums *sums, const tsr_sums *more);
tsr_tensor_stats tsr_sums_stats(const tsr_sums *sums);

// How two blocks differ.
typedef struct tsr_errors {
  int64_t differing;
  int64_t first;  // index in the block; -1 = none
  double absolute, relative;
} tsr_errors;

// Adds the differences of elements from `offset` on. Start with `first` -1.
void tsr_errors_join(tsr_errors *errors, const tsr_errors *more, int64_t offset);

// Bitwise and with equal dtypes unless the options are tolerant. Then both convert to doubles, or
// both are complex.
void tsr_errors_find(const tsr_dtype dtypes[2], const void *const blocks[2], int64_t count,
                     const tsr_verify_options *options, tsr_errors *out_errors);

#endif
