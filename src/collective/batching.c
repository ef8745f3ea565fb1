// Gathers and scatters whose first index counts the batch: the batch becomes one of their
// dimensions, and the index goes.
#include <string.h>

#include "collective/collective_passes.h"
#include "collective/greedy.h"
#include "propagate/edits.h"

// The numbers of a scatter stand in the same places.
_Static_assert((int)TSR_GATHER_COLLAPSED_SLICE_DIMS == (int)TSR_SCATTER_INSERTED_WINDOW_DIMS &&
                   (int)TSR_GATHER_OPERAND_BATCHING_DIMS == (int)TSR_SCATTER_INPUT_BATCHING_DIMS &&
                   (int)TSR_GATHER_START_INDICES_BATCHING_DIMS ==
                       (int)TSR_SCATTER_INDICES_BATCHING_DIMS &&
                   (int)TSR_GATHER_START_INDEX_MAP == (int)TSR_SCATTER_DIMS_TO_OPERAND_DIMS &&
                   (int)TSR_GATHER_INDEX_VECTOR_DIM == (int)TSR_SCATTER_INDEX_VECTOR_DIM,
               "numbers of gathers and scatters");
enum { FIELD_COUNT = TSR_GATHER_INDEX_VECTOR_DIM + 1 };

// ---- whether an index counts the batch ----

static const tsr_value *behind_views(const tsr_value *value) {
  for (;;) {
    const tsr_op *op = value->def;
    if (tsr_op_is(op, TSR_OP_RESHAPE) || tsr_op_is(op, TSR_OP_BROADCAST_IN_DIM))
      value = tsr_op_operand(op, 0);
    else if (tsr_op_is(op, TSR_OP_CLAMP))
      value = tsr_op_operand(op, 1);
    else if (tsr_op_is(op, TSR_OP_SELECT))
      value = tsr_op_operand(op, tsr_op_is(tsr_op_operand(op, 2)->def, TSR_OP_IOTA) ? 2 : 1);
    else
      return value;
  }
}

static bool counts_batch(const tsr_value *indices, int64_t dim, int64_t index) {
  const tsr_op *parts = indices->def;
  if (tsr_op_is(parts, TSR_OP_CONCATENATE)) {
    if (tsr_op_int(parts, "dimension", -1) != dim || index >= parts->operand_count) return false;
    indices = tsr_op_operand(parts, (int)index);
  }
  const tsr_op *iota = behind_views(indices)->def;
  return tsr_op_is(iota, TSR_OP_IOTA) && !tsr_op_int(iota, "iota_dimension", -1);
}

// ---- indices without it ----

static const tsr_type *resized(tsr_ir *ir, const tsr_type *type, int64_t dim, int64_t size) {
  int64_t *dims = tsr_ir_alloc(ir, ((size_t)type->rank + 1) * sizeof *dims);
  if (!dims) return NULL;
  memcpy(dims, type->dims, (size_t)type->rank * sizeof *dims);
  dims[dim] = size;
  return tsr_type_tensor(ir, type->element, type->rank, dims, NULL);
}

static tsr_status make(tsr_greedy *g, tsr_op *place, tsr_op_parts parts, const tsr_type *type,
                       tsr_value **out_value) {
  TSR_NEED(type);
  for (int i = 0; i < parts.attr_count; i++) TSR_NEED(parts.attrs[i].name && parts.attrs[i].attr);
  parts.result_count = 1;
  parts.result_types = &type;
  parts.location = place->location;
  tsr_op *op = tsr_op_create(tsr_greedy_ir(g), &parts);
  TSR_NEED(op);
  *out_value = tsr_op_result(op, 0);
  return tsr_greedy_insert(g, place, op);
}

static tsr_status concatenate(tsr_greedy *g, tsr_op *place, tsr_value *const *values, int count,
                              int64_t dim, const tsr_type *type, tsr_value **out_value) {
  tsr_ir *ir = tsr_greedy_ir(g);
  if (count == 1) {
    *out_value = values[0];
    return NULL;
  }
  const tsr_named_attr attr = {tsr_ir_name(ir, "dimension", 9), tsr_attr_i64(ir, dim)};
  const tsr_op_parts parts = {.id = TSR_OP_CONCATENATE,
                              .operand_count = count,
                              .operands = values,
                              .attr_count = 1,
                              .attrs = &attr};
  return make(g, place, parts, resized(ir, type, dim, type->dims[dim] - 1), out_value);
}

static tsr_status slice(tsr_greedy *g, tsr_op *place, tsr_value *indices, int64_t dim,
                        int64_t start, int64_t end, tsr_value **out_value) {
  tsr_ir *ir = tsr_greedy_ir(g);
  const tsr_type *type = indices->type;
  const size_t room = (size_t)type->rank + 1;
  int64_t *starts = tsr_arena_zeros(tsr_greedy_arena(g), room, sizeof *starts);
  int64_t *ends = tsr_arena_zeros(tsr_greedy_arena(g), room, sizeof *ends);
  int64_t *steps = tsr_arena_zeros(tsr_greedy_arena(g), room, sizeof *steps);
  TSR_NEED(starts && ends && steps);
  for (int i = 0; i < type->rank; i++) {
    ends[i] = type->dims[i];
    steps[i] = 1;
  }
  starts[dim] = start;
  ends[dim] = end;
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "limit_indices", 13), tsr_attr_ints(ir, ends, type->rank)},
      {tsr_ir_name(ir, "start_indices", 13), tsr_attr_ints(ir, starts, type->rank)},
      {tsr_ir_name(ir, "strides", 7), tsr_attr_ints(ir, steps, type->rank)}};
  const tsr_op_parts parts = {.id = TSR_OP_SLICE,
                              .operand_count = 1,
                              .operands = &indices,
                              .attr_count = 3,
                              .attrs = attrs};
  return make(g, place, parts, resized(ir, type, dim, end - start), out_value);
}

static tsr_status without_index(tsr_greedy *g, tsr_op *place, tsr_value *indices, int64_t dim,
                                int64_t index, tsr_value **out_value) {
  const tsr_op *parts = indices->def;
  const int64_t total = indices->type->dims[dim];
  tsr_value *sides[2];
  int count = 0;
  if (tsr_op_is(parts, TSR_OP_CONCATENATE) && tsr_op_int(parts, "dimension", -1) == dim &&
      parts->operand_count == total) {
    tsr_value **kept = tsr_arena_zeros(tsr_greedy_arena(g), (size_t)total, sizeof *kept);
    TSR_NEED(kept);
    for (int i = 0; i < parts->operand_count; i++)
      if (i != index) kept[count++] = tsr_op_operand(parts, i);
    return concatenate(g, place, kept, count, dim, indices->type, out_value);
  }
  if (index > 0) TSR_TRY(slice(g, place, indices, dim, 0, index, &sides[count++]));
  if (index + 1 < total) TSR_TRY(slice(g, place, indices, dim, index + 1, total, &sides[count++]));
  return concatenate(g, place, sides, count, dim, indices->type, out_value);
}

// ---- the op ----

static int64_t find(const tsr_attr *list, int64_t wanted) {
  for (int64_t i = 0; i < tsr_attr_int_count(list); i++)
    if (tsr_attr_int_at(list, i) == wanted) return i;
  return -1;
}

// A list without the number at a place. NULL without memory.
static const tsr_attr *without(tsr_greedy *g, const tsr_attr *list, int64_t place) {
  const int64_t count = tsr_attr_int_count(list);
  int64_t *kept = tsr_arena_zeros(tsr_greedy_arena(g), (size_t)count + 1, sizeof *kept), at = 0;
  if (!kept) return NULL;
  for (int64_t i = 0; i < count; i++)
    if (i != place) kept[at++] = tsr_attr_int_at(list, i);
  return tsr_attr_ints(tsr_greedy_ir(g), kept, at);
}

static tsr_status set_numbers(tsr_greedy *g, tsr_op *op, const char *name, const tsr_attr *numbers,
                              int64_t mapped, int64_t collapsed) {
  tsr_ir *ir = tsr_greedy_ir(g);
  const int64_t zero = 0;
  const tsr_attr *fields[FIELD_COUNT];
  memcpy(fields, numbers->items, sizeof fields);
  fields[TSR_GATHER_START_INDEX_MAP] = without(g, fields[TSR_GATHER_START_INDEX_MAP], mapped);
  fields[TSR_GATHER_COLLAPSED_SLICE_DIMS] =
      without(g, fields[TSR_GATHER_COLLAPSED_SLICE_DIMS], collapsed);
  fields[TSR_GATHER_OPERAND_BATCHING_DIMS] = tsr_attr_ints(ir, &zero, 1);
  fields[TSR_GATHER_START_INDICES_BATCHING_DIMS] = fields[TSR_GATHER_OPERAND_BATCHING_DIMS];
  for (int i = 0; i < FIELD_COUNT; i++) TSR_NEED(fields[i]);
  const tsr_attr *made = tsr_attr_record(ir, (tsr_record_id)numbers->id, fields);
  TSR_NEED(made);
  return tsr_op_attr_set(ir, op, name, made);
}

// Only dimension 0 of the operand and of the indices is known as a batch.
static tsr_status batch(tsr_greedy *g, tsr_op *op, const char *name, int place, bool *out_changed) {
  const tsr_attr *numbers = tsr_op_attr(op, name);
  tsr_value *indices = tsr_op_operand(op, place), *kept = NULL;
  const tsr_type *operand = tsr_operand_type(op, 0), *type = indices->type;
  if (tsr_attr_int_count(numbers->items[TSR_GATHER_OPERAND_BATCHING_DIMS])) return NULL;
  if (operand->kind != TSR_TYPE_TENSOR || type->kind != TSR_TYPE_TENSOR || !operand->rank)
    return NULL;
  const int64_t dim = numbers->items[TSR_GATHER_INDEX_VECTOR_DIM]->integer;
  if (dim < 0 || dim >= type->rank || type->dims[dim] <= 1 || type->dims[0] != operand->dims[0])
    return NULL;
  const int64_t mapped = find(numbers->items[TSR_GATHER_START_INDEX_MAP], 0);
  const int64_t collapsed = find(numbers->items[TSR_GATHER_COLLAPSED_SLICE_DIMS], 0);
  if (mapped < 0 || collapsed < 0 || !counts_batch(indices, dim, mapped)) return NULL;
  TSR_TRY(without_index(g, op, indices, dim, mapped, &kept));
  TSR_TRY(set_numbers(g, op, name, numbers, mapped, collapsed));
  tsr_op_set_operand(op, place, kept);
  if (indices->def) TSR_TRY(tsr_greedy_push(g, indices->def));
  *out_changed = true;
  return NULL;
}

static tsr_status batch_gather(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  return batch(g, op, "dimension_numbers", 1, out_changed);
}

static tsr_status batch_scatter(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  return batch(g, op, "scatter_dimension_numbers", (op->operand_count - 1) / 2, out_changed);
}

tsr_status tsr_pass_gather_scatter_batching(tsr_ir *ir, const tsr_pass_options *options,
                                            int64_t *changes) {
  static const tsr_greedy_rule rules[] = {{TSR_OP_GATHER, batch_gather, NULL},
                                          {TSR_OP_SCATTER, batch_scatter, NULL}};
  (void)options;
  return tsr_greedy_run(ir, rules, sizeof rules / sizeof *rules, NULL, changes);
}
