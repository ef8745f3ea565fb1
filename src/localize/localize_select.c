// select_and_scatter along a sharded dim, whose windows cross shards. Each device takes all windows
// that touch its shard of the result, and what these cover of the operand; of what it scatters, it
// keeps its shard.
//
// No device takes anything from outside the whole dim: where its range would begin before the dim
// or end behind it, the range is moved inside. Ranges begin at multiples of the stride and all have
// one length, so that the padding of the op is that of the whole dim: a device at an end of the dim
// sees what the whole op sees there, and windows that the padding cuts short elsewhere touch no
// shard of the device.
#include <string.h>

#include "localize/exchange.h"
#include "propagate/edits.h"

typedef struct select_run {
  tsr_localizing *l;
  tsr_op *op;
  tsr_site site;
  tsr_whole input, source;
  const tsr_type *type;                 // of the result on one device
  tsr_value *operands[3];               // of the op that is made
  const int64_t *starts[TSR_MAX_RANK];  // of ranges in the operand; NULL = the dim is not exchanged
} select_run;

// The ranges of a dim: where those of each shard begin in the operand, and their length.
typedef struct select_ranges {
  int64_t *starts, length;
} select_ranges;

static tsr_status find_ranges(select_run *r, int dim, int64_t window, int64_t stride,
                              select_ranges *out) {
  const int64_t shards = tsr_cut_count(r->input.cut, dim), size = r->input.type->dims[dim];
  const int64_t shard = size / shards, reach = window < size ? window : size;
  int64_t length = 0;
  int64_t *starts = tsr_range_starts(r->l, shards, 1 - reach, shard);
  TSR_NEED(starts);
  for (int64_t i = 0; i < shards; i++) {
    const int64_t end = (i + 1) * shard - 1 + reach;  // of the last window that touches the shard
    starts[i] = starts[i] > 0 ? starts[i] / stride * stride : 0;
    const int64_t needed = (end < size ? end : size) - starts[i];
    if (needed > length) length = needed;
  }
  length += (size - length) % stride;
  for (int64_t i = 0; i < shards; i++)
    if (starts[i] > size - length) starts[i] = size - length;
  *out = (select_ranges){starts, length};
  return NULL;
}

static tsr_value *exchange_operand(select_run *r, int index, const tsr_whole *from, int dim,
                                   const int64_t *starts, int64_t length) {
  const tsr_range_ask ask = {
      .cut = from->cut, .dim = dim, .stride = 1, .starts = starts, .length = length};
  return r->operands[index] ? tsr_exchange_range(r->l, &r->site, r->operands[index], &ask) : NULL;
}

static tsr_status exchange_dim(select_run *r, int dim, int64_t window, int64_t stride) {
  const int64_t shards = tsr_cut_count(r->input.cut, dim), size = r->input.type->dims[dim];
  select_ranges ranges = {NULL, 0};
  int64_t *windows = tsr_range_starts(r->l, shards, 0, 0);
  TSR_NEED(windows);
  TSR_TRY(tsr_check_same_axes(r->op, &r->input, dim, &r->source, dim));
  TSR_TRY(find_ranges(r, dim, window, stride, &ranges));
  for (int64_t i = 0; i < shards; i++) windows[i] = ranges.starts[i] / stride;
  const int64_t count = r->source.type->dims[dim] - (size - ranges.length) / stride;
  r->operands[0] = exchange_operand(r, 0, &r->input, dim, ranges.starts, ranges.length);
  r->operands[1] = exchange_operand(r, 1, &r->source, dim, windows, count);
  r->starts[dim] = ranges.starts;
  return r->site.failure;
}

// The op on the ranges.
static tsr_value *add_select(select_run *r) {
  tsr_value_map *map = tsr_value_map_create();
  tsr_op *made = map ? tsr_op_clone(r->l->ir, r->op, map) : NULL;
  tsr_value_map_destroy(map);
  if (!made) return NULL;
  tsr_op_insert_before(r->op, made);
  for (int i = 0; i < 3; i++) tsr_op_set_operand(made, i, r->operands[i]);
  tsr_value *result = tsr_op_result(made, 0);
  result->type = r->operands[0]->type;
  return result;
}

// The device's shard of what the op makes.
static tsr_value *take_shard(select_run *r, tsr_value *x) {
  tsr_value *operands[TSR_MAX_RANK + 1] = {x};
  if (!x) return NULL;
  for (int d = 0; d < x->type->rank; d++) {
    operands[d + 1] = tsr_site_integer(&r->site, 64, 0);
    if (!r->starts[d]) continue;
    const int64_t shards = tsr_cut_count(r->input.cut, d), shard = r->type->dims[d];
    int64_t *offsets = tsr_range_starts(r->l, shards, 0, shard);
    if (!offsets) return NULL;
    for (int64_t i = 0; i < shards; i++) offsets[i] -= r->starts[d][i];
    operands[d + 1] = tsr_site_by_shard(r->l, &r->site, r->input.cut, d, offsets);
  }
  const tsr_site_attr sizes = {"slice_sizes",
                               tsr_attr_ints(r->l->ir, r->type->dims, r->type->rank)};
  return tsr_site_add(&r->site, TSR_OP_DYNAMIC_SLICE, r->type, operands, r->type->rank + 1, &sizes,
                      1);
}

tsr_status tsr_localize_select(tsr_localizing *l, tsr_op *op) {
  select_run r = {.l = l, .op = op, .site = {.ir = l->ir, .place = op}};
  tsr_whole result;
  bool any = false;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &r.input));
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 1), &r.source));
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &result));
  TSR_TRY(tsr_local_type(l, op, &result, &r.type));
  for (int i = 0; i < 3; i++) r.operands[i] = tsr_op_operand(op, i);
  for (int d = 0; l->exchange && tsr_cut_has_axes(r.input.cut) && d < r.type->rank; d++) {
    const int64_t window = tsr_list_number(op, "window_dimensions", d, 1);
    const int64_t stride = tsr_list_number(op, "window_strides", d, 1);
    const bool padded =
        tsr_list_number(op, "padding", 2 * d, 0) || tsr_list_number(op, "padding", 2 * d + 1, 0);
    const bool apart = !padded && window <= stride && r.type->dims[d] % stride == 0;
    if (tsr_cut_count(r.input.cut, d) <= 1 || apart) continue;
    TSR_TRY(exchange_dim(&r, d, window, stride));
    any = true;
  }
  if (!any) return tsr_localize_window(l, op);
  tsr_value *made = take_shard(&r, add_select(&r));
  return tsr_localize_replace(l, &r.site, op, &made);
}
