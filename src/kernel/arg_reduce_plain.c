// The loops of argmax and argmin for every processor.
#define TARGET
#define TABLE tsr_arg_plain
#include "kernel/arg_reduce.inc"
