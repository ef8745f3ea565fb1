// The kernels for every processor.
#define TARGET
#define TABLE tsr_reduce_plain
#include "comm/reduce_kernels.inc"
