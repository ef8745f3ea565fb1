// Slots of values and steps of kernels: what every function that lowers an op uses.
//
// The mark of a value is the number of its slot. A mark may be left over from another pass, so a
// slot also names its value.
#include "lower/lowering.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "element/dtype_internal.h"
#include "lanes/lane_flow.h"
#include "simplify/evaluate.h"
#include "simplify/scalar.h"
#include "syntax/syntax.h"
#include "tessera/own.h"

void *tsr_lower_alloc(tsr_lowering *lowering, int64_t count, size_t size) {
  return tsr_arena_zeros(&lowering->schedule->arena, (size_t)count, size);
}

// ---- types ----

bool tsr_type_runs(const tsr_type *type) {
  tsr_scalar_type scalar;
  return type->kind == TSR_TYPE_TENSOR && tsr_type_is_static(type) &&
         tsr_scalar_type_of(type, &scalar) && tsr_type_bytes(type) >= 0;
}

int64_t tsr_type_bytes(const tsr_type *type) {
  const int64_t count = tsr_type_element_count(type);
  const int64_t width = (int64_t)tsr_type_element_bytes(tsr_type_element(type));
  int64_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(count, width, &bytes)) return -1;
  return bytes;
}

const char *tsr_op_title(tsr_lowering *lowering, const tsr_op *op) {
  return tsr_op_title_in(&lowering->schedule->arena, op);
}

// ---- slots ----

bool tsr_value_has_slot(const tsr_lowering *lowering, const tsr_value *value) {
  const tsr_schedule *schedule = lowering->schedule;
  return value->mark < (uint32_t)schedule->slot_count &&
         schedule->slots[value->mark].value == value;
}

static tsr_status add_slot(tsr_lowering *lowering, tsr_slot slot, int *out_slot) {
  tsr_schedule *schedule = lowering->schedule;
  if (schedule->slot_count == INT32_MAX) return tsr_fail(TOO_LARGE, "too many values to run");
  tsr_slot *slots =
      tsr_arena_grow(&schedule->arena, schedule->slots, schedule->slot_count, sizeof *slots);
  TSR_NEED(slots);
  schedule->slots = slots;
  slots[schedule->slot_count] = slot;
  *out_slot = schedule->slot_count++;
  return NULL;
}

tsr_status tsr_check_runs(tsr_lowering *lowering, const tsr_value *value) {
  if (tsr_type_runs(value->type)) return NULL;
  TSR_OWN(text, type);
  tsr_type_print(value->type, &type);
  const bool is_open = value->type->kind == TSR_TYPE_TENSOR && !tsr_type_is_static(value->type);
  return tsr_fail(UNSUPPORTED, "%s: values of type %s%s do not run",
                  value->def ? tsr_op_title(lowering, value->def) : "an argument",
                  tsr_text_string(&type), is_open ? ", whose sizes no input has told," : "");
}

const tsr_lane_classes *tsr_value_classes(const tsr_lowering *lowering, const tsr_value *value) {
  return lowering->flow ? tsr_lane_flow_classes(lowering->flow, value) : NULL;
}

tsr_status tsr_lower_made(tsr_lowering *lowering, tsr_op *op) {
  const tsr_lane_classes *classes = NULL;
  tsr_lower_fn *lower = tsr_lower_of(op->info->id);
  if (!lower) return tsr_fail(UNSUPPORTED, "%s does not run", op->name);
  for (int i = 0; i < op->operand_count && lowering->flow; i++)
    TSR_TRY(tsr_classes_meet(lowering->flow->table, classes,
                             tsr_value_classes(lowering, tsr_op_operand(op, i)), &classes));
  for (int i = 0; i < op->result_count && lowering->flow; i++)
    TSR_TRY(tsr_lane_flow_set(lowering->flow, tsr_op_result(op, i), classes, NULL));
  return lower(lowering, op);
}

tsr_status tsr_slot_create(tsr_lowering *lowering, tsr_value *value, int *out_slot) {
  TSR_TRY(tsr_check_runs(lowering, value));
  TSR_TRY(add_slot(lowering,
                   (tsr_slot){.kind = TSR_SLOT_ARENA,
                              .classes = tsr_value_classes(lowering, value),
                              .bytes = tsr_type_bytes(value->type),
                              .base = -1,
                              .value = value},
                   out_slot));
  value->mark = (uint32_t)*out_slot;
  return NULL;
}

tsr_status tsr_slot_temp(tsr_lowering *lowering, int64_t bytes, const tsr_lane_classes *classes,
                         int *out_slot) {
  return add_slot(
      lowering, (tsr_slot){.kind = TSR_SLOT_ARENA, .classes = classes, .bytes = bytes, .base = -1},
      out_slot);
}

tsr_status tsr_slot_part(tsr_lowering *lowering, int base, const tsr_lane_classes *classes,
                         const int64_t *class_offsets, int *out_slot) {
  return add_slot(lowering,
                  (tsr_slot){.kind = TSR_SLOT_VIEW,
                             .classes = classes,
                             .bytes = lowering->schedule->slots[base].bytes,
                             .base = base,
                             .class_offsets = class_offsets},
                  out_slot);
}

tsr_status tsr_slot_take(tsr_lowering *lowering, tsr_value *value, int slot) {
  TSR_TRY(tsr_check_runs(lowering, value));
  lowering->schedule->slots[slot].value = value;
  lowering->schedule->slots[slot].bytes = tsr_type_bytes(value->type);
  value->mark = (uint32_t)slot;
  return NULL;
}

tsr_status tsr_slot_view_at(tsr_lowering *lowering, tsr_value *value, int base, int64_t offset) {
  TSR_TRY(tsr_check_runs(lowering, value));
  const tsr_slot *slot = &lowering->schedule->slots[base];
  int view = -1;
  TSR_TRY(add_slot(lowering,
                   (tsr_slot){.kind = TSR_SLOT_VIEW,
                              .classes = slot->classes,
                              .bytes = tsr_type_bytes(value->type),
                              .base = base,
                              .offset = offset,
                              .value = value},
                   &view));
  value->mark = (uint32_t)view;
  return NULL;
}

tsr_status tsr_slot_view(tsr_lowering *lowering, tsr_value *value, tsr_value *of, int64_t offset) {
  int base = -1;
  TSR_TRY(tsr_check_runs(lowering, value));
  TSR_TRY(tsr_slot_of(lowering, of, &base));
  return tsr_slot_view_at(lowering, value, base, offset);
}

// ---- constants ----

// Elements repeated until they fill the tensor.
static void fill(char *out, int64_t bytes, const char *element, int64_t width) {
  if (bytes == 0) return;
  memcpy(out, element, (size_t)width);
  for (int64_t done = width; done < bytes; done *= 2)
    memcpy(out + done, out, (size_t)tsr_least(done, bytes - done));
}

// Integers narrower than a byte are extended by their sign in the memory of a run, not in programs.
static bool needs_signs(const tsr_type *type, tsr_scalar_type *out_scalar) {
  return tsr_scalar_type_of(type, out_scalar) && out_scalar->kind == TSR_CLASS_SIGNED &&
         out_scalar->bits < 8;
}

// The bytes of a constant, aligned; those of the program where that is possible.
static tsr_status constant_data(tsr_lowering *lowering, const tsr_attr *attr, const char **out) {
  enum { ALIGNMENT = 64 };
  const int64_t bytes = tsr_type_bytes(attr->type);
  *out = attr->bytes;
  if (bytes <= 0) return NULL;
  const int64_t width = (int64_t)tsr_type_element_bytes(tsr_type_element(attr->type));
  tsr_scalar_type scalar;
  const bool signs = needs_signs(attr->type, &scalar);
  if (!attr->splat && !signs && (uintptr_t)attr->bytes % (uintptr_t)tsr_least(width, 8) == 0)
    return NULL;
  char *block = tsr_arena_alloc(&lowering->schedule->arena, (size_t)bytes + ALIGNMENT);
  TSR_NEED(block);
  block += ALIGNMENT - (uintptr_t)block % ALIGNMENT;
  if (attr->splat)
    fill(block, bytes, attr->bytes, width);
  else
    memcpy(block, attr->bytes, (size_t)bytes);
  for (int64_t i = 0; signs && i < bytes; i++)
    block[i] = (char)tsr_scalar_load(&scalar, &block[i]).i;
  *out = block;
  return NULL;
}

// One constant for each class of lanes.
static tsr_status known_data(tsr_lowering *lowering, const tsr_value *value,
                             const tsr_attr *const *known, const char **out) {
  const int64_t bytes = tsr_type_bytes(value->type);
  const int count = tsr_class_count(tsr_value_classes(lowering, value));
  char *all = tsr_lower_alloc(lowering, count, (size_t)bytes);
  TSR_NEED(all);
  for (int i = 0; i < count; i++) {
    const char *one = NULL;
    TSR_TRY(constant_data(lowering, known[i], &one));
    memcpy(all + i * bytes, one, (size_t)bytes);
  }
  *out = all;
  return NULL;
}

static tsr_status constant_slot(tsr_lowering *lowering, tsr_value *value, int *out_slot) {
  const tsr_attr *attr = tsr_value_constant(value);
  const tsr_attr *const *known = lowering->flow ? tsr_lane_flow_known(lowering->flow, value) : NULL;
  if (!attr && !known)
    return tsr_fail(UNSUPPORTED, "%s: its value is not held by the program",
                    value->def ? tsr_op_title(lowering, value->def) : "an argument");
  TSR_TRY(tsr_check_runs(lowering, value));
  const char *data = NULL;
  TSR_TRY(known ? known_data(lowering, value, known, &data) : constant_data(lowering, attr, &data));
  TSR_TRY(add_slot(lowering,
                   (tsr_slot){.kind = TSR_SLOT_CONSTANT,
                              .classes = known ? tsr_value_classes(lowering, value) : NULL,
                              .bytes = tsr_type_bytes(value->type),
                              .base = -1,
                              .data = data,
                              .value = value},
                   out_slot));
  value->mark = (uint32_t)*out_slot;
  return NULL;
}

tsr_status tsr_slot_of(tsr_lowering *lowering, tsr_value *value, int *out_slot) {
  if (!tsr_value_has_slot(lowering, value)) return constant_slot(lowering, value, out_slot);
  *out_slot = (int)value->mark;
  return NULL;
}

// ---- steps ----

static int *copy_slots(tsr_lowering *lowering, const int *slots, int count) {
  int *copy = tsr_lower_alloc(lowering, count + 1, sizeof *copy);
  if (copy && count) memcpy(copy, slots, sizeof *slots * (size_t)count);
  return copy;
}

static void append_step(tsr_step_list *list, tsr_schedule_step *step) {
  step->previous = list->last;
  step->next = NULL;
  if (list->last)
    list->last->next = step;
  else
    list->first = step;
  list->last = step;
  list->count++;
}

void tsr_lower_postpone(tsr_lowering *lowering, tsr_schedule_step *step) {
  tsr_step_list *list = lowering->list;
  if (list->last == step) return;
  step->next->previous = step->previous;
  *(step->previous ? &step->previous->next : &list->first) = step->next;
  list->count--;
  append_step(list, step);
}

// A step runs for the classes of what it writes; one that writes nothing for every lane.
static tsr_status set_classes(tsr_lowering *lowering, tsr_schedule_step *step) {
  tsr_class_table *table = &lowering->schedule->classes;
  if (!step->output_count) return tsr_classes_finest(table, step->lanes, &step->classes);
  for (int i = 0; i < step->output_count; i++)
    TSR_TRY(tsr_classes_meet(table, step->classes,
                             lowering->schedule->slots[step->outputs[i]].classes, &step->classes));
  return NULL;
}

tsr_status tsr_lower_add(tsr_lowering *lowering, const tsr_op *op, tsr_schedule_step_kind kind,
                         const int *inputs, int input_count, const int *outputs, int output_count,
                         tsr_schedule_step **out_step) {
  tsr_schedule_step *step = tsr_lower_alloc(lowering, 1, sizeof *step);
  TSR_NEED(step);
  *step = (tsr_schedule_step){
      .kind = kind,
      .input_count = input_count,
      .output_count = output_count,
      .inputs = copy_slots(lowering, inputs, input_count),
      .outputs = copy_slots(lowering, outputs, output_count),
      .overwrites = tsr_lower_alloc(lowering, output_count + 1, sizeof(uint64_t)),
      .temp_slot = -1,
      .lanes = lowering->lanes,
      .condition = -1,
      .op = op,
      .op_count = 1};
  TSR_NEED(step->inputs && step->outputs && step->overwrites ? step : NULL);
  const tsr_slot *slots = lowering->schedule->slots;
  for (int i = 0; i < input_count; i++)
    step->bytes = tsr_saturated_add(step->bytes, slots[inputs[i]].bytes);
  for (int i = 0; i < output_count; i++)
    step->bytes = tsr_saturated_add(step->bytes, slots[outputs[i]].bytes);
  if (kind == TSR_STEP_KERNEL) TSR_TRY(set_classes(lowering, step));
  append_step(lowering->list, step);
  *out_step = step;
  return NULL;
}

tsr_status tsr_lower_step(tsr_lowering *lowering, const tsr_op *op, const int *inputs,
                          int input_count, const int *outputs, int output_count, tsr_kernel_fn *run,
                          const void *description, size_t bytes, tsr_schedule_step **out_step) {
  void *copy = tsr_lower_alloc(lowering, 1, bytes + 1);
  TSR_NEED(copy);
  if (bytes) memcpy(copy, description, bytes);
  TSR_TRY(tsr_lower_add(lowering, op, TSR_STEP_KERNEL, inputs, input_count, outputs, output_count,
                        out_step));
  (*out_step)->run = run;
  (*out_step)->description = copy;
  return NULL;
}

tsr_status tsr_lower_kernel_on(tsr_lowering *lowering, tsr_op *op, tsr_value *const *inputs,
                               int input_count, tsr_kernel_fn *run, const void *description,
                               size_t bytes, tsr_schedule_step **out_step) {
  int *in = tsr_lower_alloc(lowering, input_count + 1, sizeof *in);
  int *out = tsr_lower_alloc(lowering, op->result_count + 1, sizeof *out);
  TSR_NEED(in && out ? in : NULL);
  int in_count = 0, out_count = 0;
  for (int i = 0; i < input_count; i++)
    if (inputs[i]->type->kind == TSR_TYPE_TENSOR)
      TSR_TRY(tsr_slot_of(lowering, inputs[i], &in[in_count++]));
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i].type->kind == TSR_TYPE_TENSOR)
      TSR_TRY(tsr_slot_create(lowering, &op->results[i], &out[out_count++]));
  return tsr_lower_step(lowering, op, in, in_count, out, out_count, run, description, bytes,
                        out_step);
}

tsr_status tsr_lower_owning_kernel(tsr_lowering *lowering, tsr_op *op, tsr_value *const *inputs,
                                   int input_count, tsr_kernel_fn *run, void *description,
                                   size_t bytes, void (*destroy)(void *description),
                                   tsr_schedule_step **out_step) {
  const tsr_status status =
      tsr_lower_kernel_on(lowering, op, inputs, input_count, run, description, bytes, out_step);
  if (status)
    destroy(description);
  else
    (*out_step)->destroy = destroy;
  return status;
}

tsr_status tsr_lower_kernel(tsr_lowering *lowering, tsr_op *op, tsr_kernel_fn *run,
                            const void *description, size_t bytes, tsr_schedule_step **out_step) {
  tsr_value **inputs = tsr_lower_alloc(lowering, op->operand_count + 1, sizeof *inputs);
  TSR_NEED(inputs);
  for (int i = 0; i < op->operand_count; i++) inputs[i] = tsr_op_operand(op, i);
  return tsr_lower_kernel_on(lowering, op, inputs, op->operand_count, run, description, bytes,
                             out_step);
}

static void destroy_tile(void *program) { tsr_tile_destroy(program); }

tsr_status tsr_lower_tile(tsr_lowering *lowering, const tsr_op *op, tsr_tile_program *program,
                          const int *inputs, int input_count, const int *outputs, int output_count,
                          tsr_schedule_step **out_step) {
  const tsr_status status = tsr_lower_add(lowering, op, TSR_STEP_KERNEL, inputs, input_count,
                                          outputs, output_count, out_step);
  if (status) {
    tsr_tile_destroy(program);
    return status;
  }
  tsr_schedule_step *step = *out_step;
  step->run = tsr_tile_run;
  step->description = program;
  step->destroy = destroy_tile;
  step->scratch_bytes = tsr_tile_scratch_bytes(program);
  step->temp_bytes = tsr_tile_temp_bytes(program);
  step->flops = tsr_tile_flops(program);
  return NULL;
}
