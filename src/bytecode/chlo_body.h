// A body of chlo_bodies.def, read and built before an op.
#ifndef TESSERA_BYTECODE_CHLO_BODY_H
#define TESSERA_BYTECODE_CHLO_BODY_H

#include "ir/ir.h"

typedef struct tsr_chlo_site {
  tsr_ir *ir;
  tsr_ir_block *block;
  tsr_op *before;  // NULL = at the end of the block
  const tsr_attr *location;
} tsr_chlo_site;

// An op with one result at the site; NULL without memory.
tsr_value *tsr_chlo_build(const tsr_chlo_site *site, tsr_op_id id, const tsr_type *type,
                          tsr_value *const *operands, int operand_count,
                          const tsr_named_attr *attrs, int attr_count);
// The type with other elements.
const tsr_type *tsr_chlo_retype(tsr_ir *ir, const tsr_type *type, const tsr_type *element);
// The body of a CHLO op; NULL if it has none.
const char *tsr_chlo_body_of(tsr_op_id id);
// Builds `body` with the operands x and y.
TSR_MUST_USE tsr_status tsr_chlo_build_body(const tsr_chlo_site *site, const char *body,
                                            tsr_value *const *operands, int operand_count,
                                            tsr_value **out_value);

// Whether chlo.top_k can be computed, and the ops that do it. `values` has room for two: the first
// is the operand, and both become the results.
bool tsr_chlo_can_top_k(const tsr_op *op);
TSR_MUST_USE tsr_status tsr_chlo_build_top_k(tsr_ir *ir, tsr_ir_block *block,
                                             const tsr_type *const *results, tsr_value **values);

#endif
