// Whether the processes of a run go in step, or each by itself.
#include "processes/run_parallel.h"

#include "tessera/own.h"
#include "verify/symbol_checks.h"

enum { MOST_PROCESSES = 1 << 16 };

bool tsr_op_is_collective(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_ALL_GATHER:
    case TSR_OP_ALL_REDUCE:
    case TSR_OP_ALL_TO_ALL:
    case TSR_OP_COLLECTIVE_BROADCAST:
    case TSR_OP_COLLECTIVE_PERMUTE:
    case TSR_OP_COLLECTIVE_REDUCE:
    case TSR_OP_REDUCE_SCATTER:
      return true;
    default:
      return false;
  }
}

bool tsr_op_is_transfer(const tsr_op *op) {
  const tsr_op_id id = op->info->id;
  return id == TSR_OP_SEND || id == TSR_OP_RECV || id == TSR_OP_INFEED || id == TSR_OP_OUTFEED;
}

tsr_process_grid tsr_parallel_grid(const tsr_op *op) {
  const tsr_attr *rows = tsr_op_attr(op, "programs");
  return (tsr_process_grid){(int)rows->count, (int)rows->items[0]->count};
}

tsr_status tsr_block_copy_into(tsr_ir *ir, const tsr_ir_block *from, tsr_region *to,
                               tsr_value_map *map) {
  tsr_ir_block *block = tsr_block_append(ir, to);
  TSR_NEED(block);
  for (int i = 0; i < from->arg_count; i++) {
    tsr_value *arg = tsr_block_add_arg(ir, block, from->args[i]->type, from->args[i]->location);
    TSR_NEED(arg && tsr_value_map_add(map, from->args[i], arg) ? arg : NULL);
  }
  for (const tsr_op *op = from->first; op; op = op->next) {
    tsr_op *copy = tsr_op_clone(ir, op, map);
    TSR_NEED(copy);
    tsr_op_append(block, copy);
  }
  return NULL;
}

// ---- in step ----

static tsr_status copy_body(tsr_ir *ir, const tsr_op *function, tsr_op *to) {
  tsr_value_map *map = tsr_value_map_create();
  TSR_NEED(map);
  const tsr_status status = tsr_block_copy_into(ir, tsr_func_body(function), &to->regions[0], map);
  tsr_value_map_destroy(map);
  return status;
}

// The op again, with a region that all processes run.
static tsr_status keep_in_step(tsr_ir *ir, tsr_op *op, const tsr_op *function) {
  tsr_value **values = tsr_ir_alloc(ir, (size_t)op->operand_count * sizeof *values + 1);
  const tsr_type **types = tsr_ir_alloc(ir, (size_t)op->result_count * sizeof *types + 1);
  TSR_NEED(values && types ? values : NULL);
  for (int i = 0; i < op->operand_count; i++) values[i] = tsr_op_operand(op, i);
  for (int i = 0; i < op->result_count; i++) types[i] = op->results[i].type;
  const tsr_op_parts parts = {.id = TSR_OP_INTERPRETER_RUN_PARALLEL,
                              .operand_count = op->operand_count,
                              .operands = values,
                              .result_count = op->result_count,
                              .result_types = types,
                              .region_count = 1,
                              .attr_count = op->attr_count,
                              .attrs = op->attrs,
                              .location = op->location};
  tsr_op *made = tsr_op_create(ir, &parts);
  TSR_NEED(made);
  made->line = op->line;
  made->column = op->column;
  tsr_op_insert_before(op, made);
  TSR_TRY(copy_body(ir, function, made));
  for (int i = 0; i < op->result_count; i++) tsr_value_replace(&op->results[i], &made->results[i]);
  tsr_op_erase(op);
  return NULL;
}

// ---- which of the two ----

static tsr_status read_programs(tsr_ir *ir, tsr_arena *arena, const tsr_op *op,
                                tsr_parallel_programs *out) {
  const tsr_attr *rows = tsr_op_attr(op, "programs");
  const int64_t columns = rows->items[0]->count;
  if (rows->count > MOST_PROCESSES || columns > MOST_PROCESSES / rows->count)
    return tsr_fail(TOO_LARGE, "%s: has more than %d programs", op->name, MOST_PROCESSES);
  out->grid = tsr_parallel_grid(op);
  out->functions = tsr_arena_zeros(arena, (size_t)(rows->count * columns), sizeof(tsr_op *));
  TSR_NEED(out->functions);
  for (int64_t i = 0; i < rows->count * columns; i++) {
    const char *name = rows->items[i / columns]->items[i % columns]->bytes;
    const tsr_op *function = tsr_func_near(ir, op, name);
    const tsr_ir_block *body = function ? tsr_func_body(function) : NULL;
    if (!body || function->regions[0].block_count != 1 || !tsr_block_terminator(body))
      return tsr_fail(UNSUPPORTED, "%s: the body of @%s is not one block", op->name, name);
    out->functions[i] = function;
  }
  return NULL;
}

static tsr_status look_for_others(tsr_op *op, void *context) {
  bool *out_transfers = context;
  if (op->info->id == TSR_OP_INTERPRETER_RUN_PARALLEL)
    return tsr_fail(UNSUPPORTED, "%s at line %u: stands in a program that is run in parallel",
                    op->name, op->line);
  if (tsr_op_is_transfer(op)) *out_transfers = true;
  return NULL;
}

static tsr_status expand(tsr_ir *ir, tsr_arena *arena, tsr_op *op) {
  tsr_parallel_programs programs = {0};
  bool alone = false;
  TSR_TRY(read_programs(ir, arena, op, &programs));
  for (int i = 0; i < tsr_process_count(programs.grid); i++) {
    if (i && programs.functions[i] == programs.functions[i - 1]) continue;
    if (i) alone = true;
    TSR_TRY(tsr_op_walk((tsr_op *)(uintptr_t)programs.functions[i], look_for_others, &alone));
  }
  if (!alone) return keep_in_step(ir, op, programs.functions[0]);
  return tsr_parallel_interleave(ir, op, &programs);
}

static tsr_status expand_op(tsr_op *op, void *context) {
  if (op->info->id != TSR_OP_INTERPRETER_RUN_PARALLEL) return NULL;
  tsr_arena arena = TSR_ARENA_EMPTY;
  const tsr_status status = expand(context, &arena, op);
  tsr_arena_deinit(&arena);
  return status;
}

tsr_status tsr_parallel_expand(tsr_ir *ir) {
  tsr_op *entry = tsr_ir_entry(ir);
  return entry ? tsr_op_walk(entry, expand_op, ir) : NULL;
}
