// Ops whose results need elements of other devices: slices, pads, concatenations, windows. Each
// gets what it needs of a sharded dim by an exchange (localize/exchange.h), and does the rest
// alone.
#include <string.h>

#include "localize/exchange.h"
#include "propagate/edits.h"

// ---- what they share ----

tsr_status tsr_check_same_axes(const tsr_op *op, const tsr_whole *from, int from_dim,
                               const tsr_whole *to, int to_dim) {
  const bool empty = !from->type->dims[from_dim];  // has nothing to be cut
  if (empty ||
      tsr_sdy_parts_equal(tsr_cut_axes(from->cut, from_dim), tsr_cut_axes(to->cut, to_dim)))
    return NULL;
  return tsr_fail(CONSTRAINT,
                  "%s: dimension %d of its operand is sharded otherwise than that of the result",
                  op->name, from_dim);
}

static tsr_status take(tsr_op *op, int index, tsr_site *site, tsr_value *made) {
  if (site->failure) return site->failure;
  TSR_NEED(made);
  tsr_op_set_operand(op, index, made);
  return NULL;
}

tsr_status tsr_set_number(tsr_localizing *l, tsr_op *op, const char *name, int64_t index,
                          int64_t number) {
  const tsr_attr *old = tsr_op_attr(op, name);
  const int64_t count = tsr_attr_int_count(old);
  if (!old || index >= count) return NULL;
  int64_t *numbers = tsr_ir_alloc(l->ir, (size_t)count * sizeof *numbers);
  TSR_NEED(numbers);
  for (int64_t i = 0; i < count; i++) numbers[i] = tsr_attr_int_at(old, i);
  numbers[index] = number;
  const tsr_attr *made =
      old->kind == TSR_ATTR_DENSE
          ? tsr_attr_dense(l->ir, old->type, numbers, (size_t)count * sizeof *numbers)
          : tsr_attr_ints(l->ir, numbers, count);
  TSR_NEED(made);
  return tsr_op_attr_set(l->ir, op, name, made);
}

tsr_status tsr_exchange_ends(tsr_localizing *l, tsr_op *op) {
  static const char *const lists[] = {"edge_padding_low", "start_indices"};
  tsr_site site = {.ir = l->ir, .place = op};
  tsr_value *x = tsr_op_operand(op, 0);
  bool same = x->type == tsr_op_result(op, 0)->type;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (int d = 0; same && d < x->type->rank; d++) same = !tsr_list_number(op, lists[i], d, 0);
  return same ? tsr_localize_replace(l, &site, op, &x) : NULL;
}

// ---- slice ----

static tsr_status ask_slice(tsr_localizing *l, const tsr_op *op, int dim,
                            const tsr_tensor_sharding *cut, int64_t made, tsr_range_ask *out_ask) {
  const int64_t stride = tsr_attr_int_at(tsr_op_attr(op, "strides"), dim);
  const int64_t start = tsr_attr_int_at(tsr_op_attr(op, "start_indices"), dim);
  *out_ask = (tsr_range_ask){.cut = cut, .dim = dim, .stride = stride, .length = made};
  out_ask->starts = tsr_range_starts(l, tsr_cut_count(cut, dim), start, made * stride);
  TSR_NEED(out_ask->starts);
  return NULL;
}

// What other slices of the same value send along the dim.
static tsr_status sent_for_others(tsr_localizing *l, tsr_op *op, int dim, const tsr_whole *from,
                                  int64_t *out_sent) {
  const tsr_value *operand = tsr_op_operand(op, 0);
  const int64_t shards = tsr_cut_count(from->cut, dim);
  *out_sent = 0;
  for (const tsr_use *use = operand->uses; use; use = use->next) {
    tsr_whole to;
    tsr_range_ask ask;
    if (use->user == op || !tsr_op_is(use->user, TSR_OP_SLICE) || use->user->block != op->block)
      continue;
    TSR_TRY(tsr_whole_of(l, tsr_op_result(use->user, 0), &to));
    if (!tsr_sdy_parts_equal(tsr_cut_axes(from->cut, dim), tsr_cut_axes(to.cut, dim))) continue;
    TSR_TRY(ask_slice(l, use->user, dim, from->cut, to.type->dims[dim] / shards, &ask));
    *out_sent += tsr_range_sent(l, &ask, operand->type->dims[dim]);
  }
  return NULL;
}

tsr_status tsr_exchange_slice(tsr_localizing *l, tsr_op *op, int dim, const tsr_whole *from,
                              int64_t made) {
  tsr_site site = {.ir = l->ir, .place = op};
  tsr_range_ask ask;
  TSR_TRY(ask_slice(l, op, dim, from->cut, made, &ask));
  TSR_TRY(sent_for_others(l, op, dim, from, &ask.others));
  TSR_TRY(take(op, 0, &site, tsr_exchange_range(l, &site, tsr_op_operand(op, 0), &ask)));
  TSR_TRY(tsr_set_number(l, op, "start_indices", dim, 0));
  TSR_TRY(tsr_set_number(l, op, "limit_indices", dim, made));
  return tsr_set_number(l, op, "strides", dim, 1);
}

// ---- pad ----

static tsr_status set_padding(tsr_localizing *l, tsr_op *op, int dim, int64_t low) {
  TSR_TRY(tsr_set_number(l, op, "edge_padding_low", dim, low));
  TSR_TRY(tsr_set_number(l, op, "edge_padding_high", dim, 0));
  return tsr_set_number(l, op, "interior_padding", dim, 0);
}

static tsr_status exchange_padded(tsr_localizing *l, tsr_op *op, int dim, const tsr_whole *from,
                                  int64_t made) {
  tsr_site site = {.ir = l->ir, .place = op};
  const int64_t low = tsr_attr_int_at(tsr_op_attr(op, "edge_padding_low"), dim);
  const int64_t gaps = tsr_attr_int_at(tsr_op_attr(op, "interior_padding"), dim);
  tsr_range_ask ask = {.cut = from->cut, .dim = dim, .stride = 1, .length = made};
  ask.fill = tsr_op_operand(op, 1);
  ask.starts = tsr_range_starts(l, tsr_cut_count(from->cut, dim), -low, made);
  TSR_NEED(ask.starts);
  TSR_TRY(take(op, 0, &site, tsr_exchange_spread(l, &site, tsr_op_operand(op, 0), &ask, gaps)));
  return set_padding(l, op, dim, 0);
}

tsr_status tsr_exchange_pad(tsr_localizing *l, tsr_op *op) {
  static const char *const lists[] = {"edge_padding_low", "edge_padding_high", "interior_padding"};
  tsr_whole from, to;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &from));
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &to));
  TSR_TRY(tsr_localize_plain(l, op));
  const tsr_type *type = tsr_op_result(op, 0)->type;
  for (int d = 0; d < type->rank; d++) {
    bool padded = false;
    TSR_TRY(tsr_check_same_axes(op, &from, d, &to, d));
    for (int i = 0; i < 3; i++) padded |= tsr_attr_int_at(tsr_op_attr(op, lists[i]), d) != 0;
    if (!from.type->dims[d])
      TSR_TRY(set_padding(l, op, d, type->dims[d]));
    else if (padded && from.cut && tsr_cut_count(from.cut, d) > 1)
      TSR_TRY(exchange_padded(l, op, d, &from, type->dims[d]));
  }
  return tsr_exchange_ends(l, op);
}

// ---- concatenate ----

// The range of the device's result in one operand, which begins at `first` of the result.
static tsr_value *joined_range(tsr_localizing *l, tsr_site *site, tsr_op *op, int index,
                               const tsr_whole *result, int64_t first, int64_t made) {
  const int dim = (int)tsr_op_int(op, "dimension", 0);
  tsr_value *operand = tsr_op_operand(op, index);
  tsr_range_ask ask = {.cut = result->cut, .dim = dim, .stride = 1, .length = made};
  ask.starts = tsr_range_starts(l, tsr_cut_count(result->cut, dim), -first, made);
  tsr_whole whole;
  if (!ask.starts) site->failure = tsr_fail(NO_MEMORY, "a table of shards");
  if (!site->failure) site->failure = tsr_whole_of(l, operand, &whole);
  if (site->failure) return NULL;
  ask.whole = !tsr_cut_axes(whole.cut, dim)->count;
  return tsr_exchange_range(l, site, operand, &ask);
}

// Takes `next` from where it begins on in the device's result.
static tsr_value *join_range(tsr_localizing *l, tsr_site *site, const tsr_whole *result, int dim,
                             tsr_value *before, tsr_value *next, int64_t first) {
  const int64_t *starts = tsr_range_starts(l, tsr_cut_count(result->cut, dim), first,
                                           next ? -next->type->dims[dim] : 0);
  if (!starts || !before || !next) return NULL;
  const tsr_type *type = tsr_site_retyped(site, next->type, l->ir->i64);
  const tsr_site_attr attr = {"iota_dimension", tsr_attr_i64(l->ir, dim)};
  tsr_value *iota = tsr_site_add(site, TSR_OP_IOTA, type, NULL, 0, &attr, 1);
  tsr_value *begin = tsr_site_by_shard(l, site, result->cut, dim, starts);
  begin = tsr_site_broadcast(site, begin, type, NULL);
  tsr_value *const choice[] = {tsr_site_compare(site, iota, begin, TSR_DIRECTION_GE), next, before};
  return tsr_site_add(site, TSR_OP_SELECT, next->type, choice, 3, NULL, 0);
}

tsr_status tsr_exchange_concatenate(tsr_localizing *l, tsr_op *op) {
  const int dim = (int)tsr_op_int(op, "dimension", 0);
  tsr_site site = {.ir = l->ir, .place = op};
  tsr_value *made = NULL;
  const tsr_type *type = NULL;
  tsr_whole result;
  int64_t first = 0;
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &result));
  TSR_TRY(tsr_local_type(l, op, &result, &type));
  for (int i = 0; i < op->operand_count; i++) {
    tsr_whole operand;
    TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, i), &operand));
    if (!operand.type->dims[dim]) continue;
    for (int d = 0; d < type->rank; d++)
      if (d != dim || tsr_cut_axes(operand.cut, d)->count)
        TSR_TRY(tsr_check_same_axes(op, &operand, d, &result, d));
    tsr_value *range = joined_range(l, &site, op, i, &result, first, type->dims[dim]);
    made = made ? join_range(l, &site, &result, dim, made, range, first) : range;
    first += operand.type->dims[dim];
  }
  return tsr_localize_replace(l, &site, op, &made);
}

// ---- windows ----

tsr_status tsr_exchange_window(tsr_localizing *l, tsr_op *op, int index, const tsr_whole *from,
                               const tsr_window_ask *window, tsr_value *fill) {
  tsr_site site = {.ir = l->ir, .place = op};
  tsr_whole to;
  const tsr_type *type = NULL;
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &to));
  TSR_TRY(tsr_check_same_axes(op, from, window->dim, &to, window->result_dim));
  TSR_TRY(tsr_local_type(l, op, &to, &type));
  const int64_t made = type->dims[window->result_dim];
  tsr_range_ask ask = {.cut = from->cut, .dim = window->dim, .stride = 1, .fill = fill};
  ask.length = (made - 1) * window->stride + (window->size - 1) * window->dilation + 1;
  ask.starts = tsr_range_starts(l, tsr_cut_count(from->cut, window->dim), -window->low,
                                made * window->stride);
  TSR_NEED(ask.starts);
  tsr_value *operand = tsr_op_operand(op, index);
  tsr_value *x = tsr_exchange_spread(l, &site, operand, &ask, window->gaps);
  TSR_TRY(take(op, index, &site, x));
  return NULL;
}
