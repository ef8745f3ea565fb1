// New names of functions and meshes, and functions in the order of their calls.
#ifndef TESSERA_PROPAGATE_SYMBOL_NAMES_H
#define TESSERA_PROPAGATE_SYMBOL_NAMES_H

#include "ir/ir.h"

// Numbers go on from one name to the next within a pass, as in MLIR: after f_0 comes g_1.
typedef struct tsr_symbol_namer {
  tsr_ir *ir;
  uint64_t next;
} tsr_symbol_namer;
// `base` if no symbol has this name, otherwise the base and the next number that is free.
TSR_MUST_USE tsr_status tsr_symbol_name_unused(tsr_symbol_namer *namer, const char *base,
                                               const char **out_name);

// The function that a func.call calls; NULL if there is none of its name.
tsr_op *tsr_callee(const tsr_ir *ir, const tsr_op *call);
TSR_MUST_USE tsr_status tsr_callee_set(tsr_ir *ir, tsr_op *call, const char *name);

// The functions of a program with a body such that callees stand before their callers, in the order
// that MLIR's graph of calls gives; `list` is freed by the caller. Functions that reach themselves
// are refused, and calls nested deeper than programs may be.
typedef struct tsr_call_order {
  tsr_op **list;
  int count;
} tsr_call_order;
TSR_MUST_USE tsr_status tsr_call_order_make(tsr_ir *ir, tsr_call_order *out_order);
// Calls `visit` for every func.call, callees first, in each function from the inside out.
TSR_MUST_USE tsr_status tsr_calls_walk(tsr_ir *ir, tsr_op_visit *visit, void *context);

// The name a function had before it was copied.
const char *tsr_func_origin(const tsr_op *func);
// A copy of a function, and of all that it calls, at the end of the module, each of a new name.
TSR_MUST_USE tsr_status tsr_func_copy(tsr_symbol_namer *namer, const tsr_op *func,
                                      tsr_op **out_copy);

#endif
