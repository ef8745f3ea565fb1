// Blocks of floats: the portable loops, and the choice between them and the AVX2 loops.
#define TARGET
#define TABLE tsr_float_blocks_plain
#include "element/convert_floats.inc"

#include <assert.h>

#include "element/convert_blocks.h"

static const tsr_float_blocks *best(void) {
#ifdef TSR_FLOAT_BLOCKS_AVX2
  // Every processor with AVX2 has F16C, which some compilers cannot query.
  if (__builtin_cpu_supports("avx2")) return &tsr_float_blocks_avx2;
#endif
  return &tsr_float_blocks_plain;
}

void tsr_block_load_f32(tsr_dtype dtype, const void *source, float *out, int64_t count) {
  assert(tsr_float_blocks_plain.loads[dtype]);
  best()->loads[dtype](source, out, count);
}

void tsr_block_store_f32(tsr_dtype dtype, const float *in, void *target, int64_t count) {
  assert(tsr_float_blocks_plain.stores[dtype]);
  best()->stores[dtype](in, target, count);
}

void tsr_block_store_f64(tsr_dtype dtype, const double *in, void *target, int64_t count) {
  assert(tsr_float_blocks_plain.stores_f64[dtype]);
  best()->stores_f64[dtype](in, target, count);
}
