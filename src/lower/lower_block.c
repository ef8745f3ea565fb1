// Blocks, and the ops that need no kernel: views, constants, tuples, tokens.
#include "lower/elementwise_code.h"
#include "lower/lowering.h"

tsr_lower_fn *tsr_lower_of(tsr_op_id id) {
  static tsr_lower_fn *const rows[TSR_OP_COUNT] = {
#define OP(id, name, form, operands, results, regions, traits, attrs, verify, infer, kernel, ...) \
  [TSR_OP_##id] = tsr_lower_##kernel,
#include "ir/ops.def"
#undef OP
  };
  return rows[id] == tsr_lower_none ? NULL : rows[id];
}

tsr_status tsr_lower_none(tsr_lowering *lowering, tsr_op *op) {
  return tsr_fail(UNSUPPORTED, "%s: the op does not run", tsr_op_title(lowering, op));
}

// An op that lower/decompose.c replaces by others, but could not.
tsr_status tsr_lower_decomposed(tsr_lowering *lowering, tsr_op *op) {
  return tsr_fail(UNSUPPORTED, "%s: this form of the op does not run", tsr_op_title(lowering, op));
}

// An op between processes that tsr_parallel_expand replaces: elsewhere there is nobody to meet.
tsr_status tsr_lower_transfer(tsr_lowering *lowering, tsr_op *op) {
  return tsr_fail(UNSUPPORTED, "%s: the op runs in interpreter.run_parallel only",
                  tsr_op_title(lowering, op));
}

// Tokens, and ops that only tell where values are.
tsr_status tsr_lower_nothing(tsr_lowering *lowering, tsr_op *op) {
  (void)lowering;
  (void)op;
  return NULL;
}

// Constants get their slots when they are used: most are read by fusions as numbers.
tsr_status tsr_lower_constant(tsr_lowering *lowering, tsr_op *op) {
  return tsr_lower_nothing(lowering, op);
}

tsr_status tsr_lower_terminator(tsr_lowering *lowering, tsr_op *op) {
  return tsr_lower_nothing(lowering, op);
}

// Results that have the elements of the operands in the same order.
tsr_status tsr_lower_view(tsr_lowering *lowering, tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i].type->kind == TSR_TYPE_TENSOR)
      TSR_TRY(tsr_slot_view(lowering, &op->results[i], tsr_op_operand(op, i), 0));
  return NULL;
}

tsr_status tsr_lower_tuple(tsr_lowering *lowering, tsr_op *op) {
  return tsr_lower_nothing(lowering, op);
}

// An element of a tuple that was put together here; tuples that an op makes do not run.
tsr_status tsr_lower_get_tuple_element(tsr_lowering *lowering, tsr_op *op) {
  const tsr_op *tuple = tsr_op_operand(op, 0)->def;
  const int64_t index = tsr_op_int(op, "index", 0);
  if (!tuple || tuple->info->id != TSR_OP_TUPLE || index < 0 || index >= tuple->operand_count)
    return tsr_lower_none(lowering, op);
  if (op->results[0].type->kind != TSR_TYPE_TENSOR) return NULL;
  return tsr_slot_view(lowering, &op->results[0], tsr_op_operand(tuple, (int)index), 0);
}

typedef struct dimension_size {
  int32_t size;
} dimension_size;

static tsr_status run_dimension_size(const void *description, const tsr_kernel_call *call) {
  *(int32_t *)(void *)call->outputs[0] = ((const dimension_size *)description)->size;
  return NULL;
}

tsr_status tsr_lower_dimension_size(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  if (!tsr_type_runs(type) || dim < 0 || dim >= type->rank || type->dims[dim] > INT32_MAX)
    return tsr_lower_none(lowering, op);
  const dimension_size size = {(int32_t)type->dims[dim]};
  tsr_schedule_step *step = NULL;
  return tsr_lower_kernel_on(lowering, op, NULL, 0, run_dimension_size, &size, sizeof size, &step);
}

// ---- large constants ----

enum { LEAST_FILL = 1 << 14 };

bool tsr_op_fills(const tsr_op *op) {
  return tsr_op_splat(op) && tsr_type_runs(op->results[0].type) &&
         tsr_type_bytes(op->results[0].type) >= LEAST_FILL;
}

// A constant of equal elements is written when it is needed, and takes no memory of the schedule.
tsr_status tsr_lower_fill(tsr_lowering *lowering, const tsr_op *op, int slot) {
  const int64_t count = tsr_type_element_count(op->results[0].type);
  tsr_tile_program *program =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {count}, .row_dims = 1});
  TSR_NEED(program);
  const int value = tsr_tile_add_splat(program, tsr_op_splat(op));
  tsr_tile_store(program, value, 0, (int64_t[]){1}, 0);
  const tsr_status status = tsr_tile_finish(program);
  if (status) {
    tsr_tile_destroy(program);
    return status;
  }
  tsr_schedule_step *step = NULL;
  return tsr_lower_tile(lowering, op, program, NULL, 0, &slot, 1, &step);
}

// ---- blocks ----

static tsr_status lower_op(tsr_lowering *lowering, tsr_op *op) {
  tsr_lower_fn *lower = tsr_lower_of(op->info->id);
  return lower ? lower(lowering, op) : tsr_lower_none(lowering, op);
}

tsr_status tsr_lower_block(tsr_lowering *lowering, tsr_ir_block *block) {
  tsr_fusion *fusions = NULL;
  int count = 0;
  TSR_TRY(tsr_fuse_block(lowering, block, &fusions, &count));
  for (int i = 0; i < count; i++)
    if (fusions[i].fused)
      TSR_TRY(tsr_lower_fusion(lowering, &fusions[i]));
    else
      TSR_TRY(lower_op(lowering, fusions[i].ops[0]));
  return NULL;
}
