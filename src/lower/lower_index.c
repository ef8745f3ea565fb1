// Ops that find elements by indices that the program computes: dynamic slices, gather, scatter.
#include "base/arithmetic.h"
#include "kernel/gather.h"
#include "kernel/scatter.h"
#include "kernel/window_copies.h"
#include "lower/copy_parts.h"
#include "lower/slice_view.h"
#include "simplify/index_rules.h"

// ---- dynamic slices ----

// The starts of a window, which are the operands from `first` on.
static tsr_status window_starts(tsr_lowering *lowering, const tsr_op *op, int first,
                                const tsr_type *window, tsr_window_copy *out) {
  const tsr_type *tensor = tsr_operand_type(op, 0);
  tsr_window_start *starts = tsr_lower_alloc(lowering, tensor->rank + 1, sizeof *starts);
  TSR_NEED(starts);
  int64_t strides[TSR_MAX_RANK];
  tsr_strides_of(tensor, strides);
  for (int d = 0; d < tensor->rank; d++) {
    const int64_t most = tensor->dims[d] - window->dims[d];
    if (most > 0)  // else it starts at 0, whatever the index is
      starts[out->start_count++] =
          (tsr_window_start){first + d, tsr_operand_type(op, first + d)->dtype, most, strides[d]};
  }
  out->starts = starts;
  return NULL;
}

static tsr_status plan_copy(tsr_lowering *lowering, int input, tsr_copy copy, const tsr_type *type,
                            tsr_strided_copies *out) {
  tsr_copy_part *part = tsr_copy_parts_create(lowering, 1);
  TSR_NEED(part);
  *part = (tsr_copy_part){.input = input, .copy = copy};
  *out = tsr_copies_plan(tsr_element_bytes(type), part, 1);
  return NULL;
}

tsr_status tsr_lower_dynamic_slice(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *tensor = tsr_operand_type(op, 0), *result = op->results[0].type;
  tsr_window_copy window = {0};
  TSR_TRY(tsr_check_ranks(lowering, op));
  TSR_TRY(window_starts(lowering, op, 1, result, &window));
  if (!window.start_count)
    return tsr_slot_view(lowering, &op->results[0], tsr_op_operand(op, 0), 0);
  if (tsr_slice_is_known(lowering, op)) return tsr_lower_known_slice(lowering, op);
  TSR_TRY(plan_copy(lowering, 0, tsr_copy_over(result, tensor, result), result, &window.window));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_window_read, &window, sizeof window, &step));
  step->bytes = tsr_saturated_multiply(2, tsr_type_bytes(result));
  return NULL;
}

tsr_status tsr_lower_dynamic_update_slice(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *tensor = tsr_operand_type(op, 0), *update = tsr_operand_type(op, 1);
  tsr_window_copy window = {0};
  TSR_TRY(tsr_check_ranks(lowering, op));
  TSR_TRY(window_starts(lowering, op, 2, update, &window));
  if (!window.start_count)
    return tsr_slot_view(lowering, &op->results[0], tsr_op_operand(op, 1), 0);
  TSR_TRY(plan_copy(lowering, 1, tsr_copy_over(update, update, tensor), tensor, &window.window));
  TSR_TRY(plan_copy(lowering, 0, tsr_copy_whole(tensor), tensor, &window.whole));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_window_write, &window, sizeof window, &step));
  step->overwrites[0] = TSR_INPUT(0);
  step->bytes = tsr_saturated_multiply(2, tsr_type_bytes(update));  // in place
  return NULL;
}

// ---- gather and scatter ----

// The tensors of either op: that with the windows is the result or the updates.
typedef struct index_types {
  const tsr_type *operand, *indices, *windows;
} index_types;

// The entry of index vectors for a dimension of the operand; -1 = none.
static int entry_of(const tsr_index_rules *rules, int dim) {
  for (int k = 0; k < rules->map_count; k++)
    if (rules->map[k] == dim) return k;
  return -1;
}

// Where windows start. `sizes` are those of a window along the dimensions of the operand.
static void describe_starts(const tsr_index_rules *rules, const index_types *types,
                            const int64_t *sizes, tsr_index_starts *out) {
  const tsr_type *operand = types->operand, *indices = types->indices;
  int64_t strides[TSR_MAX_RANK], index_strides[TSR_MAX_RANK];
  tsr_strides_of(operand, strides);
  tsr_strides_of(indices, index_strides);
  const int64_t along = rules->vector_dim < indices->rank ? index_strides[rules->vector_dim] : 0;
  out->dtype = indices->dtype;
  for (int k = 0; k < rules->map_count; k++) {
    const int64_t d = rules->map[k];
    out->entries[out->entry_count++] = (tsr_start_entry){
        .index = k * along, .stride = strides[d], .size = operand->dims[d], .window = sizes[d]};
  }
  for (int d = 0; d < indices->rank; d++) {
    if (d == rules->vector_dim) continue;
    tsr_start_dim *dim = &out->dims[out->dim_count++];
    *dim = (tsr_start_dim){indices->dims[d], index_strides[d], 0};
    for (int k = 0; k < rules->batching_count; k++)
      if (rules->index_batching[k] == d) dim->operand = strides[rules->batching[k]];
  }
  tsr_index_starts_simplify(out);
}

// The dimensions of the tensor of windows, each either of the window or counting windows.
static void describe_loops(const tsr_index_rules *rules, const index_types *types,
                           tsr_index_loop *out) {
  const tsr_type *windows = types->windows;
  int64_t strides[TSR_MAX_RANK], elements[TSR_MAX_RANK], number = 1;
  tsr_strides_of(types->operand, strides);
  tsr_strides_of(windows, elements);
  for (int d = windows->rank - 1; d >= 0; d--) {
    out[d] = (tsr_index_loop){windows->dims[d], number, 0, elements[d], -1};
    if (tsr_has_dim(rules->window, rules->window_count, d))
      out[d].windows = 0;
    else
      number *= windows->dims[d];
  }
  int window = 0;
  for (int d = 0; d < types->operand->rank; d++) {
    if (tsr_has_dim(rules->dropped, rules->dropped_count, d) ||
        tsr_has_dim(rules->batching, rules->batching_count, d))
      continue;
    tsr_index_loop *loop = &out[rules->window[window++]];
    loop->operand = strides[d];
    loop->entry = entry_of(rules, d);
  }
}

// Splits the dimensions: those after the last one that counts windows, that one with its
// neighbours of the kind, and the rest. Dimensions of one iteration are left out.
static void split_loops(const tsr_index_loop *dims, int rank, tsr_index_walk *out) {
  int kept = 0, last = -1;
  tsr_index_loop loops[TSR_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    if (dims[d].count == 1) continue;
    if (dims[d].windows) last = kept;
    loops[kept++] = dims[d];
  }
  int first = last;
  out->row = 1;
  for (; first >= 0 && loops[first].windows; first--) out->row *= loops[first].count;
  if (last >= 0) out->row_step = loops[last].element;
  for (int i = 0; i <= first; i++) out->loops[out->loop_count++] = loops[i];
  for (int i = last + 1; i < kept; i++) out->window[out->window_count++] = loops[i];
}

static tsr_status describe_walk(tsr_lowering *lowering, tsr_op *op, const tsr_attr *record,
                                const index_types *types, tsr_index_walk *out) {
  tsr_index_rules rules;
  if (!tsr_index_rules_read(record, types->operand, types->indices, types->windows, &rules))
    return tsr_lower_none(lowering, op);
  tsr_index_loop dims[TSR_MAX_RANK];
  int64_t sizes[TSR_MAX_RANK];
  for (int d = 0; d < TSR_MAX_RANK; d++) sizes[d] = 1;
  describe_loops(&rules, types, dims);
  int window = 0;
  for (int d = 0; d < types->operand->rank; d++)
    if (!tsr_has_dim(rules.dropped, rules.dropped_count, d) &&
        !tsr_has_dim(rules.batching, rules.batching_count, d))
      sizes[d] = types->windows->dims[rules.window[window++]];
  describe_starts(&rules, types, sizes, &out->starts);
  split_loops(dims, types->windows->rank, out);
  return NULL;
}

tsr_status tsr_lower_gather(tsr_lowering *lowering, tsr_op *op) {
  const index_types types = {tsr_operand_type(op, 0), tsr_operand_type(op, 1), op->results[0].type};
  int slot = -1;
  TSR_TRY(tsr_check_ranks(lowering, op));
  if (tsr_type_element_count(types.windows) == 0)
    return tsr_slot_create(lowering, &op->results[0], &slot);
  if (tsr_type_element_count(types.operand) == 0)
    return tsr_fail(UNSUPPORTED, "%s: elements out of an empty tensor", tsr_op_title(lowering, op));
  tsr_gather gather = {.element_bytes = tsr_element_bytes(types.windows)};
  gather.walk.starts.clamped = true;
  TSR_TRY(describe_walk(lowering, op, tsr_op_attr(op, "dimension_numbers"), &types, &gather.walk));
  tsr_copy_part *part = tsr_copy_parts_create(lowering, 1);
  TSR_NEED(part);
  tsr_gather_plan(&gather, part);
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_gather_run, &gather, sizeof gather, &step));
  step->temp_bytes = tsr_gather_temp_bytes(&gather);
  step->bytes = tsr_saturated_add(tsr_saturated_multiply(2, tsr_type_bytes(types.windows)),
                                  tsr_type_bytes(types.indices));
  return NULL;
}

// ---- scatter ----

// Whether the body gives the updates.
static bool replaces(const tsr_op *op) {
  const tsr_ir_block *block = op->regions[0].first;
  const tsr_op *terminator = block ? tsr_block_terminator(block) : NULL;
  if (!terminator || terminator->operand_count != op->result_count) return false;
  for (int i = 0; i < op->result_count; i++)
    if (tsr_op_operand(terminator, i) != block->args[op->result_count + i]) return false;
  return true;
}

// Results, operands, updates and the body have the same element types: nothing is converted.
static bool types_agree(const tsr_op *op) {
  const tsr_ir_block *block = op->regions[0].first;
  const int count = op->result_count;
  if (!block || block->arg_count != 2 * count || op->operand_count != 2 * count + 1) return false;
  for (int i = 0; i < count; i++) {
    const tsr_dtype dtype = op->results[i].type->dtype;
    if (tsr_operand_type(op, i)->dtype != dtype ||
        tsr_operand_type(op, count + 1 + i)->dtype != dtype ||
        block->args[i]->type->dtype != dtype || block->args[count + i]->type->dtype != dtype)
      return false;
  }
  return true;
}

static tsr_status describe_tensors(tsr_lowering *lowering, const tsr_op *op, tsr_scatter *out) {
  tsr_scattered *tensors = tsr_lower_alloc(lowering, op->result_count, sizeof *tensors);
  TSR_NEED(tensors);
  for (int i = 0; i < op->result_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    tensors[i].element_bytes = tsr_element_bytes(type);
    TSR_TRY(plan_copy(lowering, 0, tsr_copy_whole(type), type, &tensors[i].whole));
  }
  out->tensors = tensors;
  out->tensor_count = op->result_count;
  return NULL;
}

// The fastest form that the body has; else code, for rows of the window at a time.
static tsr_status describe_body(tsr_lowering *lowering, tsr_op *op, tsr_scatter *out,
                                tsr_region_code *out_code) {
  enum { MOST = 1024, MOST_OF_SEVERAL = 256 };
  if (replaces(op)) return NULL;
  const tsr_tile_op single = tsr_region_single(&op->regions[0]);
  out->loops = tsr_fold_loops_of(op->results[0].type->dtype, single);
  out->body = out->loops ? TSR_SCATTER_COMBINE : TSR_SCATTER_PROGRAM;
  if (out->loops) return NULL;
  out->program_most = op->result_count > 1 ? MOST_OF_SEVERAL : MOST;
  TSR_TRY(tsr_region_compile(lowering, &op->regions[0], out->program_most, out_code));
  out->program = out_code->program;
  out->outside_count = out_code->outside_count;
  return NULL;
}

static void destroy_scatter(void *description) {
  tsr_tile_destroy((tsr_tile_program *)((tsr_scatter *)description)->program);
}

static tsr_status add_scatter(tsr_lowering *lowering, tsr_op *op, const tsr_scatter *scatter,
                              const tsr_region_code *code, tsr_schedule_step **out_step) {
  const int count = op->operand_count + code->outside_count;
  tsr_value **inputs = tsr_lower_alloc(lowering, count, sizeof *inputs);
  TSR_NEED(inputs);
  for (int i = 0; i < op->operand_count; i++) inputs[i] = tsr_op_operand(op, i);
  for (int i = 0; i < code->outside_count; i++) inputs[op->operand_count + i] = code->outside[i];
  return tsr_lower_kernel_on(lowering, op, inputs, count, tsr_scatter_run, scatter, sizeof *scatter,
                             out_step);
}

tsr_status tsr_lower_scatter(tsr_lowering *lowering, tsr_op *op) {
  const int count = op->result_count;
  TSR_TRY(tsr_check_ranks(lowering, op));
  if (!types_agree(op))
    return tsr_fail(UNSUPPORTED, "%s: a body of other element types than the operands",
                    tsr_op_title(lowering, op));
  const index_types types = {tsr_operand_type(op, 0), tsr_operand_type(op, count),
                             tsr_operand_type(op, count + 1)};
  tsr_scatter scatter = {.body = TSR_SCATTER_REPLACE};
  tsr_region_code code = {0};
  TSR_TRY(describe_walk(lowering, op, tsr_op_attr(op, "scatter_dimension_numbers"), &types,
                        &scatter.walk));
  TSR_TRY(describe_tensors(lowering, op, &scatter));
  TSR_TRY(describe_body(lowering, op, &scatter, &code));
  tsr_scatter_plan(&scatter);
  tsr_schedule_step *step = NULL;
  const tsr_status status = add_scatter(lowering, op, &scatter, &code, &step);
  if (status) {
    tsr_tile_destroy(code.program);
    return status;
  }
  step->destroy = destroy_scatter;
  step->temp_bytes = tsr_scatter_temp_bytes(&scatter);
  step->scratch_bytes = tsr_scatter_scratch_bytes(&scatter);
  step->flops = tsr_saturated_multiply(count, tsr_type_element_count(types.windows));
  for (int i = 0; i < count; i++) step->overwrites[i] = TSR_INPUT(i);
  return NULL;
}
