// Every collective of the program: what it moves, over which axes, and what that costs.
//
// Collectives of Shardy that follow each other change one value: they are one reshard. Those that a
// user wrote in a manual computation (shard_map) stand alone.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "mesh/mesh.h"
#include "preflight/preflight.h"
#include "spec/normal.h"
#include "verify/sdy_checks.h"

bool tsr_flight_is_collective(const tsr_op *op) {
  return op->info->id >= TSR_OP_SDY_ALL_GATHER &&
         op->info->id <= TSR_OP_SDY_REPLICATED_TO_UNREDUCED;
}

const char *tsr_flight_kind_name(tsr_collective kind) {
  static const char *const names[TSR_COLLECTIVE_COUNT] = {
      [TSR_COLLECTIVE_ALL_GATHER] = "all-gather",
      [TSR_COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
      [TSR_COLLECTIVE_ALL_TO_ALL] = "all-to-all",
      [TSR_COLLECTIVE_ALL_REDUCE] = "all-reduce",
      [TSR_COLLECTIVE_PERMUTE] = "collective-permute"};
  return names[kind];
}

// ---- kinds ----

// TSR_COLLECTIVE_COUNT: no collective, or one that moves nothing.
static tsr_collective kind_of(tsr_op_id id) {
  switch (id) {
    case TSR_OP_SDY_ALL_GATHER:
    case TSR_OP_ALL_GATHER:
      return TSR_COLLECTIVE_ALL_GATHER;
    case TSR_OP_SDY_ALL_REDUCE:
    case TSR_OP_ALL_REDUCE:
    case TSR_OP_CROSS_REPLICA_SUM:
    case TSR_OP_COLLECTIVE_REDUCE:
      return TSR_COLLECTIVE_ALL_REDUCE;
    case TSR_OP_SDY_REDUCE_SCATTER:
    case TSR_OP_REDUCE_SCATTER:
      return TSR_COLLECTIVE_REDUCE_SCATTER;
    case TSR_OP_SDY_ALL_TO_ALL:
    case TSR_OP_ALL_TO_ALL:
      return TSR_COLLECTIVE_ALL_TO_ALL;
    case TSR_OP_SDY_COLLECTIVE_PERMUTE:
    case TSR_OP_COLLECTIVE_PERMUTE:
    case TSR_OP_COLLECTIVE_BROADCAST:
      return TSR_COLLECTIVE_PERMUTE;
    default:
      return TSR_COLLECTIVE_COUNT;
  }
}

static int64_t operand_bytes(const tsr_preflight *flight, const tsr_op *op) {
  int64_t sum = 0;
  for (int i = 0; i < op->operand_count; i++)
    sum = tsr_saturated_add(sum, tsr_flight_value_of(flight, tsr_op_operand(op, i))->bytes);
  return sum;
}

static int64_t result_bytes(const tsr_preflight *flight, const tsr_op *op) {
  int64_t sum = 0;
  for (int i = 0; i < op->result_count; i++)
    sum = tsr_saturated_add(sum, tsr_flight_value_of(flight, tsr_op_result(op, i))->bytes);
  return sum;
}

static int64_t moved_bytes(tsr_collective kind, int64_t in, int64_t out) {
  switch (kind) {
    case TSR_COLLECTIVE_ALL_REDUCE:
      return tsr_saturated_multiply(2, in);
    case TSR_COLLECTIVE_ALL_GATHER:
      return out > in ? out - in : 0;
    case TSR_COLLECTIVE_REDUCE_SCATTER:
      return in > out ? in - out : 0;
    default:
      return in;
  }
}

// ---- axes of Shardy's collectives ----

static tsr_status add_axes(tsr_preflight *flight, const tsr_attr *mesh, const tsr_attr *axes,
                           tsr_sdy_parts *parts) {
  tsr_sdy_parts more = {0};
  TSR_TRY(tsr_sdy_parts_make(&flight->arena, mesh, axes, &more));
  tsr_sdy_part *items =
      tsr_arena_alloc(&flight->arena, (size_t)(parts->count + more.count + 1) * sizeof *items);
  TSR_NEED(items);
  if (parts->count) memcpy(items, parts->items, (size_t)parts->count * sizeof *items);
  if (more.count) memcpy(items + parts->count, more.items, (size_t)more.count * sizeof *items);
  *parts = (tsr_sdy_parts){items, parts->count + more.count};
  return NULL;
}

// An SDY_AXIS_LIST, or a list of them, or the parameters of an all-to-all.
static tsr_status listed_axes(tsr_preflight *flight, const tsr_attr *mesh, const tsr_attr *list,
                              tsr_sdy_parts *parts) {
  const tsr_attr *items = tsr_attr_field(list, 0);
  if (list->id == TSR_RECORD_SDY_AXIS_LIST) return add_axes(flight, mesh, items, parts);
  for (int64_t i = 0; i < items->count; i++)
    TSR_TRY(add_axes(flight, mesh, tsr_attr_field(items->items[i], 0), parts));
  return NULL;
}

static bool holds(const tsr_sdy_parts *parts, const tsr_sdy_part *part) {
  for (int64_t i = 0; i < parts->count; i++)
    if (tsr_sdy_same(&parts->items[i], part)) return true;
  return false;
}

// The axes of a permute: those of dims that are cut otherwise afterwards.
static tsr_status changed_axes(tsr_preflight *flight, const tsr_tensor_sharding *from,
                               const tsr_tensor_sharding *to, tsr_sdy_parts *parts) {
  int64_t most = 0;
  for (int i = 0; i < to->rank; i++) most += to->dims[i].axes.count;
  parts->items = tsr_arena_alloc(&flight->arena, (size_t)(most + 1) * sizeof *parts->items);
  TSR_NEED(parts->items);
  for (int i = 0; i < to->rank; i++) {
    const tsr_sdy_parts *axes = &to->dims[i].axes;
    if (from && tsr_sdy_parts_equal(&from->dims[i].axes, axes)) continue;
    for (int64_t k = 0; k < axes->count; k++)
      if (!holds(parts, &axes->items[k])) parts->items[parts->count++] = axes->items[k];
  }
  return NULL;
}

static tsr_status axes_of(tsr_preflight *flight, const tsr_op *op, tsr_flight_sum *sum) {
  static const char *const names[] = {"gathering_axes", "reduction_axes", "reduce_scatter_axes",
                                      "params", "axes"};
  const tsr_flight_value *in = tsr_flight_value_of(flight, tsr_op_operand(op, 0));
  const tsr_flight_value *out = tsr_flight_value_of(flight, tsr_op_result(op, 0));
  if (!out->sharding) return NULL;
  sum->mesh = out->sharding->mesh;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const tsr_attr *list = tsr_op_attr(op, names[i]);
    if (list && list->kind == TSR_ATTR_RECORD)
      return listed_axes(flight, sum->mesh, list, &sum->axes);
  }
  return changed_axes(flight, in->sharding, out->sharding, &sum->axes);
}

// ---- axes of collectives in manual computations ----

static const tsr_attr *mesh_around(tsr_preflight *flight, const tsr_op *op) {
  for (const tsr_op *at = op; at; at = tsr_op_parent(at)) {
    const tsr_attr *list =
        at->info->id == TSR_OP_SDY_MANUAL_COMPUTATION ? tsr_op_attr(at, "in_shardings") : NULL;
    if (list && !tsr_attr_field(list, TSR_SDY_SHARDINGS_LIST)->count)
      list = tsr_op_attr(at, "out_shardings");
    if (!list || !tsr_attr_field(list, TSR_SDY_SHARDINGS_LIST)->count) continue;
    return tsr_sdy_mesh_of(flight->ir, at, tsr_attr_field(list, TSR_SDY_SHARDINGS_LIST)->items[0]);
  }
  return NULL;
}

// Adds the axes on which two positions of the mesh differ.
static void add_differing(const tsr_attr *mesh, int64_t a, int64_t b, tsr_sdy_parts *parts) {
  const int count = (int)tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
  for (int axis = count - 1; axis >= 0; axis--) {
    const int64_t size = tsr_sdy_axis_size(mesh, axis);
    const tsr_sdy_part whole = {.axis = axis, .whole = true, .pre = 1, .size = size};
    if (a % size != b % size && !holds(parts, &whole)) parts->items[parts->count++] = whole;
    a /= size;
    b /= size;
  }
}

// Groups as rows of a table, or pairs; the first row tells the axes of groups, all rows of pairs.
static tsr_status grouped_axes(tsr_preflight *flight, const tsr_op *op, tsr_flight_sum *sum) {
  const tsr_attr *pairs = tsr_op_attr(op, "source_target_pairs");
  const tsr_attr *groups = pairs ? pairs : tsr_op_attr(op, "replica_groups");
  const tsr_attr *mesh = mesh_around(flight, op);
  if (!groups || groups->kind != TSR_ATTR_DENSE || groups->type->rank != 2) return NULL;
  const int64_t width = groups->type->dims[1];
  sum->group_size = width;
  if (!mesh || !width) return NULL;
  const int64_t axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
  sum->axes.items = tsr_arena_alloc(&flight->arena, (size_t)(axes + 1) * sizeof *sum->axes.items);
  TSR_NEED(sum->axes.items);
  const int64_t rows = pairs ? groups->type->dims[0] : tsr_least(groups->type->dims[0], 1);
  for (int64_t row = 0; row < rows; row++)
    for (int64_t i = 1; i < width; i++)
      add_differing(mesh, tsr_attr_int_at(groups, row * width),
                    tsr_attr_int_at(groups, row * width + i), &sum->axes);
  if (pairs || tsr_parts_size(&sum->axes) == width) sum->mesh = mesh;
  if (sum->mesh) tsr_sdy_parts_sort(&sum->axes);
  return NULL;
}

// ---- sums ----

static tsr_status cost_axes(tsr_preflight *flight, tsr_flight_sum *sum) {
  const tsr_mesh *mesh = NULL;
  int64_t strides[TSR_MAX_SUB_AXES], sizes[TSR_MAX_SUB_AXES];
  if (!flight->topology || !sum->mesh || !sum->axes.count) return NULL;
  if (sum->axes.count > TSR_MAX_SUB_AXES)
    return tsr_fail(TOO_LARGE, "a collective over %lld axes, expected at most %d",
                    (long long)sum->axes.count, TSR_MAX_SUB_AXES);
  TSR_TRY(tsr_flight_mesh_of(flight, sum->mesh, &mesh));
  for (int64_t i = 0; i < sum->axes.count; i++) {
    const tsr_sdy_part *part = &sum->axes.items[i];
    const int64_t whole = tsr_sdy_axis_size(sum->mesh, part->axis);
    strides[i] = tsr_mesh_stride(mesh, part->axis) * (whole / tsr_sdy_end(part));
    sizes[i] = part->size;
  }
  sum->costs = tsr_arena_zeros(&flight->arena, (size_t)sum->axes.count, sizeof *sum->costs);
  TSR_NEED(sum->costs);
  return tsr_mesh_digit_costs(mesh, strides, sizes, (int)sum->axes.count, sum->costs);
}

static double seconds_of(const tsr_flight_sum *sum, int64_t in) {
  int64_t sizes[TSR_MAX_SUB_AXES];
  if (!sum->costs) return 0;
  for (int64_t i = 0; i < sum->axes.count; i++) sizes[i] = sum->axes.items[i].size;
  return tsr_collective_over(sum->kind, sum->costs, sizes, (int)sum->axes.count, (double)in);
}

static bool same_sum(const tsr_flight_sum *a, const tsr_flight_sum *b) {
  return a->kind == b->kind && a->mesh == b->mesh && a->group_size == b->group_size &&
         tsr_sdy_parts_equal(&a->axes, &b->axes);
}

static tsr_status find_sum(tsr_preflight *flight, const tsr_flight_sum *wanted,
                           tsr_flight_sum **out_sum) {
  for (int64_t i = 0; i < flight->sum_count; i++)
    if (same_sum(&flight->sums[i], wanted)) {
      *out_sum = &flight->sums[i];
      return NULL;
    }
  tsr_flight_sum *sums =
      tsr_arena_grow(&flight->arena, flight->sums, flight->sum_count, sizeof *sums);
  TSR_NEED(sums);
  flight->sums = sums;
  sums[flight->sum_count] = *wanted;
  TSR_TRY(cost_axes(flight, &sums[flight->sum_count]));
  *out_sum = &sums[flight->sum_count++];
  return NULL;
}

// ---- reshards ----

// The reshard that a collective goes on with; -1 = it begins one.
static int64_t begun_reshard(const tsr_preflight *flight, const tsr_op *op) {
  const tsr_op *before = tsr_flight_is_collective(op) ? tsr_op_operand(op, 0)->def : NULL;
  if (!before || !tsr_flight_is_collective(before)) return -1;
  const tsr_use *use = tsr_op_result(before, 0)->uses;
  return use && !use->next ? flight->ops[tsr_flight_index(before)].reshard : -1;
}

static tsr_status join_reshard(tsr_preflight *flight, int64_t index) {
  tsr_flight_op *op = &flight->ops[index];
  op->reshard = begun_reshard(flight, op->op);
  if (op->reshard < 0) {
    tsr_flight_reshard *list =
        tsr_arena_grow(&flight->arena, flight->reshards, flight->reshard_count, sizeof *list);
    TSR_NEED(list);
    flight->reshards = list;
    list[flight->reshard_count] =
        (tsr_flight_reshard){.first = index,
                             .source = (int64_t)tsr_op_operand(op->op, 0)->mark - 1,
                             .times = op->times,
                             .uncertain = op->uncertain};
    op->reshard = flight->reshard_count++;
  }
  flight->reshards[op->reshard].last = index;
  return NULL;
}

// Adds what one op moves, `in` being its operand, to its sum and its reshard.
static tsr_status add_move(tsr_preflight *flight, int64_t index, const tsr_flight_sum *wanted,
                           int64_t in, int64_t bytes) {
  tsr_flight_op *op = &flight->ops[index];
  tsr_flight_reshard *reshard = &flight->reshards[op->reshard];
  tsr_flight_sum *sum = NULL;
  TSR_TRY(find_sum(flight, wanted, &sum));
  const int64_t all = tsr_saturated_multiply(bytes, op->times);
  const double seconds = seconds_of(sum, in);
  if (tsr_flight_is_collective(op->op)) op->seconds = seconds;
  op->moved = bytes;
  sum->count = tsr_saturated_add(sum->count, op->times);
  sum->bytes = tsr_saturated_add(sum->bytes, all);
  sum->seconds += seconds * (double)op->times;
  reshard->bytes = tsr_saturated_add(reshard->bytes, all);
  reshard->seconds += seconds * (double)op->times;
  return NULL;
}

static tsr_status add_collective(tsr_preflight *flight, int64_t index) {
  const tsr_op *op = flight->ops[index].op;
  tsr_flight_sum wanted = {.kind = kind_of(op->info->id)};
  TSR_TRY(join_reshard(flight, index));
  if (wanted.kind == TSR_COLLECTIVE_COUNT) return NULL;
  TSR_TRY(tsr_flight_is_collective(op) ? axes_of(flight, op, &wanted)
                                       : grouped_axes(flight, op, &wanted));
  if (wanted.mesh) wanted.group_size = tsr_parts_size(&wanted.axes);
  const int64_t in = operand_bytes(flight, op);
  return add_move(flight, index, &wanted, in,
                  moved_bytes(wanted.kind, in, result_bytes(flight, op)));
}

static tsr_status add_border(tsr_preflight *flight, int64_t index, tsr_arena *arena) {
  tsr_flight_border border;
  TSR_TRY(tsr_flight_find_border(flight, arena, flight->ops[index].op, &border));
  if (border.dim < 0 || !border.bytes) return NULL;
  TSR_TRY(join_reshard(flight, index));
  return add_move(flight, index,
                  &(tsr_flight_sum){.kind = TSR_COLLECTIVE_PERMUTE,
                                    .mesh = border.mesh,
                                    .axes = border.axes,
                                    .group_size = tsr_parts_size(&border.axes)},
                  border.bytes, border.bytes);
}

// Whether an op has values that are cut over different meshes.
static bool mixes_meshes(const tsr_preflight *flight, const tsr_op *op) {
  const tsr_attr *mesh = NULL;
  for (int i = 0; i < op->operand_count + op->result_count; i++) {
    const tsr_value *value =
        i < op->operand_count ? tsr_op_operand(op, i) : tsr_op_result(op, i - op->operand_count);
    const tsr_tensor_sharding *sharding =
        value->mark ? tsr_flight_value_of(flight, value)->sharding : NULL;
    if (!sharding || !tsr_sharding_has_axes(sharding)) continue;
    if (mesh && mesh != sharding->mesh && !tsr_attr_equal(mesh, sharding->mesh)) return true;
    mesh = sharding->mesh;
  }
  return false;
}

static int by_bytes(const void *a, const void *b) {
  const tsr_flight_sum *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->kind != y->kind ? (int)x->kind - (int)y->kind : 0;
}

static void add_totals(tsr_preflight *flight) {
  for (int64_t i = 0; i < flight->sum_count; i++) {
    const tsr_flight_sum *sum = &flight->sums[i];
    flight->info.collective_count = tsr_saturated_add(flight->info.collective_count, sum->count);
    flight->info.bytes = tsr_saturated_add(flight->info.bytes, sum->bytes);
    flight->info.collective_seconds += sum->seconds;
  }
}

static tsr_status look_at(tsr_preflight *flight, int64_t index, tsr_arena *arena) {
  const tsr_op *op = flight->ops[index].op;
  if (tsr_flight_is_collective(op) || kind_of(op->info->id) != TSR_COLLECTIVE_COUNT)
    return add_collective(flight, index);
  flight->info.mixed_mesh_ops +=
      !(op->info->traits & TSR_TRAIT_TERMINATES) && mixes_meshes(flight, op);
  return op->operand_count && op->result_count ? add_border(flight, index, arena) : NULL;
}

tsr_status tsr_flight_find_collectives(tsr_preflight *flight) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < flight->op_count && !status; i++) {
    if (flight->ops[i].times) status = look_at(flight, i, &arena);
    tsr_arena_reset(&arena);
  }
  tsr_arena_deinit(&arena);
  if (status) return status;
  if (flight->sum_count)
    qsort(flight->sums, (size_t)flight->sum_count, sizeof *flight->sums, by_bytes);
  add_totals(flight);
  return NULL;
}
