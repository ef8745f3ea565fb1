// The kernels for processors with AVX2, selected at run time (reduce_tree.c). Not by target_clones:
// its resolvers run before sanitizers are set up.
#if defined __x86_64__
#define TARGET __attribute__((target("avx2")))
#define TABLE tsr_reduce_avx2
#include "comm/reduce_kernels.inc"
#else
typedef int tsr_reduce_no_avx2;  // a file must declare something
#endif
