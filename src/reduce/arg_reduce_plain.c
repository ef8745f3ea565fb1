// The loops of argmax and argmin for every processor.
#define TARGET
#define TABLE tsr_arg_plain
#include "reduce/arg_reduce.inc"
