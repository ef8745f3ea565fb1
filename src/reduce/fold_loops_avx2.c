// The loops for processors with AVX2.
#if defined __x86_64__
#define TARGET __attribute__((target("avx2")))
#define TABLE tsr_fold_avx2
#include "reduce/fold_loops.inc"
#else
typedef int tsr_fold_no_avx2;  // a file must declare something
#endif
