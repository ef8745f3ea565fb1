// Halo exchange by manual computations.
#include "resolve/halo.h"

#include <string.h>

#include "base/arithmetic.h"
#include "propagate/edits.h"

// ---- who needs what ----

static int64_t largest(int64_t a, int64_t b) { return a > b ? a : b; }

// The source shards of what device t needs, from `first` to `last`; -1 = it needs none.
static void sources(const tsr_halo_dim *dim, int64_t size, int64_t start, int64_t *first,
                    int64_t *last) {
  const int64_t from = largest(0, start);
  const int64_t end = start + dim->out - 1 < size - 1 ? start + dim->out - 1 : size - 1;
  *first = *last = -1;
  if (from > end) return;
  *first = from / dim->in;
  *last = end / dim->in;
}

void tsr_halo_dim_fill(tsr_halo_dim *dim, int64_t size, int64_t low, int64_t gaps) {
  for (int64_t t = 0; t < dim->shards; t++) {
    int64_t first = -1, last = -1;
    const int64_t start = (t * dim->out - low) / (gaps + 1);
    sources(dim, size, start, &first, &last);
    dim->shifts |= start != t * dim->in || dim->out != dim->in;
    dim->moves |= first != t || last != t;
    if (first < 0) continue;
    if (first < t) dim->left = largest(dim->left, t - first);
    if (last > t) dim->right = largest(dim->right, last - t);
  }
  dim->fits = dim->left + dim->right + 1 < dim->shards || (dim->left <= 1 && dim->right <= 1);
}

bool tsr_halo_moves(const tsr_halo *halo, int rank) {
  for (int d = 0; d < rank; d++)
    if (halo->dims[d].moves) return true;
  return false;
}

bool tsr_halo_fits(const tsr_halo *halo, int rank) {
  for (int d = 0; d < rank; d++)
    if (halo->dims[d].shards > 1 && !halo->dims[d].fits) return false;
  return true;
}

// ---- axes ----

static int axis_count(const tsr_attr *mesh) {
  return (int)tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
}

static const tsr_attr *axis_name(const tsr_attr *mesh, int axis) {
  return tsr_attr_field(tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->items[axis],
                        TSR_SDY_MESH_AXIS_NAME);
}

// How many devices follow each other along the axes after this one.
static int64_t devices_after(const tsr_attr *mesh, int axis) {
  int64_t count = 1;
  for (int i = axis + 1; i < axis_count(mesh); i++) count *= tsr_sdy_axis_size(mesh, i);
  return count;
}

static int64_t device_count(const tsr_attr *mesh) { return devices_after(mesh, -1); }

// How far apart two neighbours along a part of an axis are in the order of devices.
static int64_t part_stride(const tsr_attr *mesh, const tsr_sdy_part *part) {
  return devices_after(mesh, part->axis) *
         (tsr_sdy_axis_size(mesh, part->axis) / tsr_sdy_end(part));
}

static int64_t device_at(const tsr_attr *mesh, int64_t position) {
  const tsr_attr *ids = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  return tsr_attr_int_count(ids) ? tsr_attr_int_at(ids, position) : position;
}

int64_t tsr_halo_manual_count(const tsr_halo *halo, const tsr_tensor_sharding *cut, int dim) {
  int64_t count = 1;
  for (int64_t i = 0; i < cut->dims[dim].axes.count; i++)
    if (halo->manual[cut->dims[dim].axes.items[i].axis]) count *= cut->dims[dim].axes.items[i].size;
  return count;
}

const tsr_attr *tsr_halo_inner_sharding(tsr_resolving *r, const tsr_halo *halo, bool of_result) {
  const tsr_tensor_sharding *cut = of_result ? halo->out_cut : halo->in_cut;
  tsr_tensor_sharding *inner = tsr_sharding_copy(&r->scratch, cut);
  tsr_dim_sharding *dims =
      inner ? tsr_arena_alloc(&r->scratch, ((size_t)cut->rank + 1) * sizeof *dims) : NULL;
  if (!dims) return NULL;
  for (int d = 0; d < cut->rank; d++) {
    const tsr_sdy_parts *axes = &cut->dims[d].axes;
    dims[d] = cut->dims[d];
    dims[d].axes.items =
        tsr_arena_alloc(&r->scratch, ((size_t)axes->count + 1) * sizeof *dims[d].axes.items);
    if (!dims[d].axes.items) return NULL;
    dims[d].axes.count = 0;
    for (int64_t i = 0; i < axes->count; i++)
      if (!halo->manual[axes->items[i].axis])
        dims[d].axes.items[dims[d].axes.count++] = axes->items[i];
  }
  inner->dims = dims;
  return tsr_sharding_attr(r->ir, inner);
}

static const tsr_attr *manual_names(tsr_resolving *r, const tsr_halo *halo) {
  const tsr_attr *mesh = halo->in_cut->mesh;
  const tsr_attr **names = tsr_ir_alloc(r->ir, ((size_t)axis_count(mesh) + 1) * sizeof *names);
  int64_t count = 0;
  if (!names) return NULL;
  for (int i = 0; i < axis_count(mesh); i++)
    if (halo->manual[i]) names[count++] = axis_name(mesh, i);
  const tsr_attr *list = tsr_attr_array(r->ir, names, count);
  return list ? tsr_attr_record(r->ir, TSR_RECORD_SDY_MANUAL_AXES, &list) : NULL;
}

// ---- permutes ----

// The device that is `hops` shards after the one at `position`; -1 = there is none.
static int64_t neighbour(const tsr_halo *halo, const tsr_sdy_parts *axes, int64_t position,
                         int64_t hops) {
  const tsr_attr *mesh = halo->in_cut->mesh;
  int64_t carry = hops, to = position;
  for (int64_t i = axes->count - 1; i >= 0 && carry; i--) {
    const tsr_sdy_part *part = &axes->items[i];
    if (!halo->manual[part->axis]) continue;
    const int64_t stride = part_stride(mesh, part);
    const int64_t old = position / stride % part->size, sum = old + carry;
    carry = sum >= 0 ? sum / part->size : -((part->size - 1 - sum) / part->size);
    to += (sum - carry * part->size - old) * stride;
  }
  return carry ? -1 : to;
}

// A permute of `x` to the devices `hops` shards later; NULL in `out` where no device has such a
// neighbour.
static tsr_value *add_permute(tsr_resolving *r, tsr_site *site, const tsr_halo *halo, tsr_value *x,
                              const tsr_sdy_parts *axes, int64_t hops) {
  const tsr_attr *mesh = halo->in_cut->mesh;
  const int64_t devices = device_count(mesh);
  int64_t *pairs = x ? tsr_ir_alloc(r->ir, ((size_t)devices * 2 + 1) * sizeof *pairs) : NULL;
  int64_t count = 0;
  if (!pairs) {
    if (x && !site->failure) site->failure = tsr_fail(NO_MEMORY, "pairs of devices");
    return NULL;
  }
  for (int64_t i = 0; i < devices; i++) {
    const int64_t to = neighbour(halo, axes, i, hops);
    if (to < 0) continue;
    pairs[count * 2] = device_at(mesh, i);
    pairs[count++ * 2 + 1] = device_at(mesh, to);
  }
  if (!count) return NULL;
  const int64_t dims[] = {count, 2};
  const tsr_type *type = tsr_type_tensor(r->ir, r->ir->i64, 2, dims, NULL);
  const tsr_attr *const channel[] = {tsr_attr_i64(r->ir, r->next_channel++),
                                     tsr_attr_i64(r->ir, 1)};
  const bool made = type && channel[0] && channel[1];
  const tsr_site_attr attrs[] = {
      {"channel_handle", made ? tsr_attr_record(r->ir, TSR_RECORD_CHANNEL, channel) : NULL},
      {"source_target_pairs",
       made ? tsr_attr_dense(r->ir, type, pairs, (size_t)count * 2 * sizeof *pairs) : NULL}};
  return tsr_site_add(site, TSR_OP_COLLECTIVE_PERMUTE, x->type, &x, 1, attrs, 2);
}

static tsr_value *add_concatenate(tsr_site *site, tsr_value *const *parts, int count, int dim) {
  int64_t dims[TSR_MAX_RANK] = {0};
  for (int i = 0; i < count; i++)
    if (!parts[i]) return NULL;
  memcpy(dims, parts[0]->type->dims, (size_t)parts[0]->type->rank * sizeof *dims);
  for (int i = 1; i < count; i++) dims[dim] += parts[i]->type->dims[dim];
  const tsr_site_attr attr = {"dimension", tsr_attr_i64(site->ir, dim)};
  return tsr_site_add(site, TSR_OP_CONCATENATE, tsr_site_sized(site, parts[0]->type, dims), parts,
                      count, &attr, 1);
}

// ---- one dim ----

// The shards of the neighbours and the own one, with `edge` elements of padding on both sides and
// `gaps` between elements.
static tsr_value *add_buffer(tsr_resolving *r, tsr_site *site, const tsr_halo *halo, int dim,
                             tsr_value *local, tsr_value *padding, int64_t gaps,
                             const tsr_attr *inner) {
  const tsr_halo_dim *h = &halo->dims[dim];
  const tsr_sdy_parts *axes = h->axes ? h->axes : &halo->in_cut->dims[dim].axes;
  const int count = (int)(h->left + h->right + 1);
  int64_t edge[TSR_MAX_RANK] = {0}, between[TSR_MAX_RANK] = {0}, dims[TSR_MAX_RANK];
  tsr_value **parts = local ? tsr_ir_alloc(r->ir, (size_t)count * sizeof *parts) : NULL;
  if (!parts) {
    if (local && !site->failure) site->failure = tsr_fail(NO_MEMORY, "shards of neighbours");
    return NULL;
  }
  for (int i = 0; i < count; i++) {
    const int64_t hops = h->left - i;
    parts[i] = hops ? add_permute(r, site, halo, local, axes, hops) : local;
    if (!parts[i]) parts[i] = local;  // what no device needs may be anything
  }
  tsr_value *joined = tsr_site_shard(site, add_concatenate(site, parts, count, dim), inner);
  if (!joined) return NULL;
  edge[dim] = h->out * (gaps + 1);
  between[dim] = gaps;
  memcpy(dims, joined->type->dims, (size_t)joined->type->rank * sizeof *dims);
  dims[dim] = (dims[dim] - 1) * (gaps + 1) + 1 + 2 * edge[dim];
  tsr_value *padded = tsr_site_pad(site, joined, padding, tsr_site_sized(site, joined->type, dims),
                                   edge, edge, between);
  return tsr_site_shard(site, padded, inner);
}

static tsr_value *add_binary(tsr_site *site, tsr_op_id id, tsr_value *x, int64_t number) {
  tsr_value *constant = tsr_site_integer(site, 64, number);
  return tsr_site_binary(site, id, x, constant);
}

// The number of the device's shard along axes, by the device's number: from a table if devices are
// in an order of their own, otherwise computed.
static tsr_value *add_shard_number(tsr_resolving *r, tsr_site *site, const tsr_attr *mesh,
                                   const tsr_sdy_parts *axes, tsr_value *device) {
  const int64_t devices = device_count(mesh);
  tsr_value *number = NULL;
  if (tsr_attr_int_count(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS))) {
    int64_t *numbers = tsr_ir_alloc(r->ir, ((size_t)devices + 1) * sizeof *numbers);
    if (!numbers) return NULL;
    for (int64_t i = 0; i < devices; i++) {
      int64_t shard = 0;
      for (int64_t k = 0; k < axes->count; k++)
        shard = shard * axes->items[k].size +
                i / part_stride(mesh, &axes->items[k]) % axes->items[k].size;
      const int64_t id = device_at(mesh, i);
      if (id >= 0 && id < devices) numbers[id] = shard;
    }
    return tsr_site_lookup(site, numbers, devices, device);
  }
  for (int64_t k = 0; k < axes->count; k++) {
    const tsr_sdy_part *part = &axes->items[k];
    const int64_t stride = part_stride(mesh, part);
    tsr_value *place = device;
    if (stride > 1) place = add_binary(site, TSR_OP_DIVIDE, place, stride);
    if (part->size < devices) place = add_binary(site, TSR_OP_REMAINDER, place, part->size);
    if (number) number = add_binary(site, TSR_OP_MULTIPLY, number, part->size);
    number = number ? tsr_site_binary(site, TSR_OP_ADD, number, place) : place;
  }
  return number ? number : tsr_site_integer(site, 64, 0);
}

static tsr_value *add_slice_at(tsr_site *site, tsr_value *x, int dim, tsr_value *offset,
                               tsr_value *zero, int64_t size) {
  tsr_value *operands[TSR_MAX_RANK + 1] = {x};
  int64_t dims[TSR_MAX_RANK];
  if (!x) return NULL;
  for (int d = 0; d < x->type->rank; d++) {
    dims[d] = d == dim ? size : x->type->dims[d];
    operands[d + 1] = d == dim ? offset : zero;
  }
  const tsr_site_attr sizes = {"slice_sizes", tsr_attr_ints(site->ir, dims, x->type->rank)};
  return tsr_site_add(site, TSR_OP_DYNAMIC_SLICE, tsr_site_sized(site, x->type, dims), operands,
                      x->type->rank + 1, &sizes, 1);
}

// Puts the padding where the elements of the device lie outside the whole dim: a permute gives
// zeros to devices that nobody sends to.
static tsr_value *fill_outside(tsr_site *site, const tsr_halo *halo, int dim, tsr_value *local,
                               tsr_value *shard, tsr_value *padding, const tsr_attr *inner) {
  const tsr_halo_dim *h = &halo->dims[dim];
  const int64_t step = (halo->gaps ? halo->gaps[dim] : 0) + 1;
  const int64_t last = (tsr_operand_type(halo->op, 0)->dims[dim] - 1) * step;
  if (!local) return NULL;
  const tsr_type *type = tsr_site_retyped(site, local->type, site->ir->i64);
  const tsr_site_attr attr = {"iota_dimension", tsr_attr_i64(site->ir, dim)};
  tsr_value *first = add_binary(site, TSR_OP_MULTIPLY, shard, h->out);
  first = add_binary(site, TSR_OP_SUBTRACT, first, halo->low[dim]);
  tsr_value *place = tsr_site_add(site, TSR_OP_IOTA, type, NULL, 0, &attr, 1);
  place = tsr_site_binary(site, TSR_OP_ADD, place, tsr_site_broadcast(site, first, type, NULL));
  tsr_value *low = tsr_site_broadcast(site, tsr_site_integer(site, 64, 0), type, NULL);
  tsr_value *high = tsr_site_broadcast(site, tsr_site_integer(site, 64, last), type, NULL);
  tsr_value *after = tsr_site_compare(site, place, low, TSR_DIRECTION_GE);
  tsr_value *before = tsr_site_compare(site, place, high, TSR_DIRECTION_LE);
  tsr_value *const choice[] = {tsr_site_binary(site, TSR_OP_AND, after, before), local,
                               tsr_site_broadcast(site, padding, local->type, NULL)};
  return tsr_site_shard(site, tsr_site_add(site, TSR_OP_SELECT, local->type, choice, 3, NULL, 0),
                        inner);
}

// What the device needs of one dim. In the buffer its own shard begins after `left` shards and the
// padding; in the whole dim it begins at its number times `in`, and what it needs at its number
// times `out`, less `low`.
static tsr_value *exchange_dim(tsr_resolving *r, tsr_site *site, const tsr_halo *halo, int dim,
                               tsr_value *local, tsr_value *padding, const tsr_attr *inner) {
  const tsr_halo_dim *h = &halo->dims[dim];
  const int64_t gaps = halo->gaps ? halo->gaps[dim] : 0, step = gaps + 1;
  tsr_value *buffer = add_buffer(r, site, halo, dim, local, padding, gaps, inner);
  tsr_value *device = tsr_site_device(site, r->replicas, r->partitions);
  const tsr_sdy_parts *axes = h->axes ? h->axes : &halo->in_cut->dims[dim].axes;
  tsr_value *shard = add_shard_number(r, site, halo->in_cut->mesh, axes, device);
  tsr_value *offset = NULL, *zero = NULL;
  if (h->offsets) {
    offset = tsr_site_lookup(site, h->offsets, h->shards, shard);
    zero = tsr_site_integer(site, 64, 0);
  } else {
    tsr_value *slope = tsr_site_integer(site, 64, h->out - h->in * step);
    tsr_value *base =
        tsr_site_integer(site, 64, h->left * h->in * step + h->out * step - halo->low[dim]);
    offset = tsr_site_binary(site, TSR_OP_MULTIPLY, shard, slope);
    offset = tsr_site_binary(site, TSR_OP_ADD, offset, base);
    zero = tsr_site_integer(site, 64, 0);
    offset = tsr_site_binary(site, TSR_OP_MAXIMUM, offset, zero);
  }
  tsr_value *own =
      tsr_site_shard(site, add_slice_at(site, buffer, dim, offset, zero, h->out), inner);
  return halo->filled ? fill_outside(site, halo, dim, own, shard, padding, inner) : own;
}

// ---- manual computations ----

static const tsr_type *inner_type(tsr_site *site, const tsr_halo *halo, const tsr_type *type,
                                  const tsr_tensor_sharding *cut) {
  int64_t dims[TSR_MAX_RANK];
  for (int d = 0; d < type->rank; d++)
    dims[d] = type->dims[d] / tsr_halo_manual_count(halo, cut, d);
  return tsr_site_sized(site, type, dims);
}

// An empty manual computation; its arguments in `out_args`. NULL = the site has a failure.
static tsr_op *open_manual(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                           tsr_value *const *operands, int count, const tsr_type *result,
                           tsr_value **out_args) {
  const tsr_attr *ins[] = {halo->in_sharding, NULL};
  if (count > 1)
    ins[1] = tsr_sharding_bare(r->ir, tsr_attr_field(halo->in_sharding, TSR_SDY_SHARDING_MESH), 0,
                               false);
  const bool made = count < 2 || ins[1];
  const tsr_site_attr attrs[] = {
      {"in_shardings", made ? tsr_shardings_attr(r->ir, ins, count) : NULL},
      {"manual_axes", manual_names(r, halo)},
      {"out_shardings", tsr_shardings_attr(r->ir, &halo->out_sharding, 1)}};
  tsr_op *op =
      tsr_site_op(site, TSR_OP_SDY_MANUAL_COMPUTATION, operands, count, &result, 1, 1, attrs, 3);
  tsr_ir_block *body = op ? tsr_block_append(r->ir, &op->regions[0]) : NULL;
  if (!body) return NULL;
  for (int i = 0; i < count; i++) {
    const tsr_type *type =
        i ? operands[i]->type : inner_type(site, halo, operands[0]->type, halo->in_cut);
    out_args[i] = type ? tsr_block_add_arg(r->ir, body, type, NULL) : NULL;
    if (!out_args[i]) return NULL;
  }
  site->block = body;
  return op;
}

static tsr_value *close_manual(tsr_site *site, tsr_op *op, tsr_value *local) {
  if (local) tsr_site_op(site, TSR_OP_SDY_RETURN, &local, 1, NULL, 0, 0, NULL, 0);
  site->block = NULL;
  return local && !site->failure ? tsr_op_result(op, 0) : NULL;
}

tsr_value *tsr_halo_exchange(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                             tsr_value *operand, tsr_value *padding, tsr_halo_finish *finish) {
  tsr_value *const operands[] = {operand, padding};
  tsr_value *args[2] = {NULL};
  const tsr_type *even = NULL;
  if (!operand || !padding) return NULL;
  tsr_status status = tsr_even_type(r->ir, tsr_op_result(halo->op, 0)->type, halo->out_cut, &even);
  if (status) {
    site->failure = status;
    return NULL;
  }
  const tsr_attr *inner = tsr_halo_inner_sharding(r, halo, false);
  tsr_op *op = inner ? open_manual(r, site, halo, operands, 2, even, args) : NULL;
  if (!op) return NULL;
  tsr_value *local = args[0];
  for (int d = 0; d < halo->in_cut->rank; d++)
    if (halo->dims[d].shards > 1 && (halo->dims[d].moves || halo->dims[d].shifts))
      local = exchange_dim(r, site, halo, d, local, args[1], inner);
  if (local) local = finish(r, site, halo, local, args[1], inner, even);
  return close_manual(site, op, local);
}

// ---- shifts ----

// The shard of the neighbour `hops` before, or zeros where no device has one.
static tsr_value *add_piece(tsr_resolving *r, tsr_site *site, const tsr_halo *halo, int dim,
                            tsr_value *local, int64_t hops, const tsr_attr *inner) {
  if (!hops || !local) return local;
  tsr_value *moved = add_permute(r, site, halo, local, &halo->in_cut->dims[dim].axes, hops);
  if (!moved && !site->failure) {
    tsr_value *zero = tsr_site_zeros(site, tsr_site_scalar(site, local->type));
    moved = tsr_site_broadcast(site, zero, local->type, NULL);
  }
  return tsr_site_shard(site, moved, inner);
}

static tsr_value *shift_dim(tsr_resolving *r, tsr_site *site, const tsr_halo *halo, int dim,
                            tsr_value *local, int64_t shift, const tsr_attr *inner) {
  int64_t starts[TSR_MAX_RANK] = {0}, limits[TSR_MAX_RANK];
  if (!local) return NULL;
  const int64_t size = local->type->dims[dim], hops = shift / size, part = shift % size;
  tsr_value *head = add_piece(r, site, halo, dim, local, hops, inner);
  tsr_value *tail = add_piece(r, site, halo, dim, local, hops + 1, inner);
  memcpy(limits, local->type->dims, (size_t)local->type->rank * sizeof *limits);
  starts[dim] = size - part;
  tail = tsr_site_shard(site, tsr_site_slice(site, tail, starts, limits), inner);
  limits[dim] = size - part;
  head = tsr_site_shard(site, tsr_site_slice(site, head, NULL, limits), inner);
  tsr_value *const parts[] = {tail, head};
  return tsr_site_shard(site, add_concatenate(site, parts, 2, dim), inner);
}

tsr_value *tsr_halo_shift(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                          tsr_value *operand, const int64_t *shifts) {
  tsr_value *args[1] = {NULL};
  const tsr_attr *inner = tsr_halo_inner_sharding(r, halo, false);
  tsr_op *op =
      inner && operand ? open_manual(r, site, halo, &operand, 1, operand->type, args) : NULL;
  if (!op) return NULL;
  tsr_value *local = args[0];
  for (int d = 0; d < halo->in_cut->rank; d++)
    if (shifts[d] > 0) local = shift_dim(r, site, halo, d, local, shifts[d], inner);
  return close_manual(site, op, local);
}
