// Manual computations: operands are cut into the pieces of the lanes, the body is lowered once for
// all of them, and the pieces of its results are put together again. Programs that run in parallel
// have the pieces as operands and results.
#include <string.h>

#include "lanes/lane_flow.h"
#include "lower/copy_parts.h"
#include "processes/run_parallel.h"

// ---- pieces ----

// Where the memory of each class of a slot starts: `stride` bytes apart. -1 = it lies elsewhere for
// some of them.
static int64_t class_stride(const tsr_schedule *schedule, int slot) {
  for (; schedule->slots[slot].kind == TSR_SLOT_VIEW; slot = schedule->slots[slot].base)
    if (schedule->slots[slot].class_offsets) return -1;
  return schedule->slots[slot].kind == TSR_SLOT_ARENA ? schedule->slots[slot].bytes : -1;
}

// The whole tensor of a computation inside another one: its memory in all lanes of that one, at
// even distances.
static tsr_status even_slot(tsr_lowering *lowering, const tsr_op *op, const tsr_manual *m,
                            int *slot) {
  const tsr_slot from = lowering->schedule->slots[*slot];
  if (!m->outer || !from.classes || class_stride(lowering->schedule, *slot) >= 0) return NULL;
  const int lanes = lowering->lanes;
  int copy = -1;
  lowering->lanes = m->outer->lanes;
  TSR_TRY(tsr_slot_temp(lowering, from.bytes, from.classes, &copy));
  const tsr_status status = tsr_lower_copy(lowering, op, *slot, copy);
  lowering->lanes = lanes;
  *slot = copy;
  return status;
}

// A view that has for each lane the place of its piece in the whole tensor. Lanes of one piece are
// one class; in a computation inside another one also the class of the lane around counts.
static tsr_status view_pieces(tsr_lowering *lowering, const tsr_manual *m, int whole,
                              const int64_t *starts, int64_t width, int *out_view) {
  tsr_schedule *schedule = lowering->schedule;
  const tsr_lane_classes *around = schedule->slots[whole].classes, *classes = NULL;
  const int64_t stride = around ? class_stride(schedule, whole) : 0;
  int64_t *keys = tsr_lower_alloc(lowering, m->lanes, sizeof *keys);
  TSR_NEED(keys);
  for (int lane = 0; lane < m->lanes; lane++)
    keys[lane] = tsr_class_of(around, m->outer_lanes[lane]) * stride + starts[lane] * width;
  TSR_TRY(tsr_classes_of_keys(&schedule->classes, m->lanes, keys, &classes));
  TSR_TRY(tsr_slot_part(lowering, whole, classes, NULL, out_view));
  int64_t *offsets = tsr_lower_alloc(lowering, tsr_class_count(classes), sizeof *offsets);
  TSR_NEED(offsets);
  for (int i = 0; i < tsr_class_count(classes); i++) offsets[i] = keys[tsr_class_lane(classes, i)];
  schedule->slots[*out_view].class_offsets = offsets;
  schedule->slots[*out_view].from_first = around != NULL;
  return NULL;
}

// The copy between a piece and its place in the whole tensor.
static tsr_status copy_piece(tsr_lowering *lowering, tsr_op *op, const tsr_type *whole,
                             const tsr_type *piece, bool into_whole, int from, int to) {
  tsr_copy_part *part = tsr_copy_parts_create(lowering, 1);
  TSR_NEED(part);
  part->copy = into_whole ? tsr_copy_over(piece, piece, whole) : tsr_copy_over(piece, whole, piece);
  const tsr_strided_copies copies = tsr_copies_plan(tsr_element_bytes(piece), part, 1);
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_step(lowering, op, &from, 1, &to, 1, tsr_copies_run, &copies, sizeof copies,
                         &step));
  step->bytes = 2 * tsr_type_bytes(piece);
  step->op_count = 0;
  return NULL;
}

// Cuts an operand: pieces are read where they lie, if each is in one run.
static tsr_status cut_operand(tsr_lowering *lowering, tsr_op *op, const tsr_manual *m, int index,
                              tsr_value *piece) {
  tsr_value *whole = tsr_op_operand(op, index);
  const int64_t *starts = NULL;
  int from = -1, view = -1, to = -1;
  TSR_TRY(tsr_check_runs(lowering, piece));
  TSR_TRY(tsr_manual_pieces(&lowering->schedule->arena, op, m, index, false, whole->type,
                            piece->type, &starts));
  TSR_TRY(tsr_slot_of(lowering, whole, &from));
  TSR_TRY(even_slot(lowering, op, m, &from));
  TSR_TRY(view_pieces(lowering, m, from, starts, tsr_element_bytes(piece->type), &view));
  if (tsr_is_one_run(whole->type, piece->type)) return tsr_slot_take(lowering, piece, view);
  TSR_TRY(tsr_slot_temp(lowering, tsr_type_bytes(piece->type),
                        lowering->schedule->slots[view].classes, &to));
  TSR_TRY(tsr_slot_take(lowering, piece, to));
  return copy_piece(lowering, op, whole->type, piece->type, false, view, to);
}

// Puts the pieces of a result together; of several lanes that have the same piece the first does.
// A result that is one memory for all lanes already is the whole.
static tsr_status join_result(tsr_lowering *lowering, tsr_op *op, const tsr_manual *m, int index,
                              tsr_value *piece) {
  tsr_value *whole = &op->results[index];
  const int64_t *starts = NULL;
  int from = -1, view = -1, to = -1;
  TSR_TRY(tsr_manual_pieces(&lowering->schedule->arena, op, m, index, true, whole->type,
                            piece->type, &starts));
  TSR_TRY(tsr_slot_of(lowering, piece, &from));
  if (!m->outer && !lowering->schedule->slots[from].classes &&
      tsr_type_bytes(whole->type) == tsr_type_bytes(piece->type))
    return tsr_slot_view(lowering, whole, piece, 0);
  TSR_TRY(tsr_slot_of(lowering, whole, &to));
  if (!tsr_type_bytes(piece->type)) return NULL;
  TSR_TRY(view_pieces(lowering, m, to, starts, tsr_element_bytes(piece->type), &view));
  return copy_piece(lowering, op, whole->type, piece->type, true, from, view);
}

// ---- the op ----

// The classes of all values inside, if it is the outermost computation. An argument of the body has
// those of its pieces.
static tsr_status open_flow(tsr_lowering *lowering, const tsr_op *op, const tsr_manual *m) {
  tsr_schedule *schedule = lowering->schedule;
  tsr_ir_block *body = op->regions[0].first;
  if (m->outer) return NULL;
  const tsr_lane_classes **classes =
      tsr_lower_alloc(lowering, body->arg_count + 1, sizeof *classes);
  TSR_NEED(classes);
  for (int i = 0; i < body->arg_count; i++) {
    const int64_t *starts = NULL;
    TSR_TRY(tsr_manual_pieces(&schedule->arena, op, m, i, false, tsr_operand_type(op, i),
                              body->args[i]->type, &starts));
    TSR_TRY(tsr_classes_of_keys(&schedule->classes, m->lanes, starts, &classes[i]));
  }
  return tsr_lane_flow_make(lowering->ir, &schedule->classes, m, body, classes, &lowering->flow);
}

static tsr_status lower_body(tsr_lowering *lowering, tsr_op *op, tsr_manual *m) {
  tsr_ir_block *body = op->regions[0].first;
  const tsr_op *end = tsr_block_terminator(body);
  int slot = -1;
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(tsr_slot_create(lowering, &op->results[i], &slot));
  lowering->lanes = m->lanes;
  TSR_TRY(open_flow(lowering, op, m));
  for (int i = 0; i < op->operand_count; i++)  // further arguments are known values
    TSR_TRY(cut_operand(lowering, op, m, i, body->args[i]));
  TSR_TRY(tsr_lower_block(lowering, body));
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(join_result(lowering, op, m, i, tsr_op_operand(end, i)));
  return NULL;
}

// The lanes of `m` run `body`, which lowers the op.
static tsr_status run_lanes(tsr_lowering *lowering, tsr_op *op, tsr_manual *m,
                            tsr_status (*body)(tsr_lowering *, tsr_op *, tsr_manual *)) {
  tsr_manual *outer = lowering->manual;
  tsr_lane_flow *flow = lowering->flow;
  const int outer_lanes = lowering->lanes;
  lowering->manual = m;
  const tsr_status status = body(lowering, op, m);
  lowering->manual = outer;
  lowering->flow = flow;
  lowering->lanes = outer_lanes;
  return status;
}

tsr_status tsr_lower_manual_computation(tsr_lowering *lowering, tsr_op *op) {
  tsr_manual *m = tsr_lower_alloc(lowering, 1, sizeof *m);
  TSR_NEED(m);
  TSR_TRY(tsr_manual_open(lowering->ir, &lowering->schedule->arena, op, lowering->manual, m));
  return run_lanes(lowering, op, m, lower_body);
}

// ---- an entry on all devices ----

tsr_op *tsr_block_only_manual(const tsr_ir_block *block) {
  const tsr_op *end = tsr_block_terminator(block);
  tsr_op *manual = NULL;
  for (tsr_op *op = block->first; op != end; op = op->next) {
    if (op->info->id == TSR_OP_CONSTANT && !op->results[0].uses) continue;
    if (manual || op->info->id != TSR_OP_SDY_MANUAL_COMPUTATION) return NULL;
    manual = op;
  }
  for (int i = 0; manual && i < manual->operand_count; i++) {
    const tsr_value *operand = tsr_op_operand(manual, i);
    if (operand->block != block || operand->uses->next) return NULL;
  }
  for (int i = 0; manual && i < end->operand_count; i++)
    if (tsr_op_operand(end, i)->def != manual) return NULL;
  return manual;
}

static tsr_status plan_piece(tsr_lowering *lowering, const tsr_type *from, const tsr_type *to,
                             const tsr_type *piece, tsr_strided_copies *out) {
  tsr_copy_part *part = tsr_copy_parts_create(lowering, 1);
  TSR_NEED(part);
  part->copy = tsr_copy_over(piece, from, to);
  *out = tsr_copies_plan(tsr_element_bytes(piece), part, 1);
  return NULL;
}

static tsr_status describe_shards(tsr_lowering *lowering, const tsr_op *op, const tsr_manual *m,
                                  int index, bool is_result, const tsr_type *piece,
                                  tsr_shards *out) {
  tsr_schedule *schedule = lowering->schedule;
  const tsr_type *whole = is_result ? op->results[index].type : tsr_operand_type(op, index);
  const int64_t *starts = NULL;
  *out = (tsr_shards){.bytes = tsr_type_bytes(piece),
                      .dims = piece->dims,
                      .is_copied = !tsr_is_one_run(whole, piece)};
  TSR_TRY(tsr_manual_pieces(&schedule->arena, op, m, index, is_result, whole, piece, &starts));
  TSR_TRY(tsr_classes_of_keys(&schedule->classes, m->lanes, starts, &out->classes));
  int64_t *bytes = tsr_lower_alloc(lowering, tsr_class_count(out->classes), sizeof *bytes);
  TSR_NEED(bytes);
  for (int i = 0; i < tsr_class_count(out->classes); i++)
    bytes[i] = starts[tsr_class_lane(out->classes, i)] * tsr_element_bytes(piece);
  out->starts = bytes;
  if (!out->is_copied) return NULL;
  TSR_TRY(plan_piece(lowering, whole, piece, piece, &out->cut));
  return plan_piece(lowering, piece, whole, piece, &out->join);
}

// Arguments of the body are those of the schedule.
static tsr_status take_pieces(tsr_lowering *lowering, const tsr_op *op, const tsr_manual *m) {
  tsr_schedule *schedule = lowering->schedule;
  const tsr_ir_block *body = op->regions[0].first;
  for (int i = 0; i < op->operand_count; i++) {
    const int argument = tsr_op_operand(op, i)->index;
    tsr_shards *shards = &schedule->argument_shards[argument];
    int slot = -1;
    TSR_TRY(tsr_slot_create(lowering, body->args[i], &slot));
    TSR_TRY(describe_shards(lowering, op, m, i, false, body->args[i]->type, shards));
    schedule->slots[slot].kind = TSR_SLOT_ARGUMENT;
    schedule->slots[slot].index = argument;
    schedule->arguments[argument] = slot;
  }
  return NULL;
}

static tsr_status give_pieces(tsr_lowering *lowering, const tsr_op *op, const tsr_manual *m) {
  tsr_schedule *schedule = lowering->schedule;
  const tsr_op *end = tsr_block_terminator(op->block);
  const tsr_op *inner_end = tsr_block_terminator(op->regions[0].first);
  for (int i = 0; i < end->operand_count; i++) {
    const int index = tsr_op_operand(end, i)->index;
    tsr_value *piece = tsr_op_operand(inner_end, index);
    TSR_TRY(
        describe_shards(lowering, op, m, index, true, piece->type, &schedule->result_shards[i]));
    TSR_TRY(tsr_slot_of(lowering, piece, &schedule->results[i]));
  }
  return NULL;
}

static tsr_status lower_on_devices(tsr_lowering *lowering, tsr_op *op, tsr_manual *m) {
  lowering->lanes = m->lanes;
  TSR_TRY(open_flow(lowering, op, m));
  TSR_TRY(take_pieces(lowering, op, m));
  TSR_TRY(tsr_lower_block(lowering, op->regions[0].first));
  return give_pieces(lowering, op, m);
}

tsr_status tsr_lower_devices(tsr_lowering *lowering, tsr_op *op) {
  tsr_schedule *schedule = lowering->schedule;
  tsr_manual *m = tsr_lower_alloc(lowering, 1, sizeof *m);
  schedule->argument_shards =
      tsr_lower_alloc(lowering, schedule->argument_count + 1, sizeof *schedule->argument_shards);
  schedule->result_shards =
      tsr_lower_alloc(lowering, schedule->result_count + 1, sizeof *schedule->result_shards);
  TSR_NEED(m && schedule->argument_shards && schedule->result_shards ? m : NULL);
  TSR_TRY(tsr_manual_open(lowering->ir, &schedule->arena, op, NULL, m));
  schedule->devices = m->lanes;
  schedule->device_ids = m->devices;
  return run_lanes(lowering, op, m, lower_on_devices);
}

// ---- programs that run in parallel ----

typedef struct lane_values {
  int lanes;
  int64_t bytes;
} lane_values;

// One value after another.
static tsr_status run_gather(const void *description, const tsr_kernel_call *call) {
  const lane_values *v = description;
  for (int lane = 0; lane < v->lanes && v->bytes; lane++)
    memcpy(call->outputs[0] + lane * v->bytes, call->inputs[lane], (size_t)v->bytes);
  return NULL;
}

// An argument of the body: the operands of all processes become one slot, a part for each lane.
static tsr_status join_operands(tsr_lowering *lowering, tsr_op *op, const tsr_manual *m,
                                tsr_value *argument) {
  if (argument->type->kind != TSR_TYPE_TENSOR) return NULL;
  const int stride = op->operand_count / m->lanes;
  int *from = tsr_lower_alloc(lowering, m->lanes, sizeof *from), to = -1;
  TSR_NEED(from);
  for (int lane = 0; lane < m->lanes; lane++)
    TSR_TRY(
        tsr_slot_of(lowering, tsr_op_operand(op, lane * stride + argument->index), &from[lane]));
  lowering->lanes = m->lanes;
  TSR_TRY(tsr_slot_create(lowering, argument, &to));
  lowering->lanes = 1;
  const lane_values v = {m->lanes, tsr_type_bytes(argument->type)};
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_step(lowering, op, from, m->lanes, &to, 1, run_gather, &v, sizeof v, &step));
  step->kind = TSR_STEP_ACROSS;
  step->op_count = 0;
  return NULL;
}

// Gathers the parts of all lanes, which may be views with gaps between them, in one slot.
static tsr_status gather_lanes(tsr_lowering *lowering, const tsr_op *op, const tsr_manual *m,
                               int from, int64_t bytes, int *out_slot) {
  int64_t all = 0;
  if (__builtin_mul_overflow(bytes, m->lanes, &all))
    return tsr_fail(TOO_LARGE, "%s: %d results of %lld bytes", tsr_op_title(lowering, op), m->lanes,
                    (long long)bytes);
  TSR_TRY(tsr_slot_temp(lowering, all, NULL, out_slot));
  const lane_values v = {m->lanes, bytes};
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_step(lowering, op, &from, 1, out_slot, 1, run_gather, &v, sizeof v, &step));
  step->kind = TSR_STEP_ACROSS;
  step->lanes = m->lanes;
  step->op_count = 0;
  return NULL;
}

// A result of each process: its part of the value. What is one memory for all lanes is the result
// of all processes.
static tsr_status split_result(tsr_lowering *lowering, tsr_op *op, const tsr_manual *m,
                               tsr_value *value, int index) {
  if (value->type->kind != TSR_TYPE_TENSOR) return NULL;
  const int stride = op->result_count / m->lanes;
  int64_t bytes = 0;
  int slot = -1;
  TSR_TRY(tsr_slot_of(lowering, value, &slot));
  if (lowering->schedule->slots[slot].classes) {
    bytes = tsr_type_bytes(value->type);
    TSR_TRY(gather_lanes(lowering, op, m, slot, bytes, &slot));
  }
  for (int lane = 0; lane < m->lanes; lane++)
    TSR_TRY(tsr_slot_view_at(lowering, &op->results[lane * stride + index], slot, lane * bytes));
  return NULL;
}

// The arguments of each process are its own.
static tsr_status open_parallel_flow(tsr_lowering *lowering, const tsr_manual *m,
                                     tsr_ir_block *body) {
  tsr_class_table *table = &lowering->schedule->classes;
  const tsr_lane_classes **classes =
      tsr_lower_alloc(lowering, body->arg_count + 1, sizeof *classes);
  TSR_NEED(classes);
  for (int i = 0; i < body->arg_count; i++)
    TSR_TRY(tsr_classes_finest(table, m->lanes, &classes[i]));
  return tsr_lane_flow_make(lowering->ir, table, m, body, classes, &lowering->flow);
}

static tsr_status lower_programs(tsr_lowering *lowering, tsr_op *op, tsr_manual *m) {
  tsr_ir_block *body = op->regions[0].first;
  const tsr_op *end = tsr_block_terminator(body);
  TSR_TRY(open_parallel_flow(lowering, m, body));
  for (int i = 0; i < op->operand_count / m->lanes; i++)
    TSR_TRY(join_operands(lowering, op, m, body->args[i]));
  lowering->lanes = m->lanes;
  TSR_TRY(tsr_lower_block(lowering, body));
  lowering->lanes = 1;
  for (int i = 0; i < end->operand_count; i++)
    TSR_TRY(split_result(lowering, op, m, tsr_op_operand(end, i), i));
  return NULL;
}

// Programs that are all one function, as tsr_parallel_expand leaves them.
tsr_status tsr_lower_run_parallel(tsr_lowering *lowering, tsr_op *op) {
  tsr_manual *m = tsr_lower_alloc(lowering, 1, sizeof *m);
  TSR_NEED(m);
  if (lowering->manual || !op->region_count)
    return tsr_fail(UNSUPPORTED, "%s: stands in a program that runs on several devices",
                    tsr_op_title(lowering, op));
  *m = (tsr_manual){.grid = tsr_parallel_grid(op)};
  m->lanes = tsr_process_count(m->grid);
  return run_lanes(lowering, op, m, lower_programs);
}
