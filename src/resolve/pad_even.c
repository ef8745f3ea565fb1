// sdy-pad-for-divisibility: dimensions that their axes do not divide are padded at their end, where
// values are cut first; they are trimmed where they are whole again. Ops in between compute with
// the padded values. An op that combines elements along a padded dimension (a product, a sum) gets
// the padding masked; one for which nothing right is known is refused.
//
// Ops are changed in place, in their order, so an op sees operands that are padded already.
#include <string.h>

#include "base/arithmetic.h"
#include "factor/rule.h"
#include "propagate/edits.h"
#include "resolve/padding.h"
#include "resolve/resolve_passes.h"
#include "verify/verify.h"

// ---- ops in general ----

static tsr_status is_even(tsr_padding *p, tsr_value *value, bool *out) {
  const tsr_type *even = NULL;
  TSR_TRY(tsr_padding_even(p, value, tsr_padding_whole(p, value), &even));
  *out = even == tsr_padding_whole(p, value);
  return NULL;
}

static tsr_status all_even(tsr_padding *p, const tsr_op *op, bool *out) {
  *out = true;
  for (int i = 0; i < op->operand_count && *out; i++)
    TSR_TRY(is_even(p, tsr_op_operand(op, i), out));
  for (int i = 0; i < op->result_count && *out; i++) TSR_TRY(is_even(p, tsr_op_result(op, i), out));
  return NULL;
}

// Whether a factor is all of a dim of a result.
static bool is_whole_in_result(const tsr_op_rule *rule, int factor) {
  for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
    const tsr_rule_place *place = &rule->places[rule->uses[i]];
    if (place->tensor >= rule->operand_count)
      return tsr_rule_dim(rule, place->tensor, place->dim + 1) ==
             tsr_rule_dim(rule, place->tensor, place->dim) + 1;
  }
  return false;
}

// Whether an op treats the indices of a dim each by itself, or its padding is masked.
static bool may_be_padded(const tsr_op *op, const tsr_op_rule *rule, int tensor, int dim) {
  const int first = tsr_rule_dim(rule, tensor, dim), end = tsr_rule_dim(rule, tensor, dim + 1);
  const bool masked = tsr_op_is(op, TSR_OP_DOT_GENERAL) || tsr_op_is(op, TSR_OP_CONVOLUTION) ||
                      tsr_op_is(op, TSR_OP_REDUCE);
  if (end != first + 1) return tsr_op_is(op, TSR_OP_CONVOLUTION);
  const int factor = rule->places[first].factor;
  const tsr_factor_kind kind = rule->factors[factor].kind;
  if (tsr_op_is(op, TSR_OP_RESHAPE)) return is_whole_in_result(rule, factor);
  return kind == TSR_FACTOR_PASS || (masked && kind != TSR_FACTOR_NEED_REPLICATION);
}

// The rule of an op as it was before its operands were padded. Only that of a reshape depends on
// their sizes: a dim of it may be padded if it is one of the result too.
static tsr_status rule_of_whole(tsr_padding *p, const tsr_op *op, const tsr_op_rule **out_rule) {
  tsr_value *input = op->operand_count ? tsr_op_operand(op, 0) : NULL;
  if (!tsr_op_is(op, TSR_OP_RESHAPE))
    return tsr_rule_of(&p->scratch, op, TSR_RULE_EXPANDED, out_rule);
  const tsr_type *padded = input->type;
  input->type = tsr_padding_whole(p, input);
  tsr_status status = tsr_rule_of(&p->scratch, op, TSR_RULE_EXPANDED, out_rule);
  input->type = padded;
  return status;
}

static tsr_status check_operand(tsr_padding *p, const tsr_op *op, const tsr_op_rule *rule,
                                int index) {
  const tsr_value *operand = tsr_op_operand(op, index);
  const tsr_type *whole = tsr_padding_whole(p, operand);
  for (int d = 0; d < operand->type->rank && whole != operand->type; d++)
    if (whole->dims[d] != operand->type->dims[d] &&
        (!rule || !may_be_padded(op, rule, index, d) || tsr_op_is(op, TSR_OP_RNG_BIT_GENERATOR)))
      return tsr_fail(UNSUPPORTED,
                      "%s: dimension %d of operand %d, of size %lld, is padded to %lld, and the op "
                      "does not treat its indices one by one",
                      op->name, d, index, (long long)whole->dims[d],
                      (long long)operand->type->dims[d]);
  return NULL;
}

static tsr_status check_operands(tsr_padding *p, const tsr_op *op) {
  const tsr_op_rule *rule = NULL;
  bool padded = false;
  for (int i = 0; i < op->operand_count; i++) padded |= tsr_is_padded(p, tsr_op_operand(op, i));
  if (!padded) return NULL;
  const bool collective = tsr_op_is(op, TSR_OP_SDY_ALL_REDUCE) ||
                          tsr_op_is(op, TSR_OP_SDY_SHARDED_TO_UNREDUCED) ||
                          tsr_op_is(op, TSR_OP_SDY_REPLICATED_TO_UNREDUCED);
  if (collective) return NULL;
  TSR_TRY(rule_of_whole(p, op, &rule));
  for (int i = 0; i < op->operand_count; i++) TSR_TRY(check_operand(p, op, rule, i));
  return NULL;
}

// The larger of two types of one rank, dim by dim.
static tsr_status larger_type(tsr_ir *ir, const tsr_type *a, const tsr_type *b,
                              const tsr_type **out_type) {
  int64_t dims[TSR_MAX_RANK];
  *out_type = b;
  if (a->kind != TSR_TYPE_TENSOR || a->rank != b->rank || b->rank > TSR_MAX_RANK) return NULL;
  for (int d = 0; d < a->rank; d++) dims[d] = a->dims[d] > b->dims[d] ? a->dims[d] : b->dims[d];
  *out_type = tsr_type_tensor(ir, b->element, b->rank, dims, b->encoding);
  TSR_NEED(*out_type);
  return NULL;
}

// Ops whose result types follow from operands and shardings.
static tsr_status pad_op(tsr_padding *p, tsr_op *op) {
  tsr_inferred inferred = {.count = -1};
  TSR_TRY(check_operands(p, op));
  tsr_status unknown = tsr_infer_op(p->ir, op, &inferred);
  if (unknown) inferred.count = -1;
  tsr_status_free(unknown);
  for (int i = 0; i < op->result_count; i++) {
    tsr_value *result = tsr_op_result(op, i);
    const tsr_type *even = NULL;
    if (result->type->kind != TSR_TYPE_TENSOR) continue;
    TSR_TRY(tsr_padding_even(p, result, result->type, &even));
    if (i < inferred.count) TSR_TRY(larger_type(p->ir, inferred.types[i], even, &even));
    if (even != result->type) TSR_TRY(tsr_padding_set(p, result, even, false));
  }
  TSR_TRY_NOTE(tsr_verify_op(p->ir, op), "after its dimensions were padded");
  return NULL;
}

// ---- collectives ----

// Pads the operand for the shards of the result.
static tsr_status pad_collective(tsr_padding *p, tsr_op *op) {
  const tsr_tensor_sharding *out = NULL;
  const tsr_type *even = NULL;
  tsr_value *input = tsr_op_operand(op, 0);
  TSR_TRY(tsr_cut_of_attr(&p->scratch, p->ir, op, tsr_op_attr(op, "out_sharding"), &out));
  TSR_TRY(tsr_even_type(p->ir, input->type, out, &even));
  bool zeros = tsr_padding_is_zeros(p, input);
  if (even != input->type) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_sharding_get(p->ir, input, &sharding));
    tsr_site site = tsr_padding_site(p, op);
    tsr_value *zero = tsr_site_zeros(&site, tsr_site_scalar(&site, even));
    tsr_value *made = tsr_site_pad_end(&site, input, zero, even);
    made = tsr_site_shard(&site, made, sharding);
    if (site.failure) return site.failure;
    TSR_NEED(made);
    zeros = zeros || !tsr_is_padded(p, input);
    TSR_TRY(tsr_padding_record(p, made, tsr_padding_whole(p, input), zeros));
    tsr_op_set_operand(op, 0, made);
  }
  return tsr_padding_set(p, tsr_op_result(op, 0), even, zeros);
}

// Cuts the padding of some dims of an op's result off, for all its users.
static tsr_status trim(tsr_padding *p, tsr_op *op, const tsr_type *whole, const bool *trimmed,
                       bool zeros) {
  tsr_value *result = tsr_op_result(op, 0);
  int64_t limits[TSR_MAX_RANK];
  bool any = false;
  for (int d = 0; d < whole->rank; d++) {
    const bool cut = trimmed[d] && result->type->dims[d] > whole->dims[d];
    limits[d] = cut ? whole->dims[d] : result->type->dims[d];
    any |= cut;
  }
  if (!any) return NULL;
  const tsr_attr *sharding = NULL;
  TSR_TRY(tsr_sharding_get(p->ir, result, &sharding));
  tsr_site site = {.ir = p->ir, .place = op->next ? op->next : op};
  if (!op->next) site.block = op->block;
  tsr_value *made = tsr_site_slice(&site, result, NULL, limits);
  made = tsr_site_shard(&site, made, sharding);
  if (site.failure) return site.failure;
  TSR_NEED(made);
  tsr_uses_move(result, made, made->def);
  made->def->mark = 1;  // the walk comes to it next
  return tsr_padding_record(p, made, tsr_padding_whole(p, result), zeros);
}

static tsr_status pad_all_gather(tsr_padding *p, tsr_op *op) {
  bool trimmed[TSR_MAX_RANK] = {false};
  const tsr_value *input = tsr_op_operand(op, 0);
  const tsr_type *whole = tsr_op_result(op, 0)->type, *even = NULL;
  const tsr_attr *lists =
      tsr_attr_field(tsr_op_attr(op, "gathering_axes"), TSR_SDY_AXIS_LISTS_LISTS);
  const bool zeros = tsr_padding_is_zeros(p, input);
  TSR_TRY(tsr_padding_even(p, tsr_op_result(op, 0), whole, &even));
  TSR_TRY(larger_type(p->ir, input->type, even, &even));
  if (even != whole) TSR_TRY(tsr_padding_set(p, tsr_op_result(op, 0), even, zeros));
  for (int64_t d = 0; d < lists->count; d++)
    trimmed[d] = tsr_attr_field(lists->items[d], TSR_SDY_AXIS_LIST_AXES)->count > 0;
  return trim(p, op, whole, trimmed, zeros);
}

static tsr_status pad_all_to_all(tsr_padding *p, tsr_op *op) {
  bool trimmed[TSR_MAX_RANK] = {false};
  const tsr_value *input = tsr_op_operand(op, 0);
  const tsr_type *whole = tsr_padding_whole(p, input);
  const bool zeros = tsr_padding_is_zeros(p, input);
  const tsr_attr *params = tsr_attr_field(tsr_op_attr(op, "params"), TSR_SDY_ALL_TO_ALLS_PARAMS);
  TSR_TRY(pad_collective(p, op));
  for (int64_t i = 0; i < params->count; i++)
    trimmed[tsr_attr_field(params->items[i], TSR_SDY_ALL_TO_ALL_SOURCE)->integer] = true;
  return trim(p, op, whole, trimmed, zeros);
}

// ---- single ops ----

// Whether a slice of a sharded dim takes what each device has already.
static bool stays_in_place(const tsr_padding *p, const tsr_op *op, int dim, int64_t count) {
  const int64_t whole = tsr_padding_whole(p, tsr_op_operand(op, 0))->dims[dim];
  const int64_t size = tsr_op_result(op, 0)->type->dims[dim];
  return count <= 1 || (tsr_attr_int_at(tsr_op_attr(op, "start_indices"), dim) == 0 &&
                        tsr_attr_int_at(tsr_op_attr(op, "strides"), dim) == 1 &&
                        tsr_even_size(whole, count) == tsr_even_size(size, count));
}

static tsr_status pad_slice(tsr_padding *p, tsr_op *op) {
  int64_t limits[TSR_MAX_RANK];
  const tsr_tensor_sharding *cut = NULL;
  tsr_value *result = tsr_op_result(op, 0);
  const tsr_type *even = NULL;
  TSR_TRY(tsr_cut_of_value(&p->scratch, p->ir, tsr_op_operand(op, 0), &cut));
  TSR_TRY(tsr_padding_even(p, result, result->type, &even));
  for (int d = 0; d < even->rank; d++) {
    const bool grows = even->dims[d] != result->type->dims[d];
    limits[d] = tsr_attr_int_at(tsr_op_attr(op, "limit_indices"), d);
    if (!grows) continue;
    if (!stays_in_place(p, op, d, cut ? tsr_cut_count(cut, d) : 1))
      return tsr_fail(UNSUPPORTED,
                      "stablehlo.slice: dimension %d is cut, and its elements change their device",
                      d);
    limits[d] = even->dims[d];
  }
  TSR_TRY(tsr_padding_ints(p, op, "limit_indices", limits, even->rank));
  if (even != result->type) TSR_TRY(tsr_padding_set(p, result, even, false));
  TSR_TRY_NOTE(tsr_verify_op(p->ir, op), "after its dimensions were padded");
  return NULL;
}

static tsr_status pad_pad(tsr_padding *p, tsr_op *op) {
  int64_t high[TSR_MAX_RANK];
  tsr_value *result = tsr_op_result(op, 0);
  const tsr_type *input = tsr_operand_type(op, 0), *even = NULL;
  bool reduced = false;
  TSR_TRY(tsr_padding_even(p, result, result->type, &even));
  for (int d = 0; d < even->rank; d++) {
    const int64_t size = input->dims[d];
    const int64_t gaps = tsr_attr_int_at(tsr_op_attr(op, "interior_padding"), d);
    high[d] = even->dims[d] - size - tsr_attr_int_at(tsr_op_attr(op, "edge_padding_low"), d) -
              tsr_saturated_multiply(size > 0 ? size - 1 : 0, gaps);
    reduced |= high[d] < tsr_attr_int_at(tsr_op_attr(op, "edge_padding_high"), d);
  }
  // Padding of the operand takes the place of the op's own.
  if (reduced) TSR_TRY(tsr_padding_mask(p, op, 0, tsr_op_operand(op, 1), NULL, false));
  TSR_TRY(tsr_padding_ints(p, op, "edge_padding_high", high, even->rank));
  if (even != result->type) TSR_TRY(tsr_padding_set(p, result, even, false));
  return NULL;
}

static tsr_status pad_dot(tsr_padding *p, tsr_op *op) {
  TSR_TRY(tsr_padding_mask_product(p, op));
  return pad_op(p, op);
}

static tsr_status pad_reduce(tsr_padding *p, tsr_op *op) {
  TSR_TRY(tsr_padding_mask_reduction(p, op));
  return pad_op(p, op);
}

static tsr_status pad_convolution(tsr_padding *p, tsr_op *op) {
  bool spatial[TSR_MAX_RANK] = {false};
  const tsr_attr *dims = tsr_op_attr(op, "dimension_numbers");
  tsr_value *result = tsr_op_result(op, 0);
  const tsr_type *even = NULL;
  tsr_inferred inferred = {.count = -1};
  TSR_TRY(tsr_padding_mask_zeros(p, op, 0, tsr_attr_field(dims, TSR_CONV_INPUT_SPATIAL),
                                 tsr_attr_field(dims, TSR_CONV_INPUT_FEATURE)));
  TSR_TRY(tsr_padding_mask_zeros(p, op, 1, tsr_attr_field(dims, TSR_CONV_KERNEL_SPATIAL),
                                 tsr_attr_field(dims, TSR_CONV_KERNEL_INPUT_FEATURE)));
  TSR_TRY(check_operands(p, op));
  TSR_TRY(tsr_padding_even(p, result, result->type, &even));
  TSR_TRY_NOTE(tsr_infer_op(p->ir, op, &inferred), "after its dimensions were padded");
  if (inferred.count != 1) return pad_op(p, op);
  const tsr_attr *outputs = tsr_attr_field(dims, TSR_CONV_OUTPUT_SPATIAL);
  for (int64_t i = 0; i < tsr_attr_int_count(outputs); i++) {
    const int64_t d = tsr_attr_int_at(outputs, i);
    spatial[d] = true;
    if (inferred.types[0]->dims[d] < even->dims[d])
      return tsr_fail(
          UNSUPPORTED,
          "stablehlo.convolution: spatial dimension %lld has %lld results of its padded "
          "operands, expected at least %lld",
          (long long)d, (long long)inferred.types[0]->dims[d], (long long)even->dims[d]);
  }
  if (inferred.types[0] != result->type)
    TSR_TRY(tsr_padding_set(p, result, inferred.types[0], false));
  return trim(p, op, even, spatial, true);
}

// ---- the pass ----

typedef tsr_status pad_fn(tsr_padding *p, tsr_op *op);
static const struct {
  tsr_op_id id;
  pad_fn *pad;
} pad_ops[] = {
    {TSR_OP_SLICE, pad_slice},
    {TSR_OP_PAD, pad_pad},
    {TSR_OP_DOT_GENERAL, pad_dot},
    {TSR_OP_CONVOLUTION, pad_convolution},
    {TSR_OP_REDUCE, pad_reduce},
    {TSR_OP_CONSTANT, tsr_padding_constant},
    {TSR_OP_SDY_CONSTANT, tsr_padding_constant},
    {TSR_OP_SDY_ALL_GATHER, pad_all_gather},
    {TSR_OP_SDY_ALL_TO_ALL, pad_all_to_all},
    {TSR_OP_SDY_ALL_REDUCE, pad_op},
    {TSR_OP_SDY_SHARDED_TO_UNREDUCED, pad_op},
    {TSR_OP_SDY_REPLICATED_TO_UNREDUCED, pad_op},
};

static pad_fn *pad_fn_of(const tsr_op *op) {
  for (size_t i = 0; i < sizeof pad_ops / sizeof *pad_ops; i++)
    if (tsr_op_is(op, pad_ops[i].id)) return pad_ops[i].pad;
  return strncmp(op->name, "stablehlo.", 10) && strncmp(op->name, "chlo.", 5) ? NULL : pad_op;
}

static tsr_status check_func(tsr_padding *p, const tsr_op *func) {
  const tsr_ir_block *body = tsr_func_body(func);
  const tsr_type *type = tsr_func_type(func);
  for (int i = 0; body && i < body->arg_count; i++) {
    bool even = true;
    TSR_TRY(is_even(p, body->args[i], &even));
    if (!even)
      return tsr_fail(CONSTRAINT, "function \"%s\": the axes of argument %d do not divide it",
                      tsr_op_symbol(func), i);
  }
  for (int i = 0; i < type->count - type->input_count; i++) {
    const tsr_tensor_sharding *cut = NULL;
    const tsr_type *result = type->types[type->input_count + i], *even = NULL;
    TSR_TRY(tsr_cut_of_attr(&p->scratch, p->ir, func, tsr_func_result_sharding(func, i), &cut));
    TSR_TRY(tsr_even_type(p->ir, result, cut, &even));
    if (even != result)
      return tsr_fail(CONSTRAINT, "function \"%s\": the axes of result %d do not divide it",
                      tsr_op_symbol(func), i);
  }
  return NULL;
}

// An op that is not changed must not see a padded value.
static tsr_status check_untouched(const tsr_padding *p, const tsr_op *op) {
  for (int i = 0; i < op->operand_count; i++)
    if (tsr_is_padded(p, tsr_op_operand(op, i)))
      return tsr_fail(UNSUPPORTED, "%s: operand %d has padded dimensions", op->name, i);
  return NULL;
}

static tsr_status visit(tsr_op *op, void *context) {
  tsr_padding *p = context;
  if (op->mark) return NULL;
  tsr_arena_reset(&p->scratch);
  if (tsr_op_is(op, TSR_OP_FUNC)) return check_func(p, op);
  if (tsr_op_is(op, TSR_OP_SDY_ALL_SLICE) || tsr_op_is(op, TSR_OP_SDY_REDUCE_SCATTER)) {
    const tsr_tensor_sharding *out = NULL;
    const tsr_type *whole = tsr_padding_whole(p, tsr_op_operand(op, 0)), *even = NULL;
    TSR_TRY(tsr_cut_of_attr(&p->scratch, p->ir, op, tsr_op_attr(op, "out_sharding"), &out));
    TSR_TRY(tsr_even_type(p->ir, whole, out, &even));
    return even == whole ? check_untouched(p, op) : pad_collective(p, op);
  }
  bool even = true;
  pad_fn *pad = pad_fn_of(op);
  if (!pad) return check_untouched(p, op);
  TSR_TRY(all_even(p, op, &even));
  return even ? check_untouched(p, op) : pad(p, op);
}

tsr_status tsr_pass_pad_for_divisibility(tsr_ir *ir, const tsr_pass_options *options,
                                         int64_t *changes) {
  tsr_padding p = {.ir = ir, .changes = changes};
  (void)options;
  tsr_block_marks_clear(ir->module->regions[0].first);
  tsr_status status = tsr_op_walk(ir->module, visit, &p);
  tsr_padding_end(&p);
  return status;
}
