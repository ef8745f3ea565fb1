// The loops for every processor, and the choice between them and those for AVX2.
#define TARGET
#define TABLE tsr_tile_kernels_plain
#define BLOCKS tsr_tile_blocks_plain
#include "tile/tile_kernels.inc"

const tsr_tile_kernels *tsr_tile_best_kernels(void) {
#ifdef TSR_TILE_KERNELS_AVX2
  if (__builtin_cpu_supports("avx2")) return &tsr_tile_kernels_avx2;
#endif
  return &tsr_tile_kernels_plain;
}
