// Building the ops that others are replaced by. A site keeps the first failure: functions give NULL
// from then on, and NULL as an operand gives NULL, so that only the end needs to ask.
#ifndef TESSERA_SIMPLIFY_DECOMPOSE_BUILD_H
#define TESSERA_SIMPLIFY_DECOMPOSE_BUILD_H

#include "simplify/rewriter.h"

typedef struct tsr_site {
  tsr_ir *ir;
  tsr_rewriter *r;      // looks at new ops; NULL = nobody does
  tsr_op *place;        // ops are put before it
  tsr_ir_block *block;  // NULL, or ops are put at its end instead
  tsr_status failure;
} tsr_site;

// An op, its operands and attributes, and the results' types. `attrs` has names as they are
// written; a NULL attribute is a failure of memory.
typedef struct tsr_site_attr {
  const char *name;
  const tsr_attr *attr;
} tsr_site_attr;
tsr_op *tsr_site_op(tsr_site *site, tsr_op_id id, tsr_value *const *operands, int operand_count,
                    const tsr_type *const *results, int result_count, int region_count,
                    const tsr_site_attr *attrs, int attr_count);
// The same with one result and no region.
tsr_value *tsr_site_add(tsr_site *site, tsr_op_id id, const tsr_type *type,
                        tsr_value *const *operands, int operand_count, const tsr_site_attr *attrs,
                        int attr_count);
tsr_value *tsr_site_unary(tsr_site *site, tsr_op_id id, tsr_value *x);
tsr_value *tsr_site_binary(tsr_site *site, tsr_op_id id, tsr_value *x, tsr_value *y);

const tsr_type *tsr_site_retyped(tsr_site *site, const tsr_type *type, const tsr_type *element);
// A tensor of equal numbers.
tsr_value *tsr_site_number(tsr_site *site, const tsr_type *type, double number);
tsr_value *tsr_site_convert(tsr_site *site, tsr_value *x, const tsr_type *element);
tsr_value *tsr_site_reshape(tsr_site *site, tsr_value *x, const tsr_type *type);
// `dims` says which dim of `type` each dim of x is.
tsr_value *tsr_site_broadcast(tsr_site *site, tsr_value *x, const tsr_type *type,
                              const int64_t *dims);
// The sum over the dims where `kept` is false.
tsr_value *tsr_site_sum(tsr_site *site, tsr_value *x, const bool *kept);
tsr_value *tsr_site_transpose(tsr_site *site, tsr_value *x, const int64_t *permutation);

// Replaces the op's results, or reports the failure. NULL values without a failure leave the op.
TSR_MUST_USE tsr_status tsr_site_replace(tsr_site *site, tsr_op *op, tsr_value *const *values);

// Adds the region of a reduction by one op to an op: (x, y) -> x op y of scalars.
void tsr_site_body(tsr_site *site, tsr_op *op, tsr_op_id id, const tsr_type *element);

// ---- the rules of decompose_*.c ----
tsr_rewrite_fn tsr_decompose_norm, tsr_decompose_norm_training, tsr_decompose_norm_grad,
    tsr_decompose_scan, tsr_decompose_einsum, tsr_decompose_unary_einsum;

#endif
