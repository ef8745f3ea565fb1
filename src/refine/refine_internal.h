// What the files of the refinement share.
#ifndef TESSERA_REFINE_REFINE_INTERNAL_H
#define TESSERA_REFINE_REFINE_INTERNAL_H

#include "verify/op_checks.h"

enum { TSR_FOLD_MOST = 256 };  // elements of a computed constant

bool tsr_has_unknown_size(const tsr_type *type);

// The value of the only result of an op on integers, if its operands are constants; NULL in
// `out_value` where it is not computed.
TSR_MUST_USE tsr_status tsr_fold_ints(tsr_ir *ir, const tsr_op *op, const tsr_attr **out_value);
// A stablehlo.constant before `place`.
TSR_MUST_USE tsr_status tsr_insert_constant(tsr_ir *ir, tsr_op *place, const tsr_attr *value,
                                            tsr_value **out_value);
// A DENSE of integers.
TSR_MUST_USE tsr_status tsr_dense_of_ints(tsr_ir *ir, const tsr_type *type, const int64_t *values,
                                          int64_t count, const tsr_attr **out_dense);

// The result type of an op that has no inference, as far as constants among its operands tell it;
// NULL in `out_type` = nothing new.
TSR_MUST_USE tsr_status tsr_refined_type(tsr_ir *ir, const tsr_op *op, const tsr_type **out_type);
// Replaces an op of dynamic shapes by the static op it has become. `out_op` is the op that stands
// there now: the same if it stays.
TSR_MUST_USE tsr_status tsr_make_static(tsr_ir *ir, tsr_op *op, tsr_op **out_op);
// Checks an assertion and removes it; other calls stay. True if the op is gone.
TSR_MUST_USE tsr_status tsr_check_assertion(tsr_ir *ir, tsr_op *op, bool *out_gone);

// ---- signatures (bound_arguments.c) ----

// Sets or replaces an attribute.
TSR_MUST_USE tsr_status tsr_attr_replace(tsr_ir *ir, tsr_op *op, const char *name,
                                         const tsr_attr *attr);
// Removes the entries of a list of attributes, one for each argument, whose arguments are constants
// now.
TSR_MUST_USE tsr_status tsr_entries_drop(tsr_ir *ir, tsr_op *op, const char *name,
                                         const tsr_attr *const *constants, int argument_count);
// Arguments become constants; the function's type is left to tsr_signature_update.
TSR_MUST_USE tsr_status tsr_constants_bind(tsr_ir *ir, tsr_op *func,
                                           const tsr_attr *const *constants);
// The function's type as its arguments and its return have it.
TSR_MUST_USE tsr_status tsr_signature_update(tsr_ir *ir, tsr_op *func);

#endif
