// The most that a device holds at once, and what that is.
//
// A value lives from the op that makes it to its last use; values that are made on the fly keep
// alive what they are made of. Views (reshapes) take no memory. A loop keeps what it carries in
// place; its body adds what lives in it at once. A function adds what lives in it to what lives in
// its caller. An op writes into the memory of an operand that ends with it where compilers do so
// too: elementwise ops, updates, all-reduces.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "preflight/preflight.h"
#include "propagate/symbol_names.h"

typedef struct life_table {
  tsr_preflight *flight;
  int64_t *last;   // by value: the op of its own block that uses it last; -1 = none
  int64_t *held;   // by value: bytes
  int64_t *next;   // by value: the next one that ends at the same op; -1 = none
  int64_t *ends;   // by op: the first value that ends there
  int64_t *inner;  // by op: the most that its regions hold at once
  int64_t *at;     // by op: where in them
} life_table;

// ---- lives ----

static bool is_view(tsr_op_id id) {
  return id == TSR_OP_RESHAPE || id == TSR_OP_BITCAST_CONVERT ||
         id == TSR_OP_OPTIMIZATION_BARRIER || id == TSR_OP_SDY_RESHARD ||
         id == TSR_OP_SDY_SHARDING_CONSTRAINT;
}

// The op of the block `home` that `op` is, or stands in; NULL if it is elsewhere.
static const tsr_op *in_block(const tsr_op *op, const tsr_ir_block *home) {
  while (op && op->block != home) op = tsr_op_parent(op);
  return op;
}

// What an op makes lives on in its results: a view, or a value that is made on the fly.
static int64_t end_of_use(const life_table *lives, const tsr_op *user) {
  int64_t end = tsr_flight_index(user);
  for (int i = 0; i < user->result_count; i++) {
    const tsr_value *result = tsr_op_result(user, i);
    const int64_t own = (int64_t)result->mark - 1;
    const bool passes = is_view(user->info->id) || !lives->flight->values[own].stored;
    if (passes && lives->last[own] > end) end = lives->last[own];
  }
  return end;
}

static void find_last(life_table *lives, int64_t index) {
  const tsr_value *value = lives->flight->values[index].value;
  const tsr_ir_block *home = tsr_value_block(value);
  lives->last[index] = -1;
  for (const tsr_use *use = value->uses; use; use = use->next) {
    const tsr_op *user = in_block(use->user, home);
    const int64_t end = user && user->mark ? end_of_use(lives, user) : -1;
    if (end > lives->last[index]) lives->last[index] = end;
  }
}

static void find_lives(life_table *lives) {
  const tsr_preflight *flight = lives->flight;
  for (int64_t i = flight->value_count - 1; i >= 0; i--) find_last(lives, i);
  for (int64_t i = 0; i < flight->value_count; i++) {
    const tsr_flight_value *value = &flight->values[i];
    const bool takes = value->value->def && value->stored && !is_view(value->value->def->info->id);
    lives->held[i] = takes ? value->bytes : 0;
    if (lives->last[i] < 0) continue;
    lives->next[i] = lives->ends[lives->last[i]];
    lives->ends[lives->last[i]] = i;
  }
}

// ---- one block ----

static int64_t results_held(const life_table *lives, const tsr_op *op) {
  int64_t sum = 0;
  for (int i = 0; i < op->result_count; i++)
    sum = tsr_saturated_add(sum, lives->held[(int64_t)tsr_op_result(op, i)->mark - 1]);
  return sum;
}

static bool writes_in_place(const life_table *lives, const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_CALL:  // a function that holds less than it gives writes into its arguments
      return lives->inner[tsr_flight_index(op)] < results_held(lives, op);
    case TSR_OP_WHILE:
    case TSR_OP_DYNAMIC_UPDATE_SLICE:
    case TSR_OP_SCATTER:
    case TSR_OP_SDY_ALL_REDUCE:
    case TSR_OP_ALL_REDUCE:
      return true;
    default:
      return (op->info->traits & TSR_TRAIT_ELEMENTWISE) && !tsr_flight_is_collective(op);
  }
}

// Gives a result the memory of an operand of its size that is not used any more. Gives the bytes
// that are held already.
static int64_t reuse(life_table *lives, const tsr_op *op, int result) {
  const int64_t own = (int64_t)tsr_op_result(op, result)->mark - 1, place = tsr_flight_index(op);
  const bool carried = op->info->id == TSR_OP_WHILE;
  for (int i = carried ? result : 0; i < op->operand_count && (!carried || i == result); i++) {
    const tsr_value *operand = tsr_op_operand(op, i);
    const int64_t from = (int64_t)operand->mark - 1;
    if (from < 0 || lives->last[from] != place || lives->held[own] == 0) continue;
    const bool whole = lives->flight->values[from].bytes == lives->flight->values[own].bytes;
    if (!whole || tsr_value_block(operand) != op->block) continue;
    // What a loop or a caller holds for its arguments is not counted here, nor is it again.
    if (lives->held[from] == 0 && operand->def) continue;
    const int64_t held = lives->held[from];
    lives->held[own] = held;
    lives->held[from] = 0;
    return held;
  }
  return 0;
}

static int64_t block_peak(life_table *lives, const tsr_ir_block *block, int64_t live,
                          int64_t *out_at) {
  int64_t peak = live;
  for (const tsr_op *op = block->first; op; op = op->next) {
    const int64_t index = tsr_flight_index(op);
    const bool in_place = writes_in_place(lives, op);
    for (int i = 0; i < op->result_count; i++) {
      if (in_place) live -= reuse(lives, op, i);
      live = tsr_saturated_add(live, lives->held[(int64_t)tsr_op_result(op, i)->mark - 1]);
    }
    // A call's results are part of what lives in the function; a loop's are beside its body.
    const int64_t inside = op->info->id == TSR_OP_WHILE ? 0 : results_held(lives, op);
    const int64_t inner = lives->inner[index];
    const int64_t now = tsr_saturated_add(live, inner > inside ? inner - inside : 0);
    if (now > peak) {
      peak = now;
      *out_at = index;
    }
    for (int64_t v = lives->ends[index]; v >= 0; v = lives->next[v]) live -= lives->held[v];
  }
  return peak;
}

static void find_inner(life_table *lives, int64_t index) {
  const tsr_op *op = lives->flight->ops[index].op;
  const tsr_op *callee = op->info->id == TSR_OP_CALL ? tsr_callee(lives->flight->ir, op) : NULL;
  if (callee && tsr_func_body(callee)) {
    lives->inner[index] = lives->inner[tsr_flight_index(callee)];
    lives->at[index] = tsr_flight_index(callee);
    return;
  }
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next) {
      int64_t at = -1;
      if (!block->first || !block->first->mark) continue;
      const int64_t peak = block_peak(lives, block, 0, &at);
      if (peak <= lives->inner[index]) continue;
      lives->inner[index] = peak;
      lives->at[index] = at;
    }
}

// ---- the entry ----

// Donated arguments end with their last use, others belong to the caller.
static tsr_status hold_arguments(life_table *lives, const tsr_op *entry, int64_t *out_bytes) {
  const tsr_preflight *flight = lives->flight;
  const tsr_ir_block *body = tsr_func_body(entry);
  const int64_t function = tsr_program_entry(flight->program);
  *out_bytes = 0;
  for (int i = 0; i < body->arg_count; i++) {
    const int64_t own = (int64_t)body->args[i]->mark - 1;
    tsr_program_value argument = TSR_PROGRAM_VALUE;
    TSR_TRY(tsr_program_argument(flight->program, function, i, &argument));
    *out_bytes = tsr_saturated_add(*out_bytes, flight->values[own].bytes);
    lives->held[own] = flight->values[own].bytes;
    if (!argument.donated) lives->last[own] = tsr_flight_index(body->last);
  }
  return NULL;
}

// The ends of arguments changed: their list is made again.
static void list_ends(life_table *lives) {
  const tsr_preflight *flight = lives->flight;
  for (int64_t i = 0; i < flight->op_count; i++) lives->ends[i] = -1;
  for (int64_t i = 0; i < flight->value_count; i++) {
    if (lives->last[i] < 0) continue;
    lives->next[i] = lives->ends[lives->last[i]];
    lives->ends[lives->last[i]] = i;
  }
}

// ---- what lives at the peak ----

static tsr_status add_live(tsr_preflight *flight, int64_t value, int64_t bytes) {
  tsr_flight_live *list =
      tsr_arena_grow(&flight->arena, flight->peak, flight->peak_count, sizeof *list);
  TSR_NEED(list);
  flight->peak = list;
  list[flight->peak_count++] = (tsr_flight_live){value, bytes};
  return NULL;
}

static int64_t op_of(const tsr_value *value) {
  return value->def ? tsr_flight_index(value->def) : -1;
}

// The values of a block that live while `at` runs, then those inside of `at`.
static tsr_status collect(life_table *lives, const tsr_ir_block *block, int64_t at) {
  tsr_preflight *flight = lives->flight;
  const tsr_op *op = flight->ops[at].op;
  const bool inside = lives->inner[at] > 0 && lives->at[at] >= 0 && op->info->id != TSR_OP_WHILE;
  for (int64_t i = 0; i < flight->value_count; i++) {
    const tsr_value *value = flight->values[i].value;
    if (!lives->held[i] || tsr_value_block(value) != block) continue;
    if (op_of(value) > at || lives->last[i] < at || (inside && value->def == op)) continue;
    TSR_TRY(add_live(flight, i, lives->held[i]));
  }
  flight->peak_op = at;
  if (lives->inner[at] <= 0 || lives->at[at] < 0) return NULL;
  if (op->info->id == TSR_OP_CALL) {
    const tsr_op *callee = flight->ops[lives->at[at]].op;
    const int64_t place = lives->at[lives->at[at]];
    return place < 0 ? NULL : collect(lives, tsr_func_body(callee), place);
  }
  return collect(lives, flight->ops[lives->at[at]].op->block, lives->at[at]);
}

static int by_bytes(const void *a, const void *b) {
  const tsr_flight_live *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->value < y->value ? -1 : x->value > y->value;
}

// ---- all ----

static tsr_status make_table(tsr_preflight *flight, tsr_arena *arena, life_table *out) {
  const size_t values = (size_t)flight->value_count + 1, ops = (size_t)flight->op_count + 1;
  int64_t *numbers = tsr_arena_zeros(arena, 3 * values + 3 * ops, sizeof *numbers);
  TSR_NEED(numbers);
  *out = (life_table){.flight = flight,
                      .last = numbers,
                      .held = numbers + values,
                      .next = numbers + 2 * values,
                      .ends = numbers + 3 * values,
                      .inner = numbers + 3 * values + ops,
                      .at = numbers + 3 * values + 2 * ops};
  for (size_t i = 0; i < ops; i++) out->ends[i] = out->at[i] = -1;
  return NULL;
}

// Functions callee first; in each the innermost regions first, which have the largest indices.
static tsr_status find_all_inner(life_table *lives) {
  tsr_preflight *flight = lives->flight;
  tsr_call_order order = {0};
  TSR_TRY(tsr_call_order_make(flight->ir, &order));
  for (int64_t i = 0; i < flight->op_count; i++) flight->ops[i].op->mark = (uint32_t)i + 1;
  for (int f = 0; f < order.count; f++) {
    const int64_t function = tsr_flight_index(order.list[f]);
    int64_t end = function + 1;
    while (end < flight->op_count && flight->ops[end].function == function) end++;
    const int64_t first = function == flight->entry ? function + 1 : function;
    for (int64_t i = end - 1; i >= first; i--)
      if (flight->ops[i].op->region_count || flight->ops[i].op->info->id == TSR_OP_CALL)
        find_inner(lives, i);
  }
  free(order.list);
  return NULL;
}

static int64_t returned_bytes(const tsr_preflight *flight, const tsr_op *entry) {
  const tsr_op *end = tsr_block_terminator(tsr_func_body(entry));
  int64_t sum = 0;
  for (int i = 0; end && i < end->operand_count; i++)
    sum = tsr_saturated_add(sum, tsr_flight_value_of(flight, tsr_op_operand(end, i))->bytes);
  return sum;
}

static tsr_status find_peak(tsr_preflight *flight, tsr_arena *arena) {
  life_table lives;
  int64_t at = -1;
  const tsr_op *entry = flight->ops[flight->entry].op;
  TSR_TRY(make_table(flight, arena, &lives));
  find_lives(&lives);
  TSR_TRY(find_all_inner(&lives));
  TSR_TRY(hold_arguments(&lives, entry, &flight->info.argument_bytes));
  list_ends(&lives);
  flight->info.result_bytes = returned_bytes(flight, entry);
  flight->info.peak_bytes =
      block_peak(&lives, tsr_func_body(entry), flight->info.argument_bytes, &at);
  if (at < 0) return NULL;
  TSR_TRY(collect(&lives, tsr_func_body(entry), at));
  if (flight->peak_count)
    qsort(flight->peak, (size_t)flight->peak_count, sizeof *flight->peak, by_bytes);
  return NULL;
}

tsr_status tsr_flight_find_peak(tsr_preflight *flight) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = find_peak(flight, &arena);
  tsr_arena_deinit(&arena);
  return status;
}
