// Symbols as an op sees them, and what functions hold.
#ifndef TESSERA_VERIFY_SYMBOL_CHECKS_H
#define TESSERA_VERIFY_SYMBOL_CHECKS_H

#include "verify/op_checks.h"

// The module that an op stands in.
const tsr_op *tsr_module_of(const tsr_ir *ir, const tsr_op *op);
// The op of a name in the module that `op` stands in; NULL = none.
tsr_op *tsr_symbol_near(const tsr_ir *ir, const tsr_op *op, const char *name);
// The function of a name; NULL if there is none, or something else has the name.
tsr_op *tsr_func_near(const tsr_ir *ir, const tsr_op *op, const char *name);

#endif
