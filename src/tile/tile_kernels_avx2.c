// The loops for processors with AVX2, selected at run time (tile_kernels.c).
#if defined __x86_64__
#define TARGET __attribute__((target("avx2")))
#define TABLE tsr_tile_kernels_avx2
#include "tile/tile_kernels.inc"
#else
typedef int tsr_tile_no_avx2;  // a file must declare something
#endif
