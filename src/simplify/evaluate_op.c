// One evaluation: slots for the values inside regions, the table of evaluators, blocks run op by
// op.
//
// The program is expected to be verified, but nothing here relies on it for memory safety: counts
// and offsets are checked, and what does not fit stays unknown.
#include "base/arithmetic.h"
#include "simplify/evaluator.h"

enum { MOST_ELEMENTS = 65536, MOST_STEPS = 1 << 20, NEAR_OPERANDS = 8 };

static tsr_op_evaluator *evaluator_of(tsr_op_id id) {
  static tsr_op_evaluator *const rows[TSR_OP_COUNT] = {
#define SCALAR_OP(op, ...) [TSR_OP_##op] = tsr_eval_elementwise,
#include "simplify/scalars.def"
#undef SCALAR_OP
#define EVALUATE(op, function) [TSR_OP_##op] = tsr_eval_##function,
#include "simplify/evaluators.def"
#undef EVALUATE
      [TSR_OP_SDY_CONSTANT] = tsr_eval_constant,
      [TSR_OP_CHLO_CONSTANT] = tsr_eval_constant,
  };
  return rows[id];
}

bool tsr_evaluates(tsr_op_id id) { return evaluator_of(id) != NULL; }

const tsr_attr *tsr_value_constant(const tsr_value *value) {
  const tsr_op *op = value->def;
  if (!op || evaluator_of(op->info->id) != tsr_eval_constant) return NULL;
  const tsr_attr *attr = tsr_op_attr(op, "value");
  return attr && attr->kind == TSR_ATTR_DENSE ? attr : NULL;
}

// ---- slots ----

typedef struct counting {
  uint32_t count;
  const tsr_value **owners;  // NULL while they are only counted

} counting;

static void number(counting *c, tsr_value *value) {
  if (c->owners) {
    value->mark = c->count;
    c->owners[c->count] = value;
  }
  c->count++;
}

static void number_block(counting *c, tsr_ir_block *block);

static void number_op(counting *c, tsr_op *op) {
  for (int i = 0; i < op->result_count; i++) number(c, &op->results[i]);
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      number_block(c, block);
}

// The arguments of a block, and the results of an op, have neighbouring slots.
static void number_block(counting *c, tsr_ir_block *block) {
  for (int i = 0; i < block->arg_count; i++) number(c, block->args[i]);
  for (tsr_op *op = block->first; op; op = op->next) number_op(c, op);
}

// Of an op, or of a block on its own; the other is NULL.
static bool make_slots(tsr_evaluator *e, tsr_op *op, tsr_ir_block *block) {
  for (int pass = 0; pass < 2; pass++) {
    counting c = {.owners = pass ? e->owners : NULL};
    if (op) number_op(&c, op);
    if (block) number_block(&c, block);
    if (pass) break;
    e->slot_count = c.count;
    e->owners = tsr_evaluator_alloc(e, c.count, sizeof *e->owners);
    e->constants = tsr_evaluator_alloc(e, c.count, sizeof *e->constants);
    if (!e->owners || !e->constants) return false;
  }
  return true;
}

static tsr_constant *slot_of(const tsr_evaluator *e, const tsr_value *value) {
  const bool own = value->mark < e->slot_count && e->owners[value->mark] == value;
  return own ? &e->constants[value->mark] : NULL;
}

tsr_constant *tsr_block_slots(tsr_evaluator *e, const tsr_ir_block *block) {
  return block->arg_count ? slot_of(e, block->args[0]) : NULL;
}

// A value inside has its slot; one from outside must be a constant, which is read into `room`.
static const tsr_constant *constant_of(const tsr_evaluator *e, const tsr_value *value,
                                       tsr_constant *room) {
  const tsr_constant *slot = slot_of(e, value);
  if (slot) return slot->type ? slot : NULL;
  const tsr_attr *attr = tsr_value_constant(value);
  return attr && tsr_constant_of_attr(attr, room) ? room : NULL;
}

// ---- running ----

static bool run_op(tsr_evaluator *e, tsr_op *op) {
  tsr_op_evaluator *function = evaluator_of(op->info->id);
  const tsr_constant *near[NEAR_OPERANDS], **operands = near;
  tsr_constant near_room[NEAR_OPERANDS], *room = near_room;
  const int count = op->operand_count;
  if (!function || !tsr_evaluator_spend(e, 1) || op->result_count < 1) return false;
  if (!tsr_op_count_fits(op->info->operands, count)) return false;
  if (count > NEAR_OPERANDS) {
    operands = tsr_evaluator_alloc(e, count, sizeof *operands);
    room = tsr_evaluator_alloc(e, count, sizeof *room);
    if (!operands || !room || !tsr_evaluator_spend(e, count)) return false;
  }
  for (int i = 0; i < count; i++) {
    operands[i] = constant_of(e, tsr_op_operand(op, i), &room[i]);
    if (!operands[i]) return false;
  }
  return function(e, op, operands, slot_of(e, &op->results[0]));
}

bool tsr_block_run(tsr_evaluator *e, tsr_ir_block *block, tsr_constant *results, int result_count) {
  const tsr_op *end = tsr_block_terminator(block);
  if (!end || end->operand_count != result_count) return false;
  for (tsr_op *op = block->first; op != end; op = op->next)
    if (!run_op(e, op)) return false;
  for (int i = 0; i < result_count; i++) {
    tsr_constant room;
    const tsr_constant *constant = constant_of(e, tsr_op_operand(end, i), &room);
    if (!constant) return false;
    results[i] = *constant;
  }
  return true;
}

static tsr_evaluator evaluator_for(tsr_ir *ir, const tsr_evaluate_limits *limits) {
  const int64_t elements = limits && limits->elements ? limits->elements : MOST_ELEMENTS;
  int64_t steps = limits && limits->steps ? limits->steps : MOST_STEPS;
  int64_t *budget = limits ? limits->budget : NULL;
  if (budget) steps = tsr_least(steps, *budget);
  return (tsr_evaluator){.ir = ir,
                         .scratch = TSR_ARENA_EMPTY,
                         .element_limit = elements,
                         .steps_given = steps,
                         .steps_left = steps,
                         .budget = budget};
}

// Copies the results to the program's memory and frees what the evaluation used.
static tsr_status finish(tsr_evaluator *e, bool known, const tsr_constant *results,
                         const tsr_value *values, int count, bool *out_known,
                         const tsr_attr **out_results) {
  for (int i = 0; known && i < count; i++) known = !values || results[i].type == values[i].type;
  for (int i = 0; known && i < count; i++) {
    out_results[i] = tsr_constant_attr(e->ir, &results[i]);
    if (!out_results[i]) e->out_of_memory = true, known = false;
  }
  tsr_arena_deinit(&e->scratch);
  if (e->budget) *e->budget -= e->steps_given - e->steps_left;
  if (e->out_of_memory) return tsr_fail(NO_MEMORY, "memory of an evaluation");
  *out_known = known;
  return NULL;
}

static bool read_operands(tsr_evaluator *e, const tsr_attr *const *attrs, int count,
                          tsr_constant *out) {
  (void)e;
  for (int i = 0; i < count; i++)
    if (!tsr_constant_of_attr(attrs[i], &out[i])) return false;
  return true;
}

tsr_status tsr_evaluate_op(tsr_ir *ir, tsr_op *op, const tsr_attr *const *operands,
                           const tsr_evaluate_limits *limits, bool *out_known,
                           const tsr_attr **out_results) {
  tsr_evaluator e = evaluator_for(ir, limits);
  tsr_op_evaluator *function = evaluator_of(op->info->id);
  *out_known = false;
  if (!function || op->result_count < 1 ||
      !tsr_op_count_fits(op->info->operands, op->operand_count))
    return NULL;
  tsr_constant *constants = tsr_evaluator_alloc(&e, op->operand_count, sizeof *constants);
  const tsr_constant **pointers = tsr_evaluator_alloc(&e, op->operand_count, sizeof *pointers);
  bool known = constants && pointers && make_slots(&e, op, NULL) &&
               read_operands(&e, operands, op->operand_count, constants);
  for (int i = 0; known && i < op->operand_count; i++) pointers[i] = &constants[i];
  tsr_constant *results = known ? slot_of(&e, &op->results[0]) : NULL;
  known = known && function(&e, op, pointers, results);
  return finish(&e, known, results, op->results, op->result_count, out_known, out_results);
}

tsr_status tsr_evaluate_block(tsr_ir *ir, tsr_ir_block *block, const tsr_attr *const *arguments,
                              const tsr_evaluate_limits *limits, bool *out_known,
                              const tsr_attr **out_results) {
  tsr_evaluator e = evaluator_for(ir, limits);
  const tsr_op *end = tsr_block_terminator(block);
  *out_known = false;
  if (!end) return NULL;
  tsr_constant *results = tsr_evaluator_alloc(&e, end->operand_count, sizeof *results);
  bool known = results && make_slots(&e, NULL, block);
  known = known && read_operands(&e, arguments, block->arg_count, tsr_block_slots(&e, block)) &&
          tsr_block_run(&e, block, results, end->operand_count);
  return finish(&e, known, results, NULL, end->operand_count, out_known, out_results);
}
