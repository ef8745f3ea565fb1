// Regions that combine values two by two: the bodies of reduce, scatter, reduce_window, all_reduce.
#include "verify/op_checks.h"

tsr_ir_block *tsr_only_block(const tsr_op *op, int region) {
  const tsr_region *r = &op->regions[region];
  return r->block_count == 1 ? r->first : NULL;
}

typedef struct combiner {
  const tsr_op *op;
  const char *constraint;
  const tsr_ir_block *block;
  const tsr_op *end;
  int region, count;
  const int64_t *dims;
  int dim_count;
} combiner;

tsr_status tsr_check_one_kind(const tsr_op *op, const char *constraint, const char *a,
                              const tsr_type *a_type, const char *b, const tsr_type *b_type) {
  TSR_ASK(tsr_type_element(a_type)->kind == tsr_type_element(b_type)->kind, op, constraint,
          "%s is %s and %s is %s, expected one kind of elements", a, SHOW_TYPE(a_type), b,
          SHOW_TYPE(b_type));
  return NULL;
}

// Equal elements, or floats of any precision where `loose`.
static bool same_elements(const tsr_type *a, const tsr_type *b, bool loose) {
  const tsr_type *x = tsr_type_element(a), *y = tsr_type_element(b);
  return x == y || (loose && x->kind == TSR_TYPE_FLOAT && y->kind == TSR_TYPE_FLOAT);
}

static tsr_status check_counts(const combiner *c) {
  TSR_ASK(c->block->arg_count == 2 * c->count, c->op, c->constraint,
          "region %d takes %d arguments, expected %d", c->region, c->block->arg_count,
          2 * c->count);
  TSR_ASK(c->end->operand_count == c->count, c->op, c->constraint,
          "region %d returns %d values, expected %d", c->region, c->end->operand_count, c->count);
  for (int i = 0; i < 2 * c->count; i++)
    TSR_ASK(c->block->args[i]->type->kind == TSR_TYPE_TENSOR, c->op, c->constraint,
            "argument %d of region %d is %s, expected a tensor", i, c->region,
            SHOW_TYPE(c->block->args[i]->type));
  for (int i = 0; i < c->count; i++)
    TSR_ASK(tsr_operand_type(c->end, i)->kind == TSR_TYPE_TENSOR, c->op, c->constraint,
            "result %d of region %d is %s, expected a tensor", i, c->region,
            SHOW_TYPE(tsr_operand_type(c->end, i)));
  return NULL;
}

// The sizes of an argument are some of those that elements may have, in their order.
static tsr_status check_dims(const combiner *c, int index) {
  const tsr_type *arg = c->block->args[index]->type;
  int next = 0;
  for (int i = 0; i < c->dim_count && next < arg->rank; i++)
    if (tsr_sizes_match(c->dims[i], arg->dims[next])) next++;
  TSR_ASK(next == arg->rank, c->op, c->constraint,
          "argument %d of region %d is %s, expected a scalar or sizes of %s", index, c->region,
          SHOW_TYPE(arg), SHOW_LIST(c->dims, c->dim_count));
  return NULL;
}

static tsr_status check_pair(const combiner *c, int i, const tsr_type *input,
                             const tsr_type *init) {
  const tsr_type *result = tsr_operand_type(c->end, i);
  const tsr_type *sum = c->block->args[i]->type, *next = c->block->args[c->count + i]->type;
  TSR_ASK(tsr_dims_match(result, sum) && same_elements(result, sum, false), c->op, c->constraint,
          "argument %d of region %d is %s, expected %s as it returns", i, c->region, SHOW_TYPE(sum),
          SHOW_TYPE(result));
  TSR_ASK(tsr_dims_match(result, next) && same_elements(result, next, true), c->op, c->constraint,
          "argument %d of region %d is %s, expected %s as it returns", c->count + i, c->region,
          SHOW_TYPE(next), SHOW_TYPE(result));
  if (init) {
    TSR_ASK(tsr_dims_match(init, result), c->op, c->constraint,
            "result %d of region %d is %s, expected the shape of the initial value %s", i,
            c->region, SHOW_TYPE(result), SHOW_TYPE(init));
    TSR_ASK(tsr_element_promotes(init, result), c->op, c->constraint,
            "result %d of region %d is %s, to which the initial value %s cannot be promoted", i,
            c->region, SHOW_TYPE(result), SHOW_TYPE(init));
  }
  TSR_ASK(tsr_element_promotes(input, next), c->op, c->constraint,
          "argument %d of region %d is %s, to which elements of %s cannot be promoted",
          c->count + i, c->region, SHOW_TYPE(next), SHOW_TYPE(input));
  return check_dims(c, c->count + i);
}

tsr_status tsr_check_combiner_of(const tsr_op *op, int region, const char *constraint,
                                 const tsr_type *const *inputs, const tsr_type *const *inits,
                                 int count, const int64_t *dims, int dim_count) {
  const tsr_ir_block *block = tsr_only_block(op, region);
  const tsr_op *end = block ? tsr_block_terminator(block) : NULL;
  TSR_ASK(end, op, constraint, "region %d has no result, expected a block that returns %d values",
          region, count);
  const combiner c = {op, constraint, block, end, region, count, dims, dim_count};
  TSR_TRY(check_counts(&c));
  for (int i = 0; i < count; i++) TSR_TRY(check_pair(&c, i, inputs[i], inits ? inits[i] : NULL));
  return NULL;
}

tsr_status tsr_check_combiner(const tsr_op *op, int region, const char *constraint,
                              const tsr_type *const *inputs, const tsr_type *const *inits,
                              int count) {
  return tsr_check_combiner_of(op, region, constraint, inputs, inits, count, NULL, 0);
}

const tsr_type *tsr_combiner_element(const tsr_op *op, int region, int index) {
  const tsr_op *end = tsr_block_terminator(tsr_only_block(op, region));
  return tsr_type_element(tsr_operand_type(end, index));
}
