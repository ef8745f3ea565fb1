// Ops of StableHLO that need more than local types.

#include "localize/exchange.h"
#include "propagate/edits.h"

// ---- sums over devices ----

// Whether a list has all of the axes, in any order and split in any way.
static bool covers(const tsr_sdy_parts *list, const tsr_sdy_parts *axes) {
  for (int64_t i = 0; i < axes->count; i++) {
    int64_t covered = 1;
    for (int64_t k = 0; k < list->count; k++) {
      if (tsr_part_contains(&list->items[k], &axes->items[i]))
        covered = axes->items[i].size;
      else if (tsr_part_contains(&axes->items[i], &list->items[k]))
        covered *= list->items[k].size;
    }
    if (covered < axes->items[i].size) return false;
  }
  return true;
}

// Whether an op of Shardy moves data and computes nothing: sums may wait until after it.
static bool only_moves(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_SDY_ALL_SLICE) || tsr_op_is(op, TSR_OP_SDY_ALL_GATHER) ||
         tsr_op_is(op, TSR_OP_SDY_ALL_TO_ALL) || tsr_op_is(op, TSR_OP_SDY_COLLECTIVE_PERMUTE);
}

enum { MOST_MOVES = 64 };  // in a row: more are not looked through

// Whether everything that a value goes to adds it up over the axes.
// NOLINTNEXTLINE(misc-no-recursion): at most MOST_MOVES deep
static tsr_status is_summed(tsr_localizing *l, const tsr_value *value,
                            const tsr_tensor_sharding *cut, const tsr_sdy_parts *axes, int depth,
                            bool *out) {
  *out = value->uses != NULL && depth < MOST_MOVES;
  for (const tsr_use *use = value->uses; use && *out; use = use->next) {
    tsr_sdy_parts list = {NULL, 0};
    if (tsr_op_is(use->user, TSR_OP_SDY_REDUCE_SCATTER)) continue;  // its verifier compares axes
    if (only_moves(use->user)) {
      TSR_TRY(is_summed(l, tsr_op_result(use->user, 0), cut, axes, depth + 1, out));
      continue;
    }
    *out = tsr_op_is(use->user, TSR_OP_SDY_ALL_REDUCE);
    if (!*out) break;
    TSR_TRY(tsr_axis_list_read(
        l, cut, tsr_attr_field(tsr_op_attr(use->user, "reduction_axes"), TSR_SDY_AXIS_LIST_AXES),
        &list));
    *out = covers(&list, axes);
  }
  return NULL;
}

// A dim that an op sums over is sharded: each device has a part of the sum, which a collective
// must complete, unless the result says that it is unreduced.
static tsr_status check_summed(tsr_localizing *l, tsr_op *op, const tsr_tensor_sharding *cut,
                               const tsr_sdy_parts *axes) {
  tsr_whole result;
  if (!axes->count) return NULL;
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &result));
  bool summed = result.cut && covers(&result.cut->unreduced, axes);
  if (!summed) TSR_TRY(is_summed(l, tsr_op_result(op, 0), cut, axes, 0, &summed));
  if (summed) return NULL;
  return tsr_fail(CONSTRAINT,
                  "%s: a dimension that it sums over is sharded, and no sdy.all_reduce over the "
                  "same axes uses its result",
                  op->name);
}

static tsr_status add_axes(tsr_localizing *l, tsr_sdy_parts *list, const tsr_sdy_parts *axes) {
  tsr_sdy_part *items =
      tsr_arena_alloc(&l->arena, ((size_t)(list->count + axes->count) + 1) * sizeof *items);
  TSR_NEED(items);
  for (int64_t i = 0; i < list->count + axes->count; i++)
    items[i] = i < list->count ? list->items[i] : axes->items[i - list->count];
  list->items = items;
  list->count += axes->count;
  return NULL;
}

tsr_status tsr_localize_dot(tsr_localizing *l, tsr_op *op) {
  tsr_whole lhs;
  tsr_sdy_parts summed = {NULL, 0};
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &lhs));
  if (tsr_op_is(op, TSR_OP_DOT)) {
    if (lhs.type->rank > 0) summed = *tsr_cut_axes(lhs.cut, lhs.type->rank - 1);
  } else {
    const tsr_attr *dims =
        tsr_attr_field(tsr_op_attr(op, "dot_dimension_numbers"), TSR_DOT_LHS_CONTRACTING);
    for (int64_t i = 0; i < tsr_attr_int_count(dims); i++)
      if (tsr_cut_axes(lhs.cut, tsr_attr_int_at(dims, i))->count)
        TSR_TRY(add_axes(l, &summed, tsr_cut_axes(lhs.cut, tsr_attr_int_at(dims, i))));
  }
  TSR_TRY(check_summed(l, op, lhs.cut, &summed));
  return tsr_localize_plain(l, op);
}

// ---- convolution ----

// Groups that are sharded: each device has its share of them.
static tsr_status set_groups(tsr_localizing *l, tsr_op *op, const char *name,
                             const tsr_sdy_parts *axes) {
  const int64_t count = tsr_op_int(op, name, 1), shards = tsr_parts_size(axes);
  const int64_t parts = count < shards ? count : shards;
  if (count <= 1 || !axes->count) return NULL;
  if (count % parts)
    return tsr_fail(CONSTRAINT, "%s: %s is %lld, and the dimension is cut in %lld", op->name, name,
                    (long long)count, (long long)shards);
  const tsr_attr *attr = tsr_attr_i64(l->ir, count / parts);
  TSR_NEED(attr);
  return tsr_op_attr_set(l->ir, op, name, attr);
}

int64_t tsr_list_number(const tsr_op *op, const char *name, int64_t index, int64_t otherwise) {
  const tsr_attr *list = tsr_op_attr(op, name);
  return list && index < tsr_attr_int_count(list) ? tsr_attr_int_at(list, index) : otherwise;
}

// Windows that are sharded themselves, as in the gradient of a kernel: each device gets what its
// part of all windows covers, and the results are parts of sums.
static tsr_status exchange_parts_of_windows(tsr_localizing *l, tsr_op *op, const tsr_whole *lhs,
                                            const tsr_window_ask *window, bool turned,
                                            tsr_value *zero) {
  tsr_site site = {.ir = l->ir, .place = op};
  const int64_t shards = tsr_cut_count(lhs->cut, window->dim);
  const int64_t step = window->size * window->dilation;  // of the device's part
  const int64_t results = tsr_op_result(op, 0)->type->dims[window->result_dim];
  tsr_range_ask ask = {.cut = lhs->cut, .dim = window->dim, .stride = 1, .fill = zero};
  ask.length = (results - 1) * window->stride + (window->size - 1) * window->dilation + 1;
  ask.starts = turned ? tsr_range_starts(l, shards, (shards - 1) * step - window->low, -step)
                      : tsr_range_starts(l, shards, -window->low, step);
  TSR_NEED(ask.starts);
  tsr_value *x = tsr_exchange_spread(l, &site, tsr_op_operand(op, 0), &ask, window->gaps);
  if (site.failure) return site.failure;
  TSR_NEED(x);
  tsr_op_set_operand(op, 0, x);
  return NULL;
}

// Spatial dims that are sharded: each device gets what its windows cover, and pads nothing.
static tsr_status exchange_spatial(tsr_localizing *l, tsr_op *op, const tsr_whole *lhs,
                                   const tsr_whole *rhs) {
  const tsr_attr *dims = tsr_op_attr(op, "dimension_numbers");
  const tsr_attr *inputs = tsr_attr_field(dims, TSR_CONV_INPUT_SPATIAL);
  tsr_site site = {.ir = l->ir, .place = op};
  for (int64_t i = 0; i < tsr_attr_int_count(inputs); i++) {
    const int kernel = (int)tsr_attr_int_at(tsr_attr_field(dims, TSR_CONV_KERNEL_SPATIAL), i);
    const tsr_window_ask window = {
        .dim = (int)tsr_attr_int_at(inputs, i),
        .result_dim = (int)tsr_attr_int_at(tsr_attr_field(dims, TSR_CONV_OUTPUT_SPATIAL), i),
        .size = tsr_operand_type(op, 1)->dims[kernel],
        .stride = tsr_list_number(op, "window_strides", i, 1),
        .dilation = tsr_list_number(op, "rhs_dilation", i, 1),
        .low = tsr_list_number(op, "padding", 2 * i, 0),
        .gaps = tsr_list_number(op, "lhs_dilation", i, 1) - 1};
    if (tsr_parts_size(tsr_cut_axes(lhs->cut, window.dim)) <= 1) continue;
    tsr_value *zero = tsr_site_zeros(&site, tsr_site_scalar(&site, lhs->type));
    if (site.failure) return site.failure;
    if (tsr_parts_size(tsr_cut_axes(rhs->cut, kernel)) > 1) {
      const bool turned = tsr_list_number(op, "window_reversal", i, 0) != 0;
      TSR_TRY(tsr_check_same_axes(op, lhs, window.dim, rhs, kernel));
      TSR_TRY(exchange_parts_of_windows(l, op, lhs, &window, turned, zero));
    } else {
      TSR_TRY(tsr_exchange_window(l, op, 0, lhs, &window, zero));
    }
    TSR_TRY(tsr_set_number(l, op, "padding", 2 * i, 0));
    TSR_TRY(tsr_set_number(l, op, "padding", 2 * i + 1, 0));
    TSR_TRY(tsr_set_number(l, op, "lhs_dilation", i, 1));
  }
  return NULL;
}

tsr_status tsr_localize_convolution(tsr_localizing *l, tsr_op *op) {
  const tsr_attr *dims = tsr_op_attr(op, "dimension_numbers");
  tsr_whole lhs, rhs, result;
  tsr_sdy_parts summed = {NULL, 0};
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &lhs));
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 1), &rhs));
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &result));
  const bool sharded =
      tsr_cut_has_axes(lhs.cut) || tsr_cut_has_axes(rhs.cut) || tsr_cut_has_axes(result.cut);
  if (!sharded) return tsr_localize_plain(l, op);
  TSR_TRY(add_axes(
      l, &summed,
      tsr_cut_axes(rhs.cut, tsr_attr_field(dims, TSR_CONV_KERNEL_INPUT_FEATURE)->integer)));
  const tsr_attr *spatial = tsr_attr_field(dims, TSR_CONV_KERNEL_SPATIAL);
  for (int64_t i = 0; i < tsr_attr_int_count(spatial); i++)
    TSR_TRY(add_axes(l, &summed, tsr_cut_axes(rhs.cut, tsr_attr_int_at(spatial, i))));
  TSR_TRY(check_summed(l, op, rhs.cut, &summed));
  TSR_TRY(set_groups(
      l, op, "feature_group_count",
      tsr_cut_axes(rhs.cut, tsr_attr_field(dims, TSR_CONV_KERNEL_OUTPUT_FEATURE)->integer)));
  TSR_TRY(set_groups(l, op, "batch_group_count",
                     tsr_cut_axes(lhs.cut, tsr_attr_field(dims, TSR_CONV_INPUT_BATCH)->integer)));
  if (l->exchange) TSR_TRY(exchange_spatial(l, op, &lhs, &rhs));
  TSR_TRY(tsr_localize_plain(l, op));
  return tsr_op_attr_set(l->ir, op, "sdy.sharding", NULL);
}

// ---- concatenate ----

tsr_status tsr_localize_concatenate(tsr_localizing *l, tsr_op *op) {
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  tsr_whole result, operand;
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &result));
  if (l->exchange && tsr_parts_size(tsr_cut_axes(result.cut, dim)) > 1)
    return tsr_exchange_concatenate(l, op);
  if (tsr_cut_axes(result.cut, dim)->count)
    return tsr_fail(CONSTRAINT,
                    "%s: dimension %lld is sharded, and the operands are joined along it", op->name,
                    (long long)dim);
  for (int i = 0; i < op->operand_count; i++) {
    TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, i), &operand));
    if (!tsr_cut_has_axes(operand.cut)) continue;
    const bool empty = !operand.type->dims[dim];
    for (int d = 0; d < operand.cut->rank; d++)
      if (!(empty && d == dim) &&
          !tsr_sdy_parts_equal(tsr_cut_axes(operand.cut, d), tsr_cut_axes(result.cut, d)))
        return tsr_fail(CONSTRAINT,
                        "%s: dimension %d of operand %d is sharded otherwise than that of the "
                        "result",
                        op->name, d, i);
  }
  return tsr_localize_plain(l, op);
}

// ---- iota ----

tsr_status tsr_localize_iota(tsr_localizing *l, tsr_op *op) {
  tsr_whole whole;
  const tsr_type *type = NULL;
  const int64_t dim = tsr_op_int(op, "iota_dimension", 0);
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &whole));
  TSR_TRY(tsr_local_type(l, op, &whole, &type));
  if (!tsr_cut_has_axes(whole.cut)) return NULL;
  tsr_site site = {.ir = l->ir, .place = op};
  const tsr_site_attr attr = {"iota_dimension", tsr_op_attr(op, "iota_dimension")};
  tsr_value *x = tsr_site_add(&site, TSR_OP_IOTA, type, NULL, 0, &attr, 1);
  const tsr_sdy_parts *axes = tsr_cut_axes(whole.cut, dim);
  if (x && axes->count) {
    tsr_value *start = tsr_site_shard_start(l, &site, whole.cut->mesh, axes, type->dims[dim]);
    if (start) {
      const tsr_type *scalar = tsr_site_scalar(&site, type);
      start = tsr_site_add(&site, TSR_OP_CONVERT, scalar, &start, 1, NULL, 0);
    }
    const tsr_site_attr dims = {"broadcast_dimensions", tsr_attr_ints(l->ir, NULL, 0)};
    start = tsr_site_add(&site, TSR_OP_BROADCAST_IN_DIM, type, &start, 1, &dims, 1);
    x = tsr_site_binary(&site, TSR_OP_ADD, x, start);
  }
  return tsr_localize_replace(l, &site, op, &x);
}

// ---- pad ----

typedef struct local_pad {
  const tsr_type *in, *out;  // on one device
  int64_t *starts;           // dim * devices + device: of the operand in the device's result
  int64_t devices;
  bool even[TSR_MAX_RANK];  // the start is the same for all devices
} local_pad;

static tsr_status fill_pad(tsr_localizing *l, tsr_op *op, const tsr_whole *from,
                           const tsr_whole *to, local_pad *pad) {
  pad->devices = tsr_mesh_devices(from->cut->mesh);
  pad->starts = tsr_arena_alloc(
      &l->arena, ((size_t)pad->devices * (size_t)pad->in->rank + 1) * sizeof *pad->starts);
  TSR_NEED(pad->starts);
  for (int d = 0; d < pad->in->rank; d++) {
    const tsr_sdy_parts *axes = tsr_cut_axes(from->cut, d);
    const int64_t step = tsr_attr_int_at(tsr_op_attr(op, "interior_padding"), d) + 1;
    int64_t *starts = pad->starts + d * pad->devices;
    if (!tsr_sdy_parts_equal(axes, tsr_cut_axes(to->cut, d)))
      return tsr_fail(CONSTRAINT,
                      "%s: dimension %d of its operand is sharded otherwise than that "
                      "of the result",
                      op->name, d);
    pad->even[d] = true;
    for (int64_t i = 0; i < pad->devices; i++) {
      const int64_t shard = tsr_shard_number(from->cut->mesh, axes, i);
      starts[i] = shard * pad->in->dims[d] * step - shard * pad->out->dims[d] +
                  tsr_attr_int_at(tsr_op_attr(op, "edge_padding_low"), d);
      pad->even[d] &= starts[i] == starts[0];
    }
  }
  return NULL;
}

static int64_t grown(const tsr_op *op, int64_t size, int dim) {
  return (size - 1) * (tsr_attr_int_at(tsr_op_attr(op, "interior_padding"), dim) + 1) + 1;
}

// All devices pad alike.
static tsr_value *pad_alike(tsr_site *site, const tsr_op *op, const local_pad *pad,
                            const int64_t *interior) {
  int64_t low[TSR_MAX_RANK], high[TSR_MAX_RANK];
  for (int d = 0; d < pad->in->rank; d++) {
    low[d] = pad->starts[d * pad->devices];
    high[d] = pad->out->dims[d] - (grown(op, pad->in->dims[d], d) + low[d]);
  }
  return tsr_site_pad(site, tsr_op_operand(op, 0), tsr_op_operand(op, 1), pad->out, low, high,
                      interior);
}

// All devices pad for the largest need, and each slices its part out.
static tsr_value *pad_and_slice(tsr_localizing *l, tsr_site *site, const tsr_op *op,
                                const local_pad *pad, const int64_t *interior) {
  int64_t low[TSR_MAX_RANK], high[TSR_MAX_RANK], dims[TSR_MAX_RANK];
  tsr_value *operands[TSR_MAX_RANK + 1];
  const int rank = pad->in->rank;
  for (int d = 0; d < rank; d++) {
    const int64_t *starts = pad->starts + d * pad->devices, size = grown(op, pad->in->dims[d], d);
    int64_t most = starts[0], least = starts[0];
    for (int64_t i = 1; i < pad->devices; i++) {
      if (starts[i] > most) most = starts[i];
      if (starts[i] < least) least = starts[i];
    }
    low[d] = most > 0 ? most : 0;
    high[d] = pad->out->dims[d] - least - size > 0 ? pad->out->dims[d] - least - size : 0;
    dims[d] = low[d] + size + high[d];
  }
  operands[0] = tsr_site_pad(site, tsr_op_operand(op, 0), tsr_op_operand(op, 1),
                             tsr_site_sized(site, pad->in, dims), low, high, interior);
  tsr_value *device = tsr_site_device(site, l->replicas, l->partitions);
  for (int d = 0; d < rank; d++) {
    int64_t *starts = pad->starts + d * pad->devices;
    for (int64_t i = 0; i < pad->devices; i++) starts[i] = low[d] - starts[i];
    operands[d + 1] = pad->even[d] ? tsr_site_integer(site, 64, starts[0])
                                   : tsr_site_lookup(site, starts, pad->devices, device);
  }
  const tsr_site_attr sizes = {"slice_sizes", tsr_attr_ints(l->ir, pad->out->dims, rank)};
  return tsr_site_add(site, TSR_OP_DYNAMIC_SLICE, pad->out, operands, rank + 1, &sizes, 1);
}

tsr_status tsr_localize_pad(tsr_localizing *l, tsr_op *op) {
  int64_t interior[TSR_MAX_RANK];
  tsr_whole from, to;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &from));
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &to));
  if (!tsr_cut_has_axes(from.cut) && !tsr_cut_has_axes(to.cut)) return tsr_localize_plain(l, op);
  if (!from.cut)
    return tsr_fail(CONSTRAINT, "%s: its result is sharded, its operand is not", op->name);
  if (l->exchange) return tsr_exchange_pad(l, op);
  local_pad pad = {.in = tsr_operand_type(op, 0)};
  bool alike = true;
  TSR_TRY(tsr_local_type(l, op, &to, &pad.out));
  if (!tsr_type_is_static(pad.in) || !tsr_type_is_static(pad.out))
    return tsr_fail(UNSUPPORTED, "%s: a tensor of unknown size", op->name);
  TSR_TRY(fill_pad(l, op, &from, &to, &pad));
  for (int d = 0; d < pad.in->rank; d++) {
    interior[d] = tsr_attr_int_at(tsr_op_attr(op, "interior_padding"), d);
    alike &= pad.even[d];
  }
  tsr_site site = {.ir = l->ir, .place = op};
  tsr_value *x =
      alike ? pad_alike(&site, op, &pad, interior) : pad_and_slice(l, &site, op, &pad, interior);
  return tsr_localize_replace(l, &site, op, &x);
}

// ---- slice ----

// Whether each device slices its shard alone: all of the dim is sliced, in steps that begin again
// in each shard, or only what pads the last shards goes. `shard` is the size of one.
static bool is_local_slice(const tsr_op *op, int dim, int64_t size, int64_t sliced, int64_t shard) {
  const int64_t stride = tsr_attr_int_at(tsr_op_attr(op, "strides"), dim);
  if (tsr_attr_int_at(tsr_op_attr(op, "start_indices"), dim)) return false;
  if (tsr_attr_int_at(tsr_op_attr(op, "limit_indices"), dim) == size) return shard % stride == 0;
  return stride == 1 && tsr_even_size(size, size / shard) == tsr_even_size(sliced, size / shard);
}

tsr_status tsr_localize_slice(tsr_localizing *l, tsr_op *op) {
  tsr_whole from, to;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &from));
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &to));
  if (!tsr_cut_has_axes(from.cut) && !tsr_cut_has_axes(to.cut)) return tsr_localize_plain(l, op);
  TSR_TRY(tsr_localize_plain(l, op));
  for (int d = 0; d < from.type->rank; d++) {
    const tsr_sdy_parts *axes = tsr_cut_axes(from.cut, d);
    const int64_t made = tsr_op_result(op, 0)->type->dims[d];
    TSR_TRY(tsr_check_same_axes(op, &from, d, &to, d));
    if (tsr_parts_size(axes) <= 1) continue;
    const int64_t size = from.type->dims[d], shard = size / tsr_parts_size(axes);
    if (shard && is_local_slice(op, d, size, to.type->dims[d], shard)) {
      const bool whole = tsr_attr_int_at(tsr_op_attr(op, "limit_indices"), d) == size;
      TSR_TRY(tsr_set_number(l, op, "limit_indices", d, whole ? shard : made));
    } else if (l->exchange) {
      TSR_TRY(tsr_exchange_slice(l, op, d, &from, made));
    } else {
      return tsr_fail(CONSTRAINT,
                      "%s: dimension %d is sharded, and the slice needs elements of other devices",
                      op->name, d);
    }
  }
  TSR_TRY(tsr_op_attr_set(l->ir, op, "sdy.sharding", NULL));
  return l->exchange ? tsr_exchange_ends(l, op) : NULL;
}

// ---- windows ----

// Whether windows of a sharded dim lie within one shard each: no padding, and no overlap.
static bool stays_in_shard(const tsr_window_ask *window, int64_t high, int64_t local) {
  const bool apart = (window->stride == 1 && window->size == 1) || window->stride >= window->size;
  if (window->low || high || window->gaps || window->dilation > 1 || !apart) return false;
  return window->stride == 1 || local % window->stride == 0;
}

// What windows of a sharded dim cover is exchanged for all operands, with their initial values as
// padding.
static tsr_status exchange_windows(tsr_localizing *l, tsr_op *op, const tsr_whole *input,
                                   const tsr_window_ask *window) {
  const int count = op->operand_count / 2;
  for (int i = 0; i < count; i++)
    TSR_TRY(tsr_exchange_window(l, op, i, input, window, tsr_op_operand(op, count + i)));
  TSR_TRY(tsr_set_number(l, op, "padding", 2 * window->dim, 0));
  TSR_TRY(tsr_set_number(l, op, "padding", 2 * window->dim + 1, 0));
  return tsr_set_number(l, op, "base_dilations", window->dim, 1);
}

tsr_status tsr_localize_window(tsr_localizing *l, tsr_op *op) {
  tsr_whole input;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &input));
  for (int d = 0; tsr_cut_has_axes(input.cut) && d < input.cut->rank; d++) {
    const int64_t shards = tsr_cut_count(input.cut, d);
    const tsr_window_ask window = {.dim = d,
                                   .result_dim = d,
                                   .size = tsr_list_number(op, "window_dimensions", d, 1),
                                   .stride = tsr_list_number(op, "window_strides", d, 1),
                                   .dilation = tsr_list_number(op, "window_dilations", d, 1),
                                   .low = tsr_list_number(op, "padding", 2 * d, 0),
                                   .gaps = tsr_list_number(op, "base_dilations", d, 1) - 1};
    if (shards <= 1) continue;
    const int64_t high = tsr_list_number(op, "padding", 2 * d + 1, 0);
    if (stays_in_shard(&window, high, input.type->dims[d] / shards)) continue;
    if (!l->exchange || !tsr_op_is(op, TSR_OP_REDUCE_WINDOW))
      return tsr_fail(CONSTRAINT, "%s: dimension %d is sharded, and its windows cross shards",
                      op->name, d);
    bool cumulative = false;
    TSR_TRY(tsr_is_cumulative(l->ir, op, &window, high, input.type->dims[d], &cumulative));
    if (cumulative) return tsr_localize_cumulative(l, op, &input, d);
    TSR_TRY(exchange_windows(l, op, &input, &window));
  }
  return tsr_localize_plain(l, op);
}
