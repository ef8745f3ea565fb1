// The loops for processors with AVX2, selected at run time (tile_kernels.c).
#if defined __x86_64__
#define TARGET __attribute__((target("avx2,f16c")))
#define WITH_F16C
#include <immintrin.h>
#include <stdint.h>

#include "element/float_format.h"

typedef float f32_any __attribute__((aligned(1), may_alias));

TARGET static void round_f16(void *to, const void *const *in, int64_t count) {
  const f32_any *a = in[0];
  f32_any *out = to;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps((float *)(out + i),
                     _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps((const float *)(a + i)), 0)));
  for (; i < count; i++) out[i] = tsr_f16_decode(tsr_f16_encode(a[i]));
}

#define TABLE tsr_tile_kernels_avx2
#define BLOCKS tsr_tile_blocks_avx2
#include "tile/tile_kernels.inc"
#else
typedef int tsr_tile_no_avx2;  // a file must declare something
#endif
