// Bodies of reductions, scatters, sorts, maps and windows as tile programs of one dim: index i of
// the program is one run of the body, on element i of every argument.
//
// Bodies compute with scalars, so what they hold is elementwise ops, and ops of shapes that change
// nothing. Constants from outside become constants of the program; other values from outside are
// inputs with one element for all runs.
#include "lower/elementwise_code.h"

typedef struct region_maker {
  tsr_lowering *lowering;
  tsr_op *parent;  // for messages
  tsr_ir_block *block;
  tsr_region_code *code;
  int *values;  // of the program, by the marks of arguments and results inside the block
  int value_count;
} region_maker;

// Marks of values inside the block are free: only values with slots have others.
static tsr_status number_values(region_maker *m) {
  int64_t count = m->block->arg_count;
  for (const tsr_op *op = m->block->first; op; op = op->next) count += op->result_count;
  m->values = tsr_lower_alloc(m->lowering, count ? count : 1, sizeof *m->values);
  TSR_NEED(m->values);
  for (int i = 0; i < m->block->arg_count; i++)
    m->block->args[i]->mark = (uint32_t)m->value_count++;
  for (tsr_op *op = m->block->first; op; op = op->next)
    for (int i = 0; i < op->result_count; i++) op->results[i].mark = (uint32_t)m->value_count++;
  return NULL;
}

static tsr_status check_scalar(const region_maker *m, const tsr_value *value) {
  if (tsr_type_runs(value->type) && tsr_type_element_count(value->type) == 1) return NULL;
  return tsr_fail(UNSUPPORTED, "the body of %s computes with a tensor, not with scalars only",
                  tsr_op_title(m->lowering, m->parent));
}

// ---- values from outside ----

static tsr_status add_outside(region_maker *m, tsr_value *value, int *out_value) {
  static const int64_t still[1] = {0};
  tsr_region_code *code = m->code;
  const tsr_attr *splat = value->def ? tsr_op_splat(value->def) : NULL;
  TSR_TRY(check_scalar(m, value));
  if (splat) {
    *out_value = tsr_tile_add_splat(code->program, splat);
    return NULL;
  }
  int index = 0;
  while (index < code->outside_count && code->outside[index] != value) index++;
  if (index == code->outside_count) code->outside[code->outside_count++] = value;
  *out_value =
      tsr_tile_load(code->program, code->argument_count + index, value->type->dtype, still, 0);
  return NULL;
}

static tsr_status value_of(region_maker *m, tsr_value *value, int *out_value) {
  if (tsr_value_block(value) != m->block) return add_outside(m, value, out_value);
  *out_value = m->values[value->mark];
  return NULL;
}

static tsr_status make_room_for_outside(region_maker *m) {
  int64_t uses = 1;
  for (const tsr_op *op = m->block->first; op; op = op->next) uses += op->operand_count;
  m->code->outside = tsr_lower_alloc(m->lowering, uses, sizeof *m->code->outside);
  TSR_NEED(m->code->outside);
  return NULL;
}

// ---- ops ----

// Between tensors of one element these change nothing.
static bool keeps_scalar(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_BROADCAST_IN_DIM:
    case TSR_OP_RESHAPE:
    case TSR_OP_REVERSE:
    case TSR_OP_TRANSPOSE:
    case TSR_OP_OPTIMIZATION_BARRIER:
      return true;
    default:
      return false;
  }
}

static tsr_status refuse(const region_maker *m, const tsr_op *op) {
  return tsr_fail(UNSUPPORTED, "%s in the body of %s: only elementwise ops on scalars run there",
                  op->name, tsr_op_title(m->lowering, m->parent));
}

static tsr_status add_kept(region_maker *m, tsr_op *op) {
  if (op->operand_count != op->result_count) return refuse(m, op);
  for (int i = 0; i < op->result_count; i++) {
    TSR_TRY(check_scalar(m, &op->results[i]));
    TSR_TRY(value_of(m, tsr_op_operand(op, i), &m->values[op->results[i].mark]));
  }
  return NULL;
}

static tsr_status add_op(region_maker *m, tsr_op *op) {
  if (keeps_scalar(op)) return add_kept(m, op);
  if (!tsr_op_is_elementwise(op)) return refuse(m, op);
  TSR_TRY(check_scalar(m, &op->results[0]));
  int operands[3] = {-1, -1, -1};
  for (int i = 0; i < op->operand_count; i++)
    TSR_TRY(value_of(m, tsr_op_operand(op, i), &operands[i]));
  const int value = tsr_tile_add_op(m->code->program, op, operands);
  m->values[op->results[0].mark] = value;
  if (value >= 0) return NULL;
  TSR_TRY(tsr_tile_finish(m->code->program));  // why there is no value, if it knows
  return refuse(m, op);
}

// ---- arguments and results ----

static tsr_status add_arguments(region_maker *m) {
  static const int64_t next[1] = {1};
  for (int i = 0; i < m->block->arg_count; i++) {
    const tsr_value *arg = m->block->args[i];
    TSR_TRY(check_scalar(m, arg));
    m->values[arg->mark] = tsr_tile_load(m->code->program, i, arg->type->dtype, next, 0);
  }
  return NULL;
}

static tsr_status add_results(region_maker *m, const tsr_op *terminator) {
  static const int64_t next[1] = {1};
  for (int i = 0; i < terminator->operand_count; i++) {
    int value = -1;
    TSR_TRY(value_of(m, tsr_op_operand(terminator, i), &value));
    tsr_tile_store(m->code->program, value, i, next, 0);
  }
  return NULL;
}

static tsr_status add_block(region_maker *m, const tsr_op *terminator) {
  TSR_TRY(number_values(m));
  TSR_TRY(make_room_for_outside(m));
  TSR_TRY(add_arguments(m));
  for (tsr_op *op = m->block->first; op != terminator; op = op->next) TSR_TRY(add_op(m, op));
  TSR_TRY(add_results(m, terminator));
  return tsr_tile_finish(m->code->program);
}

tsr_tile_op tsr_region_single(const tsr_region *region) {
  const tsr_ir_block *block = region->first;
  const tsr_op *terminator = block ? tsr_block_terminator(block) : NULL;
  if (!terminator || terminator->operand_count != 1 || block->arg_count != 2)
    return TSR_TILE_OP_COUNT;
  const tsr_op *op = block->first;
  const tsr_elementwise_row *row = tsr_elementwise_row_of(op);
  if (op->next != terminator || op->operand_count != 2 || !row->add ||
      op->results[0].type != block->args[0]->type ||
      tsr_op_operand(terminator, 0) != &op->results[0])
    return TSR_TILE_OP_COUNT;
  const tsr_value *a = tsr_op_operand(op, 0), *b = tsr_op_operand(op, 1);
  const bool straight = a == block->args[0] && b == block->args[1];
  const bool swapped =
      a == block->args[1] && b == block->args[0] && (op->info->traits & TSR_TRAIT_COMMUTES) != 0;
  return straight || swapped ? row->tile : TSR_TILE_OP_COUNT;
}

tsr_status tsr_region_compile(tsr_lowering *lowering, tsr_region *region, int64_t most,
                              tsr_region_code *out_code) {
  const tsr_op *terminator = region->block_count == 1 ? tsr_block_terminator(region->first) : NULL;
  if (!terminator)
    return tsr_fail(UNSUPPORTED, "the body of %s is not one block",
                    tsr_op_title(lowering, region->parent));
  tsr_region_code code = {.argument_count = region->first->arg_count,
                          .result_count = terminator->operand_count,
                          .single = tsr_region_single(region)};
  region_maker maker = {
      .lowering = lowering, .parent = region->parent, .block = region->first, .code = &code};
  code.program = tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {most}, .row_dims = 1});
  TSR_NEED(code.program);
  tsr_status status = add_block(&maker, terminator);
  if (status)
    tsr_tile_destroy(code.program);
  else
    *out_code = code;
  return status;
}
