// stablehlo.reduce_window and select_and_scatter.
//
// A window as long as its dim that starts or ends with each element is a cumulative reduction, in
// linear time. Other windows go cell by cell: by loops for the common ops and types, by the body's
// own program for all others.
#include "base/arithmetic.h"
#include "reduce/cumulate.h"
#include "reduce/fold_loops.h"
#include "reduce/select_scatter.h"
#include "reduce/window.h"
#include "lower/body_match.h"
#include "lower/lower_reduce.h"

enum { REGION_ELEMENTS = 256 };  // of one call of a body

// ---- reading windows ----

static int64_t list_at(const tsr_op *op, const char *name, int64_t index, int64_t otherwise) {
  const tsr_attr *list = tsr_op_attr(op, name);
  return list ? tsr_attr_int_at(list, index) : otherwise;
}

static bool list_fits(const tsr_op *op, const char *name, int64_t count) {
  const tsr_attr *list = tsr_op_attr(op, name);
  return !list || tsr_attr_int_count(list) == count;
}

// Whether all places of the windows of a dim are numbers.
static bool places_fit(const tsr_window_dim *d) {
  int64_t last = 0, cells = 0, all = 0;
  return d->size > 0 && d->stride > 0 && d->dilation > 0 && d->base_dilation > 0 &&
         !__builtin_mul_overflow(d->windows, d->stride, &last) &&
         !__builtin_mul_overflow(d->size, d->dilation, &cells) &&
         !__builtin_add_overflow(last, cells, &all) && !__builtin_sub_overflow(all, d->low, &all) &&
         !__builtin_sub_overflow(-all, d->low, &all) &&
         !__builtin_sub_overflow(d->low, last, &all) &&
         !__builtin_mul_overflow(d->input, d->base_dilation, &all);
}

static tsr_status read_window(tsr_lowering *lowering, const tsr_op *op, const tsr_type *input,
                              const tsr_type *windows, tsr_window_shape *out) {
  static const char *const lists[] = {"window_dimensions", "window_strides", "base_dilations",
                                      "window_dilations"};
  const int rank = input->rank;
  bool fits = windows->rank == rank && list_fits(op, "padding", 2 * (int64_t)rank);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    fits = fits && list_fits(op, lists[i], rank);
  if (!fits || rank > TSR_WINDOW_RANK)
    return tsr_fail(UNSUPPORTED, "%s: it has %d dimensions, at most %d run",
                    tsr_op_title(lowering, op), rank, TSR_WINDOW_RANK);
  *out = (tsr_window_shape){.rank = rank};
  for (int d = 0; d < rank; d++) {
    out->dims[d] = (tsr_window_dim){.input = input->dims[d],
                                    .windows = windows->dims[d],
                                    .size = list_at(op, "window_dimensions", d, 1),
                                    .stride = list_at(op, "window_strides", d, 1),
                                    .dilation = list_at(op, "window_dilations", d, 1),
                                    .base_dilation = list_at(op, "base_dilations", d, 1),
                                    .low = list_at(op, "padding", 2 * (int64_t)d, 0)};
    if (!places_fit(&out->dims[d]))
      return tsr_fail(TOO_LARGE, "%s: the window of dimension %d overflows",
                      tsr_op_title(lowering, op), d);
  }
  tsr_window_join(out);
  if (!out->rank) *out = (tsr_window_shape){.rank = 1, .dims = {{1, 1, 1, 1, 1, 1, 0}}};
  return NULL;
}

// ---- cumulative reductions ----

static bool is_single(const tsr_window_dim *d) {
  return d->size == 1 && d->stride == 1 && d->base_dilation == 1 && d->low == 0 &&
         d->input == d->windows;
}

static bool is_cumulative(const tsr_window_shape *window, tsr_cumulate_dims *out) {
  int along = -1;
  *out = (tsr_cumulate_dims){.outer = 1, .inner = 1};
  for (int i = 0; i < window->rank; i++) {
    const tsr_window_dim *d = &window->dims[i];
    if (is_single(d)) {
      *(along < 0 ? &out->outer : &out->inner) *= d->input;
      continue;
    }
    if (along >= 0 || d->input != d->windows || d->size != d->input || d->stride != 1 ||
        d->dilation != 1 || d->base_dilation != 1 || (d->low != 0 && d->low != d->size - 1))
      return false;
    along = i;
    out->length = d->input;
    out->reverse = d->low == 0;
  }
  return along >= 0;
}

static tsr_status lower_cumulate(tsr_lowering *lowering, tsr_op *op, tsr_tile_op body,
                                 const tsr_cumulate_dims *dims) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const tsr_cumulate cumulate = {
      .dims = *dims,
      .dtype = type->dtype,
      .op = body,
      .element_bytes = (int)tsr_type_element_bytes(tsr_type_element(type))};
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_cumulate_run, &cumulate, sizeof cumulate, &step));
  step->scratch_bytes = tsr_cumulate_scratch_bytes(&cumulate);
  step->temp_bytes = tsr_cumulate_temp_bytes(&cumulate);
  step->flops = tsr_type_element_count(type);
  return NULL;
}

static tsr_status lower_cumulate_region(tsr_lowering *lowering, tsr_op *op,
                                        const tsr_cumulate_dims *dims) {
  tsr_cumulate_region cumulate = {.dims = *dims};
  tsr_value **inputs = NULL;
  int input_count = 0;
  TSR_TRY(
      tsr_region_call_of(lowering, op, REGION_ELEMENTS, &cumulate.region, &inputs, &input_count));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_owning_kernel(lowering, op, inputs, input_count, tsr_cumulate_region_run,
                                  &cumulate, sizeof cumulate, tsr_cumulate_region_destroy, &step));
  step->scratch_bytes = tsr_cumulate_region_scratch_bytes(&cumulate);
  step->flops = tsr_type_element_count(tsr_operand_type(op, 0));
  return NULL;
}

// ---- windows ----

static int64_t cells_of_all(const tsr_op *op, const tsr_window_shape *window) {
  return tsr_saturated_multiply(tsr_type_element_count(op->results[0].type),
                                tsr_window_cell_count(window));
}

static tsr_status lower_fold(tsr_lowering *lowering, tsr_op *op, tsr_tile_op body,
                             const tsr_window_shape *window) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const tsr_window_fold fold = {
      .window = *window,
      .dtype = type->dtype,
      .op = body,
      .element_bytes = (int)tsr_type_element_bytes(tsr_type_element(type))};
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_window_fold_run, &fold, sizeof fold, &step));
  step->scratch_bytes = tsr_window_fold_scratch_bytes(&fold);
  step->flops = cells_of_all(op, window);
  return NULL;
}

static tsr_status lower_region(tsr_lowering *lowering, tsr_op *op, const tsr_window_shape *window) {
  tsr_window_region reduce = {.window = *window};
  tsr_value **inputs = NULL;
  int input_count = 0;
  TSR_TRY(tsr_region_call_of(lowering, op, REGION_ELEMENTS, &reduce.region, &inputs, &input_count));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_owning_kernel(lowering, op, inputs, input_count, tsr_window_region_run, &reduce,
                                  sizeof reduce, tsr_window_region_destroy, &step));
  step->scratch_bytes = tsr_window_region_scratch_bytes(&reduce);
  step->flops = cells_of_all(op, window);
  return NULL;
}

tsr_status tsr_lower_reduce_window(tsr_lowering *lowering, tsr_op *op) {
  tsr_window_shape window;
  tsr_cumulate_dims dims;
  tsr_tile_op body = TSR_TILE_OP_COUNT;
  if (op->result_count < 1 || op->operand_count != 2 * op->result_count)
    return tsr_lower_none(lowering, op);
  const tsr_type *type = tsr_operand_type(op, 0);
  if (!tsr_type_runs(type) || !tsr_type_runs(op->results[0].type))
    return tsr_lower_none(lowering, op);
  TSR_TRY(read_window(lowering, op, type, op->results[0].type, &window));
  const bool plain = op->result_count == 1 && tsr_reduce_ops(op, &body) &&
                     op->results[0].type->dtype == type->dtype &&
                     tsr_fold_loops_of(type->dtype, body) != NULL;
  if (is_cumulative(&window, &dims)) {
    if (!plain) return lower_cumulate_region(lowering, op, &dims);
    if (tsr_is_identity(tsr_op_operand(op, 1), body))
      return lower_cumulate(lowering, op, body, &dims);
  }
  return plain ? lower_fold(lowering, op, body, &window) : lower_region(lowering, op, &window);
}

// ---- select_and_scatter ----

// Whether the op chooses the largest or smallest element and adds.
static bool is_native(const tsr_op *op, bool *out_smallest) {
  const tsr_ir_block *block = op->regions[0].first;
  const tsr_op *end = block ? tsr_block_terminator(block) : NULL;
  if (!end || end->operand_count != 1 || block->arg_count != 2) return false;
  if (tsr_region_single(&op->regions[1]) != TSR_TILE_ADD) return false;
  const tsr_type *type = tsr_operand_type(op, 0);
  if (!tsr_select_scatter_is_native(type->dtype, tsr_type_element_count(type))) return false;
  const tsr_value *stays = tsr_op_operand(end, 0);
  *out_smallest = tsr_match_compare(stays, TSR_DIRECTION_LE, block->args[0], block->args[1]);
  return *out_smallest ||
         tsr_match_compare(stays, TSR_DIRECTION_GE, block->args[0], block->args[1]);
}

// The step's inputs: the operands, and what both regions take from outside.
static tsr_status compile_regions(tsr_lowering *lowering, tsr_op *op, tsr_select_scatter *s,
                                  tsr_value ***out_inputs, int *out_count) {
  tsr_region_code select = {.outside_count = 0}, scatter = {.outside_count = 0};
  if (!s->native) {
    TSR_TRY(tsr_region_compile(lowering, &op->regions[0], s->most, &select));
    s->select = select.program;
    TSR_TRY(tsr_region_compile(lowering, &op->regions[1], s->most, &scatter));
    s->scatter = scatter.program;
  }
  tsr_value **inputs = tsr_lower_alloc(
      lowering, op->operand_count + select.outside_count + scatter.outside_count, sizeof *inputs);
  TSR_NEED(inputs);
  int count = 0;
  for (int i = 0; i < op->operand_count; i++) inputs[count++] = tsr_op_operand(op, i);
  for (int i = 0; i < select.outside_count; i++) inputs[count++] = select.outside[i];
  for (int i = 0; i < scatter.outside_count; i++) inputs[count++] = scatter.outside[i];
  s->select_outside = select.outside_count;
  s->scatter_outside = scatter.outside_count;
  *out_inputs = inputs;
  *out_count = count;
  return NULL;
}

tsr_status tsr_lower_select_and_scatter(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0), *source = tsr_operand_type(op, 1);
  tsr_select_scatter s = {.dtype = type->dtype, .most = REGION_ELEMENTS};
  if (!tsr_type_runs(type) || !tsr_type_runs(source) || op->results[0].type != type ||
      tsr_type_element(source) != tsr_type_element(type))
    return tsr_lower_none(lowering, op);
  TSR_TRY(read_window(lowering, op, type, source, &s.window));
  s.element_bytes = (int)tsr_type_element_bytes(tsr_type_element(type));
  s.native = is_native(op, &s.smallest);
  tsr_value **inputs = NULL;
  int count = 0;
  tsr_schedule_step *step = NULL;
  tsr_status status = compile_regions(lowering, op, &s, &inputs, &count);
  if (!status)
    status = tsr_lower_kernel_on(lowering, op, inputs, count, tsr_select_scatter_run, &s, sizeof s,
                                 &step);
  if (status) {
    tsr_select_scatter_destroy(&s);
    return status;
  }
  step->destroy = tsr_select_scatter_destroy;
  step->scratch_bytes = tsr_select_scatter_scratch_bytes(&s);
  step->flops =
      tsr_saturated_multiply(tsr_type_element_count(source), tsr_window_cell_count(&s.window));
  return NULL;
}
