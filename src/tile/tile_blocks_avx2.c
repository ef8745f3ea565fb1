// The loops over blocks for processors with AVX2, selected with those of tile_kernels_avx2.c.
#if defined __x86_64__
#define TARGET __attribute__((target("avx2,f16c")))
#define COPY_PAST
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

// Stores past the caches: memory that is larger than they are need not be read before it is
// written.
TARGET static void copy_past(void *out, const void *in, int64_t bytes) {
  char *to = out;
  const char *from = in;
  const int64_t ahead = (int64_t)(-(uintptr_t)to & 31);
  if (bytes < 64 + ahead) {
    memcpy(to, from, (size_t)bytes);
    return;
  }
  memcpy(to, from, (size_t)ahead);
  int64_t i = ahead;
  for (; i + 32 <= bytes; i += 32)
    _mm256_stream_si256((__m256i *)(void *)(to + i),
                        _mm256_loadu_si256((const __m256i_u *)(const void *)(from + i)));
  memcpy(to + i, from + i, (size_t)(bytes - i));
  _mm_sfence();  // other threads see them with what is stored later
}

#define BLOCKS tsr_tile_blocks_avx2
#include "tile/tile_blocks.inc"
#else
typedef int tsr_tile_blocks_no_avx2;  // a file must declare something
#endif
