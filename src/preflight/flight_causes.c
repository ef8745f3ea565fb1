// Why a value changes its sharding, in a sentence: which op asks for it, and what stands against
// the sharding that the value has.
#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "preflight/flight_advice.h"
#include "syntax/syntax.h"

// ---- who asks ----

static bool has_op_between(const tsr_op *from, const tsr_op *to) {
  for (const tsr_op *op = from->next; op; op = op->next) {
    if (op == to) return false;
    if (!tsr_flight_is_collective(op)) return true;
  }
  return true;
}

// The first op that uses the value after the reshard; NULL if nothing does.
static const tsr_use *first_use(const tsr_preflight *flight, const tsr_flight_reshard *reshard) {
  const tsr_op *last = flight->ops[reshard->last].op;
  const tsr_use *found = NULL;
  for (int i = 0; i < last->result_count; i++)
    for (const tsr_use *use = tsr_op_result(last, i)->uses; use; use = use->next)
      if (use->user->mark && (!found || use->user->mark < found->user->mark)) found = use;
  return found;
}

static bool sums_parts(const tsr_op *op) {
  return op->info->id == TSR_OP_SDY_ALL_REDUCE || op->info->id == TSR_OP_SDY_REDUCE_SCATTER;
}

// A constraint becomes a reshard, and that collectives, which keep its line.
static bool is_asked(const tsr_preflight *flight, const tsr_op *op) {
  const tsr_flight_origin *origin = tsr_flight_origin_of(flight, op);
  return origin &&
         (!strcmp(origin->op, "sdy.sharding_constraint") || !strcmp(origin->op, "sdy.reshard") ||
          !strcmp(origin->op, "stablehlo.custom_call"));
}

// A collective of a manual computation.
static bool is_written(tsr_op_id id) { return id >= TSR_OP_ALL_GATHER && id <= TSR_OP_SEND; }

static tsr_flight_cause cause_of_user(const tsr_op *user) {
  switch (user->info->id) {
    case TSR_OP_FUNC_RETURN:
      return TSR_FLIGHT_RETURN;
    case TSR_OP_WHILE:
    case TSR_OP_RETURN:
      return TSR_FLIGHT_LOOP;
    case TSR_OP_CALL:
      return TSR_FLIGHT_CALL;
    default:
      return TSR_FLIGHT_OPERAND;
  }
}

static tsr_flight_cause find_cause(const tsr_preflight *flight, const tsr_flight_reshard *reshard,
                                   const tsr_use *use) {
  const tsr_op *first = flight->ops[reshard->first].op, *last = flight->ops[reshard->last].op;
  const tsr_op *def = flight->values[reshard->source].value->def;
  if (!tsr_flight_is_collective(first))
    return is_written(first->info->id) ? TSR_FLIGHT_MANUAL : TSR_FLIGHT_BORDER;
  if (sums_parts(first)) return TSR_FLIGHT_PARTIAL;
  if (is_asked(flight, first)) return TSR_FLIGHT_ASKED;
  if (!use) return TSR_FLIGHT_RESULT;
  const bool before_user = use->user->block == last->block && !has_op_between(last, use->user);
  const bool after_def = def && def->block == first->block && !has_op_between(def, first);
  if (after_def && !before_user) return TSR_FLIGHT_RESULT;
  return cause_of_user(use->user);
}

// ---- the reason within an op ----

static const tsr_tensor_sharding *tensor_sharding(const tsr_preflight *flight, const tsr_op *op,
                                                  const tsr_op_rule *rule, int tensor) {
  const tsr_value *value = tensor < rule->operand_count
                               ? tsr_op_operand(op, tensor)
                               : tsr_op_result(op, tensor - rule->operand_count);
  return value->mark ? tsr_flight_value_of(flight, value)->sharding : NULL;
}

static bool has_axis(const tsr_tensor_sharding *sharding, int dim, const tsr_sdy_part *axis) {
  if (!sharding || dim >= sharding->rank) return false;
  const tsr_sdy_parts *axes = &sharding->dims[dim].axes;
  for (int64_t i = 0; i < axes->count; i++)
    if (tsr_sdy_overlap(&axes->items[i], axis)) return true;
  return false;
}

// The first axis of a dim that `have` has and `need` has not.
static const tsr_sdy_part *missing_axis(const tsr_tensor_sharding *have,
                                        const tsr_tensor_sharding *need, int dim) {
  if (!have || dim >= have->rank) return NULL;
  for (int64_t i = 0; i < have->dims[dim].axes.count; i++)
    if (!has_axis(need, dim, &have->dims[dim].axes.items[i])) return &have->dims[dim].axes.items[i];
  return NULL;
}

// A dim of another tensor of the op that is cut by the axis: on the same factor, or on another one.
static int find_place(const tsr_preflight *flight, const tsr_op *op, const tsr_op_rule *rule,
                      int tensor, int factor, const tsr_sdy_part *axis, bool same_factor) {
  for (int i = 0; i < rule->place_count; i++) {
    const tsr_rule_place *place = &rule->places[i];
    if (place->tensor == tensor || (place->factor == factor) != same_factor) continue;
    if (has_axis(tensor_sharding(flight, op, rule, place->tensor), place->dim, axis)) return i;
  }
  return -1;
}

static void add_tensor(const tsr_preflight *flight, const tsr_op *op, const tsr_op_rule *rule,
                       int tensor, tsr_text *out) {
  if (tensor < rule->operand_count)
    tsr_flight_name(flight, tsr_op_operand(op, tensor), out);
  else
    tsr_text_add(out, "its result");
}

static void add_axis(const tsr_attr *mesh, const tsr_sdy_part *axis, tsr_text *out) {
  tsr_sdy_part copy = *axis;
  tsr_flight_print_axes(mesh, &(tsr_sdy_parts){&copy, 1}, out);
}

// "sort needs dim 0 whole", "add needs model for dim 1 of %3": an axis that the op cannot leave
// where the value has it, or should have it.
static bool add_lost(const tsr_preflight *flight, const tsr_flight_ask *ask, int dim,
                     const tsr_sdy_part *axis, tsr_text *out) {
  const tsr_op_rule *rule = ask->rule;
  const int factor = rule->places[tsr_rule_dim(rule, ask->tensor, dim)].factor;
  if (rule->factors[factor].kind == TSR_FACTOR_NEED_REPLICATION) {
    tsr_flight_name_op(flight, ask->op, out);
    tsr_text_addf(out, " needs dim %d whole, which is cut by ", dim);
    add_axis(ask->have->mesh, axis, out);
    return true;
  }
  const int at = find_place(flight, ask->op, rule, ask->tensor, factor, axis, false);
  if (at < 0) return false;
  tsr_flight_name_op(flight, ask->op, out);
  tsr_text_add(out, " needs ");
  add_axis(ask->have->mesh, axis, out);
  tsr_text_addf(out, ", which cuts dim %d here, for dim %d of ", dim, rule->places[at].dim);
  add_tensor(flight, ask->op, rule, rule->places[at].tensor, out);
  return true;
}

// "add takes it cut by model, as dim 0 of %3 is".
static bool add_won(const tsr_preflight *flight, const tsr_flight_ask *ask, int dim,
                    const tsr_sdy_part *axis, tsr_text *out) {
  const tsr_op_rule *rule = ask->rule;
  const int factor = rule->places[tsr_rule_dim(rule, ask->tensor, dim)].factor;
  const int at = find_place(flight, ask->op, rule, ask->tensor, factor, axis, true);
  if (at < 0) return false;
  tsr_flight_name_op(flight, ask->op, out);
  tsr_text_addf(out, " takes dim %d cut by ", dim);
  add_axis(ask->need->mesh, axis, out);
  tsr_text_addf(out, ", as dim %d of ", rule->places[at].dim);
  add_tensor(flight, ask->op, rule, rule->places[at].tensor, out);
  tsr_text_add(out, " is");
  return true;
}

// Why the op works on `need` where the value is, or should be, as in `have`.
static bool add_reason(const tsr_preflight *flight, const tsr_flight_ask *ask, tsr_text *out) {
  const int rank = ask->rule ? tsr_rule_rank(ask->rule, ask->tensor) : 0;
  for (int dim = 0; dim < rank; dim++) {
    const tsr_sdy_part *lost = missing_axis(ask->have, ask->need, dim);
    if (lost && add_lost(flight, ask, dim, lost, out)) return true;
  }
  for (int dim = 0; dim < rank; dim++) {
    const tsr_sdy_part *won = missing_axis(ask->need, ask->have, dim);
    if (won && add_won(flight, ask, dim, won, out)) return true;
  }
  return false;
}

// ---- sentences ----

static void add_sharding(const tsr_tensor_sharding *sharding, int rank, tsr_text *out) {
  tsr_flight_print_sharding(sharding, rank, out);
}

// The dims of operands that an op sums over, and that are cut.
static void say_partial(const tsr_preflight *flight, const tsr_flight_ask *ask, tsr_text *out) {
  const tsr_op_rule *rule = ask->rule;
  const tsr_tensor_sharding *cut = NULL;
  int dim = 0;
  if (!ask->op) {
    tsr_text_add(out, "the value is a sum of parts, one on each device");
    return;
  }
  tsr_flight_name_op(flight, ask->op, out);
  tsr_text_add(out, " sums over ");
  for (int i = 0; rule && i < rule->place_count; i++) {
    const tsr_rule_place *place = &rule->places[i];
    if (place->tensor >= rule->operand_count) break;
    if (rule->factors[place->factor].kind != TSR_FACTOR_REDUCTION) continue;
    const tsr_tensor_sharding *sharding = tensor_sharding(flight, ask->op, rule, place->tensor);
    if (!sharding || !sharding->dims[place->dim].axes.count) continue;
    tsr_text_addf(out, "%sdim %d of ", cut ? " and " : "", place->dim);
    add_tensor(flight, ask->op, rule, place->tensor, out);
    cut = sharding;
    dim = place->dim;
  }
  tsr_text_add(out, cut ? ", cut by " : "dims that are cut");
  if (cut) tsr_flight_print_axes(cut->mesh, &cut->dims[dim].axes, out);
  tsr_text_add(out, ": each device has a part of the sum");
}

static void say_wanted(const tsr_flight_ask *ask, const char *what, tsr_text *out) {
  tsr_text_addf(out, "%s ", what);
  add_sharding(ask->need, ask->rank, out);
}

static void say_border(const tsr_preflight *flight, const tsr_flight_ask *ask, tsr_text *out) {
  tsr_flight_name_op(flight, ask->op, out);
  tsr_text_addf(out, " takes elements of neighbours along dim %d of ", ask->tensor);
  tsr_flight_name(flight, ask->source->value, out);
  tsr_text_add(out, ", cut by ");
  tsr_flight_print_axes(ask->from->mesh, &ask->from->dims[ask->tensor].axes, out);
}

static void say_cause(const tsr_preflight *flight, const tsr_flight_ask *ask, tsr_text *out) {
  switch (ask->cause) {
    case TSR_FLIGHT_PARTIAL:
      say_partial(flight, ask, out);
      return;
    case TSR_FLIGHT_MANUAL:
      tsr_text_add(out, "the program has it in a manual computation (shard_map)");
      return;
    case TSR_FLIGHT_BORDER:
      say_border(flight, ask, out);
      return;
    case TSR_FLIGHT_ASKED:
      say_wanted(ask, "a constraint of the program asks for", out);
      return;
    case TSR_FLIGHT_RETURN:
      tsr_text_addf(out, "result %d of the function is asked as ", ask->tensor);
      add_sharding(ask->need, ask->rank, out);
      return;
    case TSR_FLIGHT_LOOP:
      tsr_text_addf(out, "the loop carries it as number %d, cut as ", ask->tensor);
      add_sharding(ask->need, ask->rank, out);
      return;
    case TSR_FLIGHT_CALL:
      tsr_flight_name_op(flight, ask->op, out);
      tsr_text_addf(out, " takes argument %d as ", ask->tensor);
      add_sharding(ask->need, ask->rank, out);
      return;
    default:
      if (ask->op && add_reason(flight, ask, out)) return;
      if (ask->op) tsr_flight_name_op(flight, ask->op, out);
      say_wanted(ask, ask->cause == TSR_FLIGHT_RESULT ? " makes it as" : " works on it as", out);
  }
}

// ---- the row ----

static tsr_status list_collectives(tsr_preflight *flight, const tsr_flight_reshard *reshard,
                                   int64_t number, const char **out_text) {
  tsr_text text = TSR_TEXT_EMPTY;
  for (int64_t i = reshard->first; i <= reshard->last; i++) {
    const tsr_op *op = flight->ops[i].op;
    if (flight->ops[i].reshard != number) continue;
    if (text.length) tsr_text_add(&text, ", ");
    const bool border = reshard->cause == TSR_FLIGHT_BORDER;
    for (const char *at = border ? "collective-permute" : tsr_flight_op_word(op); *at; at++)
      tsr_text_add_char(&text, *at == '_' ? '-' : *at);
  }
  return tsr_flight_keep(flight, &text, out_text);
}

static tsr_status fill_ask(tsr_preflight *flight, tsr_arena *arena,
                           const tsr_flight_reshard *reshard, tsr_flight_ask *out) {
  const tsr_flight_value *source = &flight->values[reshard->source];
  const tsr_op *last = flight->ops[reshard->last].op;
  const tsr_use *use = first_use(flight, reshard);
  const tsr_tensor_sharding *from = source->sharding;
  const tsr_tensor_sharding *to = tsr_flight_value_of(flight, tsr_op_result(last, 0))->sharding;
  tsr_flight_ask ask = {
      .cause = find_cause(flight, reshard, use),
      .reshard = reshard,
      .source = source,
      .from = from,
      .to = to,
      .have = from,
      .need = to,
      .rank = source->value->type->kind == TSR_TYPE_TENSOR ? source->value->type->rank : 0};
  if (ask.cause == TSR_FLIGHT_BORDER) {
    tsr_flight_border border;
    TSR_TRY(tsr_flight_find_border(flight, arena, last, &border));
    *out = ask;
    out->op = last;
    out->tensor = border.dim;
    return NULL;
  }
  if (ask.cause == TSR_FLIGHT_PARTIAL || ask.cause == TSR_FLIGHT_RESULT) {
    ask.op = source->value->def;
    ask.have = to;
    ask.need = from;
  } else if (use) {
    ask.op = use->user;
    ask.tensor = (int)(use - use->user->operands);
  }
  if (ask.op) TSR_TRY(tsr_rule_of(arena, ask.op, TSR_RULE_EXPANDED, &ask.rule));
  if (ask.rule && (ask.cause == TSR_FLIGHT_RESULT || ask.cause == TSR_FLIGHT_PARTIAL))
    ask.tensor = ask.rule->operand_count + source->value->index;
  *out = ask;
  return NULL;
}

static tsr_status fill_texts(tsr_preflight *flight, const tsr_flight_ask *ask,
                             tsr_preflight_reshard *row) {
  tsr_text value = TSR_TEXT_EMPTY, type = TSR_TEXT_EMPTY, from = TSR_TEXT_EMPTY,
           to = TSR_TEXT_EMPTY, where = TSR_TEXT_EMPTY, cause = TSR_TEXT_EMPTY,
           suggestion = TSR_TEXT_EMPTY;
  const tsr_op *place = ask->op ? ask->op : flight->ops[ask->reshard->first].op;
  tsr_flight_name(flight, ask->source->value, &value);
  tsr_type_print(ask->source->value->type, &type);
  if (tsr_flight_is_collective(flight->ops[ask->reshard->first].op)) {
    tsr_flight_print_sharding(ask->from, ask->rank, &from);
    tsr_flight_print_sharding(ask->to, ask->rank, &to);
  }
  tsr_flight_place(flight, place, &where);
  say_cause(flight, ask, &cause);
  tsr_flight_suggest(flight, ask, &suggestion);
  tsr_text *const texts[] = {&value, &type, &from, &to, &where, &cause, &suggestion};
  const char **const kept[] = {&row->value, &row->type,  &row->from,      &row->to,
                               &row->where, &row->cause, &row->suggestion};
  tsr_status status = NULL;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (!status) status = tsr_flight_keep(flight, texts[i], kept[i]);
    tsr_text_deinit(texts[i]);
  }
  return status;
}

static tsr_status fill_row(tsr_preflight *flight, tsr_arena *arena, int64_t number) {
  tsr_flight_reshard *reshard = &flight->reshards[number];
  tsr_flight_ask ask;
  reshard->row = (tsr_preflight_reshard){.size = sizeof reshard->row,
                                         .times = reshard->times,
                                         .times_known = !reshard->uncertain,
                                         .bytes = reshard->bytes,
                                         .seconds = reshard->seconds};
  TSR_TRY(fill_ask(flight, arena, reshard, &ask));
  reshard->cause = ask.cause;
  reshard->asker = ask.op ? tsr_flight_op_word(ask.op) : "";
  TSR_TRY(list_collectives(flight, reshard, number, &reshard->row.collectives));
  return fill_texts(flight, &ask, &reshard->row);
}

tsr_status tsr_flight_find_causes(tsr_preflight *flight) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < flight->reshard_count && !status; i++) {
    status = fill_row(flight, &arena, i);
    tsr_arena_reset(&arena);
  }
  tsr_arena_deinit(&arena);
  return status;
}
