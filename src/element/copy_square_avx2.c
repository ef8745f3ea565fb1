// A transpose of 16 x 16 elements of 4 bytes, for processors with AVX2: twice the width of the
// squares that every processor has.
#include "element/copy_square.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

TARGET static inline __m256i load_row(const char *from) {
  return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

TARGET static inline void store_row(char *to, __m256i row) {
  _mm256_storeu_si256((__m256i *)(void *)to, row);
}

// 8 x 8: rows are interleaved by 4 bytes, by 8, and by 16.
TARGET static inline void turn_square(const char *from, int64_t step, char *to, int64_t to_step) {
  __m256i a[8], b[8];
  for (int i = 0; i < 8; i++) a[i] = load_row(from + i * step);
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm256_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm256_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm256_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
  for (int i = 0; i < 4; i++) {
    store_row(to + i * to_step, _mm256_permute2x128_si256(a[i], a[i + 4], 0x20));
    store_row(to + (i + 4) * to_step, _mm256_permute2x128_si256(a[i], a[i + 4], 0x31));
  }
}

TARGET void tsr_turn_4_avx2(const char *from, int64_t step, char *to, int64_t to_step) {
  for (int row = 0; row < 16; row += 8)
    for (int column = 0; column < 16; column += 8)
      turn_square(from + row * step + column * 4, step, to + column * to_step + row * 4, to_step);
}
#else
typedef int tsr_copy_no_avx2;  // a file must declare something
#endif
