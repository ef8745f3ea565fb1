// Shardy's collectives as those of StableHLO, and constants.
#include <stdlib.h>
#include <string.h>

#include "localize/localize.h"
#include "propagate/edits.h"
#include "simplify/scalar.h"

// ---- what they share ----

typedef struct collective {
  tsr_localizing *l;
  tsr_op *op;
  tsr_site site;
  const tsr_tensor_sharding *cut;  // of the result
  const tsr_type *type;            // of the result on one device
  tsr_value *input;
} collective;

static tsr_status open_collective(tsr_localizing *l, tsr_op *op, collective *out) {
  tsr_whole whole;
  *out = (collective){.l = l, .op = op, .site = {.ir = l->ir, .place = op}};
  out->input = tsr_op_operand(op, 0);
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &whole));
  if (!whole.cut) return tsr_fail(CONSTRAINT, "%s: its sharding names no mesh with axes", op->name);
  if (!tsr_type_is_static(out->input->type))
    return tsr_fail(UNSUPPORTED, "%s: a tensor of unknown size", op->name);
  out->cut = whole.cut;
  return tsr_local_type(l, op, &whole, &out->type);
}

static tsr_status close_collective(collective *c, tsr_value *value) {
  return tsr_localize_replace(c->l, &c->site, c->op, &value);
}

// Lists of axes, one for each dim.
static tsr_status read_lists(const collective *c, const char *name, tsr_sdy_parts *out_lists) {
  const tsr_attr *lists = tsr_attr_field(tsr_op_attr(c->op, name), TSR_SDY_AXIS_LISTS_LISTS);
  for (int64_t d = 0; d < lists->count && d < TSR_MAX_RANK; d++)
    TSR_TRY(tsr_axis_list_read(
        c->l, c->cut, tsr_attr_field(lists->items[d], TSR_SDY_AXIS_LIST_AXES), &out_lists[d]));
  return NULL;
}

static int count_lists(const tsr_sdy_parts *lists, int rank) {
  int count = 0;
  for (int d = 0; d < rank; d++) count += lists[d].count > 0;
  return count;
}

// The axes of all lists, one after another.
static tsr_status join_lists(const collective *c, const tsr_sdy_parts *lists, int count,
                             tsr_sdy_parts *out) {
  int64_t total = 0;
  for (int i = 0; i < count; i++) total += lists[i].count;
  out->items = tsr_arena_alloc(&c->l->arena, ((size_t)total + 1) * sizeof *out->items);
  TSR_NEED(out->items);
  out->count = 0;
  for (int i = 0; i < count; i++)
    for (int64_t k = 0; k < lists[i].count; k++) out->items[out->count++] = lists[i].items[k];
  return NULL;
}

static tsr_value *reshape_to(collective *c, tsr_value *x, int rank, const int64_t *dims) {
  if (!x) return NULL;
  const tsr_type *type = tsr_type_tensor(c->l->ir, x->type->element, rank, dims, NULL);
  return type ? tsr_site_add(&c->site, TSR_OP_RESHAPE, type, &x, 1, NULL, 0) : NULL;
}

static tsr_value *transpose_to(collective *c, tsr_value *x, const int64_t *order) {
  int64_t dims[3 * TSR_MAX_RANK];
  if (!x) return NULL;
  for (int d = 0; d < x->type->rank; d++) dims[d] = x->type->dims[order[d]];
  const tsr_type *type = tsr_type_tensor(c->l->ir, x->type->element, x->type->rank, dims, NULL);
  const tsr_site_attr attr = {"permutation", tsr_attr_ints(c->l->ir, order, x->type->rank)};
  return tsr_site_add(&c->site, TSR_OP_TRANSPOSE, type, &x, 1, &attr, 1);
}

// ---- all_gather ----

tsr_value *tsr_gathered_dim_find(const tsr_localizing *l, const tsr_site *site, const tsr_value *x,
                                 int64_t dim, const tsr_sdy_parts *axes) {
  const tsr_ir_block *block = site->block ? site->block : site->place->block;
  for (uint32_t i = 0; i < l->gathered_count && i < TSR_GATHERED_KEPT; i++) {
    const tsr_gathered_dim *g = &l->gathered[i];
    if (g->x == x && g->dim == dim && g->all->def->block == block &&
        tsr_sdy_parts_equal(&g->axes, axes))
      return g->all;
  }
  return NULL;
}

tsr_value *tsr_site_all_gather(tsr_localizing *l, tsr_site *site, tsr_value *x, int64_t dim,
                               const tsr_tensor_sharding *cut, const tsr_sdy_parts *axes) {
  int64_t dims[TSR_MAX_RANK + 1];
  tsr_value *made = x ? tsr_gathered_dim_find(l, site, x, dim, axes) : NULL;
  if (!x || made) return made;
  if (!x->type->dims[dim]) return x;  // an empty dim is not gathered, and stays as it is
  memcpy(dims, x->type->dims, (size_t)x->type->rank * sizeof *dims);
  dims[dim] *= tsr_parts_size(axes);
  const tsr_type *type = tsr_type_tensor(l->ir, x->type->element, x->type->rank, dims, NULL);
  const tsr_site_attr attrs[] = {{"all_gather_dim", tsr_attr_i64(l->ir, dim)},
                                 {"channel_handle", tsr_next_channel(l)},
                                 {"replica_groups", tsr_device_groups(l, cut, axes)},
                                 {"use_global_device_ids", tsr_attr_unit(l->ir)}};
  made = tsr_site_add(site, TSR_OP_ALL_GATHER, type, &x, 1, attrs, 4);
  if (made && l->exchange)
    l->gathered[l->gathered_count++ % TSR_GATHERED_KEPT] = (tsr_gathered_dim){x, *axes, dim, made};
  return made;
}

static tsr_value *add_all_gather(collective *c, tsr_value *x, int64_t dim,
                                 const tsr_sdy_parts *axes) {
  return tsr_site_all_gather(c->l, &c->site, x, dim, c->cut, axes);
}

// One gather for several dims: along a new first dim, whose factors then go before their dims.
static tsr_status gather_together(collective *c, const tsr_sdy_parts *lists) {
  const tsr_type *local = c->input->type;
  const int rank = local->rank, count = count_lists(lists, rank);
  int64_t front[TSR_MAX_RANK + 1] = {1}, split[2 * TSR_MAX_RANK], order[2 * TSR_MAX_RANK];
  int64_t whole[TSR_MAX_RANK];
  tsr_sdy_parts all;
  int factor = 0, place = 0;
  TSR_TRY(join_lists(c, lists, rank, &all));
  for (int d = 0; d < rank; d++) {
    front[d + 1] = split[count + d] = whole[d] = local->dims[d];
    if (lists[d].count) {
      split[factor] = tsr_parts_size(&lists[d]);
      whole[d] *= split[factor];
      order[place++] = factor++;
    }
    order[place++] = count + d;
  }
  tsr_value *x = reshape_to(c, c->input, rank + 1, front);
  x = add_all_gather(c, x, 0, &all);
  x = reshape_to(c, x, rank + count, split);
  x = transpose_to(c, x, order);
  return close_collective(c, reshape_to(c, x, rank, whole));
}

tsr_status tsr_localize_all_gather(tsr_localizing *l, tsr_op *op) {
  tsr_sdy_parts lists[TSR_MAX_RANK] = {{NULL, 0}};
  collective c;
  TSR_TRY(open_collective(l, op, &c));
  TSR_TRY(read_lists(&c, "gathering_axes", lists));
  const int rank = c.type->rank;
  if (!l->per_dim && count_lists(lists, rank) > 1) return gather_together(&c, lists);
  tsr_value *x = c.input;
  for (int d = rank - 1; d >= 0; d--)
    if (lists[d].count) x = add_all_gather(&c, x, d, &lists[d]);
  return close_collective(&c, x);
}

// ---- reductions ----

static const tsr_op_id reduction_ops[] = {[TSR_SDY_REDUCTION_SUM] = TSR_OP_ADD,
                                          [TSR_SDY_REDUCTION_MAX] = TSR_OP_MAXIMUM,
                                          [TSR_SDY_REDUCTION_MIN] = TSR_OP_MINIMUM};

static tsr_value *add_reduction(collective *c, tsr_op_id id, tsr_value *x, const tsr_type *type,
                                const tsr_sdy_parts *axes, int64_t dim) {
  const int64_t reduction = tsr_op_int(c->op, "reduction_op", TSR_SDY_REDUCTION_SUM);
  const tsr_site_attr attrs[] = {{"channel_handle", tsr_next_channel(c->l)},
                                 {"replica_groups", tsr_device_groups(c->l, c->cut, axes)},
                                 {"use_global_device_ids", tsr_attr_unit(c->l->ir)},
                                 {"scatter_dimension", tsr_attr_i64(c->l->ir, dim)}};
  tsr_op *op = tsr_site_op(&c->site, id, &x, 1, &type, 1, 1, attrs, dim < 0 ? 3 : 4);
  tsr_site_body(&c->site, op, reduction_ops[reduction], type->element);
  return op ? tsr_op_result(op, 0) : NULL;
}

tsr_value *tsr_site_all_reduce(tsr_localizing *l, tsr_site *site, tsr_value *x, tsr_op_id id,
                               const tsr_tensor_sharding *cut, const tsr_sdy_parts *axes) {
  const tsr_site_attr attrs[] = {{"channel_handle", tsr_next_channel(l)},
                                 {"replica_groups", tsr_device_groups(l, cut, axes)},
                                 {"use_global_device_ids", tsr_attr_unit(l->ir)}};
  if (!x) return NULL;
  tsr_op *op = tsr_site_op(site, TSR_OP_ALL_REDUCE, &x, 1, &x->type, 1, 1, attrs, 3);
  if (!op) return NULL;
  tsr_site_body(site, op, id, x->type->element);
  return tsr_op_result(op, 0);
}

tsr_value *tsr_site_all_sum(tsr_localizing *l, tsr_site *site, tsr_value *x,
                            const tsr_tensor_sharding *cut, const tsr_sdy_parts *axes) {
  if (!x) return NULL;
  return tsr_site_all_reduce(l, site, x, x->type->dtype == TSR_BOOL ? TSR_OP_OR : TSR_OP_ADD, cut,
                             axes);
}

tsr_value *tsr_site_neutral(tsr_site *site, const tsr_type *like) {
  const tsr_type *type = tsr_site_scalar(site, like);
  char *bytes = tsr_ir_alloc(site->ir, TSR_SCALAR_BYTES);
  tsr_scalar_type scalar;
  tsr_scalar zero = {.i = 0};
  if (!type || !bytes || !tsr_scalar_type_of(type, &scalar)) return tsr_site_zeros(site, type);
  if (scalar.kind == TSR_CLASS_FLOAT || scalar.kind == TSR_CLASS_COMPLEX)
    zero = (tsr_scalar){.f = -0.0, .imag = -0.0};
  if (!tsr_scalar_store(&scalar, zero, bytes)) return tsr_site_zeros(site, type);
  const tsr_site_attr value = {"value",
                               tsr_attr_dense(site->ir, type, bytes, (size_t)scalar.bytes)};
  return tsr_site_add(site, TSR_OP_CONSTANT, type, NULL, 0, &value, 1);
}

tsr_status tsr_localize_all_reduce(tsr_localizing *l, tsr_op *op) {
  tsr_sdy_parts axes;
  collective c;
  TSR_TRY(open_collective(l, op, &c));
  TSR_TRY(tsr_axis_list_read(
      l, c.cut, tsr_attr_field(tsr_op_attr(op, "reduction_axes"), TSR_SDY_AXIS_LIST_AXES), &axes));
  return close_collective(&c, add_reduction(&c, TSR_OP_ALL_REDUCE, c.input, c.type, &axes, -1));
}

// Several dims at once: their factors are brought to the front and scattered together.
static tsr_status scatter_together(collective *c, const tsr_sdy_parts *lists,
                                   const tsr_sdy_parts *all) {
  const tsr_type *local = c->input->type;
  const int rank = local->rank, count = count_lists(lists, rank);
  int64_t split[2 * TSR_MAX_RANK], order[2 * TSR_MAX_RANK], front[TSR_MAX_RANK + 1];
  int factor = 0, rest = count, place = 0;
  for (int d = 0; d < rank; d++) {
    if (lists[d].count) {
      split[place] = tsr_parts_size(&lists[d]);
      order[factor++] = place++;
    }
    split[place] = c->type->dims[d];
    order[rest++] = place++;
    front[d + 1] = c->type->dims[d];
  }
  front[0] = tsr_parts_size(all);
  tsr_value *x = reshape_to(c, c->input, rank + count, split);
  x = transpose_to(c, x, order);
  x = reshape_to(c, x, rank + 1, front);
  front[0] = 1;
  const tsr_type *type = tsr_type_tensor(c->l->ir, local->element, rank + 1, front, NULL);
  TSR_NEED(type);
  x = x ? add_reduction(c, TSR_OP_REDUCE_SCATTER, x, type, all, 0) : NULL;
  return close_collective(c, reshape_to(c, x, rank, c->type->dims));
}

tsr_status tsr_localize_reduce_scatter(tsr_localizing *l, tsr_op *op) {
  tsr_sdy_parts lists[TSR_MAX_RANK] = {{NULL, 0}}, all;
  collective c;
  int last = 0;
  TSR_TRY(open_collective(l, op, &c));
  TSR_TRY(read_lists(&c, "reduce_scatter_axes", lists));
  TSR_TRY(join_lists(&c, lists, c.type->rank, &all));
  for (int d = 0; d < c.type->rank; d++)
    if (lists[d].count) last = d;
  const int count = count_lists(lists, c.type->rank);
  if (!count) return close_collective(&c, c.input);
  if (count == 1)
    return close_collective(
        &c, add_reduction(&c, TSR_OP_REDUCE_SCATTER, c.input, c.type, &lists[last], last));
  if (l->combine) return scatter_together(&c, lists, &all);
  tsr_value *sum = add_reduction(&c, TSR_OP_ALL_REDUCE, c.input, c.input->type, &all, -1);
  return close_collective(&c, tsr_site_own_shard(l, &c.site, sum, c.cut->mesh, lists, c.type));
}

// ---- all_slice, constants ----

tsr_status tsr_localize_all_slice(tsr_localizing *l, tsr_op *op) {
  tsr_sdy_parts lists[TSR_MAX_RANK] = {{NULL, 0}};
  collective c;
  TSR_TRY(open_collective(l, op, &c));
  TSR_TRY(read_lists(&c, "slicing_axes", lists));
  return close_collective(&c, tsr_site_own_shard(l, &c.site, c.input, c.cut->mesh, lists, c.type));
}

tsr_status tsr_localize_constant(tsr_localizing *l, tsr_op *op) {
  tsr_sdy_parts lists[TSR_MAX_RANK] = {{NULL, 0}};
  tsr_whole whole;
  const tsr_type *type = NULL;
  const tsr_attr *value = tsr_op_attr(op, "value");
  TSR_TRY(tsr_whole_of(l, tsr_op_result(op, 0), &whole));
  TSR_TRY(tsr_local_type(l, op, &whole, &type));
  if (tsr_op_is(op, TSR_OP_CONSTANT) && type == whole.type) return NULL;
  if (type != whole.type && value->kind != TSR_ATTR_DENSE)
    return tsr_fail(UNSUPPORTED, "%s: a sharded constant whose elements are elsewhere", op->name);
  tsr_site site = {.ir = l->ir, .place = op};
  const bool cut = type != whole.type && !value->splat;
  const tsr_type *made = cut ? whole.type : type;
  const tsr_site_attr attr = {
      "value",
      made == whole.type ? value : tsr_attr_dense(l->ir, made, value->bytes, value->length)};
  tsr_value *x = tsr_site_add(&site, TSR_OP_CONSTANT, made, NULL, 0, &attr, 1);
  for (int d = 0; cut && d < type->rank; d++) lists[d] = whole.cut->dims[d].axes;
  if (cut && x) x = tsr_site_own_shard(l, &site, x, whole.cut->mesh, lists, type);
  return tsr_localize_replace(l, &site, op, &x);
}

// ---- all_to_all ----

typedef struct exchange {
  tsr_sdy_parts axes;
  int64_t source, target, size;
} exchange;

static int by_target(const void *a, const void *b) {
  const int64_t x = ((const exchange *)a)->target, y = ((const exchange *)b)->target;
  return (x > y) - (x < y);
}

static tsr_value *add_all_to_all(collective *c, tsr_value *x, int64_t split, int64_t joined,
                                 const tsr_sdy_parts *axes) {
  int64_t dims[2 * TSR_MAX_RANK];
  const int64_t size = tsr_parts_size(axes);
  if (!x) return NULL;
  memcpy(dims, x->type->dims, (size_t)x->type->rank * sizeof *dims);
  dims[split] /= size;  // divided: the sharding of the result cuts the dim in as many more
  dims[joined] *= size;
  const tsr_type *type = tsr_type_tensor(c->l->ir, x->type->element, x->type->rank, dims, NULL);
  const tsr_site_attr attrs[] = {{"channel_handle", tsr_next_channel(c->l)},
                                 {"concat_dimension", tsr_attr_i64(c->l->ir, joined)},
                                 {"replica_groups", tsr_device_groups(c->l, c->cut, axes)},
                                 {"split_count", tsr_attr_i64(c->l->ir, size)},
                                 {"split_dimension", tsr_attr_i64(c->l->ir, split)}};
  return tsr_site_add(&c->site, TSR_OP_ALL_TO_ALL, type, &x, 1, attrs, 5);
}

// Several exchanges at once: what is split off each target dim is brought to the front as one dim,
// exchanged, and put before the source dims.
static tsr_status exchange_together(collective *c, exchange *list, int count) {
  const tsr_type *local = c->input->type;
  const int rank = local->rank;
  int64_t split[2 * TSR_MAX_RANK], order[2 * TSR_MAX_RANK], moved[2 * TSR_MAX_RANK];
  int64_t front[TSR_MAX_RANK + 1], back[2 * TSR_MAX_RANK], dims[TSR_MAX_RANK];
  tsr_sdy_parts lists[TSR_MAX_RANK], all;
  int place = 0, rest = count, next = 0;
  qsort(list, (size_t)count, sizeof *list, by_target);
  for (int d = 0; d < rank; d++) {
    int64_t size = local->dims[d];
    if (next < count && list[next].target == d) {  // targets differ, by the op's verifier
      size /= list[next].size;
      order[next] = place;
      split[place++] = list[next].size;
      lists[next] = list[next].axes;
      next++;
    }
    order[rest++] = place;
    split[place++] = size;
    front[d + 1] = dims[d] = size;
  }
  TSR_TRY(join_lists(c, lists, count, &all));
  front[0] = tsr_parts_size(&all);
  for (int i = 0; i < rank + count; i++) moved[i] = split[order[i]];
  place = 0;
  for (int d = 0; d < rank; d++) {
    for (int i = 0; i < count; i++)
      if (list[i].source == d) {
        back[place++] = i;
        dims[d] *= list[i].size;
      }
    back[place++] = count + d;
  }
  tsr_value *x = reshape_to(c, c->input, rank + count, split);
  x = transpose_to(c, x, order);
  x = reshape_to(c, x, rank + 1, front);
  x = add_all_to_all(c, x, 0, 0, &all);
  x = reshape_to(c, x, rank + count, moved);
  x = transpose_to(c, x, back);
  return close_collective(c, reshape_to(c, x, rank, dims));
}

tsr_status tsr_localize_all_to_all(tsr_localizing *l, tsr_op *op) {
  const tsr_attr *params = tsr_attr_field(tsr_op_attr(op, "params"), TSR_SDY_ALL_TO_ALLS_PARAMS);
  exchange list[TSR_MAX_RANK];
  collective c;
  TSR_TRY(open_collective(l, op, &c));
  if (params->count > TSR_MAX_RANK)
    return tsr_fail(CONSTRAINT, "%s: %lld exchanges", op->name, (long long)params->count);
  for (int64_t i = 0; i < params->count; i++) {
    const tsr_attr *param = params->items[i];
    list[i].source = tsr_attr_field(param, TSR_SDY_ALL_TO_ALL_SOURCE)->integer;
    list[i].target = tsr_attr_field(param, TSR_SDY_ALL_TO_ALL_TARGET)->integer;
    TSR_TRY(tsr_axis_list_read(l, c.cut, tsr_attr_field(param, TSR_SDY_ALL_TO_ALL_AXES),
                               &list[i].axes));
    list[i].size = tsr_parts_size(&list[i].axes);
  }
  if (params->count > 1) return exchange_together(&c, list, (int)params->count);
  return close_collective(
      &c, add_all_to_all(&c, c.input, list[0].target, list[0].source, &list[0].axes));
}

// ---- collective_permute ----

// Splits all axes that the two shardings have at the borders of both, in the order of the mesh.
static tsr_status common_pieces(const collective *c, const tsr_tensor_sharding *from,
                                tsr_sdy_parts *out) {
  const tsr_tensor_sharding *const both[] = {from, c->cut};
  const tsr_attr *axes = tsr_attr_field(c->cut->mesh, TSR_SDY_MESH_AXES);
  int64_t borders = axes->count;
  for (int s = 0; s < 2; s++)
    for (int d = 0; d < both[s]->rank; d++) borders += 2 * both[s]->dims[d].axes.count;
  out->items = tsr_arena_alloc(&c->l->arena, ((size_t)borders + 1) * sizeof *out->items);
  TSR_NEED(out->items);
  out->count = 0;
  for (int axis = 0; axis < axes->count; axis++) {
    const int64_t size = tsr_sdy_axis_size(c->cut->mesh, axis);
    int64_t at = 1;
    do {
      int64_t next = size;
      for (int s = 0; s < 2; s++)
        for (int d = 0; d < both[s]->rank; d++)
          for (int64_t i = 0; i < both[s]->dims[d].axes.count; i++) {
            const tsr_sdy_part *part = &both[s]->dims[d].axes.items[i];
            if (part->axis != axis) continue;
            if (part->pre > at && part->pre < next) next = part->pre;
            if (tsr_sdy_end(part) > at && tsr_sdy_end(part) < next) next = tsr_sdy_end(part);
          }
      if (next % at)
        return tsr_fail(UNSUPPORTED, "%s: parts of an axis that have no common refinement",
                        c->op->name);
      out->items[out->count++] = tsr_part_of(c->cut->mesh, axis, at, next / at);
      at = next;
    } while (at < size);
  }
  return NULL;
}

// The pieces in the order in which a sharding has them, then the others: a device's number along
// them tells what it holds, and is its own.
static tsr_status order_pieces(const collective *c, const tsr_tensor_sharding *cut,
                               const tsr_sdy_parts *pieces, tsr_sdy_parts *out) {
  out->items = tsr_arena_alloc(&c->l->arena, ((size_t)pieces->count + 1) * sizeof *out->items);
  TSR_NEED(out->items);
  out->count = 0;
  for (int d = 0; d <= cut->rank; d++)
    for (int64_t i = 0; i < (d < cut->rank ? cut->dims[d].axes.count : 1); i++)
      for (int64_t k = 0; k < pieces->count; k++) {
        const tsr_sdy_part *piece = &pieces->items[k];
        bool had = false;
        for (int64_t n = 0; n < out->count; n++) had |= tsr_sdy_same(&out->items[n], piece);
        if (!had && (d == cut->rank || tsr_part_contains(&cut->dims[d].axes.items[i], piece)))
          out->items[out->count++] = *piece;
      }
  return NULL;
}

tsr_status tsr_localize_permute(tsr_localizing *l, tsr_op *op) {
  tsr_sdy_parts pieces, from, to;
  tsr_whole source;
  collective c;
  TSR_TRY(open_collective(l, op, &c));
  TSR_TRY(tsr_whole_of(l, c.input, &source));
  TSR_TRY(common_pieces(&c, source.cut, &pieces));
  TSR_TRY(order_pieces(&c, source.cut, &pieces, &from));
  TSR_TRY(order_pieces(&c, c.cut, &pieces, &to));
  const int64_t devices = tsr_mesh_devices(c.cut->mesh), dims[] = {devices, 2};
  int64_t *pairs = tsr_ir_alloc(l->ir, (size_t)devices * 2 * sizeof *pairs);
  int64_t *holders = tsr_arena_alloc(&l->arena, (size_t)devices * sizeof *holders);
  const tsr_type *type = tsr_type_tensor(l->ir, l->ir->i64, 2, dims, NULL);
  TSR_NEED(pairs && holders ? type : NULL);
  for (int64_t i = 0; i < devices; i++) holders[tsr_shard_number(c.cut->mesh, &to, i)] = i;
  for (int64_t i = 0; i < devices; i++) {
    pairs[2 * i] = i;
    pairs[2 * i + 1] = holders[tsr_shard_number(source.cut->mesh, &from, i)];
  }
  const tsr_site_attr attrs[] = {
      {"channel_handle", tsr_next_channel(l)},
      {"source_target_pairs",
       tsr_attr_dense(l->ir, type, pairs, (size_t)devices * 2 * sizeof *pairs)}};
  return close_collective(
      &c, tsr_site_add(&c.site, TSR_OP_COLLECTIVE_PERMUTE, c.input->type, &c.input, 1, attrs, 2));
}
