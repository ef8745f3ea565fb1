// A scan reads its layers one after another: slices of tensors that nothing writes. Such a slice is
// a view whose place is computed by the steps that read it, not a copy.
#include "lower/slice_view.h"

#include "lanes/lane_flow.h"
#include "lower/copy_parts.h"
#include "simplify/evaluate.h"

// Dims before the first that is cut have one index each in a piece without gaps, those after it
// all.
bool tsr_slice_is_piece(const tsr_op *op) {
  if (op->info->id != TSR_OP_DYNAMIC_SLICE || !tsr_type_runs(tsr_operand_type(op, 0)) ||
      tsr_type_element_count(op->results[0].type) < 1)
    return false;
  const tsr_type *tensor = tsr_operand_type(op, 0), *slice = op->results[0].type;
  int starts = 0;
  bool inside = false;  // a dim before has several indices
  for (int d = 0; d < tensor->rank; d++) {
    const bool cut = slice->dims[d] != tensor->dims[d];
    if (cut && inside) return false;
    inside = inside || slice->dims[d] != 1;
    starts += cut;
  }
  return starts > 0 && starts <= TSR_VIEW_STARTS;
}

tsr_status tsr_lower_slice_view(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *tensor = tsr_operand_type(op, 0), *slice = op->results[0].type;
  struct tsr_slot_window *window = tsr_lower_alloc(lowering, 1, sizeof *window);
  TSR_NEED(window);
  int64_t stride = (int64_t)tsr_type_element_bytes(tsr_type_element(tensor));
  for (int d = tensor->rank - 1; d >= 0; d--) {
    const int64_t most = tensor->dims[d] - slice->dims[d];
    tsr_value *index = tsr_op_operand(op, 1 + d);
    if (most > 0) {
      const int at = window->start_count++;
      window->starts[at] =
          (tsr_window_start){.dtype = index->type->dtype, .most = most, .stride = stride};
      TSR_TRY(tsr_slot_of(lowering, index, &window->slots[at]));
    }
    stride *= tensor->dims[d];
  }
  TSR_TRY(tsr_slot_view(lowering, &op->results[0], tsr_op_operand(op, 0), 0));
  lowering->schedule->slots[op->results[0].mark].window = window;
  return NULL;
}

// ---- places that are known for each lane ----

static bool is_known(const tsr_lowering *lowering, const tsr_value *index) {
  return tsr_value_constant(index) || tsr_lane_flow_known(lowering->flow, index);
}

bool tsr_slice_is_known(const tsr_lowering *lowering, const tsr_op *op) {
  if (!lowering->flow || op->info->id != TSR_OP_DYNAMIC_SLICE) return false;
  const tsr_type *tensor = tsr_operand_type(op, 0), *slice = op->results[0].type;
  for (int d = 0; d < tensor->rank; d++)
    if (slice->dims[d] != tensor->dims[d] && !is_known(lowering, tsr_op_operand(op, 1 + d)))
      return false;
  return tsr_is_one_run(tensor, slice);
}

static int64_t index_in(const tsr_lowering *lowering, const tsr_value *index, int lane) {
  const tsr_attr *const *known = tsr_lane_flow_known(lowering->flow, index);
  return tsr_attr_int_at(known ? known[tsr_class_of(tsr_value_classes(lowering, index), lane)]
                               : tsr_value_constant(index),
                         0);
}

// Where the slice of a lane starts, in bytes: an index beyond the last place is the last one.
static int64_t start_in(const tsr_lowering *lowering, const tsr_op *op, int lane) {
  const tsr_type *tensor = tsr_operand_type(op, 0), *slice = op->results[0].type;
  int64_t stride = (int64_t)tsr_type_element_bytes(tsr_type_element(tensor)), start = 0;
  for (int d = tensor->rank - 1; d >= 0; d--) {
    const int64_t most = tensor->dims[d] - slice->dims[d];
    int64_t index = most > 0 ? index_in(lowering, tsr_op_operand(op, 1 + d), lane) : 0;
    index = index < 0 ? 0 : index > most ? most : index;
    start += index * stride;
    stride *= tensor->dims[d];
  }
  return start;
}

tsr_status tsr_lower_known_slice(tsr_lowering *lowering, tsr_op *op) {
  const tsr_lane_classes *classes = tsr_value_classes(lowering, &op->results[0]);
  const int count = tsr_class_count(classes);
  int64_t *offsets = tsr_lower_alloc(lowering, count, sizeof *offsets);
  int base = -1, view = -1;
  TSR_NEED(offsets);
  for (int i = 0; i < count; i++) offsets[i] = start_in(lowering, op, tsr_class_lane(classes, i));
  TSR_TRY(tsr_slot_of(lowering, tsr_op_operand(op, 0), &base));
  TSR_TRY(tsr_slot_part(lowering, base, classes, offsets, &view));
  return tsr_slot_take(lowering, &op->results[0], view);
}

// ---- steps ----

typedef struct view_placing {
  tsr_lowering *lowering;
  tsr_schedule_step *step;
  int *slots;
  int slot_count;
  tsr_window_input *windows;
  int window_count;
} view_placing;

static const struct tsr_slot_window *window_of(const tsr_schedule *schedule, int *slot) {
  while (schedule->slots[*slot].kind == TSR_SLOT_VIEW) {
    const struct tsr_slot_window *window = schedule->slots[*slot].window;
    *slot = schedule->slots[*slot].base;
    if (window) return window;
  }
  return NULL;
}

static tsr_status add_window(view_placing *p, int input, const struct tsr_slot_window *window) {
  tsr_window_start *starts = tsr_lower_alloc(p->lowering, window->start_count, sizeof *starts);
  TSR_NEED(starts);
  for (int i = 0; i < window->start_count; i++) {
    starts[i] = window->starts[i];
    starts[i].input = p->slot_count;
    p->slots[p->slot_count++] = window->slots[i];
  }
  p->windows[p->window_count++] = (tsr_window_input){input, window->start_count, starts};
  return NULL;
}

static tsr_status find_windows(view_placing *p) {
  const tsr_schedule *schedule = p->lowering->schedule;
  for (int i = 0; i < p->step->input_count; i++) {
    int slot = p->step->inputs[i], depth = 0;
    for (const struct tsr_slot_window *window = window_of(schedule, &slot); window;
         window = window_of(schedule, &slot)) {
      if (depth++ == TSR_VIEW_STARTS)
        return tsr_fail(UNSUPPORTED, "%s: it reads a slice of slices",
                        tsr_op_title(p->lowering, p->step->op));
      TSR_TRY(add_window(p, i, window));
      for (int k = 0; k < p->step->output_count; k++) p->step->overwrites[k] &= ~TSR_INPUT(i);
    }
  }
  return NULL;
}

static bool has_windows(const tsr_lowering *lowering, const tsr_schedule_step *step) {
  for (int i = 0; i < step->input_count; i++) {
    int slot = step->inputs[i];
    if (window_of(lowering->schedule, &slot)) return true;
  }
  return false;
}

tsr_status tsr_step_place_views(tsr_lowering *lowering, tsr_schedule_step *step) {
  if (!has_windows(lowering, step)) return NULL;
  if (step->kind != TSR_STEP_KERNEL)
    return tsr_fail(UNSUPPORTED, "%s: it reads a slice that is not copied",
                    tsr_op_title(lowering, step->op));
  const int64_t most = (int64_t)TSR_VIEW_STARTS * step->input_count;
  view_placing p = {
      .lowering = lowering,
      .step = step,
      .slots = tsr_lower_alloc(lowering, step->input_count + most * TSR_VIEW_STARTS, sizeof(int)),
      .slot_count = step->input_count,
      .windows = tsr_lower_alloc(lowering, most, sizeof *p.windows)};
  TSR_NEED(p.slots && p.windows ? p.slots : NULL);
  for (int i = 0; i < step->input_count; i++) p.slots[i] = step->inputs[i];
  TSR_TRY(find_windows(&p));
  step->inputs = p.slots;
  step->input_count = p.slot_count;
  step->windows = p.windows;
  step->window_count = p.window_count;
  return NULL;
}
