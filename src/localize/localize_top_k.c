// The k largest elements along a sharded dim: those of each shard, gathered, and the k largest of
// these. Equal elements keep their order, as shards are gathered in order.
#include <string.h>

#include "localize/localize.h"
#include "propagate/edits.h"

typedef struct top_k_run {
  tsr_localizing *l;
  tsr_op *op;
  tsr_site site;
  int last;  // the dim
} top_k_run;

static const tsr_type *resized(top_k_run *r, const tsr_type *like, const tsr_type *element,
                               int64_t size) {
  int64_t dims[TSR_MAX_RANK];
  memcpy(dims, like->dims, (size_t)like->rank * sizeof *dims);
  dims[r->last] = size;
  return tsr_type_tensor(r->l->ir, element, like->rank, dims, NULL);
}

static tsr_op *add_top(top_k_run *r, tsr_value *x, int64_t k) {
  const tsr_type *index = tsr_type_element(r->op->results[1].type);
  if (!x) return NULL;
  const tsr_type *const types[] = {resized(r, x->type, tsr_type_element(x->type), k),
                                   resized(r, x->type, index, k)};
  const tsr_attr *stable = tsr_op_attr(r->op, "is_stable");
  const tsr_site_attr attrs[] = {{"k", tsr_attr_i64(r->l->ir, k)}, {"is_stable", stable}};
  if (!types[0] || !types[1]) return NULL;
  return tsr_site_op(&r->site, TSR_OP_CHLO_TOP_K, &x, 1, types, 2, 0, attrs, stable ? 2 : 1);
}

// Indices in the shard as indices in the whole dim.
static tsr_value *whole_indices(top_k_run *r, tsr_value *indices, const tsr_tensor_sharding *cut) {
  const int64_t size = tsr_operand_type(r->op, 0)->dims[r->last];
  tsr_value *start =
      tsr_site_shard_start(r->l, &r->site, cut->mesh, tsr_cut_axes(cut, r->last), size);
  start = start ? tsr_site_convert(&r->site, start, tsr_type_element(indices->type)) : NULL;
  start = start ? tsr_site_broadcast(&r->site, start, indices->type, NULL) : NULL;
  return tsr_site_binary(&r->site, TSR_OP_ADD, indices, start);
}

// What lies at `places` of the last dim of `x`, for each index of the others.
static tsr_value *take_at(top_k_run *r, tsr_value *x, tsr_value *places) {
  int64_t dims[TSR_MAX_RANK + 1], order[TSR_MAX_RANK], ones[TSR_MAX_RANK];
  const int rank = r->last + 1;
  const int64_t last = r->last;
  if (!x || !places) return NULL;
  for (int d = 0; d < rank; d++) {
    dims[d] = places->type->dims[d];
    order[d] = d;
    ones[d] = 1;
  }
  dims[rank] = 1;
  tsr_ir *ir = r->l->ir;
  const tsr_type *vectors =
      tsr_type_tensor(ir, tsr_type_element(places->type), rank + 1, dims, NULL);
  const tsr_attr *fields[] = {
      [TSR_GATHER_OFFSET_DIMS] = tsr_attr_ints(ir, NULL, 0),
      [TSR_GATHER_COLLAPSED_SLICE_DIMS] = tsr_attr_ints(ir, &last, 1),
      [TSR_GATHER_OPERAND_BATCHING_DIMS] = tsr_attr_ints(ir, order, last),
      [TSR_GATHER_START_INDICES_BATCHING_DIMS] = tsr_attr_ints(ir, order, last),
      [TSR_GATHER_START_INDEX_MAP] = tsr_attr_ints(ir, &last, 1),
      [TSR_GATHER_INDEX_VECTOR_DIM] = tsr_attr_i64(ir, rank)};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (!fields[i] || !vectors) return NULL;
  tsr_value *const operands[] = {x, tsr_site_reshape(&r->site, places, vectors)};
  const tsr_site_attr attrs[] = {
      {"dimension_numbers", tsr_attr_record(ir, TSR_RECORD_GATHER, fields)},
      {"slice_sizes", tsr_attr_ints(ir, ones, rank)}};
  const tsr_type *type = resized(r, x->type, tsr_type_element(x->type), places->type->dims[last]);
  return type ? tsr_site_add(&r->site, TSR_OP_GATHER, type, operands, 2, attrs, 2) : NULL;
}

tsr_status tsr_localize_top_k(tsr_localizing *l, tsr_op *op) {
  top_k_run r = {.l = l, .op = op, .site = {.ir = l->ir, .place = op}};
  const int64_t k = tsr_op_int(op, "k", 0);
  tsr_whole from;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &from));
  r.last = from.type->rank - 1;
  const tsr_sdy_parts *axes = tsr_cut_axes(from.cut, r.last);
  if (!l->exchange || tsr_parts_size(axes) <= 1) return tsr_localize_plain(l, op);
  const int64_t size = tsr_operand_type(op, 0)->dims[r.last];
  tsr_op *own = add_top(&r, tsr_op_operand(op, 0), k < size ? k : size);
  tsr_value *values = own ? tsr_op_result(own, 0) : NULL;
  tsr_value *indices = own ? whole_indices(&r, tsr_op_result(own, 1), from.cut) : NULL;
  values = tsr_site_all_gather(l, &r.site, values, r.last, from.cut, axes);
  indices = tsr_site_all_gather(l, &r.site, indices, r.last, from.cut, axes);
  tsr_op *all = add_top(&r, values, k);
  tsr_value *const made[] = {all ? tsr_op_result(all, 0) : NULL,
                             all ? take_at(&r, indices, tsr_op_result(all, 1)) : NULL};
  return tsr_localize_replace(l, &r.site, op, made);
}
