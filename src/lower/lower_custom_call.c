// Custom calls, by the name of their target. Some are other ops in disguise: those are made, put in
// the place of the call and lowered; the result of the call is a view of theirs.
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "lower/custom_calls.h"
#include "lower/lower_check.h"

static const struct {
  const char *target;
  tsr_lower_fn *lower;
} targets[] = {
#define CUSTOM_CALL(target, function) {target, tsr_call_##function},
#include "lower/custom_calls.def"
#undef CUSTOM_CALL
};

static const char *target_of(const tsr_op *op) {
  const tsr_attr *target = tsr_op_attr(op, "call_target_name");
  return target ? target->bytes : "";
}

const char *tsr_call_title(tsr_lowering *lowering, const tsr_op *op) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "@%s", target_of(op));
  if (op->line) tsr_text_addf(&text, " at line %u", op->line);
  const char *string = tsr_text_string(&text);
  const char *kept = tsr_arena_copy(&lowering->schedule->arena, string, strlen(string));
  tsr_text_deinit(&text);
  return kept ? kept : target_of(op);
}

const tsr_attr *tsr_call_config(const tsr_op *op, const char *name) {
  static const char *const places[] = {"mhlo.backend_config", "backend_config", "mhlo.attributes"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const tsr_attr *dict = tsr_op_attr(op, places[i]);
    if (!dict || dict->kind != TSR_ATTR_DICT) continue;
    const tsr_attr *found = tsr_dict_find(dict, name);
    if (found) return found;
  }
  return NULL;
}

tsr_status tsr_lower_custom_call(tsr_lowering *lowering, tsr_op *op) {
  const char *target = target_of(op);
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (!strcmp(targets[i].target, target)) return targets[i].lower(lowering, op);
  if (tsr_call_is_lapack(op)) return tsr_call_lapack(lowering, op);
  tsr_suggestion near = tsr_suggestion_for(target);
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    tsr_suggestion_offer(&near, targets[i].target);
  for (int i = 0; tsr_call_lapack_name(i); i++)
    tsr_suggestion_offer(&near, tsr_call_lapack_name(i));
  return tsr_fail(UNSUPPORTED, "%s: target \"%s\" is unknown" TSR_DID_YOU_MEAN,
                  tsr_op_title(lowering, op), target, TSR_SUGGESTED(near));
}

// ---- counts of operands and results, which the verifier leaves open ----

static tsr_status check_counts(tsr_lowering *lowering, const tsr_op *op, int operands,
                               int results) {
  if (op->operand_count >= operands && op->result_count == results) return NULL;
  return tsr_fail(CONSTRAINT, "%s: %d operands and %d results, expected %d and %d",
                  tsr_call_title(lowering, op), op->operand_count, op->result_count, operands,
                  results);
}

// ---- checks ----

static tsr_status lower_check(tsr_lowering *lowering, tsr_op *op, tsr_check_values check) {
  if (op->operand_count < 2)
    return tsr_fail(CONSTRAINT, "%s: %d operands, expected 2", tsr_call_title(lowering, op),
                    op->operand_count);
  return tsr_lower_comparison(lowering, op, tsr_op_operand(op, 1), check);
}

tsr_status tsr_call_check_equal(tsr_lowering *lowering, tsr_op *op) {
  return lower_check(lowering, op, (tsr_check_values){.rule = TSR_CHECK_EQUAL});
}

tsr_status tsr_call_check_almost(tsr_lowering *lowering, tsr_op *op) {
  return lower_check(lowering, op, (tsr_check_values){.rule = TSR_CHECK_ALMOST, .tolerance = 1e-3});
}

tsr_status tsr_call_check_close(tsr_lowering *lowering, tsr_op *op) {
  return lower_check(lowering, op, (tsr_check_values){.rule = TSR_CHECK_CLOSE, .most_ulp = 3});
}

tsr_status tsr_call_check_gives(tsr_lowering *lowering, tsr_op *op) {
  return lower_check(lowering, op, (tsr_check_values){.rule = TSR_CHECK_ALMOST, .tolerance = 1e-4});
}

// ---- notes ----

tsr_status tsr_call_same_value(tsr_lowering *lowering, tsr_op *op) {
  TSR_TRY(check_counts(lowering, op, 1, op->result_count));
  for (int i = 0; i < op->result_count; i++) {
    tsr_value *operand = i < op->operand_count ? tsr_op_operand(op, i) : NULL;
    if (!operand || operand->type != op->results[i].type)
      return tsr_fail(UNSUPPORTED, "%s: it changes the shape of a value of one device",
                      tsr_call_title(lowering, op));
    TSR_TRY(tsr_slot_view(lowering, tsr_op_result(op, i), operand, 0));
  }
  return NULL;
}

tsr_status tsr_call_no_value(tsr_lowering *lowering, tsr_op *op) {
  return check_counts(lowering, op, 0, 0);
}

// ---- other ops ----

static tsr_status name_of(tsr_lowering *lowering, const char *name, const char **out_name) {
  *out_name = tsr_ir_name(lowering->ir, name, strlen(name));
  TSR_NEED(*out_name);
  return NULL;
}

static tsr_status lower_instead(tsr_lowering *lowering, tsr_op *call, tsr_op *op) {
  TSR_NEED(op);
  tsr_op_insert_before(call, op);
  TSR_TRY_NOTE(tsr_lower_made(lowering, op), "%s", tsr_call_title(lowering, call));
  return NULL;
}

// The results of the call are those of `op`.
static tsr_status take_results(tsr_lowering *lowering, tsr_op *call, tsr_op *op) {
  for (int i = 0; i < call->result_count; i++)
    TSR_TRY(tsr_slot_view(lowering, tsr_op_result(call, i), tsr_op_result(op, i), 0));
  return NULL;
}

tsr_status tsr_call_chlo(tsr_lowering *lowering, tsr_op *op) {
  TSR_TRY(check_counts(lowering, op, 1, 1));
  tsr_text name = TSR_TEXT_EMPTY;
  tsr_text_addf(&name, "chlo.%s", target_of(op) + strlen("mhlo."));
  const char *string = tsr_text_string(&name);
  const tsr_op_info *info = tsr_op_find(string, strlen(string));
  tsr_text_deinit(&name);
  if (!info || tsr_operand_type(op, 0) != op->results[0].type)
    return tsr_fail(UNSUPPORTED, "%s: it does not run", tsr_call_title(lowering, op));
  tsr_value *operand = tsr_op_operand(op, 0);
  tsr_op *made = tsr_op_create(lowering->ir, &(tsr_op_parts){.id = info->id,
                                                             .operand_count = 1,
                                                             .operands = &operand,
                                                             .result_count = 1,
                                                             .result_types = &op->results[0].type,
                                                             .location = op->location});
  TSR_TRY(lower_instead(lowering, op, made));
  return take_results(lowering, op, made);
}

// Whether the results are the k largest elements of the last dim and their places.
static bool are_top_k(const tsr_op *op, int64_t k) {
  const tsr_type *from = tsr_operand_type(op, 0);
  bool fits = tsr_type_runs(from) && from->rank > 0 && k >= 0 && k <= from->dims[from->rank - 1];
  for (int i = 0; i < 2 && fits; i++) {
    const tsr_type *to = op->results[i].type;
    fits = tsr_type_runs(to) && to->rank == from->rank &&
           to->dtype == (i ? TSR_I32 : from->dtype) && to->dims[to->rank - 1] == k;
    for (int d = 0; d < from->rank - 1 && fits; d++) fits = to->dims[d] == from->dims[d];
  }
  return fits;
}

tsr_status tsr_call_top_k(tsr_lowering *lowering, tsr_op *op) {
  TSR_TRY(check_counts(lowering, op, 1, 2));
  const tsr_attr *k = tsr_call_config(op, "k"), *largest = tsr_call_config(op, "largest");
  if (!k || k->kind != TSR_ATTR_INTEGER || !are_top_k(op, k->integer) ||
      (largest && largest->kind == TSR_ATTR_INTEGER && !largest->integer))
    return tsr_fail(UNSUPPORTED, "%s: it must take the k largest elements",
                    tsr_call_title(lowering, op));
  const char *name = NULL;
  TSR_TRY(name_of(lowering, "k", &name));
  const tsr_type *types[] = {op->results[0].type, op->results[1].type};
  tsr_value *operand = tsr_op_operand(op, 0);
  tsr_op *made = tsr_op_create(lowering->ir, &(tsr_op_parts){.id = TSR_OP_CHLO_TOP_K,
                                                             .operand_count = 1,
                                                             .operands = &operand,
                                                             .result_count = 2,
                                                             .result_types = types,
                                                             .attr_count = 1,
                                                             .attrs = &(tsr_named_attr){name, k},
                                                             .location = op->location});
  TSR_TRY(lower_instead(lowering, op, made));
  return take_results(lowering, op, made);
}

// ---- ApproxTopK: sorted by its comparator, then cut ----

// Puts the body of a function in a region, with the same arguments.
static tsr_status copy_body(tsr_lowering *lowering, const tsr_op *function, tsr_op *op) {
  const tsr_ir_block *from = tsr_func_body(function);
  tsr_ir_block *to = tsr_block_append(lowering->ir, &op->regions[0]);
  tsr_value_map *map = tsr_value_map_create();
  bool made = to && map && from;
  for (int i = 0; made && i < from->arg_count; i++) {
    tsr_value *argument = tsr_block_add_arg(lowering->ir, to, from->args[i]->type, NULL);
    made = argument && tsr_value_map_add(map, from->args[i], argument);
  }
  const tsr_op *end = made ? tsr_block_terminator(from) : NULL;
  for (const tsr_op *next = made ? from->first : NULL; next && next != end && made;
       next = next->next) {
    tsr_op *copy = tsr_op_clone(lowering->ir, next, map);
    made = copy;
    if (copy) tsr_op_append(to, copy);
  }
  tsr_value *result = end && end->operand_count ? tsr_op_operand(end, 0) : NULL;
  if (result && map && tsr_value_map_find(map, result)) result = tsr_value_map_find(map, result);
  tsr_op *finish = made && result
                       ? tsr_op_create(lowering->ir, &(tsr_op_parts){.id = TSR_OP_RETURN,
                                                                     .operand_count = 1,
                                                                     .operands = &result})
                       : NULL;
  if (finish) tsr_op_append(to, finish);
  tsr_value_map_destroy(map);
  TSR_NEED(finish);
  return NULL;
}

// The sort of the first `count` operands of the call by its comparator.
static tsr_status sorted(tsr_lowering *lowering, tsr_op *op, int count, int64_t dim,
                         tsr_op **out_sort) {
  const tsr_attr *called = tsr_op_attr(op, "called_computations");
  const tsr_attr *symbol = called && called->count ? called->items[0] : NULL;
  const tsr_op *function = symbol ? tsr_ir_find_symbol(lowering->ir, symbol->bytes) : NULL;
  const tsr_ir_block *body = function ? tsr_func_body(function) : NULL;
  bool fits = body && body->arg_count == 2 * count;
  for (int i = 0; i < 2 * count && fits; i++)
    fits = body->args[i]->type->kind == TSR_TYPE_TENSOR && body->args[i]->type->rank == 0 &&
           body->args[i]->type->dtype == tsr_operand_type(op, i / 2)->dtype;
  if (!fits) return tsr_fail(UNSUPPORTED, "%s: it has no comparator", tsr_call_title(lowering, op));
  const char *dimension = NULL, *stable = NULL;
  TSR_TRY(name_of(lowering, "dimension", &dimension));
  TSR_TRY(name_of(lowering, "is_stable", &stable));
  const tsr_named_attr attrs[] = {{dimension, tsr_attr_i64(lowering->ir, dim)},
                                  {stable, tsr_attr_bool(lowering->ir, true)}};
  TSR_NEED(attrs[0].attr && attrs[1].attr);
  tsr_value **operands = tsr_lower_alloc(lowering, count, sizeof *operands);
  const tsr_type **types = tsr_lower_alloc(lowering, count, sizeof *types);
  TSR_NEED(operands && types ? operands : NULL);
  for (int i = 0; i < count; i++) operands[i] = tsr_op_operand(op, i);
  for (int i = 0; i < count; i++) types[i] = operands[i]->type;
  tsr_op *sort = tsr_op_create(lowering->ir, &(tsr_op_parts){.id = TSR_OP_SORT,
                                                             .operand_count = count,
                                                             .operands = operands,
                                                             .result_count = count,
                                                             .result_types = types,
                                                             .region_count = 1,
                                                             .attr_count = 2,
                                                             .attrs = attrs,
                                                             .location = op->location});
  TSR_NEED(sort);
  TSR_TRY(copy_body(lowering, function, sort));
  TSR_TRY(lower_instead(lowering, op, sort));
  *out_sort = sort;
  return NULL;
}

// The first elements of a value: as many as `type` has.
static tsr_status cut(tsr_lowering *lowering, tsr_op *place, tsr_value *value, const tsr_type *type,
                      tsr_op **out_slice) {
  static const char *const names[] = {"limit_indices", "start_indices", "strides"};
  int64_t zeros[TSR_MAX_RANK] = {0}, ones[TSR_MAX_RANK];
  for (int i = 0; i < TSR_MAX_RANK; i++) ones[i] = 1;
  const int64_t *const lists[] = {type->dims, zeros, ones};
  tsr_named_attr attrs[3];
  for (int i = 0; i < 3; i++) {
    TSR_TRY(name_of(lowering, names[i], &attrs[i].name));
    attrs[i].attr = tsr_attr_ints(lowering->ir, lists[i], type->rank);
    TSR_NEED(attrs[i].attr);
  }
  *out_slice = tsr_op_create(lowering->ir, &(tsr_op_parts){.id = TSR_OP_SLICE,
                                                           .operand_count = 1,
                                                           .operands = &value,
                                                           .result_count = 1,
                                                           .result_types = &type,
                                                           .attr_count = 3,
                                                           .attrs = attrs,
                                                           .location = place->location});
  return lower_instead(lowering, place, *out_slice);
}

// The result is exact: the recall that a program asks for is a lower bound.
tsr_status tsr_call_approximate_top_k(tsr_lowering *lowering, tsr_op *op) {
  const int count = op->result_count;
  TSR_TRY(check_counts(lowering, op, 2 * count, count));
  const tsr_attr *dim = tsr_call_config(op, "reduction_dim");
  const tsr_type *type = tsr_operand_type(op, 0);
  bool fits = dim && dim->kind == TSR_ATTR_INTEGER && dim->integer >= 0 && count > 0 &&
              tsr_type_runs(type) && type->rank <= TSR_MAX_RANK && dim->integer < type->rank;
  for (int i = 0; i < count && fits; i++) {
    const tsr_type *from = tsr_operand_type(op, i), *to = op->results[i].type;
    fits = tsr_type_runs(from) && tsr_type_runs(to) && from->rank == type->rank &&
           to->rank == type->rank && from->dtype == to->dtype;
    for (int d = 0; d < type->rank && fits; d++)
      fits = from->dims[d] == type->dims[d] && to->dims[d] <= from->dims[d];
  }
  if (!fits)
    return tsr_fail(UNSUPPORTED, "%s: its results are not a part of its operands",
                    tsr_call_title(lowering, op));
  tsr_op *sort = NULL;
  TSR_TRY(sorted(lowering, op, count, dim->integer, &sort));
  for (int i = 0; i < count; i++) {
    tsr_op *slice = NULL;
    TSR_TRY(cut(lowering, op, tsr_op_result(sort, i), op->results[i].type, &slice));
    TSR_TRY(tsr_slot_view(lowering, tsr_op_result(op, i), tsr_op_result(slice, 0), 0));
  }
  return NULL;
}
