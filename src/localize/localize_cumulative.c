// Cumulative sums, products, maxima and the like along a sharded dim: each device computes those of
// its shard, and combines them with the totals of the shards before, or after where the sums go
// backwards.
#include <string.h>

#include "localize/body_trials.h"
#include "localize/exchange.h"
#include "localize/partial_bodies.h"
#include "propagate/edits.h"

typedef struct cumulative_run {
  tsr_localizing *l;
  tsr_op *op;
  tsr_site site;
  const tsr_tensor_sharding *cut;
  int dim;
  bool backwards;
  tsr_op_id id;  // of the body; TSR_OP_COUNT = it is no single op
} cumulative_run;

// Whether the windows of each element along the dim are all elements before it, or after it.
static bool has_all_before(const tsr_op *op, const tsr_window_ask *window, int64_t high,
                           int64_t size) {
  const tsr_attr *sizes = tsr_op_attr(op, "window_dimensions");
  const bool forwards = window->low == size - 1 && !high,
             backwards = !window->low && high == size - 1;
  if (op->operand_count != 2 || window->size != size || !(forwards || backwards)) return false;
  if (window->stride != 1 || window->dilation != 1 || window->gaps) return false;
  for (int64_t i = 0; i < tsr_attr_int_count(sizes); i++)
    if (i != window->dim && tsr_attr_int_at(sizes, i) != 1) return false;
  return true;
}

tsr_status tsr_is_cumulative(tsr_ir *ir, const tsr_op *op, const tsr_window_ask *window,
                             int64_t high, int64_t size, bool *out) {
  const tsr_op_id id = tsr_body_op(op, 0);
  *out = has_all_before(op, window, high, size);
  if (!*out) return NULL;
  if (id == TSR_OP_COUNT) return tsr_body_may_fold(ir, op, out);
  *out = tsr_init_is_neutral(id, tsr_op_operand(op, 1));
  return NULL;
}

// A copy of the op, in no block.
static tsr_op *copy_window(cumulative_run *r) {
  tsr_value_map *map = tsr_value_map_create();
  tsr_op *copy = map ? tsr_op_clone(r->l->ir, r->op, map) : NULL;
  tsr_value_map_destroy(map);
  if (!copy && !r->site.failure) r->site.failure = tsr_fail(NO_MEMORY, "memory of a program");
  return copy;
}

// Gives an op the body of this one.
static tsr_value *add_body(cumulative_run *r, tsr_op *to) {
  tsr_op *copy = to ? copy_window(r) : NULL;
  if (!copy) return NULL;
  tsr_body_take(&to->regions[0], &copy->regions[0]);
  tsr_op_erase(copy);
  return tsr_op_result(to, 0);
}

// The op on the shard alone.
static tsr_value *add_local(cumulative_run *r, const tsr_type *type) {
  const int64_t size = type->dims[r->dim];
  tsr_op *local = copy_window(r);
  if (!local) return NULL;
  tsr_op_insert_before(r->op, local);
  tsr_op_result(local, 0)->type = type;
  tsr_status status = tsr_set_number(r->l, local, "window_dimensions", r->dim, size);
  if (!status) status = tsr_set_number(r->l, local, "padding", 2 * r->dim + r->backwards, size - 1);
  r->site.failure = status;
  return status ? NULL : tsr_op_result(local, 0);
}

// The reduction of a dim by the body.
static tsr_value *add_reduced(cumulative_run *r, tsr_value *x, int64_t dim) {
  int64_t dims[TSR_MAX_RANK];
  int rank = 0;
  if (!x) return NULL;
  for (int d = 0; d < x->type->rank; d++)
    if (d != dim) dims[rank++] = x->type->dims[d];
  const tsr_type *type = tsr_type_tensor(r->l->ir, x->type->element, rank, dims, NULL);
  tsr_value *const operands[] = {x, tsr_op_operand(r->op, 1)};
  const tsr_site_attr attr = {"dimensions", tsr_attr_ints(r->l->ir, &dim, 1)};
  if (!type) return NULL;
  return add_body(r, tsr_site_op(&r->site, TSR_OP_REDUCE, operands, 2, &type, 1, 1, &attr, 1));
}

// The totals of all shards, of what they sent.
static tsr_value *gather_totals(cumulative_run *r, tsr_value *local) {
  int64_t starts[TSR_MAX_RANK] = {0}, limits[TSR_MAX_RANK];
  if (!local) return NULL;
  memcpy(limits, local->type->dims, (size_t)local->type->rank * sizeof *limits);
  if (r->backwards)
    limits[r->dim] = 1;
  else
    starts[r->dim] = limits[r->dim] - 1;
  tsr_value *total = tsr_site_slice(&r->site, local, starts, limits);
  return tsr_site_all_gather(r->l, &r->site, total, r->dim, r->cut, &r->cut->dims[r->dim].axes);
}

// The same where the whole dim is gathered anyway, for something else.
static tsr_value *compute_totals(cumulative_run *r, int64_t shards) {
  int64_t dims[TSR_MAX_RANK];
  tsr_value *x = tsr_op_operand(r->op, 0);
  x = tsr_site_all_gather(r->l, &r->site, x, r->dim, r->cut, &r->cut->dims[r->dim].axes);
  if (!x) return NULL;
  for (int d = 0, place = 0; d < x->type->rank; d++) {
    if (d == r->dim) dims[place++] = shards;
    dims[place++] = d == r->dim ? x->type->dims[d] / shards : x->type->dims[d];
  }
  const tsr_type *split =
      tsr_type_tensor(r->l->ir, x->type->element, x->type->rank + 1, dims, NULL);
  return split ? add_reduced(r, tsr_site_reshape(&r->site, x, split), r->dim + 1) : NULL;
}

// The totals of all shards; of those that do not come before, the initial value.
static tsr_value *add_totals(cumulative_run *r, tsr_value *local) {
  const int64_t shards = tsr_cut_count(r->cut, r->dim);
  const int64_t *numbers = tsr_range_starts(r->l, shards, 0, 1);
  const bool gathered = tsr_dim_is_gathered(r->l, &r->site, tsr_op_operand(r->op, 0), r->dim,
                                            &r->cut->dims[r->dim].axes);
  const bool splits = gathered && tsr_operand_type(r->op, 0)->rank < TSR_MAX_RANK;
  tsr_value *total = splits ? compute_totals(r, shards) : gather_totals(r, local);
  if (!total || !numbers) return NULL;
  const tsr_type *type = tsr_site_retyped(&r->site, total->type, r->l->ir->i64);
  const tsr_site_attr attr = {"iota_dimension", tsr_attr_i64(r->l->ir, r->dim)};
  tsr_value *iota = tsr_site_add(&r->site, TSR_OP_IOTA, type, NULL, 0, &attr, 1);
  tsr_value *own = tsr_site_by_shard(r->l, &r->site, r->cut, r->dim, numbers);
  own = tsr_site_broadcast(&r->site, own, type, NULL);
  tsr_value *const choice[] = {
      tsr_site_compare(&r->site, iota, own, r->backwards ? TSR_DIRECTION_GT : TSR_DIRECTION_LT),
      total, tsr_site_broadcast(&r->site, tsr_op_operand(r->op, 1), total->type, NULL)};
  return tsr_site_add(&r->site, TSR_OP_SELECT, total->type, choice, 3, NULL, 0);
}

// What comes before the shard, for all of its elements.
static tsr_value *add_before(cumulative_run *r, tsr_value *totals, const tsr_type *type) {
  int64_t kept[TSR_MAX_RANK];
  int rank = 0;
  for (int d = 0; d < type->rank; d++)
    if (d != r->dim) kept[rank++] = d;
  tsr_value *before = add_reduced(r, totals, r->dim);
  return before ? tsr_site_broadcast(&r->site, before, type, kept) : NULL;
}

static tsr_value *add_combined(cumulative_run *r, tsr_value *x, tsr_value *y) {
  int64_t dims[TSR_MAX_RANK];
  tsr_value *const operands[] = {x, y};
  if (r->id != TSR_OP_COUNT || !x || !y) return tsr_site_binary(&r->site, r->id, x, y);
  for (int d = 0; d < x->type->rank; d++) dims[d] = d;
  const tsr_site_attr attr = {"dimensions", tsr_attr_ints(r->l->ir, dims, x->type->rank)};
  return add_body(r, tsr_site_op(&r->site, TSR_OP_MAP, operands, 2, &x->type, 1, 1, &attr, 1));
}

tsr_status tsr_localize_cumulative(tsr_localizing *l, tsr_op *op, const tsr_whole *input, int dim) {
  cumulative_run r = {.l = l,
                      .op = op,
                      .site = {.ir = l->ir, .place = op},
                      .cut = input->cut,
                      .dim = dim,
                      .id = tsr_body_op(op, 0)};
  const tsr_type *type = NULL;
  tsr_whole to;
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &to));
  TSR_TRY(tsr_check_same_axes(op, input, dim, &to, dim));
  TSR_TRY(tsr_local_type(l, op, &to, &type));
  r.backwards = tsr_attr_int_at(tsr_op_attr(op, "padding"), 2 * dim) == 0;
  tsr_value *local = add_local(&r, type);
  tsr_value *before = add_before(&r, add_totals(&r, local), type);
  tsr_value *made = r.backwards ? add_combined(&r, local, before) : add_combined(&r, before, local);
  return tsr_localize_replace(l, &r.site, op, &made);
}
