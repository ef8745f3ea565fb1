// Sharding rules: how the dimensions of the operands and results of an op depend on each other.
//
// A rule splits dimensions into factors. Dims of several tensors that have a factor in common can
// be sharded alike along it without moving data; the kind of the factor says what else is needed.
// Every dimension has at least one factor, the product of the sizes need not be that of the
// dimension. ir/ops.def names the function that makes the rule of an op in its column `factors`, as
// tsr_factors_<name>; an attribute sdy.sharding_rule on the op comes before it.
#ifndef TESSERA_FACTOR_RULE_H
#define TESSERA_FACTOR_RULE_H

#include "base/arena.h"
#include "ir/ir.h"

typedef enum tsr_factor_kind {
  TSR_FACTOR_PASS,              // nothing is needed
  TSR_FACTOR_REDUCTION,         // results are reduced over the axes
  TSR_FACTOR_NEED_REPLICATION,  // must not be sharded where the op runs
  TSR_FACTOR_PERMUTATION        // data of neighbours is exchanged
} tsr_factor_kind;

typedef struct tsr_factor {
  int64_t size;
  tsr_factor_kind kind;
  bool blocked;  // shardings do not propagate along it
} tsr_factor;

// A place is one factor of one dimension of one tensor. Places are numbered: tensors in order
// (operands, then results), in each the dims in order, in each the factors from major to minor. A
// tensor has a factor at most once.
typedef struct tsr_rule_place {
  int factor, tensor, dim;
  bool minor_most;  // of its dim
} tsr_rule_place;

typedef struct tsr_op_rule {
  int factor_count, operand_count, tensor_count, place_count;
  bool custom;  // written by a user
  const tsr_factor *factors;
  const tsr_rule_place *places;
  const int *tensors;  // tensor_count + 1: where the dims of a tensor begin in `dims`
  const int *dims;     // tensors[tensor_count] + 1: where the factors of a dim begin in `places`
  const int *used;     // factor_count + 1: where the places of a factor begin in `uses`
  const int *uses;     // place_count: the places of a factor, by tensor
} tsr_op_rule;

static inline int tsr_rule_rank(const tsr_op_rule *rule, int tensor) {
  return rule->tensors[tensor + 1] - rule->tensors[tensor];
}
// The first place of a dim; those of dim + 1, and of the next tensor, follow its last one.
static inline int tsr_rule_dim(const tsr_op_rule *rule, int tensor, int dim) {
  return rule->dims[rule->tensors[tensor] + dim];
}
static inline int tsr_rule_tensor(const tsr_op_rule *rule, int tensor) {
  return tsr_rule_dim(rule, tensor, 0);
}
// The place of a factor in a tensor; -1 if it has none.
static inline int tsr_rule_place_of(const tsr_op_rule *rule, int tensor, int factor) {
  const int end = tsr_rule_tensor(rule, tensor + 1);
  for (int i = tsr_rule_tensor(rule, tensor); i < end; i++)
    if (rule->places[i].factor == factor) return i;
  return -1;
}

// How rules are made; may be joined.
enum tsr_rule_how {
  TSR_RULE_PLAIN = 0,
  TSR_RULE_CONSERVATIVE = 1,  // nothing propagates where data would move
  TSR_RULE_EXPANDED = 2  // rules also of chlo ops, which Shardy knows none of: XLA expands them
};

// The rule of an op: that of its attribute, or the one made by its row. NULL in `out_rule` = none.
// The memory is that of the arena: a caller that asks often keeps it.
TSR_MUST_USE tsr_status tsr_rule_of(tsr_arena *arena, const tsr_op *op, unsigned how,
                                    const tsr_op_rule **out_rule);
// One factor for each dim of `type`, the same for all tensors. A type without dims has none.
TSR_MUST_USE tsr_status tsr_rule_identity(tsr_arena *arena, const tsr_type *type, int operand_count,
                                          int result_count, const tsr_op_rule **out_rule);
// From and to an SDY_RULE. The attribute must fit the op it stands on, as the verifier checks.
TSR_MUST_USE tsr_status tsr_rule_read(tsr_arena *arena, const tsr_attr *attr,
                                      const tsr_op_rule **out_rule);
const tsr_attr *tsr_rule_attr(tsr_ir *ir, const tsr_op_rule *rule);  // NULL without memory

// Whether the row of an op names a function: what `tessera ops` shows.
bool tsr_op_has_rule(tsr_op_id id);
// Whether Shardy knows an op (of a custom call: its target), be it that it has no rule. It warns
// about others.
bool tsr_op_is_ruled(const tsr_op *op);
// Whether each result element comes from the operand elements at its index, as far as the order of
// propagation asks.
bool tsr_op_is_pointwise(const tsr_op *op);

#endif
