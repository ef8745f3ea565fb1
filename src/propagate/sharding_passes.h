// The passes of this room: Shardy's import passes, propagation, and what undoes the import. One row
// of propagate/sharding_passes.def each.
#ifndef TESSERA_PROPAGATE_SHARDING_PASSES_H
#define TESSERA_PROPAGATE_SHARDING_PASSES_H

#include "simplify/pass_list.h"

#define PASS(...)
#define PASS_OPTION(id, ...) TSR_SHARDING_##id,
enum tsr_sharding_option {
#include "propagate/sharding_passes.def"
};
#undef PASS
#undef PASS_OPTION
#define PASS(name, function, ...) extern tsr_pass_fn tsr_pass_##function;
#define PASS_OPTION(...)
#include "propagate/sharding_passes.def"
#undef PASS
#undef PASS_OPTION

tsr_pass_table tsr_sharding_passes(void);

// ---- what several of them do ----

// Drops the sharding rules of ops that no user wrote.
TSR_MUST_USE tsr_status tsr_rules_drop(tsr_ir *ir);

// The shardings of all results of a function, missing ones open, as an SDY_SHARDINGS; NULL in
// `out_list` if none has one.
TSR_MUST_USE tsr_status tsr_func_result_shardings(tsr_ir *ir, const tsr_op *func,
                                                  const tsr_attr **out_list);
// The same of its arguments.
TSR_MUST_USE tsr_status tsr_func_arg_shardings(tsr_ir *ir, const tsr_op *func,
                                               const tsr_attr **out_list);
// Cuts the axes of each dim of a sharding near `op` to the longest beginning that divides the dim
// of `type`; the last one may become a part.
TSR_MUST_USE tsr_status tsr_sharding_even(tsr_ir *ir, const tsr_op *op, const tsr_type *type,
                                          const tsr_attr **sharding);
// An SDY_MESH as StableHLO writes it, a MESH. NULL without memory.
const tsr_attr *tsr_stablehlo_mesh(tsr_ir *ir, const tsr_attr *mesh);
// Adds the data-flow edges of one op.
TSR_MUST_USE tsr_status tsr_edges_add(tsr_ir *ir, tsr_op *op, int64_t *changes);
// The shardings on the edges of values, in `out_list` of `count`; open ones where they are missing,
// if any is there.
TSR_MUST_USE tsr_status tsr_edge_shardings(tsr_ir *ir, tsr_value *const *owners, int count,
                                           const tsr_attr **out_list, bool *out_any);

#endif
