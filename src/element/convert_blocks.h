// Conversions load a block of elements into one of three wide types and store it. Elements narrower
// than a byte are one per byte here (packed_bits.h). Buffers may have any alignment.
#ifndef TESSERA_ELEMENT_CONVERT_BLOCKS_H
#define TESSERA_ELEMENT_CONVERT_BLOCKS_H

#include "tessera/dtype.h"

// Floats of at most 32 bits, exactly.
void tsr_block_load_f32(tsr_dtype dtype, const void *source, float *out, int64_t count);
// To any float type, rounded once.
void tsr_block_store_f32(tsr_dtype dtype, const float *in, void *target, int64_t count);
void tsr_block_store_f64(tsr_dtype dtype, const double *in, void *target, int64_t count);
// Integers and bools; u64 as the i64 of the same bits.
void tsr_block_load_i64(tsr_dtype dtype, const void *source, int64_t *out, int64_t count);
// Modulo 2^bits; a bool becomes 1 if the integer is not 0.
void tsr_block_store_i64(tsr_dtype dtype, const int64_t *in, void *target, int64_t count);

#endif
