// The loops over blocks of floats for processors with AVX2 and F16C, chosen when a conversion runs.
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx2,f16c")))
#define WITH_F16C
#define TABLE tsr_float_blocks_avx2
#include "base/convert_floats.inc"
#else
typedef int tsr_no_avx2;  // a file must declare something
#endif
