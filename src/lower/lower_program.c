// A program becomes a schedule: what shardings say is dropped, calls are put in place, ops without
// a kernel are replaced, the rest is simplified; then the entry is lowered.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "simplify/decompose.h"
#include "lower/lowering.h"
#include "lower/slice_view.h"
#include "processes/run_parallel.h"
#include "simplify/passes.h"
#include "tessera/own.h"

// ---- before: one function of simple ops ----

// Attributes that no kernel reads. Those of custom calls hold their options.
static bool is_dropped(const tsr_op *op, const char *name) {
  if (tsr_op_is_inherent(op, name)) return false;
  if (op->info->id != TSR_OP_CUSTOM_CALL && op->info->id != TSR_OP_COMPOSITE) return true;
  const tsr_attr *attr = tsr_op_attr(op, name);
  return attr && (attr->kind == TSR_ATTR_RECORD || attr->kind == TSR_ATTR_OPAQUE);
}

static tsr_status drop_attrs(tsr_ir *ir, tsr_op *op) {
  for (int i = op->attr_count - 1; i >= 0; i--)
    if (is_dropped(op, op->attrs[i].name))
      TSR_NEED(tsr_op_set_attr(ir, op, op->attrs[i].name, NULL) ? ir : NULL);
  if (op->info->id != TSR_OP_FUNC) return NULL;
  static const char *const names[] = {"arg_attrs", "res_attrs", "no_inline"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (tsr_op_attr(op, names[i]))
      TSR_NEED(tsr_op_set_attr(ir, op, tsr_ir_name(ir, names[i], strlen(names[i])), NULL) ? ir
                                                                                          : NULL);
  return NULL;
}

// Ops whose results are their operands: where values are, in which order they are made.
static bool passes_on(const tsr_op *op) {
  if (tsr_lower_of(op->info->id) != tsr_lower_view) return false;
  if (op->operand_count != op->result_count) return false;
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i].type != tsr_operand_type(op, i)) return false;
  return true;
}

static tsr_status strip_op(tsr_op *op, void *context) {
  tsr_ir *ir = context;
  if (op == ir->module) return NULL;
  TSR_TRY(drop_attrs(ir, op));
  if (!passes_on(op)) return NULL;
  for (int i = 0; i < op->result_count; i++)
    tsr_value_replace(&op->results[i], tsr_op_operand(op, i));
  tsr_op_erase(op);
  return NULL;
}

static tsr_status prepare(tsr_ir *ir) {
  TSR_TRY(tsr_op_walk(ir->module, strip_op, ir));
  TSR_TRY(tsr_passes_run(ir, "composites,inline{all},dce", NULL));
  TSR_TRY(tsr_decompose(ir));
  TSR_TRY(tsr_passes_run(ir, "simplify", NULL));
  return tsr_parallel_expand(ir);
}

// ---- arguments and results ----

static tsr_status argument_slot(tsr_lowering *lowering, tsr_value *argument) {
  if (argument->type->kind != TSR_TYPE_TENSOR) return NULL;
  int slot = -1;
  TSR_TRY(tsr_slot_create(lowering, argument, &slot));
  lowering->schedule->slots[slot].kind = TSR_SLOT_ARGUMENT;
  lowering->schedule->slots[slot].index = argument->index;
  lowering->schedule->arguments[argument->index] = slot;
  return NULL;
}

static tsr_status open_entry(tsr_lowering *lowering, const tsr_ir_block *body, const tsr_op *end) {
  tsr_schedule *schedule = lowering->schedule;
  schedule->argument_count = body->arg_count;
  schedule->result_count = end->operand_count;
  schedule->arguments = tsr_lower_alloc(lowering, body->arg_count + 1, sizeof(int));
  schedule->results = tsr_lower_alloc(lowering, end->operand_count + 1, sizeof(int));
  TSR_NEED(schedule->arguments && schedule->results ? schedule : NULL);
  for (int i = 0; i < body->arg_count; i++) schedule->arguments[i] = -1;
  return NULL;
}

static tsr_status open_arguments(tsr_lowering *lowering, const tsr_ir_block *body) {
  for (int i = 0; i < body->arg_count; i++) TSR_TRY(argument_slot(lowering, body->args[i]));
  return NULL;
}

static tsr_status close_results(tsr_lowering *lowering, const tsr_op *end) {
  tsr_schedule *schedule = lowering->schedule;
  for (int i = 0; i < end->operand_count; i++) {
    if (tsr_operand_type(end, i)->kind == TSR_TYPE_TOKEN)
      schedule->results[i] = -1;
    else
      TSR_TRY(tsr_slot_of(lowering, tsr_op_operand(end, i), &schedule->results[i]));
  }
  return NULL;
}

// ---- what is known when all steps are there ----

static tsr_status name_step(tsr_lowering *lowering, tsr_schedule_step *step) {
  step->name = step->op->name;
  if (!step->op_count) step->name = "copy";
  if (step->op_count < 2 || step->list_count) return NULL;
  TSR_OWN(text, name);
  tsr_text_addf(&name, "fusion of %d: %s", step->op_count, step->op->name);
  TSR_TRY(tsr_text_check(&name));
  const char *text = tsr_text_string(&name);
  step->name = tsr_arena_copy(&lowering->schedule->arena, text, strlen(text));
  TSR_NEED(step->name);
  return NULL;
}

static tsr_status finish_list(tsr_lowering *lowering, const tsr_step_list *list) {
  tsr_schedule *schedule = lowering->schedule;
  for (tsr_schedule_step *step = list->first; step; step = step->next) {
    TSR_TRY(tsr_step_place_views(lowering, step));
    step->number = schedule->step_count++;
    schedule->op_count += step->op_count;
    if (step->kind == TSR_STEP_KERNEL) {
      step->flops = tsr_saturated_multiply(step->flops, tsr_class_count(step->classes));
      step->bytes = tsr_saturated_multiply(step->bytes, tsr_class_count(step->classes));
    }
    if (step->temp_bytes)
      TSR_TRY(tsr_slot_temp(lowering, step->temp_bytes, NULL, &step->temp_slot));
    TSR_TRY(name_step(lowering, step));
    for (int i = 0; i < step->list_count; i++) TSR_TRY(finish_list(lowering, &step->lists[i]));
  }
  return NULL;
}

static tsr_status lower_entry(tsr_schedule *schedule) {
  const tsr_op *entry = tsr_ir_entry(schedule->ir);
  tsr_ir_block *body = entry ? tsr_func_body(entry) : NULL;
  if (!body)
    return tsr_fail(UNKNOWN_SYMBOL, "the program has no function main, and not just one function");
  const tsr_op *end = tsr_block_terminator(body);
  if (!end || entry->regions[0].block_count != 1)
    return tsr_fail(UNSUPPORTED, "function %s: its body has several blocks", tsr_op_symbol(entry));
  tsr_lowering lowering = {
      .ir = schedule->ir, .schedule = schedule, .list = &schedule->steps, .lanes = 1};
  tsr_op *manual = tsr_block_only_manual(body);
  TSR_TRY(open_entry(&lowering, body, end));
  if (manual) {
    TSR_TRY(tsr_lower_devices(&lowering, manual));
  } else {
    TSR_TRY(open_arguments(&lowering, body));
    TSR_TRY(tsr_lower_block(&lowering, body));
    TSR_TRY(close_results(&lowering, end));
  }
  return finish_list(&lowering, &schedule->steps);
}

tsr_status tsr_lower_program(tsr_ir *ir, tsr_schedule **out_schedule) {
  tsr_schedule *schedule = calloc(1, sizeof *schedule);
  if (!schedule) {
    tsr_ir_destroy(ir);
    return tsr_fail(NO_MEMORY, "memory of a schedule");
  }
  *schedule = (tsr_schedule){.arena = TSR_ARENA_EMPTY, .ir = ir};
  schedule->classes.arena = &schedule->arena;
  tsr_status status = prepare(ir);
  if (!status) status = lower_entry(schedule);
  if (status)
    tsr_schedule_destroy(schedule);
  else
    *out_schedule = schedule;
  return status;
}

static void destroy_list(const tsr_step_list *list) {
  for (tsr_schedule_step *step = list->first; step; step = step->next) {
    if (step->destroy) step->destroy((void *)(uintptr_t)step->description);
    for (int i = 0; i < step->list_count; i++) destroy_list(&step->lists[i]);
  }
}

void tsr_schedule_destroy(tsr_schedule *schedule) {
  if (!schedule) return;
  destroy_list(&schedule->steps);
  tsr_ir_destroy(schedule->ir);
  tsr_arena_deinit(&schedule->arena);
  free(schedule);
}
