// Which symbols attributes refer to.
#ifndef TESSERA_SIMPLIFY_SYMBOL_USES_H
#define TESSERA_SIMPLIFY_SYMBOL_USES_H

#include "ir/ir.h"

// Calls `visit` for the root name of every symbol in an attribute, however deep; stops at a
// failure.
typedef tsr_status tsr_symbol_visit(const char *name, void *context);
TSR_MUST_USE tsr_status tsr_attr_symbols(const tsr_attr *attr, tsr_symbol_visit *visit,
                                         void *context);
// The same for all attributes of one op, without those in its regions.
TSR_MUST_USE tsr_status tsr_op_symbols(const tsr_op *op, tsr_symbol_visit *visit, void *context);
// Whether a symbol is seen by other programs: everything that is not private.
bool tsr_symbol_is_public(const tsr_op *op);

#endif
