// The worklist that passes of local rules share, and what their rules ask and do.
#ifndef TESSERA_SIMPLIFY_REWRITER_H
#define TESSERA_SIMPLIFY_REWRITER_H

#include "ir/ir.h"
#include "simplify/passes.h"

typedef struct tsr_rewriter {
  tsr_ir *ir;
  const tsr_pass_options *options;
  int64_t changes;
  int64_t fold_steps;  // left for all evaluations of a pass
  tsr_op **list;
  int64_t count, capacity;
} tsr_rewriter;

// A rule tries to change one op; it counts what it did in `changes`, or leaves the op as it is.
typedef tsr_status tsr_rewrite_fn(tsr_rewriter *r, tsr_op *op);
typedef struct tsr_rewrite_rule {
  tsr_op_id id;  // TSR_OP_UNKNOWN: of any op
  tsr_rewrite_fn *apply;
} tsr_rewrite_rule;
typedef struct tsr_rewrite_set {
  const tsr_rewrite_rule *rules;
  int count;
} tsr_rewrite_set;
#define TSR_REWRITE_SET(rules) \
  { (rules), (int)(sizeof(rules) / sizeof *(rules)) }

tsr_rewrite_set tsr_fold_rules(void), tsr_algebra_rules(void), tsr_transpose_rules(void),
    tsr_reshape_rules(void);

// Applies the rules of all sets to all ops, and again to ops whose operands changed, until nothing
// changes. Ops that become unused are dropped. Without rules it only drops ops.
TSR_MUST_USE tsr_status tsr_rewrite(tsr_ir *ir, const tsr_pass_options *options,
                                    const tsr_rewrite_set *sets, int set_count, int64_t *changes);

// ---- for rules ----

// Whether an op has no attributes but those that define it.
bool tsr_op_is_plain(const tsr_op *op);
// Whether an op can be dropped when its results are not used: it has results and no effects.
bool tsr_op_is_droppable(const tsr_op *op);
// The op that defines an operand, if it is plain and of this kind; NULL otherwise.
tsr_op *tsr_operand_def(const tsr_op *op, int index, tsr_op_id id);

// Gives the uses of the op's only result to `value`, which must have its type, and drops the op.
TSR_MUST_USE tsr_status tsr_rewriter_replace(tsr_rewriter *r, tsr_op *op, tsr_value *value);
// The same for all results; `values` has one for each.
TSR_MUST_USE tsr_status tsr_rewriter_replace_all(tsr_rewriter *r, tsr_op *op,
                                                 tsr_value *const *values);
// Puts an op before `place`, at its location, onto the list too.
TSR_MUST_USE tsr_status tsr_rewriter_insert(tsr_rewriter *r, tsr_op *place, tsr_op_parts parts,
                                            tsr_op **out_op);
// Replaces an op by a new one of one result, of the same type.
TSR_MUST_USE tsr_status tsr_rewriter_exchange(tsr_rewriter *r, tsr_op *op, tsr_op_parts parts);
TSR_MUST_USE tsr_status tsr_rewriter_exchange_constant(tsr_rewriter *r, tsr_op *op,
                                                       const tsr_attr *attr);
// Queues an op that was changed in place.
TSR_MUST_USE tsr_status tsr_rewriter_changed(tsr_rewriter *r, tsr_op *op);
// Queues an op that a rule moved.
TSR_MUST_USE tsr_status tsr_rewriter_push(tsr_rewriter *r, tsr_op *op);

#endif
