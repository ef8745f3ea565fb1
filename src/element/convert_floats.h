// The loops over blocks of floats: portable, and for AVX2 with F16C.
#ifndef TESSERA_ELEMENT_CONVERT_FLOATS_H
#define TESSERA_ELEMENT_CONVERT_FLOATS_H

#include "tessera/dtype.h"

typedef void tsr_load_f32(const void *source, float *out, int64_t count);
typedef void tsr_store_f32(const float *in, void *target, int64_t count);
typedef void tsr_store_f64(const double *in, void *target, int64_t count);

// By dtype; NULL for those that are no floats, and for loads of f64.
typedef struct tsr_float_blocks {
  tsr_load_f32 *loads[TSR_DTYPE_COUNT];
  tsr_store_f32 *stores[TSR_DTYPE_COUNT];
  tsr_store_f64 *stores_f64[TSR_DTYPE_COUNT];
} tsr_float_blocks;

extern const tsr_float_blocks tsr_float_blocks_plain;
#if defined __x86_64__
#define TSR_FLOAT_BLOCKS_AVX2
extern const tsr_float_blocks tsr_float_blocks_avx2;
#endif

#endif
