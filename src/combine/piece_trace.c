#include "combine/piece_trace.h"

#include <stdlib.h>

#include "base/grow.h"
#include "combine/device_numbers.h"
#include "combine/range_masks.h"
#include "propagate/edits.h"
#include "simplify/evaluate.h"

enum { MOST_DEPTH = 48, MOST_PIECES = 1 << 14, MOST_OPS = 256 };

// ---- which dim ----

static int changed_dim(const tsr_type *a, const tsr_type *b) {
  int dim = -1;
  for (int d = 0; d < a->rank; d++) {
    if (a->dims[d] == b->dims[d]) continue;
    if (dim >= 0) return -1;
    dim = d;
  }
  return dim;
}

// Ops between devices have numbers of channels, and groups of the ids of all devices.
static bool is_listed(const tsr_op *op, const char *name) {
  const tsr_attr *list = tsr_op_attr(op, name);
  return op->operand_count == 1 && tsr_op_attr(op, "channel_handle") && list &&
         list->kind == TSR_ATTR_DENSE && list->type->rank == 2;
}

static bool is_dense(const tsr_op *op, const char *name, int64_t wanted) {
  const tsr_attr *list = tsr_op_attr(op, name);
  for (int64_t i = 0; i < tsr_attr_int_count(list); i++)
    if (tsr_attr_int_at(list, i) != wanted) return false;
  return true;
}

static bool pads_simply(const tsr_op *op) {
  const tsr_attr *low = tsr_op_attr(op, "edge_padding_low");
  const tsr_attr *high = tsr_op_attr(op, "edge_padding_high");
  if (!is_dense(op, "interior_padding", 0)) return false;
  for (int64_t i = 0; i < tsr_attr_int_count(low); i++)
    if (tsr_attr_int_at(low, i) < 0 || tsr_attr_int_at(high, i) < 0) return false;
  return true;
}

// A choice between values whose ranges a device knows.
static int chosen_dim(const tsr_op *op) {
  const tsr_value *mask = tsr_op_operand(op, 0);
  tsr_range_mask ranges;
  const int dim = tsr_range_mask_dim(mask);
  return dim >= 0 && tsr_range_mask_on(mask, dim, 0, &ranges) ? dim : -1;
}

int tsr_moved_dim(const tsr_op *op) {
  if (op->result_count != 1 || !op->operand_count || !tsr_type_is_static(op->results[0].type))
    return -1;
  const tsr_type *from = tsr_operand_type(op, 0), *to = op->results[0].type;
  switch (op->info->id) {
    case TSR_OP_SLICE:
      return is_dense(op, "strides", 1) ? changed_dim(from, to) : -1;
    case TSR_OP_DYNAMIC_SLICE:
      return changed_dim(from, to);
    case TSR_OP_PAD:
      return pads_simply(op) ? changed_dim(from, to) : -1;
    case TSR_OP_CONCATENATE:
      return (int)tsr_op_int(op, "dimension", -1);
    case TSR_OP_SELECT:
      return chosen_dim(op);
    case TSR_OP_ALL_GATHER:
      return is_listed(op, "replica_groups") && tsr_op_flag(op, "use_global_device_ids")
                 ? (int)tsr_op_int(op, "all_gather_dim", -1)
                 : -1;
    default:
      return -1;
  }
}

// ---- following ops ----

typedef struct range {
  int64_t device, low, high;  // of a value on a device
  int64_t target, at;         // where it goes
} range;

static tsr_status follow(tsr_piece_trace *t, tsr_value *value, range r, int depth, bool *ok);

static tsr_status add_piece(tsr_piece_trace *t, tsr_value *leaf, const range *r, bool *ok) {
  tsr_traced_piece *last = t->count ? &t->pieces[t->count - 1] : NULL;
  const int64_t count = r->high - r->low;
  if (last && last->leaf == leaf && last->target == r->target && last->at + last->count == r->at &&
      (!leaf || (last->device == r->device && last->from + last->count == r->low))) {
    last->count += count;
    return NULL;
  }
  *ok = t->count < MOST_PIECES;
  if (!*ok) return NULL;
  tsr_traced_piece *pieces = tsr_grow(t->pieces, t->count, &t->capacity, sizeof *pieces);
  TSR_NEED(pieces);
  t->pieces = pieces;
  pieces[t->count++] = (tsr_traced_piece){leaf, r->device, r->target, r->low, r->at, count};
  return NULL;
}

static tsr_status add_leaf(tsr_piece_trace *t, tsr_value *leaf, range r, bool *ok) {
  if (r.device != r.target && tsr_devices_hold_alike(t->scratch, t->ir, leaf, r.device, r.target))
    r.device = r.target;
  return add_piece(t, leaf, &r, ok);
}

// The part of `r` from `low` to `high`, whose indices begin at 0 there.
static range part_of(const range *r, int64_t low, int64_t high) {
  range part = *r;
  part.low = r->low > low ? r->low : low;
  part.high = r->high < high ? r->high : high;
  part.at = r->at + part.low - r->low;
  part.low -= low;
  part.high -= low;
  return part;
}

static tsr_status follow_concatenate(tsr_piece_trace *t, const tsr_op *op, range r, int depth,
                                     bool *ok) {
  int64_t start = 0;
  for (int i = 0; *ok && i < op->operand_count; i++) {
    const int64_t size = tsr_operand_type(op, i)->dims[t->dim];
    const range part = part_of(&r, start, start + size);
    if (part.low < part.high) TSR_TRY(follow(t, tsr_op_operand(op, i), part, depth, ok));
    start += size;
  }
  return NULL;
}

// Padding is of one value in all of a trace. That of another device must be the same on all.
static tsr_status add_padding(tsr_piece_trace *t, tsr_value *padding, const range *r, bool *ok) {
  *ok = (!t->padding || t->padding == padding) &&
        (r->device == r->target || tsr_value_constant(padding));
  t->padding = padding;
  return *ok ? add_piece(t, NULL, r, ok) : NULL;
}

static tsr_status follow_pad(tsr_piece_trace *t, const tsr_op *op, range r, int depth, bool *ok) {
  const int64_t low = tsr_attr_int_at(tsr_op_attr(op, "edge_padding_low"), t->dim);
  const int64_t end = low + tsr_operand_type(op, 0)->dims[t->dim];
  const range parts[] = {part_of(&r, 0, low), part_of(&r, low, end), part_of(&r, end, INT64_MAX)};
  for (int i = 0; *ok && i < 3; i++) {
    if (parts[i].low >= parts[i].high) continue;
    TSR_TRY(i == 1 ? follow(t, tsr_op_operand(op, 0), parts[i], depth, ok)
                   : add_padding(t, tsr_op_operand(op, 1), &parts[i], ok));
  }
  return NULL;
}

static tsr_status follow_select(tsr_piece_trace *t, const tsr_op *op, range r, int depth,
                                bool *ok) {
  tsr_range_mask mask;
  *ok = tsr_range_mask_on(tsr_op_operand(op, 0), t->dim, r.device, &mask);
  for (int64_t end = 0; *ok && r.low < r.high; r.at += end - r.low, r.low = end) {
    range part = r;
    end = tsr_range_mask_end(&mask, r.low);
    if (end > r.high) end = r.high;
    part.high = end;
    TSR_TRY(
        follow(t, tsr_op_operand(op, tsr_range_mask_at(&mask, r.low) ? 1 : 2), part, depth, ok));
  }
  return NULL;
}

static tsr_status follow_gather(tsr_piece_trace *t, const tsr_op *op, range r, int depth,
                                bool *ok) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  const int64_t members = groups->type->dims[1], all = tsr_attr_int_count(groups);
  const int64_t size = tsr_operand_type(op, 0)->dims[t->dim];
  int64_t place = 0;
  while (place < all && tsr_attr_int_at(groups, place) != r.device) place++;
  *ok = place < all;
  for (int64_t i = 0; *ok && i < members; i++) {
    range part = part_of(&r, i * size, (i + 1) * size);
    part.device = tsr_attr_int_at(groups, place / members * members + i);
    if (part.low < part.high) TSR_TRY(follow(t, tsr_op_operand(op, 0), part, depth, ok));
  }
  return NULL;
}

// A device that gets nothing has zeros, which a padding of another value must not be mixed with.
static tsr_status follow_permute(tsr_piece_trace *t, const tsr_op *op, range r, int depth,
                                 bool *ok) {
  const tsr_attr *pairs = tsr_op_attr(op, "source_target_pairs");
  for (int64_t i = 0; i + 1 < tsr_attr_int_count(pairs); i += 2)
    if (tsr_attr_int_at(pairs, i + 1) == r.device) {
      r.device = tsr_attr_int_at(pairs, i);
      return follow(t, tsr_op_operand(op, 0), r, depth, ok);
    }
  *ok = false;
  return NULL;
}

static bool start_of(const tsr_piece_trace *t, const tsr_op *op, int64_t device, int64_t *out) {
  const int64_t most = tsr_operand_type(op, 0)->dims[t->dim] - op->results[0].type->dims[t->dim];
  if (tsr_op_is(op, TSR_OP_SLICE)) {
    *out = tsr_attr_int_at(tsr_op_attr(op, "start_indices"), t->dim);
    return true;
  }
  if (!tsr_device_number(tsr_op_operand(op, 1 + t->dim), device, out)) return false;
  *out = *out < 0 ? 0 : *out > most ? most : *out;
  return true;
}

static tsr_status follow_op(tsr_piece_trace *t, const tsr_op *op, range r, int depth, bool *ok) {
  int64_t start = 0;
  switch (op->info->id) {
    case TSR_OP_CONCATENATE:
      return follow_concatenate(t, op, r, depth, ok);
    case TSR_OP_PAD:
      return follow_pad(t, op, r, depth, ok);
    case TSR_OP_SELECT:
      return follow_select(t, op, r, depth, ok);
    case TSR_OP_ALL_GATHER:
      return follow_gather(t, op, r, depth, ok);
    case TSR_OP_COLLECTIVE_PERMUTE:
      return follow_permute(t, op, r, depth, ok);
    default:
      *ok = start_of(t, op, r.device, &start);
      r.low += start;
      r.high += start;
      return *ok ? follow(t, tsr_op_operand(op, 0), r, depth, ok) : NULL;
  }
}

static bool is_followed(const tsr_piece_trace *t, const tsr_op *op) {
  if (op->block != t->block) return false;
  if (tsr_op_is(op, TSR_OP_COLLECTIVE_PERMUTE)) return is_listed(op, "source_target_pairs");
  return tsr_moved_dim(op) == t->dim;
}

static tsr_status note_op(tsr_piece_trace *t, tsr_op *op, bool *ok) {
  for (int64_t i = 0; i < t->ops.count; i++)
    if (t->ops.items[i] == op) return NULL;
  *ok = t->ops.count < MOST_OPS;
  return *ok ? tsr_op_list_add(&t->ops, op) : NULL;
}

// NOLINTNEXTLINE(misc-no-recursion): at most MOST_DEPTH deep
static tsr_status follow(tsr_piece_trace *t, tsr_value *value, range r, int depth, bool *ok) {
  tsr_op *op = value->def;
  const bool filled =
      op && tsr_op_is(op, TSR_OP_BROADCAST_IN_DIM) && !tsr_operand_type(op, 0)->rank;
  if (filled) return add_padding(t, tsr_op_operand(op, 0), &r, ok);
  if (!op || depth == MOST_DEPTH || !is_followed(t, op)) return add_leaf(t, value, r, ok);
  TSR_TRY(note_op(t, op, ok));
  if (!*ok) return NULL;
  return follow_op(t, op, r, depth + 1, ok);
}

tsr_status tsr_piece_trace_make(tsr_ir *ir, tsr_arena *scratch, const tsr_op *op, int dim,
                                int64_t devices, tsr_piece_trace *out_trace, bool *out_traced) {
  *out_trace = (tsr_piece_trace){
      .ir = ir, .scratch = scratch, .dim = dim, .devices = devices, .block = op->block};
  *out_traced = true;
  for (int64_t i = 0; *out_traced && i < devices; i++) {
    const range all = {.device = i, .high = op->results[0].type->dims[dim], .target = i};
    TSR_TRY(follow_op(out_trace, op, all, 0, out_traced));
  }
  return NULL;
}

void tsr_piece_trace_deinit(tsr_piece_trace *trace) {
  free(trace->pieces);
  tsr_op_list_deinit(&trace->ops);
}
