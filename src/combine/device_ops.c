#include "combine/device_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "propagate/edits.h"

tsr_status tsr_op_list_add(tsr_op_list *list, tsr_op *op) {
  tsr_op **items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  TSR_NEED(items);
  list->items = items;
  items[list->count++] = op;
  return NULL;
}

void tsr_op_list_deinit(tsr_op_list *list) { free(list->items); }

int64_t tsr_type_bytes_of(const tsr_type *type) {
  const int64_t count = tsr_type_element_count(type);
  const size_t each = tsr_type_element_bytes(tsr_type_element(type));
  return count < 0 ? 0 : tsr_saturated_multiply(count, (int64_t)each);
}

int tsr_combiner_of(const tsr_op *op) {
  const tsr_ir_block *body = op->region_count == 1 ? op->regions[0].first : NULL;
  const tsr_op *first = body ? body->first : NULL;
  if (!first || !first->next || first->next->next || first->operand_count != 2 ||
      first->result_count != 1 || first->attr_count || body->arg_count != 2 ||
      tsr_op_operand(first, 0) != body->args[0] || tsr_op_operand(first, 1) != body->args[1] ||
      first->next->operand_count != 1 || tsr_op_operand(first->next, 0) != &first->results[0])
    return -1;
  return (int)first->info->id;
}

// ---- channels ----

static tsr_status find_channel(tsr_op *op, void *context) {
  int64_t *next = context;
  const tsr_attr *channel = tsr_op_attr(op, "channel_handle");
  if (!channel || channel->kind != TSR_ATTR_RECORD) return NULL;
  const tsr_attr *number = tsr_attr_field(channel, TSR_CHANNEL_HANDLE);
  if (number && number->integer >= *next && number->integer < INT64_MAX)
    *next = number->integer + 1;
  return NULL;
}

int64_t tsr_channel_unused(tsr_ir *ir) {
  int64_t next = 1;
  tsr_status_free(tsr_op_walk(ir->module, find_channel, &next));  // cannot fail
  return next;
}

const tsr_attr *tsr_channel_attr(tsr_ir *ir, int64_t channel) {
  const tsr_attr *const fields[] = {tsr_attr_i64(ir, channel), tsr_attr_i64(ir, 1)};
  return fields[0] && fields[1] ? tsr_attr_record(ir, TSR_RECORD_CHANNEL, fields) : NULL;
}

// ---- groups ----

const tsr_attr *tsr_groups_from(tsr_ir *ir, const tsr_op *gather, int64_t first) {
  const tsr_attr *groups = tsr_op_attr(gather, "replica_groups");
  const int64_t size = groups->type->dims[1], count = groups->type->dims[0];
  int64_t *ids = tsr_ir_alloc(ir, ((size_t)(count * size) + 1) * sizeof *ids);
  if (!ids) return NULL;
  for (int64_t g = 0; g < count; g++) {
    int64_t place = g * size;
    ids[place++] = tsr_attr_int_at(groups, g * size + first);
    for (int64_t i = 0; i < size; i++)
      if (i != first) ids[place++] = tsr_attr_int_at(groups, g * size + i);
  }
  return tsr_attr_dense(ir, groups->type, ids, (size_t)(count * size) * sizeof *ids);
}

// ---- gathers ----

static bool is_listed(const tsr_op *op) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  return op->operand_count == 1 && groups && groups->kind == TSR_ATTR_DENSE &&
         groups->type->rank == 2;
}

static bool gathered_alone(const tsr_value *value, tsr_gathered *out) {
  tsr_op *gather = value->def;
  if (!tsr_op_is(gather, TSR_OP_ALL_GATHER) || !is_listed(gather)) return false;
  const int64_t dim = tsr_op_int(gather, "all_gather_dim", 0);
  *out = (tsr_gathered){.gather = gather, .shard = tsr_op_operand(gather, 0)};
  for (int d = 0; d < value->type->rank; d++) out->counts[d] = 1;
  out->counts[dim] = tsr_op_attr(gather, "replica_groups")->type->dims[1];
  out->strides[dim] = 1;
  return true;
}

static tsr_op *def_of(const tsr_op *op, tsr_op_id id) {
  tsr_op *def = op ? tsr_op_operand(op, 0)->def : NULL;
  return tsr_op_is(def, id) ? def : NULL;
}

// The factors of each dim stand in front of it: order is factor, dim, factor, dim, ... or dim
// alone.
static bool read_order(const tsr_op *transpose, int factors, tsr_gathered *out) {
  const tsr_attr *order = tsr_op_attr(transpose, "permutation");
  const int64_t *sizes = tsr_operand_type(transpose, 0)->dims;
  int64_t place = 0;
  for (int d = 0; d < out->shard->type->rank; d++) {
    out->counts[d] = 1;
    int64_t from = place < tsr_attr_int_count(order) ? tsr_attr_int_at(order, place++) : -1;
    if (from >= 0 && from < factors) {
      out->counts[d] = sizes[from];
      out->strides[d] = 1;
      for (int64_t i = from + 1; i < factors; i++) out->strides[d] *= sizes[i];
      from = place < tsr_attr_int_count(order) ? tsr_attr_int_at(order, place++) : -1;
    }
    if (from != factors + d) return false;
  }
  return place == tsr_attr_int_count(order);
}

// Along several dims: shards are gathered along a new first dim, whose factors go to their dims.
static bool gathered_together(const tsr_value *value, tsr_gathered *out) {
  const tsr_op *last = tsr_op_is(value->def, TSR_OP_RESHAPE) ? value->def : NULL;
  const tsr_op *transpose = def_of(last, TSR_OP_TRANSPOSE);
  const tsr_op *split = def_of(transpose, TSR_OP_RESHAPE);
  tsr_op *gather = def_of(split, TSR_OP_ALL_GATHER);
  const tsr_op *front = def_of(gather, TSR_OP_RESHAPE);
  if (!front || !is_listed(gather) || tsr_op_int(gather, "all_gather_dim", -1) != 0) return false;
  tsr_value *shard = tsr_op_operand(front, 0);
  const tsr_type *one = front->results[0].type, *parts = split->results[0].type;
  const int rank = shard->type->rank, factors = parts->rank - rank;
  if (value->type->rank != rank || one->rank != rank + 1 || one->dims[0] != 1 || factors < 1 ||
      memcmp(one->dims + 1, shard->type->dims, (size_t)rank * sizeof *one->dims) != 0 ||
      memcmp(parts->dims + factors, shard->type->dims, (size_t)rank * sizeof *one->dims) != 0)
    return false;
  *out = (tsr_gathered){.gather = gather, .shard = shard};
  if (!read_order(transpose, factors, out)) return false;
  for (int d = 0; d < rank; d++)
    if (value->type->dims[d] != shard->type->dims[d] * out->counts[d]) return false;
  return true;
}

bool tsr_gathered_find(const tsr_value *value, tsr_gathered *out_gathered) {
  return value->def && value->type->rank <= TSR_MAX_RANK &&
         (gathered_alone(value, out_gathered) || gathered_together(value, out_gathered));
}

bool tsr_gathered_only(const tsr_value *value, const tsr_gathered *gathered) {
  for (const tsr_op *op = value->def; op != gathered->gather; op = tsr_op_operand(op, 0)->def)
    if (!tsr_value_has_one_use(tsr_op_operand(op, 0))) return false;
  return true;
}

void tsr_gathered_erase(const tsr_value *value, const tsr_gathered *gathered) {
  for (tsr_op *op = value->def, *next = NULL; op; op = next) {
    next = op == gathered->gather ? NULL : tsr_op_operand(op, 0)->def;
    tsr_op_erase(op);
  }
}
