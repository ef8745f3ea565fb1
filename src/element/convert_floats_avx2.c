// The loops over blocks of floats for AVX2 with F16C, chosen at run time.
#if defined __x86_64__
#include <immintrin.h>

#include "element/float_format.h"

#define TARGET __attribute__((target("avx2,f16c")))
#define WITH_F16C

typedef uint16_t half_any __attribute__((aligned(1), may_alias));

TARGET static void load_F16(const void *source, float *restrict out, int64_t count) {
  const half_any *in = source;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)(in + i))));
  for (; i < count; i++) out[i] = tsr_f16_decode(in[i]);
}

TARGET static void store_F16(const float *restrict in, void *restrict target, int64_t count) {
  half_any *out = target;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128((__m128i_u *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0));
  for (; i < count; i++) out[i] = (half_any)tsr_f16_encode(in[i]);
}

#define TABLE tsr_float_blocks_avx2
#include "element/convert_floats.inc"
#else
typedef int tsr_no_avx2;  // a file must declare something
#endif
