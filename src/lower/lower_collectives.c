// Collectives: steps across the lanes of the manual computation or the parallel programs around.
// Outside of them there is one process, and only groups of one; but an op may be that of several
// processes, with the values of all of them (processes/run_parallel.h).
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "lanes/lane_groups.h"
#include "lower/copy_parts.h"
#include "processes/run_parallel.h"

// ---- groups ----

static tsr_lane_site site_of(const tsr_lowering *lowering) {
  return (tsr_lane_site){lowering->ir, &lowering->schedule->arena, lowering->manual};
}

static int member_count(const tsr_lowering *lowering, const tsr_op *op) {
  const tsr_lane_site site = site_of(lowering);
  return tsr_lane_members(&site, op);
}

static tsr_status groups_of(tsr_lowering *lowering, const tsr_op *op, tsr_lane_groups *out) {
  const tsr_lane_site site = site_of(lowering);
  return tsr_lane_groups_of(&site, op, out);
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

// ---- takers ----

// The group and the place of each member in it.
static tsr_status places_of(tsr_lowering *lowering, const tsr_lane_groups *groups,
                            tsr_lane_taker **out) {
  tsr_lane_taker *places = tsr_lower_alloc(lowering, groups->lanes, sizeof *places);
  TSR_NEED(places);
  for (int i = 0; i < groups->lanes; i++) places[i] = (tsr_lane_taker){i, -1, 0};
  for (int g = 0; g < groups->group_count; g++)
    for (int i = groups->starts[g]; i < groups->starts[g + 1]; i++)
      places[groups->members[i]] = (tsr_lane_taker){groups->members[i], g, i - groups->starts[g]};
  *out = places;
  return NULL;
}

static int taker_order(const void *a, const void *b) {
  const tsr_lane_taker *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

// Of the lanes that have the same memory for a result, one takes it; members have memory each.
static tsr_status takers_of(tsr_lowering *lowering, const tsr_op *op, const tsr_lane_groups *groups,
                            tsr_lane_takers *out) {
  const int count = value_count(lowering, op), lanes = groups->lanes;
  tsr_lane_taker *places = NULL;
  TSR_TRY(places_of(lowering, groups, &places));
  int *starts = tsr_lower_alloc(lowering, count + 1, sizeof *starts);
  TSR_NEED(starts);
  for (int i = 0; i < count; i++) {
    const tsr_lane_classes *classes = tsr_value_classes(lowering, &op->results[i]);
    starts[i + 1] = starts[i] + (has_members(op) ? lanes : tsr_class_count(classes));
  }
  tsr_lane_taker *takers = tsr_lower_alloc(lowering, starts[count], sizeof *takers);
  TSR_NEED(takers);
  for (int i = 0; i < count; i++) {
    const tsr_lane_classes *classes = tsr_value_classes(lowering, &op->results[i]);
    const int here = starts[i + 1] - starts[i];
    for (int k = 0; k < here; k++)
      takers[starts[i] + k] = places[has_members(op) ? k : tsr_class_lane(classes, k)];
    qsort(takers + starts[i], (size_t)here, sizeof *takers, taker_order);
  }
  *out = (tsr_lane_takers){starts, takers};
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
static tsr_status describe_box(tsr_lowering *lowering, const tsr_type *from, const tsr_type *to,
                               const int64_t *box, int split, int joined, tsr_lane_box *out) {
  const int rank = from->rank, width = (int)bytes_of(to);
  tsr_copy_part *part = tsr_copy_parts_create(lowering, 1);
  TSR_NEED(part);
  part->copy = (tsr_copy){.length = 1, .loop_count = rank};
  *out = (tsr_lane_box){.box_bytes = width, .bytes = tsr_type_bytes(to)};
  int64_t from_stride = width, to_stride = width;
  for (int i = rank - 1; i >= 0; i--) {
    part->copy.loops[i] =
        (tsr_copy_loop){.count = box[i], .from = from_stride / width, .to = to_stride / width};
    out->box_bytes *= box[i];
    if (i == split) out->from_step = box[i] * from_stride;
    if (i == joined) out->to_step = box[i] * to_stride;
    from_stride *= from->dims[i];
    to_stride *= to->dims[i];
  }
  out->copies = tsr_copies_plan(width, part, 1);
  return NULL;
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
    TSR_TRY(describe_box(lowering, from, result_type(lowering, op, i), box, (int)split, (int)joined,
                         &boxes[i]));
  }
  exchange.boxes = boxes;
  TSR_TRY(takers_of(lowering, op, &exchange.groups, &exchange.takers));
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
  TSR_TRY(takers_of(lowering, op, &pick.groups, &pick.takers));
  tsr_schedule_step *step = NULL;
  return add_step(lowering, op, tsr_lane_pick_run, &pick, sizeof pick, &step);
}

tsr_status tsr_lower_collective_broadcast(tsr_lowering *lowering, tsr_op *op) {
  tsr_lane_pick pick = {.dynamic_root = tsr_op_flag(op, "has_dynamic_root")};
  TSR_TRY(groups_of(lowering, op, &pick.groups));
  return lower_pick(lowering, op, pick);
}

tsr_status tsr_lower_collective_permute(tsr_lowering *lowering, tsr_op *op) {
  static const int no_groups[1] = {0};
  tsr_lane_pick pick = {.groups = {.lanes = member_count(lowering, op), .starts = no_groups}};
  const tsr_lane_site site = site_of(lowering);
  TSR_TRY(tsr_lane_sources_of(&site, op, &pick.sources));
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

// The members of every group, if these are as many and few enough for one program; else 0.
static int arity_of(const tsr_lane_groups *groups) {
  const int size = groups->group_count ? groups->starts[1] : 0;
  for (int g = 1; g < groups->group_count; g++)
    if (groups->starts[g + 1] - groups->starts[g] != size) return 0;
  return size <= TSR_LANE_ARITY ? size : 0;
}

// Sums and products of narrow floats are those of f32, rounded once.
static tsr_dtype sum_dtype(tsr_tile_op op, tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  const bool narrow = info && info->kind == TSR_CLASS_FLOAT && info->bits < 32;
  return narrow && (op == TSR_TILE_ADD || op == TSR_TILE_MULTIPLY) ? TSR_F32 : dtype;
}

// A tree over members `first` to `end`: the larger side is a power of two.
static int combine(tsr_tile_program *program, tsr_tile_op op, tsr_dtype dtype, int first, int end) {
  static const int64_t next[1] = {1};
  if (end - first == 1)
    return tsr_tile_convert(program, sum_dtype(op, dtype),
                            tsr_tile_load(program, first, dtype, next, 0));
  int half = 1;
  while (2 * half < end - first) half *= 2;
  const int left = combine(program, op, dtype, first, first + half);
  const int right = combine(program, op, dtype, first + half, end);
  return tsr_tile_apply(program, op, (int[]){left, right});
}

// A program that combines all members at once; NULL where the computation is not one op.
static tsr_status compile_members(const tsr_op *op, int arity, tsr_tile_program **out) {
  static const int64_t next[1] = {1};
  const tsr_tile_op single = tsr_region_single(&op->regions[0]);
  const tsr_dtype dtype = tsr_operand_type(op, 0)->dtype;
  *out = NULL;
  if (!arity || single == TSR_TILE_OP_COUNT || !tsr_tile_op_reduces(single)) return NULL;
  tsr_tile_program *program =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {TSR_LANE_BLOCK}, .row_dims = 1});
  TSR_NEED(program);
  const int value = combine(program, single, dtype, 0, arity);
  tsr_tile_store(program, tsr_tile_convert(program, dtype, value), 0, next, 0);
  const tsr_status status = tsr_tile_finish(program);
  if (status) {
    tsr_tile_destroy(program);
    return status;
  }
  *out = program;
  return NULL;
}

static tsr_status lower_reduction(tsr_lowering *lowering, tsr_op *op,
                                  tsr_lane_reduction reduction) {
  TSR_TRY(takers_of(lowering, op, &reduction.groups, &reduction.takers));
  reduction.arity = reduction.to_root ? 0 : arity_of(&reduction.groups);
  reduction.op = tsr_region_single(&op->regions[0]);
  reduction.dtype = tsr_operand_type(op, 0)->dtype;
  reduction.sum_dtype = sum_dtype(reduction.op, reduction.dtype);
  TSR_TRY(compile_members(op, reduction.arity, &reduction.program));
  if (!reduction.program) {
    reduction.arity = 0;
    TSR_TRY(compile_body(lowering, op, &reduction.program));
  }
  tsr_schedule_step *step = NULL;
  const tsr_status status =
      add_step(lowering, op, tsr_lane_reduction_run, &reduction, sizeof reduction, &step);
  if (status) {
    tsr_tile_destroy(reduction.program);
    return status;
  }
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
  (void)description;
  memset(call->outputs[0], 0, sizeof(uint32_t));
  return NULL;
}

// Outside of lanes, where the numbers of devices are known, there is one process.
tsr_status tsr_lower_process_id(tsr_lowering *lowering, tsr_op *op) {
  tsr_schedule_step *step = NULL;
  return tsr_lower_kernel(lowering, op, run_process_id, NULL, 0, &step);
}
