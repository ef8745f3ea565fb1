// The loops of argmax and argmin for processors with AVX2, chosen at run time (arg_reduce.c).
#if defined __x86_64__
#define TARGET __attribute__((target("avx2")))
#define TABLE tsr_arg_avx2
#include "reduce/arg_reduce.inc"
#else
typedef int tsr_arg_no_avx2;  // a file must declare something
#endif
