// Making rules: what the functions of the column `factors` in ir/ops.def share.
#ifndef TESSERA_FACTOR_RULE_BUILD_H
#define TESSERA_FACTOR_RULE_BUILD_H

#include "factor/rule.h"

enum { TSR_NO_DIM = -1 };  // the tensor does not have the factor

typedef struct tsr_rule_builder {
  tsr_arena *arena;
  bool failed;   // without memory: everything after it does nothing
  unsigned how;  // TSR_RULE_CONSERVATIVE and so on
  int operand_count, tensor_count;
  int *tensors;  // as in tsr_op_rule
  int *filled;   // how many factors each dim has
  tsr_factor *factors;
  int64_t factor_count;
  struct tsr_rule_link *links;  // in the order in which they were added
  int64_t link_count;
} tsr_rule_builder;

// What a row of ir/ops.def names: adds the factors of an op, whose types are all static; false =
// the op has no rule.
typedef bool tsr_factors_fn(tsr_rule_builder *builder, const tsr_op *op);
#define OP(id, name, form, operands, results, regions, traits, attrs, verify, infer, kernel, \
           factors)                                                                          \
  extern tsr_factors_fn tsr_factors_##factors;
#include "ir/ops.def"
#undef OP
extern tsr_factors_fn tsr_factors_unknown;

// The dims of a tensor; NULL and rank 0 for a type that has none.
typedef struct tsr_dims {
  const int64_t *sizes;
  int rank;
} tsr_dims;
tsr_dims tsr_dims_of(const tsr_type *type);
static inline tsr_dims tsr_operand_dims(const tsr_op *op, int index) {
  return tsr_dims_of(tsr_operand_type(op, index));
}
static inline tsr_dims tsr_result_dims(const tsr_op *op, int index) {
  return tsr_dims_of(tsr_op_result(op, index)->type);
}

// A rule without factors of tensors of the given ranks; false without memory. At the end, dims
// without a factor get one of size 1 each.
bool tsr_rule_begin(tsr_rule_builder *builder, tsr_arena *arena, int operand_count,
                    int tensor_count, const int *ranks);
TSR_MUST_USE tsr_status tsr_rule_finish(tsr_rule_builder *builder, bool custom,
                                        const tsr_op_rule **out_rule);

// A new factor, of no tensor yet.
int tsr_add_factor(tsr_rule_builder *builder, int64_t size, tsr_factor_kind kind, bool blocked);
// Gives a dim of a tensor (operands, then results) the factor as its minor-most one. A factor of
// size 1 is given only to dims that have none yet. Nothing happens at TSR_NO_DIM.
void tsr_map_dim(tsr_rule_builder *builder, int tensor, int64_t dim, int factor);
// The same dim of all tensors from `first` on, before `end`, but of those that have no dims. Given
// whatever its size.
void tsr_map_dims(tsr_rule_builder *builder, int first, int end, int64_t dim, int factor);

// A factor of a dim that all operands and results have.
void tsr_add_common(tsr_rule_builder *builder, int64_t dim, int64_t size, tsr_factor_kind kind,
                    bool blocked);
// One for each of the first `count` dims; of kind PASS.
void tsr_add_leading(tsr_rule_builder *builder, tsr_dims dims, int count);
// A factor of one dim of the only operand and the only result.
void tsr_add_pair(tsr_rule_builder *builder, int64_t operand_dim, int64_t result_dim, int64_t size,
                  tsr_factor_kind kind);
// Common factors of dims of equal size; `mismatch` for the others, with the size in `from`.
bool tsr_add_resized(tsr_rule_builder *builder, tsr_dims from, tsr_dims to,
                     tsr_factor_kind mismatch, bool blocked);
// One for each dim of the first result, the same dim of all tensors.
bool tsr_add_elementwise(tsr_rule_builder *builder, const tsr_op *op);

// Whether Shardy knows the target of a custom call.
bool tsr_custom_call_is_ruled(const tsr_op *op);

// Whether a list of integers, which may be NULL, has a number.
bool tsr_ints_have(const tsr_attr *list, int64_t value);

#endif
