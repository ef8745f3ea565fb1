// The kernels for processors with AVX2 and fused multiply-add, selected at run time
// (gemm_kernels.c). Panels are packed by transposing squares in registers.
#if defined __x86_64__
#include <immintrin.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx2,fma")))
#define TABLE tsr_gemm_avx2
#define MADD_f32(a, b, c) _mm256_fmadd_ps(a, b, c)
#define MADD_f64(a, b, c) _mm256_fmadd_pd(a, b, c)
#define MADD_ONE_f32(a, b, c) __builtin_fmaf(a, b, c)
#define MADD_ONE_f64(a, b, c) __builtin_fma(a, b, c)

// 8 lines of up to 8 floats (`count` of them, read by `mask`) become steps of `out`, `width` apart.
// A step of 6 lines is stored as 8 floats: the two too many are overwritten by the next step, and
// after the last one there is room for them.
TARGET static inline __attribute__((always_inline)) void transpose_8(const float *const *lines,
                                                                     int64_t at, __m256i mask,
                                                                     int64_t count, float *out,
                                                                     const int width) {
  __m256 r[8], t[8];
  for (int i = 0; i < 8; i++)
    r[i] = count == 8 ? _mm256_loadu_ps(lines[i] + at) : _mm256_maskload_ps(lines[i] + at, mask);
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; j++) {
      r[i + 2 * j] = _mm256_shuffle_ps(t[i + j], t[i + j + 2], 0x44);
      r[i + 2 * j + 1] = _mm256_shuffle_ps(t[i + j], t[i + j + 2], 0xee);
    }
  for (int i = 0; i < 4; i++)
    if (i < count) _mm256_storeu_ps(out + i * width, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
  for (int i = 0; i < 4; i++)
    if (i + 4 < count)
      _mm256_storeu_ps(out + (i + 4) * width, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
}

// Each gives the steps done; the rest is left to the caller.
TARGET static inline __attribute__((always_inline)) int64_t TRANSPOSE_f32(const int width,
                                                                          const void *const *lines,
                                                                          int64_t count, void *to) {
  static const int32_t masks[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  float *out = to;
  const float *eight[2][8];
  for (int i = 0; i < 16; i++) eight[i / 8][i % 8] = lines[i < width ? i : 0];
  const __m256i all = _mm256_set1_epi32(-1);
  int64_t step = 0;
  for (; step + 8 <= count; step += 8) {
    transpose_8(eight[0], step, all, 8, out + step * width, width);
    if (width == 16) transpose_8(eight[1], step, all, 8, out + step * width + 8, width);
  }
  const int64_t rest = count - step;
  if (!rest) return count;
  const __m256i mask = _mm256_loadu_si256((const __m256i *)(const void *)(masks + 8 - rest));
  transpose_8(eight[0], step, mask, rest, out + step * width, width);
  if (width == 16) transpose_8(eight[1], step, mask, rest, out + step * width + 8, width);
  return count;
}

TARGET static inline __attribute__((always_inline)) void transpose_4(const double *const *lines,
                                                                     int64_t at, double *out,
                                                                     const int width) {
  const __m256d a = _mm256_loadu_pd(lines[0] + at), b = _mm256_loadu_pd(lines[1] + at);
  const __m256d c = _mm256_loadu_pd(lines[2] + at), d = _mm256_loadu_pd(lines[3] + at);
  const __m256d ab = _mm256_unpacklo_pd(a, b), ab_high = _mm256_unpackhi_pd(a, b);
  const __m256d cd = _mm256_unpacklo_pd(c, d), cd_high = _mm256_unpackhi_pd(c, d);
  _mm256_storeu_pd(out, _mm256_permute2f128_pd(ab, cd, 0x20));
  _mm256_storeu_pd(out + width, _mm256_permute2f128_pd(ab_high, cd_high, 0x20));
  _mm256_storeu_pd(out + 2 * width, _mm256_permute2f128_pd(ab, cd, 0x31));
  _mm256_storeu_pd(out + 3 * width, _mm256_permute2f128_pd(ab_high, cd_high, 0x31));
}

TARGET static inline __attribute__((always_inline)) int64_t TRANSPOSE_f64(const int width,
                                                                          const void *const *lines,
                                                                          int64_t count, void *to) {
  double *out = to;
  const double *four[2][4];
  for (int i = 0; i < 8; i++) four[i / 4][i % 4] = lines[i < width ? i : 0];
  int64_t step = 0;
  const int64_t spare = width == 6 ? 1 : 0;
  for (; step + 4 + spare <= count; step += 4) {
    // In this order: of 6 lines, the second writes two numbers of each next step.
    transpose_4(four[1], step, out + step * width + 4, width);
    transpose_4(four[0], step, out + step * width, width);
  }
  return step;
}
#define TRANSPOSE TRANSPOSE  // for bits of any meaning
#define TRANSPOSE_i32 TRANSPOSE_f32
#define TRANSPOSE_i64 TRANSPOSE_f64
#include "kernel/gemm_kernels.inc"
#else
typedef int tsr_gemm_no_avx2;  // a file must declare something
#endif
