// What the specification asks of each op, and the types of its results.
#ifndef TESSERA_VERIFY_VERIFY_H
#define TESSERA_VERIFY_VERIFY_H

#include "ir/ir.h"

// Checks a whole program: structure, symbols, every op. Up to TSR_ISSUES_SHOWN violations are
// reported in one failure, each with its place (`name` is the file), the op and the name of the
// specification's constraint: "stablehlo.dot_general: (C9) ...".
TSR_MUST_USE tsr_status tsr_verify(tsr_ir *ir, const char *name);
// Checks one op, without those in its regions.
TSR_MUST_USE tsr_status tsr_verify_op(tsr_ir *ir, const tsr_op *op);

// The result types of an op, from its operands, attributes and regions.
typedef struct tsr_inferred {
  const tsr_type **types;  // in the program's memory
  int count;
} tsr_inferred;
// Fails where the op itself is wrong. `out_types->count` is -1 where the types of this op do not
// follow from the rest of it (constant results of reshape, custom_call, ...).
TSR_MUST_USE tsr_status tsr_infer_op(tsr_ir *ir, const tsr_op *op, tsr_inferred *out_types);

#endif
