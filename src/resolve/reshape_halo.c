// Reshapes of dims that are not divided by their axes.
//
// Dims of the operand and of the result fall into groups of the same elements. Where a group is one
// dim on both sides, shards are the same and nothing moves. Where a dim is split in several, an
// exchange brings each device what the new cut gives it. Other uneven groups are gathered.
#include <string.h>

#include "base/arithmetic.h"
#include "collective/axis_strides.h"
#include "propagate/edits.h"
#include "resolve/halo_ops.h"

typedef struct reshape_group {
  int in, in_end, out, out_end;  // dims
  int in_count, out_count;       // of these, those of a size other than 1
} reshape_group;

typedef struct reshape_run {
  tsr_op *op;
  tsr_halo halo;
  const tsr_type *from, *to;
  int64_t even_in[TSR_MAX_RANK], even_out[TSR_MAX_RANK];
  reshape_group groups[2 * TSR_MAX_RANK];
  int group_count;
} reshape_run;

// ---- groups ----

static int64_t next_size(const tsr_type *type, int *dim) {
  return *dim < type->rank ? type->dims[(*dim)++] : 1;
}

static int count_large(const tsr_type *type, int from, int end) {
  int count = 0;
  for (int d = from; d < end; d++) count += type->dims[d] != 1;
  return count;
}

static void fill_groups(reshape_run *r) {
  int in = 0, out = 0;
  while (in < r->from->rank || out < r->to->rank) {
    reshape_group g = {.in = in, .out = out};
    int64_t a = next_size(r->from, &in), b = next_size(r->to, &out);
    while (a != b && (a < b ? in < r->from->rank : out < r->to->rank)) {
      if (a < b)
        a *= r->from->dims[in++];
      else
        b *= r->to->dims[out++];
    }
    g.in_end = in;
    g.out_end = out;
    g.in_count = count_large(r->from, g.in, in);
    g.out_count = count_large(r->to, g.out, out);
    r->groups[r->group_count++] = g;
  }
}

static bool passes(const reshape_group *g) { return g->in_count <= 1 && g->out_count <= 1; }

static bool is_uneven(const reshape_run *r, const reshape_group *g) {
  for (int d = g->in; d < g->in_end; d++)
    if (r->even_in[d] != r->from->dims[d]) return true;
  for (int d = g->out; d < g->out_end; d++)
    if (r->even_out[d] != r->to->dims[d]) return true;
  return false;
}

static tsr_status fill_even(const tsr_tensor_sharding *cut, const tsr_type *type, int64_t *even) {
  for (int d = 0; d < type->rank; d++) {
    even[d] = tsr_even_size(type->dims[d], tsr_cut_count(cut, d));
    if (even[d] < 0) return tsr_fail(TOO_LARGE, "a dimension of a reshape is too large");
  }
  return NULL;
}

// ---- what moves ----

// Whether each device has what it needs: shards are the same elements in a row.
static tsr_status stays(tsr_resolving *r, const reshape_run *x, bool *out) {
  tsr_axis_strides in, to;
  *out = false;
  if (!tsr_sdy_parts_equal(&x->halo.in_cut->replicated, &x->halo.out_cut->replicated)) return NULL;
  TSR_TRY(tsr_axis_strides_make(&r->scratch, x->halo.in_cut, x->from, false, &in));
  TSR_TRY(tsr_axis_strides_make(&r->scratch, x->halo.out_cut, x->to, false, &to));
  *out = tsr_axis_strides_equal(&in, &to);
  if (*out) return NULL;
  TSR_TRY(tsr_axis_strides_make(&r->scratch, x->halo.in_cut, x->from, true, &in));
  TSR_TRY(tsr_axis_strides_make(&r->scratch, x->halo.out_cut, x->to, true, &to));
  *out = tsr_axis_strides_equal(&in, &to);
  for (int i = 0; i < x->group_count; i++) *out = *out && passes(&x->groups[i]);
  return NULL;
}

static int64_t volume(const int64_t *dims, int from, int end) {
  int64_t size = 1;
  for (int d = from; d < end; d++) size = tsr_saturated_multiply(size, dims[d]);
  return size;
}

// Whether an uneven group can be exchanged: one dim becomes several, of as many padded elements.
static bool may_exchange(const reshape_run *r, const reshape_group *g) {
  const int64_t in = r->from->dims[g->in], out = r->to->dims[g->out];
  return g->in_count <= 1 && g->out_count > 1 && g->in_count == g->in_end - g->in &&
         g->out_count == g->out_end - g->out && (in % out == 0 || out % in == 0) &&
         volume(r->even_in, g->in, g->in_end) == volume(r->even_out, g->out, g->out_end);
}

// Whether halos serve all uneven groups, and there is one.
static bool all_exchange(const reshape_run *r) {
  bool any = false;
  for (int i = 0; i < r->group_count; i++) {
    const reshape_group *g = &r->groups[i];
    if (passes(g) || !is_uneven(r, g)) continue;
    if (!may_exchange(r, g)) return false;
    any = true;
  }
  return any;
}

// ---- exchange ----

// Where the elements of a shard of the new dims begin in the old dim.
static int64_t start_of(const reshape_run *r, const reshape_group *g, int64_t shard) {
  int64_t start = 0, stride = 1;
  for (int d = g->out_end - 1; d >= g->out; d--) {
    const int64_t shards = tsr_cut_count(r->halo.out_cut, d);
    start += shard % shards * (r->even_out[d] / shards) * stride;
    shard /= shards;
    stride *= r->to->dims[d];
  }
  return start;
}

static tsr_status fill_split(tsr_resolving *r, reshape_run *x, const reshape_group *g) {
  tsr_halo_dim *dim = &x->halo.dims[g->in];
  int64_t count = 0;
  for (int d = g->out; d < g->out_end; d++) count += x->halo.out_cut->dims[d].axes.count;
  tsr_sdy_parts *axes = tsr_arena_zeros(&r->scratch, 1, sizeof *axes);
  int64_t *offsets = tsr_arena_zeros(&r->scratch, (size_t)dim->shards + 1, sizeof *offsets);
  TSR_NEED(axes && offsets ? axes : NULL);
  axes->items = tsr_arena_zeros(&r->scratch, (size_t)count + 1, sizeof *axes->items);
  TSR_NEED(axes->items);
  for (int d = g->out; d < g->out_end; d++)
    for (int64_t i = 0; i < x->halo.out_cut->dims[d].axes.count; i++)
      axes->items[axes->count++] = x->halo.out_cut->dims[d].axes.items[i];
  const int64_t size = x->from->dims[g->in];
  dim->axes = axes;
  dim->offsets = offsets;
  for (int64_t t = 0; t < dim->shards; t++) {
    const int64_t start = start_of(x, g, t), end = start + dim->out - 1;
    const int64_t first = start < size ? start / dim->in : -1;
    const int64_t last = end < size ? end / dim->in : -1;
    dim->moves |= (first >= 0 && first != t) || (last >= 0 && last != t);
    if (first >= 0 && t - first > dim->left) dim->left = t - first;
    if (last >= 0 && last - t > dim->right) dim->right = last - t;
  }
  for (int64_t t = 0; t < dim->shards; t++) {
    const int64_t start = start_of(x, g, t);
    const int64_t source = start < size ? start / dim->in : t;
    const int64_t inside = start < size ? start - source * dim->in : 0;
    offsets[t] = dim->out + (dim->left + source - t) * dim->in + inside;
  }
  dim->fits = dim->left <= 1 && dim->right <= 1;
  return NULL;
}

static tsr_status fill_exchange(tsr_resolving *r, reshape_run *x) {
  for (int i = 0; i < x->group_count; i++) {
    const reshape_group *g = &x->groups[i];
    if (!is_uneven(x, g)) continue;
    for (int d = g->in; d < g->in_end; d++)
      for (int64_t k = 0; k < x->halo.in_cut->dims[d].axes.count; k++)
        x->halo.manual[x->halo.in_cut->dims[d].axes.items[k].axis] = true;
    for (int d = g->out; d < g->out_end; d++)
      for (int64_t k = 0; k < x->halo.out_cut->dims[d].axes.count; k++)
        x->halo.manual[x->halo.out_cut->dims[d].axes.items[k].axis] = true;
  }
  for (int d = 0; d < x->from->rank; d++) {
    tsr_halo_dim *dim = &x->halo.dims[d];
    dim->shards = tsr_cut_count(x->halo.in_cut, d);
    dim->in = dim->out = x->even_in[d] / dim->shards;
    dim->fits = true;
  }
  for (int i = 0; i < x->group_count; i++)
    if (!passes(&x->groups[i]) && is_uneven(x, &x->groups[i]))
      TSR_TRY(fill_split(r, x, &x->groups[i]));
  return NULL;
}

// The device reshapes what it has.
static tsr_value *finish_reshape(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                                 tsr_value *local, tsr_value *padding, const tsr_attr *inner,
                                 const tsr_type *result) {
  int64_t dims[TSR_MAX_RANK];
  (void)padding;
  (void)inner;
  for (int d = 0; d < result->rank; d++)
    dims[d] = result->dims[d] / tsr_halo_manual_count(halo, halo->out_cut, d);
  const tsr_type *type = tsr_site_sized(site, result, dims);
  tsr_value *made = tsr_site_add(site, TSR_OP_RESHAPE, type, &local, 1, NULL, 0);
  return tsr_site_shard(site, made, tsr_halo_inner_sharding(r, halo, true));
}

static tsr_status exchange(tsr_resolving *r, reshape_run *x) {
  static const int64_t zeros[TSR_MAX_RANK] = {0};
  tsr_site site = {.ir = r->ir, .place = x->op};
  x->halo.low = zeros;
  x->halo.even = x->even_in;
  tsr_value *padding = tsr_site_zeros(&site, tsr_site_scalar(&site, x->to));
  tsr_value *operand = tsr_halo_even(&site, &x->halo, NULL);
  return tsr_halo_replace(r, &site, &x->halo,
                          tsr_halo_exchange(r, &site, &x->halo, operand, padding, finish_reshape));
}

// ---- gathering ----

static const tsr_attr *without(tsr_resolving *r, const tsr_tensor_sharding *cut,
                               const tsr_sdy_parts *axes) {
  tsr_tensor_sharding *made = tsr_sharding_copy(&r->scratch, cut);
  tsr_dim_sharding *dims =
      made ? tsr_arena_zeros(&r->scratch, (size_t)cut->rank + 1, sizeof *dims) : NULL;
  if (!dims) return NULL;
  for (int d = 0; d < cut->rank; d++) {
    dims[d] = cut->dims[d];
    if (!tsr_parts_minus(&r->scratch, cut->mesh, &cut->dims[d].axes, axes, &dims[d].axes))
      return NULL;
  }
  made->dims = dims;
  return tsr_sharding_attr(r->ir, made);
}

// Without the axes of uneven groups nothing is uneven. Where all are even, the sides are cut in
// orders of elements that differ: then all groups that mix dims are gathered.
static tsr_status gather(tsr_resolving *r, reshape_run *x) {
  const tsr_tensor_sharding *const both[] = {x->halo.in_cut, x->halo.out_cut};
  int64_t most = 0;
  tsr_sdy_parts axes = {NULL, 0};
  bool even = true;
  for (int s = 0; s < 2; s++)
    for (int d = 0; d < both[s]->rank; d++) most += both[s]->dims[d].axes.count;
  for (int i = 0; i < x->group_count; i++)
    even = even && (passes(&x->groups[i]) || !is_uneven(x, &x->groups[i]));
  axes.items = tsr_arena_zeros(&r->scratch, (size_t)most + 1, sizeof *axes.items);
  TSR_NEED(axes.items);
  for (int i = 0; i < x->group_count; i++) {
    const reshape_group *g = &x->groups[i];
    if (passes(g) || (!even && !is_uneven(x, g))) continue;
    for (int s = 0; s < 2; s++)
      for (int d = s ? g->out : g->in; d < (s ? g->out_end : g->in_end); d++)
        for (int64_t k = 0; k < both[s]->dims[d].axes.count; k++)
          axes.items[axes.count++] = both[s]->dims[d].axes.items[k];
  }
  const tsr_attr *in = without(r, x->halo.in_cut, &axes), *out = without(r, x->halo.out_cut, &axes);
  TSR_NEED(in && out ? in : NULL);
  tsr_op *op = x->op;
  tsr_value *operand = tsr_op_operand(op, 0), *result = tsr_op_result(op, 0);
  tsr_site site = {.ir = r->ir, .place = op};
  const tsr_site_attr to_in = {"sharding", in}, back = {"sharding", x->halo.out_sharding};
  tsr_value *moved = tsr_site_add(&site, TSR_OP_SDY_RESHARD, operand->type, &operand, 1, &to_in, 1);
  tsr_value *made = tsr_site_add(&site, TSR_OP_RESHAPE, result->type, &moved, 1, NULL, 0);
  made = tsr_site_shard(&site, made, out);
  made = tsr_site_add(&site, TSR_OP_SDY_RESHARD, result->type, &made, 1, &back, 1);
  return tsr_halo_replace(r, &site, &x->halo, made);
}

// ---- the op ----

tsr_status tsr_resolve_reshape(tsr_resolving *r, tsr_op *op) {
  reshape_run x = {.op = op, .halo = {.op = op}};
  tsr_value *operand = tsr_op_operand(op, 0), *result = tsr_op_result(op, 0);
  bool settled = false;
  x.from = operand->type;
  x.to = result->type;
  TSR_TRY(tsr_sharding_get(r->ir, operand, &x.halo.in_sharding));
  TSR_TRY(tsr_sharding_get(r->ir, result, &x.halo.out_sharding));
  TSR_TRY(tsr_cut_of_value(&r->scratch, r->ir, operand, &x.halo.in_cut));
  TSR_TRY(tsr_cut_of_value(&r->scratch, r->ir, result, &x.halo.out_cut));
  if (!x.halo.in_cut || !x.halo.out_cut || !tsr_type_is_static(x.from) ||
      !tsr_type_element_count(x.from))
    return NULL;
  TSR_TRY(fill_even(x.halo.in_cut, x.from, x.even_in));
  TSR_TRY(fill_even(x.halo.out_cut, x.to, x.even_out));
  fill_groups(&x);
  TSR_TRY(stays(r, &x, &settled));
  if (settled) return NULL;
  if (!r->halos || !all_exchange(&x)) return gather(r, &x);
  TSR_TRY(fill_exchange(r, &x));
  return tsr_halo_fits(&x.halo, x.from->rank) ? exchange(r, &x) : gather(r, &x);
}
