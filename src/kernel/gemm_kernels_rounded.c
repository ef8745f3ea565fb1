// The kernels for processors with AVX2 that round products before they add them: short sums then
// have the bits of a plain loop.
#if defined __x86_64__
#define TARGET __attribute__((target("avx2")))
#define TABLE tsr_gemm_rounded
#define COMPACT
#define FLOATS_ONLY
#define MADD_f32 PLAIN_MADD
#define MADD_f64 PLAIN_MADD
#define MADD_ONE_f32 PLAIN_MADD
#define MADD_ONE_f64 PLAIN_MADD
#include "kernel/gemm_kernels.inc"
#else
typedef int tsr_gemm_no_rounded;  // a file must declare something
#endif
