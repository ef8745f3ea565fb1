// Collectives: steps across the lanes of the manual computation or the parallel programs around.
// Outside of them there is one process, and only groups of one; but an op may be that of several
// processes, with the values of all of them (processes/run_parallel.h).
#include <string.h>

#include "base/arithmetic.h"
#include "kernel/lane_exchange.h"
#include "lanes/manual_lanes.h"
#include "lower/lowering.h"
#include "processes/run_parallel.h"
#include "verify/sdy_axes.h"

// ---- groups ----

// The place of a lane along axes of the mesh, the first of `axes` counting most; and among the
// lanes that differ in other axes only.
static void place_lane(const tsr_manual *m, const int *position, int lane, const int *axes,
                       int axis_count, int64_t *out_place, int64_t *out_other) {
  const int64_t *coords = m->coords + (int64_t)lane * m->axis_count;
  *out_place = *out_other = 0;
  for (int i = 0; i < axis_count; i++)
    *out_place = *out_place * m->sizes[axes[i]] + coords[axes[i]];
  for (int i = 0; i < m->axis_count; i++)
    if (m->is_manual[i] && position[i] < 0) *out_other = *out_other * m->sizes[i] + coords[i];
}

// Groups of #stablehlo.replica_group_mesh_axes: the lanes along its axes.
static tsr_status groups_of_axes(tsr_lowering *lowering, const tsr_op *op, const tsr_attr *groups,
                                 tsr_lane_groups *out) {
  const tsr_manual *m = lowering->manual;
  const tsr_attr *list = tsr_attr_field(groups, TSR_GROUP_AXES_AXES);
  int *axes = tsr_lower_alloc(lowering, list->count + 1, sizeof *axes);
  int *position = tsr_lower_alloc(lowering, m->axis_count + 1, sizeof *position);
  int *starts = tsr_lower_alloc(lowering, m->lanes + 1, sizeof *starts);
  int *members = tsr_lower_alloc(lowering, m->lanes, sizeof *members);
  TSR_NEED(axes && position && starts && members ? axes : NULL);
  for (int i = 0; i < m->axis_count; i++) position[i] = -1;
  int64_t size = 1;
  int axis_count = 0;
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_attr *name = tsr_attr_field(list->items[i], TSR_AXIS_REF_NAME);
    const int axis = tsr_sdy_axis_find(m->mesh, name);
    if (axis < 0 || tsr_attr_field(list->items[i], TSR_AXIS_REF_SUB_AXIS))
      return tsr_fail(UNSUPPORTED, "%s: groups along a part of axis \"%s\"",
                      tsr_op_title(lowering, op), name->bytes);
    if (!m->is_manual[axis] || position[axis] >= 0) continue;
    position[axis] = axis_count;
    axes[axis_count++] = axis;
    size *= m->sizes[axis];
  }
  for (int lane = 0; lane < m->lanes; lane++) {
    int64_t place = 0, other = 0;
    place_lane(m, position, lane, axes, axis_count, &place, &other);
    members[other * size + place] = lane;
  }
  out->group_count = (int)(m->lanes / size);
  for (int i = 0; i <= out->group_count; i++) starts[i] = (int)(i * size);
  out->starts = starts;
  out->members = members;
  return NULL;
}

static int lane_of(const tsr_lowering *lowering, int64_t device) {
  if (lowering->manual) return tsr_manual_lane(lowering->manual, device);
  return device == 0 ? 0 : -1;
}

// Groups written as device ids; -1 fills short ones. Devices that are no lanes are left out.
static tsr_status groups_of_ids(tsr_lowering *lowering, const tsr_op *op, const tsr_attr *groups,
                                tsr_lane_groups *out) {
  const int64_t rows = groups->type->dims[0], columns = groups->type->dims[1];
  int *starts = tsr_lower_alloc(lowering, rows + 1, sizeof *starts);
  int *members = tsr_lower_alloc(lowering, out->lanes, sizeof *members);
  bool *seen = tsr_lower_alloc(lowering, out->lanes, sizeof *seen);
  TSR_NEED(starts && members && seen ? starts : NULL);
  int count = 0, used = 0;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      const int lane = lane_of(lowering, tsr_attr_int_at(groups, i * columns + j));
      if (lane < 0) continue;
      if (seen[lane])
        return tsr_fail(CONSTRAINT, "%s: a device occurs twice in its groups",
                        tsr_op_title(lowering, op));
      seen[lane] = true;
      members[count++] = lane;
    }
    if (count > starts[used]) starts[++used] = count;
  }
  out->group_count = used;
  out->starts = starts;
  out->members = members;
  return NULL;
}

// One group of all lanes, or each lane by itself.
static tsr_status simple_groups(tsr_lowering *lowering, bool together, tsr_lane_groups *out) {
  int *starts = tsr_lower_alloc(lowering, out->lanes + 1, sizeof *starts);
  int *members = tsr_lower_alloc(lowering, out->lanes, sizeof *members);
  TSR_NEED(starts && members ? starts : NULL);
  out->group_count = together ? 1 : out->lanes;
  for (int i = 0; i < out->lanes; i++) members[i] = i;
  for (int i = 0; i <= out->group_count; i++) starts[i] = together ? i * out->lanes : i;
  out->starts = starts;
  out->members = members;
  return NULL;
}

// The processes that meet in an op: members of their own, or the lanes.
static int member_count(const tsr_lowering *lowering, const tsr_op *op) {
  return (int)tsr_op_int(op, TSR_MEMBERS_ATTR, lowering->lanes);
}

static bool has_members(const tsr_op *op) { return tsr_op_attr(op, TSR_MEMBERS_ATTR) != NULL; }

// The values of one process.
static int value_count(const tsr_lowering *lowering, const tsr_op *op) {
  return has_members(op) ? op->result_count / member_count(lowering, op) : op->result_count;
}

static const tsr_type *operand_type(const tsr_lowering *lowering, const tsr_op *op, int value) {
  return tsr_operand_type(op, has_members(op) ? value * member_count(lowering, op) : value);
}

static const tsr_type *result_type(const tsr_lowering *lowering, const tsr_op *op, int value) {
  return op->results[has_members(op) ? value * member_count(lowering, op) : value].type;
}

static bool names_other_devices(const tsr_attr *groups) {
  const int64_t count = tsr_attr_int_count(groups);
  for (int64_t i = 0; i < count; i++)
    if (tsr_attr_int_at(groups, i) > 0) return true;
  return false;
}

static tsr_status groups_of_processes(tsr_lowering *lowering, const tsr_op *op,
                                      tsr_lane_groups *out) {
  tsr_process_groups groups;
  TSR_TRY(tsr_process_groups_make(lowering->ir, &lowering->schedule->arena, op,
                                  lowering->manual->grid, &groups));
  out->group_count = groups.group_count;
  out->starts = groups.starts;
  out->members = groups.members;
  return NULL;
}

// A program on a mesh has one replica, so groups of replicas say nothing: with a channel all
// partitions are together, without one each is by itself.
static tsr_status groups_of(tsr_lowering *lowering, const tsr_op *op, tsr_lane_groups *out) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  *out = (tsr_lane_groups){.lanes = member_count(lowering, op)};
  if (has_members(op)) return simple_groups(lowering, true, out);
  if (lowering->manual && lowering->manual->grid.replicas)
    return groups_of_processes(lowering, op, out);
  if (groups->kind == TSR_ATTR_RECORD && lowering->manual)
    return groups_of_axes(lowering, op, groups, out);
  if (groups->kind != TSR_ATTR_DENSE || tsr_type_element_count(groups->type) == 0)
    return simple_groups(lowering, true, out);
  if (names_other_devices(groups) || tsr_op_flag(op, "use_global_device_ids"))
    return groups_of_ids(lowering, op, groups, out);
  const tsr_attr *channel = tsr_op_attr(op, "channel_handle");
  const bool has_channel = channel && tsr_attr_field(channel, TSR_CHANNEL_HANDLE)->integer > 0;
  return simple_groups(lowering, has_channel, out);
}

// All groups must have the size that the shapes were made for; -1 = shapes say nothing.
static tsr_status check_groups(tsr_lowering *lowering, const tsr_op *op,
                               const tsr_lane_groups *groups, int64_t size) {
  for (int i = 0; i < groups->group_count && size >= 0; i++)
    if (groups->starts[i + 1] - groups->starts[i] != size)
      return tsr_fail(UNSUPPORTED, "%s: a group of %d devices of this run, its shapes are of %lld",
                      tsr_op_title(lowering, op), groups->starts[i + 1] - groups->starts[i],
                      (long long)size);
  return NULL;
}

// ---- steps ----

// What a step reads and writes in all lanes.
static void count_bytes(const tsr_lowering *lowering, tsr_schedule_step *step) {
  const tsr_slot *slots = lowering->schedule->slots;
  step->bytes = 0;
  for (int i = 0; i < step->input_count + step->output_count; i++) {
    const tsr_slot *slot =
        &slots[i < step->input_count ? step->inputs[i] : step->outputs[i - step->input_count]];
    step->bytes = tsr_saturated_add(
        step->bytes, tsr_saturated_multiply(slot->bytes, tsr_class_count(slot->classes)));
  }
}

static tsr_status add_step(tsr_lowering *lowering, tsr_op *op, tsr_kernel_fn *run,
                           const void *description, size_t bytes, tsr_schedule_step **out_step) {
  TSR_TRY(tsr_lower_kernel(lowering, op, run, description, bytes, out_step));
  if (has_members(op)) return NULL;  // its slots are those of all members already
  (*out_step)->kind = TSR_STEP_ACROSS;
  count_bytes(lowering, *out_step);
  return NULL;
}

static int64_t bytes_of(const tsr_type *type) {
  return (int64_t)tsr_type_element_bytes(tsr_type_element(type));
}

static tsr_status check_tensors(tsr_lowering *lowering, const tsr_op *op) {
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    if (!tsr_type_runs(type) || type->rank > TSR_MAX_RANK)
      return tsr_fail(UNSUPPORTED, "%s: operand %d does not run", tsr_op_title(lowering, op), i);
  }
  return NULL;
}

// ---- all_gather, all_to_all ----

// The box that one member sends to another: `box` of the operand, put in the result.
static tsr_lane_box box_of(const tsr_type *from, const tsr_type *to, const int64_t *box, int split,
                           int joined) {
  const int rank = from->rank;
  tsr_lane_box out = {.bits = 8 * (int)bytes_of(to), .bytes = tsr_type_bytes(to)};
  out.copy.length = rank ? box[rank - 1] : 1;
  out.copy.loop_count = rank > 1 ? rank - 1 : 0;
  int64_t from_stride = 1, to_stride = 1;
  for (int i = rank - 1; i >= 0; i--) {
    if (i < rank - 1)
      out.copy.loops[i] = (tsr_copy_loop){.count = box[i], .from = from_stride, .to = to_stride};
    if (i == split) out.from_step = box[i] * from_stride;
    if (i == joined) out.to_step = box[i] * to_stride;
    from_stride *= from->dims[i];
    to_stride *= to->dims[i];
  }
  return out;
}

static tsr_status lower_exchange(tsr_lowering *lowering, tsr_op *op, int64_t split, int64_t joined,
                                 int64_t size) {
  const int count = value_count(lowering, op);
  tsr_lane_exchange exchange = {.count = count};
  TSR_TRY(check_tensors(lowering, op));
  TSR_TRY(groups_of(lowering, op, &exchange.groups));
  TSR_TRY(check_groups(lowering, op, &exchange.groups, size));
  tsr_lane_box *boxes = tsr_lower_alloc(lowering, count, sizeof *boxes);
  TSR_NEED(boxes);
  for (int i = 0; i < count; i++) {
    const tsr_type *from = operand_type(lowering, op, i);
    int64_t box[TSR_MAX_RANK] = {0};
    for (int d = 0; d < from->rank; d++) box[d] = from->dims[d] / (d == split ? size : 1);
    boxes[i] = box_of(from, result_type(lowering, op, i), box, (int)split, (int)joined);
  }
  exchange.boxes = boxes;
  tsr_schedule_step *step = NULL;
  return add_step(lowering, op, tsr_lane_exchange_run, &exchange, sizeof exchange, &step);
}

tsr_status tsr_lower_all_gather(tsr_lowering *lowering, tsr_op *op) {
  const int64_t dim = tsr_op_int(op, "all_gather_dim", 0);
  const int64_t from = tsr_operand_type(op, 0)->dims[dim];
  const int64_t size = from ? tsr_op_result(op, 0)->type->dims[dim] / from : -1;
  return lower_exchange(lowering, op, -1, dim, size);
}

tsr_status tsr_lower_all_to_all(tsr_lowering *lowering, tsr_op *op) {
  return lower_exchange(lowering, op, tsr_op_int(op, "split_dimension", 0),
                        tsr_op_int(op, "concat_dimension", 0), tsr_op_int(op, "split_count", 1));
}

// ---- collective_broadcast, collective_permute ----

static tsr_status lower_pick(tsr_lowering *lowering, tsr_op *op, tsr_lane_pick pick) {
  pick.count = value_count(lowering, op);
  int64_t *bytes = tsr_lower_alloc(lowering, pick.count, sizeof *bytes);
  TSR_NEED(bytes);
  TSR_TRY(check_tensors(lowering, op));
  for (int i = 0; i < pick.count; i++) bytes[i] = tsr_type_bytes(operand_type(lowering, op, i));
  pick.bytes = bytes;
  tsr_schedule_step *step = NULL;
  return add_step(lowering, op, tsr_lane_pick_run, &pick, sizeof pick, &step);
}

tsr_status tsr_lower_collective_broadcast(tsr_lowering *lowering, tsr_op *op) {
  tsr_lane_pick pick = {.dynamic_root = tsr_op_flag(op, "has_dynamic_root")};
  TSR_TRY(groups_of(lowering, op, &pick.groups));
  return lower_pick(lowering, op, pick);
}

// For each lane the one whose value it gets.
static tsr_status sources_of(tsr_lowering *lowering, const tsr_op *op, const int **out_sources) {
  const tsr_attr *written = tsr_op_attr(op, TSR_SOURCES_ATTR);
  const int lanes = member_count(lowering, op);
  if (!written && lowering->manual && lowering->manual->grid.replicas)
    return tsr_process_sources_make(&lowering->schedule->arena, op, lowering->manual->grid,
                                    out_sources);
  int *sources = tsr_lower_alloc(lowering, lanes, sizeof *sources);
  TSR_NEED(sources);
  for (int i = 0; i < lanes; i++) sources[i] = written ? (int)tsr_attr_int_at(written, i) : -1;
  const tsr_attr *pairs = tsr_op_attr(op, "source_target_pairs");
  for (int64_t i = 0; !written && i + 1 < tsr_attr_int_count(pairs); i += 2) {
    const int from = lane_of(lowering, tsr_attr_int_at(pairs, i));
    const int to = lane_of(lowering, tsr_attr_int_at(pairs, i + 1));
    if (from >= 0 && to >= 0) sources[to] = from;
  }
  *out_sources = sources;
  return NULL;
}

tsr_status tsr_lower_collective_permute(tsr_lowering *lowering, tsr_op *op) {
  tsr_lane_pick pick = {.groups = {.lanes = member_count(lowering, op)}};
  TSR_TRY(sources_of(lowering, op, &pick.sources));
  return lower_pick(lowering, op, pick);
}

// ---- all_reduce, reduce_scatter, collective_reduce ----

static tsr_status compile_body(tsr_lowering *lowering, tsr_op *op, tsr_tile_program **out) {
  tsr_region_code code = {0};
  const tsr_ir_block *body = op->regions[0].first;
  const tsr_type *element = tsr_type_element(tsr_operand_type(op, 0));
  if (!body || body->arg_count != 2 || tsr_type_element(body->args[0]->type) != element)
    return tsr_fail(UNSUPPORTED, "%s: its computation must take two elements of its operands",
                    tsr_op_title(lowering, op));
  TSR_TRY(tsr_region_compile(lowering, &op->regions[0], TSR_LANE_BLOCK, &code));
  *out = code.program;
  if (!code.outside_count) return NULL;
  tsr_tile_destroy(code.program);
  return tsr_fail(UNSUPPORTED, "%s: its computation uses values from outside",
                  tsr_op_title(lowering, op));
}

// Whether all lanes are in one group.
static bool is_one_group(const tsr_lane_groups *groups) {
  return groups->group_count == 1 && groups->starts[1] == groups->lanes;
}

static tsr_status lower_reduction(tsr_lowering *lowering, tsr_op *op,
                                  tsr_lane_reduction reduction) {
  TSR_TRY(compile_body(lowering, op, &reduction.program));
  tsr_schedule_step *step = NULL;
  const tsr_status status =
      add_step(lowering, op, tsr_lane_reduction_run, &reduction, sizeof reduction, &step);
  if (status) {
    tsr_tile_destroy(reduction.program);
    return status;
  }
  for (int i = 0; i < step->output_count && reduction.once; i++)
    lowering->schedule->slots[step->outputs[i]].classes = NULL;
  if (step->kind == TSR_STEP_ACROSS) count_bytes(lowering, step);
  step->destroy = tsr_lane_reduction_destroy;
  step->scratch_bytes = tsr_lane_reduction_scratch(&reduction);
  return NULL;
}

static tsr_status whole_values(tsr_lowering *lowering, tsr_op *op, tsr_lane_reduction *r) {
  r->count = value_count(lowering, op);
  tsr_lane_value *values = tsr_lower_alloc(lowering, r->count, sizeof *values);
  TSR_NEED(values);
  TSR_TRY(check_tensors(lowering, op));
  for (int i = 0; i < r->count; i++) {
    const tsr_type *type = operand_type(lowering, op, i);
    values[i] = (tsr_lane_value){1, tsr_type_element_count(type), bytes_of(type)};
  }
  r->values = values;
  return groups_of(lowering, op, &r->groups);
}

tsr_status tsr_lower_all_reduce(tsr_lowering *lowering, tsr_op *op) {
  tsr_lane_reduction reduction = {0};
  TSR_TRY(whole_values(lowering, op, &reduction));
  reduction.once = !has_members(op) && is_one_group(&reduction.groups);
  return lower_reduction(lowering, op, reduction);
}

tsr_status tsr_lower_collective_reduce(tsr_lowering *lowering, tsr_op *op) {
  tsr_lane_reduction reduction = {.to_root = true,
                                  .dynamic_root = tsr_op_flag(op, "has_dynamic_root")};
  TSR_TRY(whole_values(lowering, op, &reduction));
  return lower_reduction(lowering, op, reduction);
}

tsr_status tsr_lower_reduce_scatter(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *from = tsr_operand_type(op, 0), *to = tsr_op_result(op, 0)->type;
  const int64_t dim = tsr_op_int(op, "scatter_dimension", 0);
  const int64_t size = to->dims[dim] ? from->dims[dim] / to->dims[dim] : -1;
  tsr_lane_reduction reduction = {.scattered = true};
  tsr_lane_value *value = tsr_lower_alloc(lowering, 1, sizeof *value);
  TSR_NEED(value);
  TSR_TRY(check_tensors(lowering, op));
  *value = (tsr_lane_value){1, 1, bytes_of(from)};
  for (int i = 0; i < to->rank; i++) *(i < dim ? &value->outer : &value->run) *= to->dims[i];
  reduction.count = 1;
  reduction.values = value;
  TSR_TRY(groups_of(lowering, op, &reduction.groups));
  TSR_TRY(check_groups(lowering, op, &reduction.groups, size));
  return lower_reduction(lowering, op, reduction);
}

// ---- partition_id, replica_id ----

static tsr_status run_process_id(const void *description, const tsr_kernel_call *call) {
  const uint32_t *ids = *(const uint32_t *const *)description;
  memcpy(call->outputs[0], &ids[call->lane], sizeof *ids);
  return NULL;
}

// The devices of a mesh are the partitions of one replica; parallel programs have both.
tsr_status tsr_lower_process_id(tsr_lowering *lowering, tsr_op *op) {
  uint32_t *ids = tsr_lower_alloc(lowering, lowering->lanes, sizeof *ids);
  TSR_NEED(ids);
  const tsr_manual *m = lowering->manual;
  const int partitions = m ? m->grid.partitions : 0;
  for (int i = 0; i < lowering->lanes; i++)
    if (op->info->id == TSR_OP_REPLICA_ID)
      ids[i] = partitions ? (uint32_t)(i / partitions) : 0;
    else
      ids[i] = partitions ? (uint32_t)(i % partitions) : m ? (uint32_t)m->devices[i] : 0;
  tsr_schedule_step *step = NULL;
  return tsr_lower_kernel(lowering, op, run_process_id, &ids, sizeof ids, &step);
}
