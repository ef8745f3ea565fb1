// Dims that their axes do not divide: which of them an op computes with padded at their end.
#ifndef TESSERA_SPMD_PAD_UNEVEN_H
#define TESSERA_SPMD_PAD_UNEVEN_H

#include "factor/rule.h"

// A concatenation of more operands is not served along the dim that it joins.
enum { TSR_MOST_JOINED = 8 };

// Whether the op gives the same results, but for padding, when this dim of a tensor (operands, then
// results) is padded, and all others that have its factor. pad-uneven makes it so; gather-uneven
// gathers the others.
bool tsr_uneven_is_served(const tsr_op *op, const tsr_op_rule *rule, int tensor, int dim);

#endif
