// The kernels for every processor, and the choice between them and those for AVX2.
#define TARGET
#define TABLE tsr_gemm_plain
#define COMPACT
#define MADD_f32 PLAIN_MADD
#define MADD_f64 PLAIN_MADD
#define MADD_ONE_f32 PLAIN_MADD
#define MADD_ONE_f64 PLAIN_MADD
#include "kernel/gemm_kernels.inc"

const tsr_gemm_kernels *tsr_gemm_kernels_of(int type, bool rounded) {
#ifdef TSR_GEMM_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return rounded && type <= TSR_GEMM_F64 ? &tsr_gemm_rounded[type] : &tsr_gemm_avx2[type];
#endif
  (void)rounded;
  return &tsr_gemm_plain[type];
}
