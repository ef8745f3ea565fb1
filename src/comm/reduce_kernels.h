// The inner loops of reductions: 2, 4 or 8 blocks of accumulators reduced to one.
#ifndef TESSERA_COMM_REDUCE_KERNELS_H
#define TESSERA_COMM_REDUCE_KERNELS_H

#include "tessera/dtype.h"
#include "tessera/reduction.h"

// `out` may be one of `in`. Elements are read as the kernel's type and written as its accumulator
// type.
typedef void tsr_reduce_kernel(void *out, const void *const *in, int64_t count);

// The kernels of one type and operation. NULL if the reduction is not allowed, and for types that
// are converted first; of the narrow ones only bf16, the most frequent, is read directly.
typedef struct tsr_reduce_kernels {
  tsr_reduce_kernel *of_2, *of_4, *of_8;
} tsr_reduce_kernels;
typedef tsr_reduce_kernels tsr_reduce_table[TSR_DTYPE_COUNT][TSR_REDUCTION_COUNT];

// For every processor, and for those with AVX2 (the same code compiled for it).
extern const tsr_reduce_table tsr_reduce_plain;
#if defined __x86_64__
#define TSR_REDUCE_AVX2
extern const tsr_reduce_table tsr_reduce_avx2;
#endif

#endif
