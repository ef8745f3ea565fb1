// What all parts of the insertion of reshards share: the run, places for new ops, the ops.
#ifndef TESSERA_RESHARD_RESHARD_RUN_H
#define TESSERA_RESHARD_RESHARD_RUN_H

#include "factor/shardings.h"

typedef struct tsr_reshard_run {
  tsr_ir *ir;
  bool full;          // all ops are made to fit, not only those that must before XLA partitions
  tsr_arena scratch;  // of one op
  int64_t *changes;   // ops that were added
} tsr_reshard_run;

// Where new ops go, one after the other: before an op, or to the end of a block.
typedef struct tsr_insertion {
  tsr_ir_block *block;
  tsr_op *before;  // NULL = the end
} tsr_insertion;
static inline tsr_insertion tsr_insertion_before(tsr_op *op) {
  return (tsr_insertion){op->block, op};
}
static inline tsr_insertion tsr_insertion_after(tsr_op *op) {
  return (tsr_insertion){op->block, op->next};
}
static inline tsr_insertion tsr_insertion_after_value(tsr_value *value) {
  return value->def ? tsr_insertion_after(value->def)
                    : (tsr_insertion){value->block, value->block->first};
}

// ---- shardings ----

// The sharding of a value, as it is asked; NULL in `out_sharding` = none.
TSR_MUST_USE tsr_status tsr_sharding_past_barriers(tsr_ir *ir, tsr_value *value,
                                                   const tsr_attr **out_sharding);
// An SDY_SHARDING (or NULL) that stands near `op`, as numbers in the scratch memory.
TSR_MUST_USE tsr_status tsr_reshard_read(tsr_reshard_run *run, const tsr_op *op,
                                         const tsr_attr *attr,
                                         const tsr_tensor_sharding **out_sharding);
// Whether it has no axes in dims; a missing one has none.
bool tsr_sharding_has_no_dim_axes(const tsr_tensor_sharding *sharding);
static inline tsr_sdy_parts tsr_sharding_unreduced(const tsr_tensor_sharding *sharding) {
  return sharding ? sharding->unreduced : (tsr_sdy_parts){NULL, 0};
}

// Whether no axis of a dim is called replicated or unreduced.
bool tsr_sharding_is_sound(const tsr_tensor_sharding *sharding);

// ---- new ops ----

// Each gives the result in `out_value`, which has the type of `value`.
TSR_MUST_USE tsr_status tsr_add_reshard(tsr_reshard_run *run, const tsr_insertion *at,
                                        tsr_value *value, const tsr_attr *sharding,
                                        tsr_value **out_value);
// Reduces over `axes` of the mesh of `sharding`, which is the sharding of the result.
TSR_MUST_USE tsr_status tsr_add_all_reduce(tsr_reshard_run *run, const tsr_insertion *at,
                                           tsr_value *value, const tsr_sdy_parts *axes,
                                           const tsr_tensor_sharding *sharding,
                                           tsr_value **out_value);
// Makes axes unreduced: replicated ones, or, of each dim a list, sharded ones.
TSR_MUST_USE tsr_status tsr_add_replicated_to_unreduced(tsr_reshard_run *run,
                                                        const tsr_insertion *at, tsr_value *value,
                                                        const tsr_sdy_parts *axes,
                                                        const tsr_tensor_sharding *sharding,
                                                        tsr_value **out_value);
TSR_MUST_USE tsr_status tsr_add_sharded_to_unreduced(tsr_reshard_run *run, const tsr_insertion *at,
                                                     tsr_value *value, const tsr_sdy_parts *lists,
                                                     const tsr_tensor_sharding *sharding,
                                                     tsr_value **out_value);
// Gives the use another value.
static inline void tsr_use_set(const tsr_use *use, tsr_value *value) {
  tsr_op_set_operand(use->user, (int)(use - use->user->operands), value);
}

// ---- the parts ----

// Adds what turns a value, at one of its uses, into the sharding `target` (or NULL): an all-reduce
// of axes that are not unreduced there, and, if `full`, a reshard.
TSR_MUST_USE tsr_status tsr_reshard_use(tsr_reshard_run *run, tsr_use *use, const tsr_attr *target,
                                        tsr_insertion at, bool full);
// The sources of data-flow ops, operands of calls, and what functions return.
TSR_MUST_USE tsr_status tsr_reshard_data_flow(tsr_reshard_run *run, tsr_op *op);
TSR_MUST_USE tsr_status tsr_reshard_call(tsr_reshard_run *run, tsr_op *call);
TSR_MUST_USE tsr_status tsr_reshard_return(tsr_reshard_run *run, tsr_op *func);

// Adds an all-reduce of the unreduced axes of a use whose sharding is `*sharding` that are not
// unreduced in `target` (or NULL); `*sharding` becomes that of its result.
TSR_MUST_USE tsr_status tsr_reduce_use(tsr_reshard_run *run, const tsr_insertion *at, tsr_use *use,
                                       const tsr_attr **sharding, const tsr_attr *target);
// Makes axes of a use unreduced that are so in `target` (or NULL). `out_sharding` gets the sharding
// that it has then; NULL = nothing was to be done.
TSR_MUST_USE tsr_status tsr_unreduce_use(tsr_reshard_run *run, const tsr_insertion *at,
                                         tsr_use *use, const tsr_attr *target,
                                         const tsr_attr **out_sharding);

// An op that runs on one device: its operands are brought there, its results back. `results` has
// the shardings of its results, or the one of an op without results.
TSR_MUST_USE tsr_status tsr_reshard_single_device(tsr_reshard_run *run, tsr_op *op,
                                                  const tsr_attr *const *results);

#endif
