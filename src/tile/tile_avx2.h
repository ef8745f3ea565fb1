// Vectors of 8 floats or 4 doubles for processors with AVX2 and FMA, and loops over them.
//
// A rest that fills no vector is computed in a vector padded with zeros, so that the result of an
// element does not depend on its place.
#ifndef TESSERA_TILE_TILE_AVX2_H
#define TESSERA_TILE_TILE_AVX2_H

#include <immintrin.h>
#include <math.h>

#include "tile/tile_math.h"

#define AVX2 __attribute__((target("avx2,fma")))
#define AVX2_INLINE AVX2 __attribute__((always_inline)) static inline

typedef __m256 tsr_f32x8;
typedef __m256i tsr_i32x8;
typedef __m256d tsr_f64x4;
typedef __m256i tsr_i64x4;

AVX2_INLINE tsr_f32x8 all32(float x) { return _mm256_set1_ps(x); }
AVX2_INLINE tsr_f64x4 all64(double x) { return _mm256_set1_pd(x); }
// a * b + c, rounded once.
AVX2_INLINE tsr_f32x8 fma32(tsr_f32x8 a, tsr_f32x8 b, tsr_f32x8 c) {
  return _mm256_fmadd_ps(a, b, c);
}
AVX2_INLINE tsr_f64x4 fma64(tsr_f64x4 a, tsr_f64x4 b, tsr_f64x4 c) {
  return _mm256_fmadd_pd(a, b, c);
}
// Where the sign of `mask` is set `yes`, else `no`.
AVX2_INLINE tsr_f32x8 select32(tsr_f32x8 mask, tsr_f32x8 yes, tsr_f32x8 no) {
  return _mm256_blendv_ps(no, yes, mask);
}
AVX2_INLINE tsr_f64x4 select64(tsr_f64x4 mask, tsr_f64x4 yes, tsr_f64x4 no) {
  return _mm256_blendv_pd(no, yes, mask);
}
#define COMPARE32(a, relation, b) _mm256_cmp_ps(a, b, _CMP_##relation##_OQ)
#define COMPARE64(a, relation, b) _mm256_cmp_pd(a, b, _CMP_##relation##_OQ)

AVX2_INLINE tsr_f32x8 size32(tsr_f32x8 x) { return _mm256_andnot_ps(all32(-0.0f), x); }
AVX2_INLINE tsr_f64x4 size64(tsr_f64x4 x) { return _mm256_andnot_pd(all64(-0.0), x); }
AVX2_INLINE tsr_f32x8 sign_bit32(tsr_f32x8 x) { return _mm256_and_ps(all32(-0.0f), x); }
AVX2_INLINE tsr_f64x4 sign_bit64(tsr_f64x4 x) { return _mm256_and_pd(all64(-0.0), x); }
AVX2_INLINE tsr_f32x8 with_sign32(tsr_f32x8 size, tsr_f32x8 sign) {
  return _mm256_or_ps(size, sign_bit32(sign));
}
AVX2_INLINE tsr_f64x4 with_sign64(tsr_f64x4 size, tsr_f64x4 sign) {
  return _mm256_or_pd(size, sign_bit64(sign));
}
// x within bounds; NaN stays.
AVX2_INLINE tsr_f32x8 clamp32(tsr_f32x8 x, float low, float high) {
  return _mm256_min_ps(all32(high), _mm256_max_ps(all32(low), x));
}
AVX2_INLINE tsr_f64x4 clamp64(tsr_f64x4 x, double low, double high) {
  return _mm256_min_pd(all64(high), _mm256_max_pd(all64(low), x));
}
// terms[0] + terms[1] x + terms[2] x^2 and so on, at least 2 of them. Even and odd terms are summed
// side by side, where that makes the chain of steps that wait for each other shorter.
AVX2_INLINE tsr_f32x8 polynomial32(const float *terms, int count, tsr_f32x8 x) {
  tsr_f32x8 sum = all32(terms[count - 1]), other = all32(terms[count - 2]);
  if (count <= 6) {
    for (int i = count - 2; i >= 0; i--) sum = fma32(sum, x, all32(terms[i]));
    return sum;
  }
  const tsr_f32x8 square = x * x;
  for (int i = count - 3; i >= 0; i--) {
    const tsr_f32x8 next = fma32(sum, square, all32(terms[i]));
    sum = other;
    other = next;
  }
  return fma32(sum, x, other);
}
AVX2_INLINE tsr_f64x4 polynomial64(const double *terms, int count, tsr_f64x4 x) {
  tsr_f64x4 sum = all64(terms[count - 1]), other = all64(terms[count - 2]);
  if (count <= 6) {
    for (int i = count - 2; i >= 0; i--) sum = fma64(sum, x, all64(terms[i]));
    return sum;
  }
  const tsr_f64x4 square = x * x;
  for (int i = count - 3; i >= 0; i--) {
    const tsr_f64x4 next = fma64(sum, square, all64(terms[i]));
    sum = other;
    other = next;
  }
  return fma64(sum, x, other);
}
#define POLYNOMIAL32(terms, x) polynomial32(terms, (int)(sizeof(terms) / sizeof *(terms)), x)
#define POLYNOMIAL64(terms, x) polynomial64(terms, (int)(sizeof(terms) / sizeof *(terms)), x)

// The two halves as doubles, and back.
AVX2_INLINE tsr_f64x4 low_half(tsr_f32x8 x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
AVX2_INLINE tsr_f64x4 high_half(tsr_f32x8 x) {
  return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}
AVX2_INLINE tsr_f32x8 halves(tsr_f64x4 low, tsr_f64x4 high) {
  return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

// Which lanes the first `count` elements take.
AVX2_INLINE tsr_i32x8 lanes32(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
AVX2_INLINE tsr_i64x4 lanes64(int64_t count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}

#define F32_LOOP(name, function)                                                               \
  AVX2 void tsr_tile_avx2_f32_##name(void *out, const void *const *in, int64_t count) {        \
    float *const to = out;                                                                     \
    const float *const x = in[0];                                                              \
    int64_t i = 0;                                                                             \
    for (; i + 8 <= count; i += 8) _mm256_storeu_ps(to + i, function(_mm256_loadu_ps(x + i))); \
    if (i == count) return;                                                                    \
    const tsr_i32x8 rest = lanes32(count - i);                                                 \
    _mm256_maskstore_ps(to + i, rest, function(_mm256_maskload_ps(x + i, rest)));              \
  }
#define F32_LOOP2(name, function)                                                         \
  AVX2 void tsr_tile_avx2_f32_##name(void *out, const void *const *in, int64_t count) {   \
    float *const to = out;                                                                \
    const float *const x = in[0], *const y = in[1];                                       \
    int64_t i = 0;                                                                        \
    for (; i + 8 <= count; i += 8)                                                        \
      _mm256_storeu_ps(to + i, function(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i))); \
    if (i == count) return;                                                               \
    const tsr_i32x8 rest = lanes32(count - i);                                            \
    const tsr_f32x8 last_x = _mm256_maskload_ps(x + i, rest);                             \
    const tsr_f32x8 last_y = _mm256_maskload_ps(y + i, rest);                             \
    _mm256_maskstore_ps(to + i, rest, function(last_x, last_y));                          \
  }
#define F64_LOOP(name, function)                                                               \
  AVX2 void tsr_tile_avx2_f64_##name(void *out, const void *const *in, int64_t count) {        \
    double *const to = out;                                                                    \
    const double *const x = in[0];                                                             \
    int64_t i = 0;                                                                             \
    for (; i + 4 <= count; i += 4) _mm256_storeu_pd(to + i, function(_mm256_loadu_pd(x + i))); \
    if (i == count) return;                                                                    \
    const tsr_i64x4 rest = lanes64(count - i);                                                 \
    _mm256_maskstore_pd(to + i, rest, function(_mm256_maskload_pd(x + i, rest)));              \
  }

#endif
