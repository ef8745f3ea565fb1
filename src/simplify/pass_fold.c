// Constant folding: an op whose operands are constants becomes a constant, and a branch that is
// known is taken.
//
// A program shall not grow: a result that is not a splat has at most as many bytes as its operands,
// or is small. An iota is a short way to write a constant and stays, but is computed with.
#include <stdlib.h>
#include <string.h>

#include "simplify/evaluate.h"
#include "simplify/rewriter.h"

enum { SMALL_ELEMENTS = 1024, FOLD_STEPS = 1 << 18, NEAR_OPERANDS = 8 };

static tsr_evaluate_limits limits_of(tsr_rewriter *r) {
  return (tsr_evaluate_limits){.elements = tsr_pass_number(r->options, TSR_SIMPLIFY_ELEMENTS, 0),
                               .steps = FOLD_STEPS,
                               .budget = &r->fold_steps};
}

static tsr_status evaluate_iota(tsr_rewriter *r, tsr_op *iota, const tsr_attr **out) {
  const tsr_evaluate_limits limits = limits_of(r);
  bool known = false;
  if (tsr_type_element_count(iota->results[0].type) > SMALL_ELEMENTS) return NULL;
  TSR_TRY(tsr_evaluate_op(r->ir, iota, NULL, &limits, &known, out));
  if (!known) *out = NULL;
  return NULL;
}

// The constant that an operand is; NULL if it is none.
static tsr_status operand_constant(tsr_rewriter *r, const tsr_op *op, int index,
                                   const tsr_attr **out) {
  tsr_op *def = tsr_op_operand(op, index)->def;
  *out = NULL;
  if (!def || !tsr_op_is_plain(def)) return NULL;
  if (def->info->id == TSR_OP_IOTA) return evaluate_iota(r, def, out);
  *out = tsr_value_constant(tsr_op_operand(op, index));
  return NULL;
}

static bool grows(const tsr_attr *const *results, int result_count, const tsr_attr *const *operands,
                  int operand_count) {
  size_t before = 0, after = 0;
  for (int i = 0; i < operand_count; i++) before += operands[i]->length;
  for (int i = 0; i < result_count; i++)
    if (!results[i]->splat && tsr_type_element_count(results[i]->type) > SMALL_ELEMENTS)
      after += results[i]->length;
  return after > before;
}

static tsr_status replace_by_constants(tsr_rewriter *r, tsr_op *op, const tsr_attr *const *attrs) {
  if (op->result_count == 1) return tsr_rewriter_exchange_constant(r, op, attrs[0]);
  const char *name = tsr_ir_name(r->ir, "value", 5);
  tsr_value **values = tsr_ir_alloc(r->ir, (size_t)op->result_count * sizeof *values);
  TSR_NEED(name);
  TSR_NEED(values);
  for (int i = 0; i < op->result_count; i++) {
    const tsr_named_attr value = {name, attrs[i]};
    tsr_op *made = NULL;
    TSR_TRY(tsr_rewriter_insert(r, op,
                                (tsr_op_parts){.id = TSR_OP_CONSTANT,
                                               .attr_count = 1,
                                               .attrs = &value,
                                               .result_count = 1,
                                               .result_types = &op->results[i].type},
                                &made));
    values[i] = &made->results[0];
  }
  return tsr_rewriter_replace_all(r, op, values);
}

static tsr_status fold_with(tsr_rewriter *r, tsr_op *op, const tsr_attr **operands,
                            const tsr_attr **results) {
  for (int i = 0; i < op->operand_count; i++) {
    TSR_TRY(operand_constant(r, op, i, &operands[i]));
    if (!operands[i]) return NULL;
  }
  const tsr_evaluate_limits limits = limits_of(r);
  bool known = false;
  TSR_TRY(tsr_evaluate_op(r->ir, op, operands, &limits, &known, results));
  if (!known || grows(results, op->result_count, operands, op->operand_count)) return NULL;
  return replace_by_constants(r, op, results);
}

static bool is_written_short(const tsr_op *op) {
  if (op->info->id == TSR_OP_IOTA) {
    const int64_t dim = tsr_op_int(op, "iota_dimension", -1);
    const tsr_type *type = op->results[0].type;
    return dim < 0 || dim >= type->rank || type->dims[dim] != 1;
  }
  return op->operand_count == 0;  // constants of all dialects
}

static tsr_status fold_op(tsr_rewriter *r, tsr_op *op) {
  const tsr_attr *near[2 * NEAR_OPERANDS];
  if (!tsr_evaluates(op->info->id) || !tsr_op_is_plain(op) || is_written_short(op)) return NULL;
  if (op->operand_count && !tsr_op_operand(op, 0)->def) return NULL;  // the common case, quickly
  if (op->operand_count <= NEAR_OPERANDS && op->result_count <= NEAR_OPERANDS)
    return fold_with(r, op, near, near + NEAR_OPERANDS);
  const tsr_attr **attrs =
      calloc((size_t)op->operand_count + (size_t)op->result_count, sizeof *attrs);
  TSR_NEED(attrs);
  tsr_status status = fold_with(r, op, attrs, attrs + op->operand_count);
  free(attrs);
  return status;
}

// ---- what is known without constants ----

static tsr_status fold_dimension_size(tsr_rewriter *r, tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const int64_t dim = tsr_op_int(op, "dimension", -1);
  if (!tsr_op_is_plain(op) || type->kind != TSR_TYPE_TENSOR || dim < 0 || dim >= type->rank)
    return NULL;
  if (type->dims[dim] == TSR_DYNAMIC || type->dims[dim] > INT32_MAX) return NULL;
  int32_t *size = tsr_ir_alloc(r->ir, sizeof *size);
  TSR_NEED(size);
  *size = (int32_t)type->dims[dim];
  const tsr_type *result = op->results[0].type;
  if (tsr_type_element_bytes(tsr_type_element(result)) != sizeof *size) return NULL;
  return tsr_rewriter_exchange_constant(r, op, tsr_attr_dense(r->ir, result, size, sizeof *size));
}

// Moves the ops of a region without arguments before the op and gives its results their values.
static tsr_status take_region(tsr_rewriter *r, tsr_op *op, tsr_region *region) {
  tsr_ir_block *block = region->first;
  tsr_op *end = block ? tsr_block_terminator(block) : NULL;
  if (!end || region->block_count != 1 || block->arg_count ||
      end->operand_count != op->result_count)
    return NULL;
  for (int i = 0; i < op->result_count; i++)
    if (tsr_operand_type(end, i) != op->results[i].type) return NULL;
  tsr_value **values = tsr_ir_alloc(r->ir, (size_t)op->result_count * sizeof *values + 1);
  TSR_NEED(values);
  while (block->first != end) {
    tsr_op *inner = block->first;
    tsr_op_unlink(inner);
    tsr_op_insert_before(op, inner);
    TSR_TRY(tsr_rewriter_push(r, inner));
  }
  for (int i = 0; i < op->result_count; i++) values[i] = tsr_op_operand(end, i);
  return tsr_rewriter_replace_all(r, op, values);
}

static tsr_status fold_branch(tsr_rewriter *r, tsr_op *op) {
  if (!tsr_op_is_plain(op) || op->operand_count != 1) return NULL;
  const tsr_attr *attr = tsr_value_constant(tsr_op_operand(op, 0));
  const bool truth = op->info->id == TSR_OP_IF;
  if (!attr || attr->length != (truth ? 1u : 4u) || !tsr_op_is_plain(tsr_op_operand(op, 0)->def))
    return NULL;
  const int last = op->region_count - 1;
  int32_t wanted = 0;
  if (truth)
    wanted = attr->bytes[0] ? 0 : 1;
  else
    memcpy(&wanted, attr->bytes, sizeof wanted);
  return take_region(r, op, &op->regions[wanted < 0 || wanted > last ? last : wanted]);
}

// A loop whose condition is a constant false does not run.
static tsr_status fold_loop(tsr_rewriter *r, tsr_op *op) {
  tsr_ir_block *test = op->region_count ? op->regions[0].first : NULL;
  tsr_op *end = test ? tsr_block_terminator(test) : NULL;
  if (!end || end->operand_count != 1 || op->operand_count != op->result_count) return NULL;
  const tsr_attr *attr = tsr_value_constant(tsr_op_operand(end, 0));
  if (!attr || attr->length != 1 || attr->bytes[0] || !tsr_op_is_plain(op)) return NULL;
  tsr_value **values = tsr_ir_alloc(r->ir, (size_t)op->result_count * sizeof *values + 1);
  TSR_NEED(values);
  for (int i = 0; i < op->result_count; i++) values[i] = tsr_op_operand(op, i);
  return tsr_rewriter_replace_all(r, op, values);
}

// What a loop's condition becomes is seen when its terminator is visited.
static tsr_status fold_return(tsr_rewriter *r, tsr_op *op) {
  tsr_op *parent = tsr_op_parent(op);
  if (!parent || parent->info->id != TSR_OP_WHILE || op->block != parent->regions[0].first)
    return NULL;
  return fold_loop(r, parent);
}

static const tsr_rewrite_rule fold_table[] = {
    {TSR_OP_IF, fold_branch},
    {TSR_OP_CASE, fold_branch},
    {TSR_OP_WHILE, fold_loop},
    {TSR_OP_RETURN, fold_return},
    {TSR_OP_GET_DIMENSION_SIZE, fold_dimension_size},
    {TSR_OP_UNKNOWN, fold_op},
};

tsr_rewrite_set tsr_fold_rules(void) { return (tsr_rewrite_set)TSR_REWRITE_SET(fold_table); }

tsr_status tsr_pass_fold(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const tsr_rewrite_set set = tsr_fold_rules();
  return tsr_rewrite(ir, options, &set, 1, changes);
}
