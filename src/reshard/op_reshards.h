// One op whose tensors are made to fit together: its shardings, its rule, what changes.
#ifndef TESSERA_RESHARD_OP_RESHARDS_H
#define TESSERA_RESHARD_OP_RESHARDS_H

#include "factor/projection.h"
#include "reshard/reshard_run.h"

typedef struct tsr_op_reshards {
  tsr_op *op;
  const tsr_attr **attrs;                 // shardings of operands, then results; NULL = missing
  const tsr_tensor_sharding **shardings;  // the same as numbers
  const tsr_tensor_sharding *mesh;        // one of them, on the mesh that all get
  tsr_projection projection;              // of them; then as they are to be
  bool *changed;                          // tensors that get a reshard
} tsr_op_reshards;

// The sharding of a tensor as the projection has it, on the mesh that all get. Refused where an
// axis of a dim is said to be replicated or unreduced.
TSR_MUST_USE tsr_status tsr_op_reshards_made(tsr_reshard_run *run, const tsr_op_reshards *r,
                                             int tensor, const tsr_attr **out_sharding);

// Gives factors axes (rule->factor_count) wherever tensors have these factors, and marks what
// changes.
void tsr_op_reshards_update(tsr_op_reshards *r, const tsr_sdy_parts *axes);
// Adds the reshards of all tensors that are marked, or whose mesh has the devices in another order.
TSR_MUST_USE tsr_status tsr_op_reshards_add(tsr_reshard_run *run, const tsr_op_reshards *r);

// Gathers factors of an op's rule: after it, no tensor of the op is sharded along those that
// `gathered` (rule->factor_count) marks.
TSR_MUST_USE tsr_status tsr_gather_factors(tsr_reshard_run *run, tsr_op *op,
                                           const tsr_op_rule *rule, const bool *gathered);
// Reduces unreduced axes of operands that the results do not have; all results must have the same.
TSR_MUST_USE tsr_status tsr_reduce_operands(tsr_reshard_run *run, tsr_op *op);
// Adds an all-reduce over the axes of reduction factors to each result. `axes` are those of all
// factors; NULL = only where a result is unreduced along others.
TSR_MUST_USE tsr_status tsr_reduce_results(tsr_reshard_run *run, const tsr_op_reshards *r,
                                           const tsr_sdy_parts *axes);

// A product whose result has the axes of the contracted dims: the result is computed as the
// operands are, and resharded, where that moves less than it saves.
TSR_MUST_USE tsr_status tsr_reshard_dot(tsr_reshard_run *run, tsr_op_reshards *r);
// A reshape with axes that do not divide a factor: they are handed out anew. `out_axes` gets the
// axes of each factor.
TSR_MUST_USE tsr_status tsr_reshard_reshape(tsr_reshard_run *run, tsr_op_reshards *r,
                                            tsr_sdy_parts *out_axes);

#endif
