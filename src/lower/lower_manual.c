// Manual computations: operands are cut into the pieces of the lanes, the body is lowered once for
// all of them, and the pieces of its results are put together again. Programs that run in parallel
// have the pieces as operands and results.
#include "lower/manual.h"

#include <string.h>

#include "base/arithmetic.h"
#include "lower/lowering.h"
#include "processes/run_parallel.h"
#include "tessera/engine/kernels.h"
#include "verify/sdy_axes.h"
#include "verify/sdy_checks.h"

enum { MOST_LANES = 1 << 16 };

int tsr_manual_lane(const tsr_manual *manual, int64_t device) {
  for (int i = 0; i < manual->lanes; i++)
    if (manual->devices[i] == device) return i;
  return -1;
}

// ---- lanes ----

static const tsr_attr *axis_name(const tsr_attr *mesh, int64_t axis) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  return tsr_attr_field(axes->items[axis], TSR_SDY_MESH_AXIS_NAME);
}

static int64_t device_at(const tsr_attr *mesh, int64_t position) {
  if (!mesh) return position;
  const tsr_attr *ids = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  return position < tsr_attr_int_count(ids) ? tsr_attr_int_at(ids, position) : position;
}

// The mesh that the shardings of the op name; NULL if they name none.
static const tsr_attr *mesh_of(tsr_lowering *lowering, const tsr_op *op) {
  static const char *const sides[] = {"in_shardings", "out_shardings"};
  for (size_t side = 0; side < sizeof sides / sizeof *sides; side++) {
    const tsr_attr *list = tsr_attr_field(tsr_op_attr(op, sides[side]), TSR_SDY_SHARDINGS_LIST);
    for (int64_t i = 0; i < list->count; i++) {
      const tsr_attr *mesh = tsr_sdy_mesh_of(lowering->ir, op, list->items[i]);
      if (mesh && !tsr_sdy_is_empty(mesh)) return mesh;
    }
  }
  return NULL;
}

// Fills the coordinates of a lane, which counts the combinations of manual axes.
static int64_t fill_coords(const int64_t *sizes, const bool *is_manual, int axes, int64_t lane,
                           int64_t *coords) {
  int64_t position = 0, stride = 1;
  for (int i = axes - 1; i >= 0; i--) {
    coords[i] = is_manual[i] ? lane % sizes[i] : 0;
    if (is_manual[i]) lane /= sizes[i];
    position += coords[i] * stride;
    stride *= sizes[i];
  }
  return position;
}

// The lane of the computation around that has the same coordinates on its axes.
static int outer_lane(const tsr_manual *outer, const int64_t *coords) {
  int64_t lane = 0;
  for (int i = 0; i < outer->axis_count; i++)
    if (outer->is_manual[i]) lane = lane * outer->sizes[i] + coords[i];
  return (int)lane;
}

static tsr_status fill_lanes(tsr_lowering *lowering, tsr_manual *m) {
  const int axes = m->axis_count;
  int64_t *coords = tsr_lower_alloc(lowering, (int64_t)m->lanes * axes + 1, sizeof *coords);
  int64_t *devices = tsr_lower_alloc(lowering, m->lanes, sizeof *devices);
  int *outer = tsr_lower_alloc(lowering, m->lanes, sizeof *outer);
  TSR_NEED(coords && devices && outer ? m : NULL);
  for (int lane = 0; lane < m->lanes; lane++) {
    const int64_t position =
        fill_coords(m->sizes, m->is_manual, axes, lane, coords + (int64_t)lane * axes);
    devices[lane] = device_at(m->mesh, position);
    outer[lane] = m->outer ? outer_lane(m->outer, coords + (int64_t)lane * axes) : 0;
  }
  m->coords = coords;
  m->devices = devices;
  m->outer_lanes = outer;
  return NULL;
}

static tsr_status open_manual(tsr_lowering *lowering, const tsr_op *op, tsr_manual *out) {
  const tsr_manual *outer = lowering->manual;
  const tsr_attr *mesh = mesh_of(lowering, op);
  *out = (tsr_manual){.outer = outer, .mesh = mesh, .lanes = 1};
  if (outer && outer->grid.replicas)
    return tsr_fail(UNSUPPORTED, "%s: stands in a program that is run in parallel",
                    tsr_op_title(lowering, op));
  if (!mesh && outer) out->mesh = mesh = outer->mesh;
  if (!mesh) return fill_lanes(lowering, out);
  if (outer && !tsr_attr_equal(outer->mesh, mesh))
    return tsr_fail(UNSUPPORTED, "%s: its mesh is not that of the manual computation around",
                    tsr_op_title(lowering, op));
  const tsr_attr *manual = tsr_op_attr(op, "manual_axes");
  out->axis_count = (int)tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
  int64_t *sizes = tsr_lower_alloc(lowering, out->axis_count + 1, sizeof *sizes);
  bool *is_manual = tsr_lower_alloc(lowering, out->axis_count + 1, sizeof *is_manual);
  TSR_NEED(sizes && is_manual ? out : NULL);
  for (int i = 0; i < out->axis_count; i++) {
    sizes[i] = tsr_sdy_axis_size(mesh, i);
    is_manual[i] = tsr_sdy_is_manual(manual, axis_name(mesh, i)) || (outer && outer->is_manual[i]);
    if (is_manual[i] && tsr_saturated_multiply(out->lanes, sizes[i]) > MOST_LANES)
      return tsr_fail(TOO_LARGE, "%s: more than %d devices run as one", tsr_op_title(lowering, op),
                      MOST_LANES);
    if (is_manual[i]) out->lanes *= (int)sizes[i];
  }
  out->sizes = sizes;
  out->is_manual = is_manual;
  return fill_lanes(lowering, out);
}

// ---- pieces ----

// Which piece of a dim a lane has: the manual axes of its sharding, the first one counting most.
static int64_t piece_of(const tsr_manual *m, const tsr_attr *manual, const tsr_attr *dim,
                        const int64_t *coords) {
  const tsr_attr *axes = tsr_attr_field(dim, TSR_SDY_DIM_AXES);
  int64_t piece = 0;
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *name = tsr_attr_field(axes->items[i], TSR_SDY_AXIS_NAME);
    if (!tsr_sdy_is_manual(manual, name)) continue;
    const int64_t axis = tsr_sdy_axis_find(m->mesh, name), size = m->sizes[axis];
    const tsr_attr *sub = tsr_attr_field(axes->items[i], TSR_SDY_AXIS_SUB_AXIS);
    if (!sub) {
      piece = piece * size + coords[axis];
      continue;
    }
    const int64_t before = tsr_attr_field(sub, TSR_SDY_SUB_AXIS_PRE_SIZE)->integer;
    const int64_t own = tsr_attr_field(sub, TSR_SDY_SUB_AXIS_SIZE)->integer;
    piece = piece * own + coords[axis] / (size / (before * own)) % own;
  }
  return piece;
}

// The copy of one lane's box between the whole tensor and the piece.
static void box_copy(const tsr_type *whole, const tsr_type *piece, const int64_t *starts,
                     bool into_whole, tsr_copy *out) {
  *out = (tsr_copy){.length = piece->rank ? piece->dims[piece->rank - 1] : 1};
  int64_t whole_stride = 1, piece_stride = 1, offset = 0;
  const int rank = piece->rank;
  out->loop_count = rank > 1 ? rank - 1 : 0;
  for (int i = rank - 1; i >= 0; i--) {
    offset += starts[i] * whole_stride;
    if (i < rank - 1)
      out->loops[i] = (tsr_copy_loop){.count = piece->dims[i],
                                      .from = into_whole ? piece_stride : whole_stride,
                                      .to = into_whole ? whole_stride : piece_stride};
    whole_stride *= whole->dims[i];
    piece_stride *= piece->dims[i];
  }
  if (into_whole)
    out->to = offset;
  else
    out->from = offset;
}

// Pieces of all lanes. The whole tensor may itself be a piece of a lane of the computation around,
// `whole_bytes` apart from those of the other lanes.
typedef struct pieces {
  int lanes, bits;
  bool into_whole;
  int64_t whole_bytes;
  const int *outer_lanes;
  const tsr_copy *copies;  // of each lane; of no elements where another lane has the same piece
} pieces;

static tsr_status run_pieces(const void *description, const tsr_kernel_call *call) {
  const pieces *p = description;
  for (int lane = 0; lane < p->lanes; lane++) {
    const int64_t shift = p->outer_lanes[lane] * p->whole_bytes;
    if (!p->copies[lane].length) continue;
    if (p->into_whole)
      tsr_copy_run(&p->copies[lane], p->bits, call->inputs[lane], call->outputs[0] + shift);
    else
      tsr_copy_run(&p->copies[lane], p->bits, call->inputs[0] + shift, call->outputs[lane]);
  }
  return NULL;
}

static bool is_same_box(const tsr_copy *a, const tsr_copy *b) {
  return a->from == b->from && a->to == b->to;
}

// Of several lanes that write the same box, the first does.
static void drop_repeats(const tsr_manual *m, tsr_copy *copies) {
  for (int lane = 1; lane < m->lanes; lane++)
    for (int other = 0; other < lane; other++)
      if (m->outer_lanes[lane] == m->outer_lanes[other] && copies[other].length &&
          is_same_box(&copies[lane], &copies[other])) {
        copies[lane].length = 0;
        break;
      }
}

// Whether the elements of a piece lie side by side in the whole tensor.
static bool is_one_run(const tsr_type *whole, const tsr_type *piece) {
  int i = 0;
  while (i < piece->rank && piece->dims[i] == 1) i++;
  for (i++; i < piece->rank; i++)
    if (piece->dims[i] != whole->dims[i]) return false;
  return true;
}

// The bytes between the pieces of neighbouring lanes, if they are the same for all lanes, and each
// piece lies in one run: 0, or those of a piece. -1 = neither.
static int64_t stride_of_lanes(const tsr_manual *m, const tsr_type *whole, const tsr_type *piece,
                               const tsr_copy *copies) {
  const int64_t count = tsr_type_element_count(piece);
  const int64_t stride = m->lanes > 1 ? copies[1].from - copies[0].from : 0;
  if (m->outer || !count || !is_one_run(whole, piece) || (stride && stride != count)) return -1;
  for (int lane = 0; lane < m->lanes; lane++)
    if (copies[lane].from != lane * stride) return -1;
  return stride ? tsr_type_bytes(piece) : 0;
}

// Pieces that are read where they lie.
static tsr_status view_pieces(tsr_lowering *lowering, tsr_value *whole, tsr_value *piece,
                              int64_t stride) {
  int view = -1;
  TSR_TRY(tsr_slot_view(lowering, piece, whole, 0));
  TSR_TRY(tsr_slot_of(lowering, piece, &view));
  lowering->schedule->slots[view].per_lane = stride > 0;
  return NULL;
}

static tsr_status add_pieces(tsr_lowering *lowering, const tsr_op *op, const tsr_manual *m,
                             const tsr_attr *sharding, tsr_value *whole, tsr_value *piece,
                             bool into_whole) {
  const tsr_type *large = whole->type, *small = piece->type;
  if (large->rank > TSR_MAX_RANK || large->rank != small->rank)
    return tsr_fail(UNSUPPORTED, "%s: a tensor of rank %d", tsr_op_title(lowering, op),
                    large->rank);
  if (tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)->count)
    return tsr_fail(UNSUPPORTED, "%s: a value that is not reduced", tsr_op_title(lowering, op));
  tsr_copy *copies = tsr_lower_alloc(lowering, m->lanes, sizeof *copies);
  TSR_NEED(copies);
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  const tsr_attr *manual = tsr_op_attr(op, "manual_axes");
  for (int lane = 0; lane < m->lanes; lane++) {
    int64_t starts[TSR_MAX_RANK] = {0};
    for (int i = 0; i < small->rank && i < dims->count; i++)
      starts[i] = small->dims[i] *
                  piece_of(m, manual, dims->items[i], m->coords + (int64_t)lane * m->axis_count);
    box_copy(large, small, starts, into_whole, &copies[lane]);
  }
  const int64_t stride = into_whole ? -1 : stride_of_lanes(m, large, small, copies);
  if (stride >= 0) return view_pieces(lowering, whole, piece, stride);
  if (into_whole) drop_repeats(m, copies);
  const int64_t width = (int64_t)tsr_type_element_bytes(tsr_type_element(small));
  const pieces p = {.lanes = m->lanes,
                    .bits = (int)width * 8,
                    .into_whole = into_whole,
                    .whole_bytes = m->outer ? tsr_type_bytes(large) : 0,
                    .outer_lanes = m->outer_lanes,
                    .copies = copies};
  int from = -1, to = -1;
  TSR_TRY(tsr_slot_of(lowering, into_whole ? piece : whole, &from));
  if (into_whole)
    TSR_TRY(tsr_slot_of(lowering, whole, &to));
  else
    TSR_TRY(tsr_slot_create(lowering, piece, &to));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_step(lowering, op, &from, 1, &to, 1, run_pieces, &p, sizeof p, &step));
  step->kind = TSR_STEP_ACROSS;
  step->lanes = m->lanes;
  step->op_count = 0;
  return NULL;
}

// ---- the op ----

// A result that is one memory for all lanes already is the whole.
static tsr_status add_result(tsr_lowering *lowering, const tsr_op *op, const tsr_manual *m,
                             const tsr_attr *sharding, tsr_value *whole, tsr_value *piece) {
  int slot = -1;
  TSR_TRY(tsr_slot_of(lowering, piece, &slot));
  const bool unreduced = tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)->count > 0;
  if (m->lanes > 1 && !m->outer && !unreduced && !lowering->schedule->slots[slot].per_lane &&
      tsr_type_bytes(whole->type) == tsr_type_bytes(piece->type))
    return tsr_slot_view(lowering, whole, piece, 0);
  return add_pieces(lowering, op, m, sharding, whole, piece, true);
}

static tsr_status lower_body(tsr_lowering *lowering, tsr_op *op, tsr_manual *m) {
  tsr_ir_block *body = op->regions[0].first;
  const tsr_op *end = tsr_block_terminator(body);
  const tsr_attr *ins = tsr_attr_field(tsr_op_attr(op, "in_shardings"), TSR_SDY_SHARDINGS_LIST);
  const tsr_attr *outs = tsr_attr_field(tsr_op_attr(op, "out_shardings"), TSR_SDY_SHARDINGS_LIST);
  int slot = -1;
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(tsr_slot_create(lowering, &op->results[i], &slot));
  lowering->lanes = m->lanes;
  for (int i = 0; i < body->arg_count; i++)
    TSR_TRY(
        add_pieces(lowering, op, m, ins->items[i], tsr_op_operand(op, i), body->args[i], false));
  TSR_TRY(tsr_lower_block(lowering, body));
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(add_result(lowering, op, m, outs->items[i], &op->results[i], tsr_op_operand(end, i)));
  return NULL;
}

// The lanes of `m` run `body`, which lowers the op.
static tsr_status run_lanes(tsr_lowering *lowering, tsr_op *op, tsr_manual *m,
                            tsr_status (*body)(tsr_lowering *, tsr_op *, tsr_manual *)) {
  tsr_manual *outer = lowering->manual;
  const int outer_lanes = lowering->lanes;
  lowering->manual = m;
  const tsr_status status = body(lowering, op, m);
  lowering->manual = outer;
  lowering->lanes = outer_lanes;
  return status;
}

tsr_status tsr_lower_manual_computation(tsr_lowering *lowering, tsr_op *op) {
  tsr_manual *m = tsr_lower_alloc(lowering, 1, sizeof *m);
  TSR_NEED(m);
  TSR_TRY(open_manual(lowering, op, m));
  return run_lanes(lowering, op, m, lower_body);
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
  TSR_TRY(tsr_slot_temp(lowering, all, out_slot));
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
  if (lowering->schedule->slots[slot].per_lane) {
    bytes = tsr_type_bytes(value->type);
    TSR_TRY(gather_lanes(lowering, op, m, slot, bytes, &slot));
  }
  for (int lane = 0; lane < m->lanes; lane++)
    TSR_TRY(tsr_slot_view_at(lowering, &op->results[lane * stride + index], slot, lane * bytes));
  return NULL;
}

static tsr_status lower_programs(tsr_lowering *lowering, tsr_op *op, tsr_manual *m) {
  tsr_ir_block *body = op->regions[0].first;
  const tsr_op *end = tsr_block_terminator(body);
  for (int i = 0; i < body->arg_count; i++) TSR_TRY(join_operands(lowering, op, m, body->args[i]));
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
