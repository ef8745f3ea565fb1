// dynamic_slice. Dims that are sliced whole keep their shards. Of a sharded dim that is not, each
// device takes as many elements of its shard as the slice has, as near to it as they lie, and moves
// them to their places in the slice, with neutral numbers around them: those that are not in the
// slice move out. The sum over the devices is the slice.
#include <string.h>

#include "localize/localize.h"
#include "propagate/edits.h"
#include "simplify/scalar.h"

typedef struct slice_run {
  tsr_localizing *l;
  tsr_op *op;
  tsr_site site;
  tsr_whole from;
  const tsr_type *type;    // of the result on one device
  bool own[TSR_MAX_RANK];  // dims that are sharded and not sliced whole
} slice_run;

// A number of an index type; its largest one where it has none so large.
static tsr_value *index_number(slice_run *r, const tsr_type *type, int64_t number) {
  tsr_scalar_type scalar;
  char *bytes = tsr_ir_alloc(r->l->ir, TSR_SCALAR_BYTES);
  if (!bytes || !tsr_scalar_type_of(type, &scalar)) return NULL;
  const int bits = scalar.bits - (scalar.kind == TSR_CLASS_SIGNED);
  const int64_t most = bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1;
  if (!tsr_scalar_store(&scalar, (tsr_scalar){.i = number < most ? number : most}, bytes))
    return NULL;
  const tsr_site_attr attr = {"value", tsr_attr_dense(r->l->ir, type, bytes, (size_t)scalar.bytes)};
  return tsr_site_add(&r->site, TSR_OP_CONSTANT, type, NULL, 0, &attr, 1);
}

// Where the slice begins, counted from the start of the shard: an i64.
static tsr_value *start_in_shard(slice_run *r, int dim) {
  tsr_value *start = tsr_op_operand(r->op, 1 + dim);
  const int64_t made = r->type->dims[dim], local = tsr_operand_type(r->op, 0)->dims[dim];
  tsr_value *const limits[] = {index_number(r, start->type, 0), start,
                               index_number(r, start->type, r->from.type->dims[dim] - made)};
  start = tsr_site_add(&r->site, TSR_OP_CLAMP, start->type, limits, 3, NULL, 0);
  start = tsr_site_convert(&r->site, start, r->l->ir->i64);
  tsr_value *first = tsr_site_shard_start(r->l, &r->site, r->from.cut->mesh,
                                          tsr_cut_axes(r->from.cut, dim), local);
  return tsr_site_binary(&r->site, TSR_OP_SUBTRACT, start, first);
}

// The place in the shard from `0` to `last` that is nearest to `start`.
static tsr_value *nearest(slice_run *r, tsr_value *start, int64_t last) {
  tsr_value *const limits[] = {tsr_site_integer(&r->site, 64, 0), start,
                               tsr_site_integer(&r->site, 64, last)};
  return start ? tsr_site_add(&r->site, TSR_OP_CLAMP, start->type, limits, 3, NULL, 0) : NULL;
}

static tsr_value *add_slice(slice_run *r, tsr_value *x, tsr_value *const *starts,
                            const int64_t *dims) {
  tsr_value *operands[TSR_MAX_RANK + 1] = {x};
  const int rank = r->type->rank;
  if (!x) return NULL;
  memcpy(operands + 1, starts, (size_t)rank * sizeof *operands);
  const tsr_site_attr sizes = {"slice_sizes", tsr_attr_ints(r->l->ir, dims, rank)};
  return tsr_site_add(&r->site, TSR_OP_DYNAMIC_SLICE, tsr_site_sized(&r->site, x->type, dims),
                      operands, rank + 1, &sizes, 1);
}

static tsr_value *pad_slice(slice_run *r, tsr_value *x) {
  int64_t edge[TSR_MAX_RANK] = {0}, dims[TSR_MAX_RANK];
  if (!x) return NULL;
  for (int d = 0; d < x->type->rank; d++) {
    if (r->own[d]) edge[d] = r->type->dims[d];
    dims[d] = x->type->dims[d] + 2 * edge[d];
  }
  return tsr_site_pad(&r->site, x, tsr_site_neutral(&r->site, x->type),
                      tsr_site_sized(&r->site, x->type, dims), edge, edge, NULL);
}

static tsr_status own_axes(slice_run *r, tsr_sdy_parts *out) {
  int64_t count = 0;
  for (int d = 0; d < r->from.cut->rank; d++) count += r->from.cut->dims[d].axes.count;
  out->items = tsr_arena_alloc(&r->l->arena, ((size_t)count + 1) * sizeof *out->items);
  TSR_NEED(out->items);
  out->count = 0;
  for (int d = 0; d < r->from.cut->rank; d++)
    for (int64_t i = 0; r->own[d] && i < r->from.cut->dims[d].axes.count; i++)
      out->items[out->count++] = r->from.cut->dims[d].axes.items[i];
  return NULL;
}

static tsr_status slice_and_sum(slice_run *r) {
  tsr_value *from[TSR_MAX_RANK], *to[TSR_MAX_RANK];
  int64_t dims[TSR_MAX_RANK];
  tsr_sdy_parts axes;
  const tsr_type *local = tsr_operand_type(r->op, 0);
  TSR_TRY(own_axes(r, &axes));
  for (int d = 0; d < r->type->rank; d++) {
    const int64_t made = r->type->dims[d];
    dims[d] = made < local->dims[d] ? made : local->dims[d];
    to[d] = tsr_site_integer(&r->site, 64, 0);
    if (!r->own[d]) {
      from[d] = tsr_site_convert(&r->site, tsr_op_operand(r->op, 1 + d), r->l->ir->i64);
      continue;
    }
    tsr_value *start = start_in_shard(r, d);
    from[d] = nearest(r, start, local->dims[d] - dims[d]);
    to[d] = tsr_site_binary(&r->site, TSR_OP_SUBTRACT, start, from[d]);
    to[d] = tsr_site_binary(&r->site, TSR_OP_ADD, to[d], tsr_site_integer(&r->site, 64, made));
  }
  tsr_value *part = add_slice(r, tsr_op_operand(r->op, 0), from, dims);
  part = add_slice(r, pad_slice(r, part), to, r->type->dims);
  tsr_value *made = tsr_site_all_sum(r->l, &r->site, part, r->from.cut, &axes);
  return tsr_localize_replace(r->l, &r->site, r->op, &made);
}

tsr_status tsr_localize_dynamic_slice(tsr_localizing *l, tsr_op *op) {
  slice_run r = {.l = l, .op = op, .site = {.ir = l->ir, .place = op}};
  tsr_whole to;
  bool any = false;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &r.from));
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &to));
  TSR_TRY(tsr_local_type(l, op, &to, &r.type));
  for (int d = 0; d < r.type->rank; d++) {
    const bool sharded = tsr_parts_size(tsr_cut_axes(r.from.cut, d)) > 1;
    r.own[d] = sharded && to.type->dims[d] != r.from.type->dims[d];
    any |= r.own[d];
    if (r.own[d] && (!l->exchange || tsr_cut_axes(to.cut, d)->count))
      return tsr_fail(CONSTRAINT, "%s: dimension %d is sharded, and the slice is not whole",
                      op->name, d);
  }
  if (any) return slice_and_sum(&r);
  TSR_TRY(tsr_localize_plain(l, op));
  const tsr_attr *sizes = tsr_attr_ints(l->ir, r.type->dims, r.type->rank);
  TSR_NEED(sizes);
  return tsr_op_attr_set(l->ir, op, "slice_sizes", sizes);
}
