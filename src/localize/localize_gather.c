// gather and scatter whose indexed dims are sharded: each device looks at the indices that fall
// into its shard, with the start of the shard subtracted.
#include <math.h>
#include <string.h>

#include "factor/rule_build.h"
#include "localize/localize.h"
#include "propagate/edits.h"
#include "simplify/scalar.h"

typedef struct indexed {
  tsr_localizing *l;
  tsr_op *op;
  tsr_site site;
  const tsr_tensor_sharding *cut;  // of the operand
  const tsr_type *whole, *local;   // of the operand
  tsr_value *indices;
  const tsr_attr *map;     // which dim of the operand each index is of
  int64_t vector_dim;      // of the indices
  bool own[TSR_MAX_RANK];  // dims that are sharded, and of which a device has its part of indices
  bool clamped;            // indices outside are moved in (gather), or dropped (scatter)
} indexed;

static const tsr_type *scalar_of(const indexed *x) {
  return tsr_type_tensor(x->l->ir, tsr_type_element(x->indices->type), 0, NULL, NULL);
}

static tsr_value *add_constant(indexed *x, const tsr_type *type, const int64_t *numbers,
                               int64_t count) {
  const tsr_type *element = tsr_type_element(x->indices->type);
  const size_t width = tsr_type_element_bytes(element);
  char *bytes = tsr_ir_alloc(x->l->ir, (size_t)count * width + sizeof(int64_t));
  if (!type || !bytes) {
    if (!x->site.failure) x->site.failure = tsr_fail(NO_MEMORY, "indices");
    return NULL;
  }
  for (int64_t i = 0; i < count; i++) memcpy(bytes + (size_t)i * width, &numbers[i], width);
  const tsr_site_attr value = {"value",
                               tsr_attr_dense(x->l->ir, type, bytes, (size_t)count * width)};
  return tsr_site_add(&x->site, TSR_OP_CONSTANT, type, NULL, 0, &value, 1);
}

static tsr_value *broadcast(indexed *x, tsr_value *value, const tsr_type *type, const int64_t *dims,
                            int64_t count) {
  const tsr_site_attr attr = {"broadcast_dimensions", tsr_attr_ints(x->l->ir, dims, count)};
  return tsr_site_add(&x->site, TSR_OP_BROADCAST_IN_DIM, type, &value, 1, &attr, 1);
}

// ---- bounds ----

// A number for each index of a vector, for all vectors.
static tsr_value *for_indices(indexed *x, const int64_t *numbers, int64_t count) {
  const tsr_type *type = x->indices->type;
  if (x->vector_dim < type->rank && count > 1) {
    const tsr_type *list = tsr_type_tensor(x->l->ir, type->element, 1, &count, NULL);
    return broadcast(x, add_constant(x, list, numbers, count), type, &x->vector_dim, 1);
  }
  return add_constant(x, type, numbers, 1);
}

// Indices as a gather takes them: moved into the operand.
static tsr_value *clamp_indices(indexed *x) {
  int64_t most[TSR_MAX_RANK], zero = 0;
  const int64_t count = tsr_attr_int_count(x->map);
  for (int64_t i = 0; i < count; i++) most[i] = x->whole->dims[tsr_attr_int_at(x->map, i)] - 1;
  tsr_value *low = for_indices(x, &zero, 1), *high = for_indices(x, most, count);
  tsr_value *const operands[] = {low, x->indices, high};
  return tsr_site_add(&x->site, TSR_OP_CLAMP, x->indices->type, operands, 3, NULL, 0);
}

static tsr_value *scalar(indexed *x, int64_t number) {
  return add_constant(x, scalar_of(x), &number, 1);
}

// The first and the last index of the device's shard, for each index of a vector. `most` may be
// NULL.
static void add_bounds(indexed *x, tsr_value **least, tsr_value **most) {
  for (int64_t i = 0; i < tsr_attr_int_count(x->map); i++) {
    const int64_t dim = tsr_attr_int_at(x->map, i);
    if (!x->own[dim]) {
      least[i] = scalar(x, 0);
      if (most) most[i] = scalar(x, x->whole->dims[dim] - 1);
      continue;
    }
    const int64_t size = x->local->dims[dim];
    tsr_value *start =
        tsr_site_shard_start(x->l, &x->site, x->cut->mesh, tsr_cut_axes(x->cut, dim), size);
    least[i] = tsr_site_add(&x->site, TSR_OP_CONVERT, scalar_of(x), &start, 1, NULL, 0);
    if (most) most[i] = tsr_site_binary(&x->site, TSR_OP_ADD, least[i], scalar(x, size - 1));
  }
}

static tsr_value *spread_bounds(indexed *x, tsr_value **bounds) {
  const tsr_type *type = x->indices->type;
  const int64_t one = 1, count = tsr_attr_int_count(x->map);
  if (x->vector_dim >= type->rank || type->dims[x->vector_dim] == 1)
    return broadcast(x, bounds[0], type, NULL, 0);
  const tsr_type *single = tsr_type_tensor(x->l->ir, type->element, 1, &one, NULL);
  const tsr_type *list = tsr_type_tensor(x->l->ir, type->element, 1, &count, NULL);
  for (int64_t i = 0; i < count; i++)
    bounds[i] = tsr_site_add(&x->site, TSR_OP_RESHAPE, single, &bounds[i], 1, NULL, 0);
  const tsr_site_attr dim = {"dimension", tsr_attr_i64(x->l->ir, 0)};
  tsr_value *joined = tsr_site_add(&x->site, TSR_OP_CONCATENATE, list, bounds, (int)count, &dim, 1);
  return broadcast(x, joined, type, &x->vector_dim, 1);
}

static bool any_own(const indexed *x, bool indexed_ones) {
  for (int d = 0; d < x->local->rank; d++)
    if (x->own[d] && tsr_ints_have(x->map, d) == indexed_ones) return true;
  return false;
}

// The indices within the device's shard; and in `out_mask`, if not NULL, which of them are.
static tsr_value *own_indices(indexed *x, tsr_value **out_mask) {
  tsr_value *least[TSR_MAX_RANK], *most[TSR_MAX_RANK];
  if (!any_own(x, true)) return x->indices;
  tsr_value *base = x->clamped ? clamp_indices(x) : x->indices;
  add_bounds(x, least, out_mask ? most : NULL);
  tsr_value *low = spread_bounds(x, least);
  tsr_value *high = out_mask ? spread_bounds(x, most) : NULL;
  tsr_value *moved = tsr_site_binary(&x->site, TSR_OP_SUBTRACT, base, low);
  if (out_mask) {
    tsr_value *above = tsr_site_compare(&x->site, base, low, TSR_DIRECTION_GE);
    tsr_value *below = tsr_site_compare(&x->site, base, high, TSR_DIRECTION_LE);
    *out_mask = tsr_site_binary(&x->site, TSR_OP_AND, above, below);
  }
  return moved;
}

// A sharded dim that no index is of: only the device with its first element has what is asked for.
static void mask_first(indexed *x, tsr_value **mask) {
  tsr_value *first = NULL;
  if (!any_own(x, false)) return;
  for (int d = 0; d < x->local->rank; d++) {
    if (!x->own[d] || tsr_ints_have(x->map, d)) continue;
    tsr_value *start = tsr_site_shard_start(x->l, &x->site, x->cut->mesh, tsr_cut_axes(x->cut, d),
                                            x->local->dims[d]);
    tsr_value *zero = tsr_site_integer(&x->site, 64, 0);
    tsr_value *here = tsr_site_compare(&x->site, start, zero, TSR_DIRECTION_EQ);
    first = first ? tsr_site_binary(&x->site, TSR_OP_AND, first, here) : here;
  }
  if (!*mask) {
    *mask = first;
    return;
  }
  first = broadcast(x, first, (*mask)->type, NULL, 0);
  *mask = tsr_site_binary(&x->site, TSR_OP_AND, *mask, first);
}

// ---- gather ----

// Sizes of slices of dims that are sharded and sliced whole.
static tsr_status local_sizes(const indexed *x, const tsr_attr *batching, int64_t *sizes) {
  for (int d = 0; d < x->whole->rank; d++) {
    const tsr_sdy_parts *axes = tsr_cut_axes(x->cut, d);
    sizes[d] = tsr_attr_int_at(tsr_op_attr(x->op, "slice_sizes"), d);
    if (sizes[d] == 1 || tsr_ints_have(batching, d) || !axes->count) continue;
    if (sizes[d] != x->whole->dims[d])
      return tsr_fail(CONSTRAINT, "%s: dimension %d is sharded, and slices of it are not whole",
                      x->op->name, d);
    sizes[d] = x->local->dims[d];
  }
  return NULL;
}

// One truth for each vector of indices: all of its indices are inside.
static tsr_value *reduce_mask(indexed *x, tsr_value *mask) {
  int64_t dims[TSR_MAX_RANK];
  if (!mask || x->vector_dim >= mask->type->rank) return mask;
  int rank = 0;
  for (int d = 0; d < mask->type->rank; d++)
    if (d != x->vector_dim) dims[rank++] = mask->type->dims[d];
  const tsr_type *truth = tsr_type_element(mask->type);
  const tsr_type *type = tsr_type_tensor(x->l->ir, truth, rank, dims, NULL);
  const tsr_type *single = tsr_type_tensor(x->l->ir, truth, 0, NULL, NULL);
  const tsr_site_attr value = {"value", single ? tsr_attr_dense(x->l->ir, single, "\1", 1) : NULL};
  tsr_value *yes = tsr_site_add(&x->site, TSR_OP_CONSTANT, single, NULL, 0, &value, 1);
  tsr_value *const operands[] = {mask, yes};
  const tsr_site_attr attr = {"dimensions", tsr_attr_ints(x->l->ir, &x->vector_dim, 1)};
  tsr_op *op = tsr_site_op(&x->site, TSR_OP_REDUCE, operands, 2, &type, 1, 1, &attr, 1);
  tsr_site_body(&x->site, op, TSR_OP_AND, truth);
  return op ? tsr_op_result(op, 0) : NULL;
}

// Zeros where the index is in the shard of another device, which has the element.
static tsr_value *mask_result(indexed *x, tsr_value *result, tsr_value *mask,
                              const tsr_attr *offsets) {
  int64_t dims[TSR_MAX_RANK], count = 0;
  mask = reduce_mask(x, mask);
  if (!mask || !result) return NULL;
  for (int d = 0; mask->type->rank && d < result->type->rank; d++)
    if (!tsr_ints_have(offsets, d)) dims[count++] = d;
  const tsr_type *truths = tsr_site_retyped(&x->site, result->type, mask->type->element);
  mask = broadcast(x, mask, truths, dims, count);
  tsr_value *const operands[] = {mask, result, tsr_site_zeros(&x->site, result->type)};
  return tsr_site_add(&x->site, TSR_OP_SELECT, result->type, operands, 3, NULL, 0);
}

static tsr_value *add_gather(indexed *x, tsr_value *indices, const tsr_type *type,
                             const int64_t *sizes) {
  tsr_value *const operands[] = {tsr_op_operand(x->op, 0), indices};
  const tsr_site_attr attrs[] = {{"dimension_numbers", tsr_op_attr(x->op, "dimension_numbers")},
                                 {"slice_sizes", tsr_attr_ints(x->l->ir, sizes, x->whole->rank)},
                                 {"indices_are_sorted", tsr_op_attr(x->op, "indices_are_sorted")}};
  tsr_value *made =
      tsr_site_add(&x->site, TSR_OP_GATHER, type, operands, 2, attrs, attrs[2].attr ? 3 : 2);
  for (int i = 0; made && i < x->op->attr_count; i++)
    if (!tsr_op_is_inherent(x->op, x->op->attrs[i].name) &&
        !tsr_op_set_attr(x->l->ir, made->def, x->op->attrs[i].name, x->op->attrs[i].attr))
      return NULL;
  return made;
}

static bool is_summed(const tsr_op *op) {
  const tsr_use *use = tsr_op_result(op, 0)->uses;
  return use && !use->next &&
         (tsr_op_is(use->user, TSR_OP_SDY_ALL_REDUCE) ||
          tsr_op_is(use->user, TSR_OP_SDY_REDUCE_SCATTER));
}

tsr_status tsr_localize_gather(tsr_localizing *l, tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const tsr_attr *batching = tsr_attr_field(numbers, TSR_GATHER_OPERAND_BATCHING_DIMS);
  int64_t sizes[TSR_MAX_RANK];
  tsr_whole from, to;
  const tsr_type *type = NULL;
  bool partial = false;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &from));
  if (!tsr_cut_has_axes(from.cut)) return tsr_localize_plain(l, op);
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &to));
  TSR_TRY(tsr_local_type(l, op, &to, &type));
  indexed x = {.l = l,
               .op = op,
               .site = {.ir = l->ir, .place = op},
               .cut = from.cut,
               .whole = from.type,
               .local = tsr_operand_type(op, 0),
               .indices = tsr_op_operand(op, 1),
               .map = tsr_attr_field(numbers, TSR_GATHER_START_INDEX_MAP),
               .vector_dim = tsr_attr_field(numbers, TSR_GATHER_INDEX_VECTOR_DIM)->integer,
               .clamped = true};
  for (int d = 0; d < from.type->rank; d++) {
    x.own[d] = tsr_cut_count(from.cut, d) > 1 && !tsr_ints_have(batching, d) &&
               tsr_attr_int_at(tsr_op_attr(op, "slice_sizes"), d) == 1;
    partial |= x.own[d];
  }
  TSR_TRY(local_sizes(&x, batching, sizes));
  tsr_value *mask = NULL;
  tsr_value *indices = partial ? own_indices(&x, &mask) : x.indices;
  if (partial) mask_first(&x, &mask);
  tsr_value *made = add_gather(&x, indices, type, sizes);
  if (partial) {
    if (!is_summed(op) && !(to.cut && to.cut->unreduced.count))
      return tsr_fail(CONSTRAINT,
                      "%s: an indexed dimension is sharded, and no sdy.all_reduce uses its result",
                      op->name);
    made = mask_result(&x, made, mask, tsr_attr_field(numbers, TSR_GATHER_OFFSET_DIMS));
  }
  return tsr_localize_replace(l, &x.site, op, &made);
}

// ---- scatter ----

// Axes that shard the updates but not the operand: each device adds a part of the updates.
static tsr_status partial_axes(tsr_localizing *l, const tsr_op *op, const tsr_whole *input,
                               const tsr_whole *update, tsr_sdy_parts *out) {
  const tsr_attr *windows =
      tsr_attr_field(tsr_op_attr(op, "scatter_dimension_numbers"), TSR_SCATTER_UPDATE_WINDOW_DIMS);
  int64_t most = 0;
  *out = (tsr_sdy_parts){NULL, 0};
  for (int d = 0; update->cut && d < update->cut->rank; d++)
    most += update->cut->dims[d].axes.count;
  out->items = tsr_arena_alloc(&l->arena, ((size_t)most + 1) * sizeof *out->items);
  TSR_NEED(out->items);
  for (int d = 0; update->cut && d < update->cut->rank; d++)
    for (int64_t i = 0; !tsr_ints_have(windows, d) && i < update->cut->dims[d].axes.count; i++) {
      const tsr_sdy_part *part = &update->cut->dims[d].axes.items[i];
      bool shared = false;
      for (int k = 0; input->cut && k < input->cut->rank; k++)
        for (int64_t n = 0; n < input->cut->dims[k].axes.count; n++)
          shared |= tsr_sdy_same(&input->cut->dims[k].axes.items[n], part);
      if (!shared) out->items[out->count++] = *part;
    }
  return NULL;
}

// The largest or smallest number of a type; false if it has none, as floats without infinities.
static bool extreme(const tsr_scalar_type *type, bool largest, char *bytes) {
  const int sign = type->kind == TSR_CLASS_SIGNED ? 1 : 0;
  tsr_scalar scalar = {.i = 0};
  if (type->kind == TSR_CLASS_FLOAT) {
    scalar.f = largest ? INFINITY : -INFINITY;
    return tsr_scalar_store(type, scalar, bytes) && isinf(tsr_scalar_load(type, bytes).f);
  }
  if (type->kind == TSR_CLASS_COMPLEX) return false;
  const uint64_t most = UINT64_MAX >> (64 - type->bits) >> sign;
  scalar.i = (int64_t)(largest ? most : sign ? ~most : 0);
  return tsr_scalar_store(type, scalar, bytes);
}

// The number that changes nothing when it is combined by the body of the scatter; false if the body
// is no such reduction.
static bool identity_of(const tsr_op *op, tsr_scalar_type *type, char *bytes) {
  const tsr_ir_block *body = op->regions[0].first;
  const tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  const tsr_value *value = end && end->operand_count ? tsr_op_operand(end, 0) : NULL;
  if (!value || !value->def || !tsr_scalar_type_of(value->type, type)) return false;
  const bool real = type->kind == TSR_CLASS_FLOAT || type->kind == TSR_CLASS_COMPLEX;
  tsr_scalar one = {.i = 1};
  if (real) one.f = 1;
  switch (value->def->info->id) {
    case TSR_OP_ADD:
    case TSR_OP_OR:
      return tsr_scalar_store(type, (tsr_scalar){.i = 0}, bytes);
    case TSR_OP_MULTIPLY:
      return tsr_scalar_store(type, one, bytes);
    case TSR_OP_AND:
      return extreme(type, true, bytes) && type->kind != TSR_CLASS_SIGNED;
    case TSR_OP_MAXIMUM:
    case TSR_OP_MINIMUM:
      return extreme(type, value->def->info->id == TSR_OP_MINIMUM, bytes);
    default:
      return false;
  }
}

static tsr_value *add_leader(tsr_localizing *l, tsr_site *site, const tsr_attr *mesh,
                             const tsr_sdy_parts *axes, const tsr_type *like) {
  const int64_t devices = tsr_mesh_devices(mesh), zero = 0;
  char *leads = tsr_arena_alloc(&l->arena, (size_t)devices + 1);
  const tsr_type *truth = tsr_type_integer(l->ir, 1, TSR_SIGNLESS);
  if (!leads || !truth) {
    if (!site->failure) site->failure = tsr_fail(NO_MEMORY, "a table of devices");
    return NULL;
  }
  for (int64_t i = 0; i < devices; i++) leads[i] = tsr_shard_number(mesh, axes, i) == 0;
  tsr_value *device = tsr_site_device(site, l->replicas, l->partitions);
  tsr_value *leader = tsr_site_pick(site, truth, leads, devices, device);
  const tsr_site_attr attr = {"broadcast_dimensions",
                              tsr_attr_ints(l->ir, &zero, like->rank ? 1 : 0)};
  if (!like->rank)
    return leader ? tsr_site_reshape(site, leader, tsr_site_scalar(site, leader->type)) : NULL;
  return tsr_site_add(site, TSR_OP_BROADCAST_IN_DIM, tsr_site_retyped(site, like, truth), &leader,
                      1, &attr, 1);
}

// One device of those that add parts of the updates keeps the operand, the others begin with what
// changes nothing.
static tsr_status keep_once(tsr_localizing *l, tsr_site *site, tsr_op *op, int count,
                            const tsr_attr *mesh, const tsr_sdy_parts *axes) {
  tsr_scalar_type scalar;
  char *bytes = tsr_ir_alloc(l->ir, TSR_SCALAR_BYTES);
  TSR_NEED(bytes);
  if (!identity_of(op, &scalar, bytes))
    return tsr_fail(UNSUPPORTED,
                    "%s: its updates are sharded where its operand is not, and its body is no "
                    "reduction whose parts can be combined",
                    op->name);
  const tsr_type *type = tsr_operand_type(op, 0), *single = tsr_site_scalar(site, type);
  const tsr_site_attr value = {
      "value", single ? tsr_attr_dense(l->ir, single, bytes, (size_t)scalar.bytes) : NULL};
  tsr_value *identity = tsr_site_add(site, TSR_OP_CONSTANT, single, NULL, 0, &value, 1);
  tsr_value *leader = add_leader(l, site, mesh, axes, type);
  tsr_value *nothing = tsr_site_broadcast(site, identity, type, NULL);
  for (int i = 0; i < count && !site->failure; i++) {
    tsr_value *const operands[] = {leader, tsr_op_operand(op, i), nothing};
    tsr_value *begun =
        tsr_site_add(site, TSR_OP_SELECT, tsr_operand_type(op, i), operands, 3, NULL, 0);
    if (begun) tsr_op_set_operand(op, i, begun);
  }
  return site->failure;
}

tsr_status tsr_localize_scatter(tsr_localizing *l, tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "scatter_dimension_numbers");
  const int count = op->operand_count / 2;
  tsr_whole input, update;
  tsr_sdy_parts partial;
  bool any = false;
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, 0), &input));
  TSR_TRY(tsr_whole_of(l, tsr_op_operand(op, count + 1), &update));
  TSR_TRY(partial_axes(l, op, &input, &update, &partial));
  indexed x = {.l = l,
               .op = op,
               .site = {.ir = l->ir, .place = op},
               .cut = input.cut,
               .whole = input.type,
               .local = tsr_operand_type(op, 0),
               .indices = tsr_op_operand(op, count),
               .map = tsr_attr_field(numbers, TSR_SCATTER_DIMS_TO_OPERAND_DIMS),
               .vector_dim = tsr_attr_field(numbers, TSR_SCATTER_INDEX_VECTOR_DIM)->integer};
  if (partial.count) TSR_TRY(keep_once(l, &x.site, op, count, update.cut->mesh, &partial));
  for (int d = 0; tsr_cut_has_axes(input.cut) && d < input.cut->rank; d++) {
    if (!input.cut->dims[d].axes.count) continue;
    any |= x.own[d] = tsr_ints_have(x.map, d);
    if (!x.own[d] && tsr_ints_have(tsr_attr_field(numbers, TSR_SCATTER_INSERTED_WINDOW_DIMS), d))
      return tsr_fail(UNSUPPORTED,
                      "%s: dimension %d of its operand is sharded, inserted, and no "
                      "index is of it",
                      op->name, d);
  }
  if (any) {
    tsr_value *indices = own_indices(&x, NULL);
    if (x.site.failure) return x.site.failure;
    TSR_NEED(indices);
    tsr_op_set_operand(op, count, indices);
  }
  return tsr_localize_plain(l, op);
}
