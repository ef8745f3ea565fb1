// dynamic_update_slice of a sharded dim: each device writes what of the update falls into its
// shard.
//
// Along a sharded dim of n elements, of which a device has m from s on, an update of u elements
// that begins at b changes the indices of the shard from b - s on. The device takes the elements
// of its shard out of the update, padded by m on both sides, at s - b + m: where the update does
// not reach, a mask keeps what was there.
#include <string.h>

#include "localize/localize.h"
#include "propagate/edits.h"

typedef struct update_run {
  tsr_localizing *l;
  tsr_op *op;
  tsr_site site;
  tsr_whole whole;          // of the operand
  bool own[TSR_MAX_RANK];   // dims that are sharded and not updated whole
  const tsr_type *local;    // of the operand
  const tsr_type *update;   // of the update
  const tsr_type *index;    // of the start indices
  const tsr_type *changed;  // of what the device may change
} update_run;

static tsr_value *number(update_run *r, int64_t value) {
  const size_t width = tsr_type_element_bytes(r->index->element);
  char *bytes = tsr_ir_alloc(r->l->ir, sizeof value);
  if (!bytes) return NULL;
  memcpy(bytes, &value, sizeof value);
  const tsr_site_attr attr = {"value", tsr_attr_dense(r->l->ir, r->index, bytes, width)};
  return tsr_site_add(&r->site, TSR_OP_CONSTANT, r->index, NULL, 0, &attr, 1);
}

// Where the update begins in the shard of the device, once moved to lie within the whole dim.
static tsr_value *begin_in_shard(update_run *r, int dim) {
  tsr_value *begin = tsr_op_operand(r->op, 2 + dim);
  tsr_value *limits[] = {number(r, 0), begin,
                         number(r, r->whole.type->dims[dim] - r->update->dims[dim])};
  begin = tsr_site_add(&r->site, TSR_OP_CLAMP, r->index, limits, 3, NULL, 0);
  tsr_value *start = tsr_site_shard_start(r->l, &r->site, r->whole.cut->mesh,
                                          tsr_cut_axes(r->whole.cut, dim), r->local->dims[dim]);
  start = start ? tsr_site_convert(&r->site, start, r->index->element) : NULL;
  return tsr_site_binary(&r->site, TSR_OP_SUBTRACT, begin, start);
}

// Whether an index of the shard is one that the update has.
static tsr_value *mask_of(update_run *r, int dim, tsr_value *begin, tsr_value *mask) {
  const tsr_type *type = tsr_site_retyped(&r->site, r->changed, r->index->element);
  const tsr_site_attr attr = {"iota_dimension", tsr_attr_i64(r->l->ir, dim)};
  tsr_value *iota = tsr_site_add(&r->site, TSR_OP_IOTA, type, NULL, 0, &attr, 1);
  tsr_value *size = number(r, r->update->dims[dim]);
  tsr_value *end = tsr_site_binary(&r->site, TSR_OP_ADD, begin, size);
  tsr_value *first = tsr_site_broadcast(&r->site, begin, type, NULL);
  tsr_value *limit = tsr_site_broadcast(&r->site, end, type, NULL);
  tsr_value *after = tsr_site_compare(&r->site, iota, first, TSR_DIRECTION_GE);
  tsr_value *before = tsr_site_compare(&r->site, iota, limit, TSR_DIRECTION_LT);
  tsr_value *inside = tsr_site_binary(&r->site, TSR_OP_AND, after, before);
  return mask ? tsr_site_binary(&r->site, TSR_OP_AND, mask, inside) : inside;
}

static tsr_value *slice_at(update_run *r, tsr_value *x, tsr_value *const *starts) {
  tsr_value *operands[TSR_MAX_RANK + 1] = {x};
  const int rank = r->changed->rank;
  memcpy(operands + 1, starts, (size_t)rank * sizeof *operands);
  const tsr_site_attr sizes = {"slice_sizes", tsr_attr_ints(r->l->ir, r->changed->dims, rank)};
  return tsr_site_add(&r->site, TSR_OP_DYNAMIC_SLICE, r->changed, operands, rank + 1, &sizes, 1);
}

static tsr_value *padded_update(update_run *r) {
  int64_t edge[TSR_MAX_RANK] = {0}, dims[TSR_MAX_RANK];
  tsr_value *update = tsr_op_operand(r->op, 1);
  for (int d = 0; d < r->local->rank; d++) {
    if (r->own[d]) edge[d] = r->local->dims[d];
    dims[d] = r->update->dims[d] + 2 * edge[d];
  }
  tsr_value *zero = tsr_site_zeros(&r->site, tsr_site_scalar(&r->site, r->update));
  return tsr_site_pad(&r->site, update, zero, tsr_site_sized(&r->site, r->update, dims), edge, edge,
                      NULL);
}

static tsr_status write_own(update_run *r) {
  tsr_value *from[TSR_MAX_RANK], *to[TSR_MAX_RANK], *mask = NULL;
  tsr_value *zero = number(r, 0);
  for (int d = 0; d < r->local->rank; d++) {
    from[d] = zero;
    to[d] = r->own[d] ? zero : tsr_op_operand(r->op, 2 + d);
    if (!r->own[d]) continue;
    tsr_value *begin = begin_in_shard(r, d);
    mask = mask_of(r, d, begin, mask);
    from[d] = tsr_site_binary(&r->site, TSR_OP_SUBTRACT, number(r, r->local->dims[d]), begin);
  }
  tsr_value *update = slice_at(r, padded_update(r), from);
  tsr_value *old = slice_at(r, tsr_op_operand(r->op, 0), to);
  tsr_value *const choice[] = {mask, update, old};
  tsr_value *made = tsr_site_add(&r->site, TSR_OP_SELECT, r->changed, choice, 3, NULL, 0);
  if (r->site.failure) return r->site.failure;
  TSR_NEED(made);
  tsr_op_set_operand(r->op, 1, made);
  for (int d = 0; d < r->local->rank; d++) tsr_op_set_operand(r->op, 2 + d, to[d]);
  return tsr_localize_plain(r->l, r->op);
}

tsr_status tsr_localize_dynamic_update(tsr_localizing *l, tsr_op *op) {
  int64_t dims[TSR_MAX_RANK];
  tsr_whole update;
  update_run r = {.l = l, .op = op, .site = {.ir = l->ir, .place = op}};
  bool any = false;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &r.whole));
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 1), &update));
  r.local = tsr_operand_type(op, 0);
  r.update = tsr_operand_type(op, 1);
  if (!tsr_cut_has_axes(r.whole.cut)) return tsr_localize_plain(l, op);
  for (int d = 0; d < r.local->rank; d++) {
    const bool sharded = tsr_cut_count(r.whole.cut, d) > 1;
    r.own[d] = sharded && update.type->dims[d] != r.whole.type->dims[d];
    any |= r.own[d];
    dims[d] = r.own[d] ? r.local->dims[d] : r.update->dims[d];
    if (r.own[d] && tsr_cut_axes(update.cut, d)->count)
      return tsr_fail(CONSTRAINT, "%s: dimension %d of its update is sharded", op->name, d);
  }
  if (!any) return tsr_localize_plain(l, op);
  r.index = tsr_operand_type(op, 2);
  r.changed = tsr_site_sized(&r.site, r.local, dims);
  TSR_NEED(r.changed);
  return write_own(&r);
}
