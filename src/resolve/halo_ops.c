// pad, slice and reverse of sharded dims.
#include "resolve/halo_ops.h"

#include <string.h>

#include "propagate/edits.h"

// ---- what they share ----

// Fills in the sharding of the operand; `out_cut` is NULL where no dim is sharded.
static tsr_status read_cut(tsr_resolving *r, tsr_op *op, tsr_halo *halo) {
  tsr_value *operand = tsr_op_operand(op, 0);
  halo->op = op;
  TSR_TRY(tsr_sharding_get(r->ir, operand, &halo->in_sharding));
  TSR_TRY(tsr_cut_of_value(&r->scratch, r->ir, operand, &halo->in_cut));
  halo->out_sharding = halo->in_sharding;
  halo->out_cut = halo->in_cut;
  if (!halo->in_cut || !tsr_type_is_static(operand->type)) halo->in_cut = NULL;
  for (int d = 0; halo->in_cut && d < halo->in_cut->rank; d++)
    halo->dims[d].shards = tsr_cut_count(halo->in_cut, d);
  return NULL;
}

static void take_axes(tsr_halo *halo, int dim) {
  const tsr_sdy_parts *axes = &halo->in_cut->dims[dim].axes;
  for (int64_t i = 0; i < axes->count; i++) halo->manual[axes->items[i].axis] = true;
}

tsr_value *tsr_halo_even(tsr_site *site, const tsr_halo *halo, tsr_value *padding) {
  tsr_value *operand = tsr_op_operand(halo->op, 0);
  const tsr_type *even = tsr_site_sized(site, operand->type, halo->even);
  if (!even || even == operand->type) return even ? operand : NULL;
  if (!padding) padding = tsr_site_zeros(site, tsr_site_scalar(site, even));
  return tsr_site_shard(site, tsr_site_pad_end(site, operand, padding, even), halo->in_sharding);
}

static tsr_value *add_trim(tsr_site *site, tsr_value *x, const tsr_type *type,
                           const tsr_attr *sharding) {
  if (!x || x->type == type) return x;
  return tsr_site_shard(site, tsr_site_slice(site, x, NULL, type->dims), sharding);
}

// Sizes of the shards of all dims; the dims that move.
static tsr_status fill_dims(tsr_halo *halo, int64_t *even) {
  const tsr_type *from = tsr_operand_type(halo->op, 0), *to = tsr_op_result(halo->op, 0)->type;
  for (int d = 0; d < from->rank; d++) {
    tsr_halo_dim *dim = &halo->dims[d];
    even[d] = tsr_even_size(from->dims[d], dim->shards);
    const int64_t after = tsr_even_size(to->dims[d], dim->shards);
    if (even[d] < 0 || after < 0)
      return tsr_fail(TOO_LARGE, "%s: dimension %d is too large to be padded", halo->op->name, d);
    if (dim->shards <= 1) continue;
    take_axes(halo, d);
    dim->in = even[d] / dim->shards;
    dim->out = after / dim->shards;
    if (!dim->in || !dim->out) {
      dim->moves = true;  // empty shards: gathered
      continue;
    }
    tsr_halo_dim_fill(dim, from->dims[d], halo->low[d], halo->gaps ? halo->gaps[d] : 0);
  }
  return NULL;
}

tsr_status tsr_halo_replace(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                            tsr_value *made) {
  tsr_op *op = halo->op;
  made = add_trim(site, made, tsr_op_result(op, 0)->type, halo->out_sharding);
  if (site->failure) return site->failure;
  TSR_NEED(made);
  tsr_uses_move(tsr_op_result(op, 0), made, NULL);
  tsr_op_erase(op);
  ++*r->changes;
  return NULL;
}

static void read_ints(const tsr_op *op, const char *name, int rank, int64_t *out) {
  for (int d = 0; d < rank; d++) out[d] = tsr_attr_int_at(tsr_op_attr(op, name), d);
}

// ---- pad ----

// Dims that are not sharded are padded by each device for itself.
static tsr_value *finish_pad(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                             tsr_value *local, tsr_value *padding, const tsr_attr *inner,
                             const tsr_type *result) {
  int64_t low[TSR_MAX_RANK] = {0}, high[TSR_MAX_RANK] = {0}, gaps[TSR_MAX_RANK] = {0};
  int64_t dims[TSR_MAX_RANK];
  bool any = false;
  (void)r;
  for (int d = 0; d < result->rank; d++) {
    dims[d] = result->dims[d] / tsr_halo_manual_count(halo, halo->in_cut, d);
    if (halo->dims[d].shards > 1) continue;
    low[d] = halo->low[d];
    high[d] = tsr_attr_int_at(tsr_op_attr(halo->op, "edge_padding_high"), d);
    gaps[d] = halo->gaps[d];
    any |= low[d] || high[d] || gaps[d];
  }
  if (!any) return local;
  const tsr_type *type = tsr_site_sized(site, local->type, dims);
  return tsr_site_shard(site, tsr_site_pad(site, local, padding, type, low, high, gaps), inner);
}

tsr_status tsr_halo_pad(tsr_resolving *r, tsr_op *op, bool *out_done) {
  int64_t even[TSR_MAX_RANK], low[TSR_MAX_RANK], gaps[TSR_MAX_RANK];
  tsr_halo halo = {.even = even, .low = low, .gaps = gaps};
  *out_done = true;
  TSR_TRY(read_cut(r, op, &halo));
  if (!halo.in_cut) return NULL;
  const int rank = halo.in_cut->rank;
  read_ints(op, "edge_padding_low", rank, low);
  read_ints(op, "interior_padding", rank, gaps);
  TSR_TRY(fill_dims(&halo, even));
  if (!tsr_halo_moves(&halo, rank)) return NULL;
  *out_done = tsr_halo_fits(&halo, rank);
  if (!*out_done) return NULL;
  tsr_site site = {.ir = r->ir, .place = op};
  tsr_value *padding = tsr_op_operand(op, 1);
  halo.filled = !tsr_value_is_zeros(padding);
  tsr_value *operand = tsr_halo_even(&site, &halo, padding);
  return tsr_halo_replace(r, &site, &halo,
                          tsr_halo_exchange(r, &site, &halo, operand, padding, finish_pad));
}

// ---- slice ----

static tsr_value *finish_slice(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                               tsr_value *local, tsr_value *padding, const tsr_attr *inner,
                               const tsr_type *result) {
  int64_t starts[TSR_MAX_RANK] = {0}, limits[TSR_MAX_RANK];
  bool any = false;
  (void)r;
  (void)padding;
  for (int d = 0; d < result->rank; d++) {
    limits[d] = local->type->dims[d];
    if (halo->dims[d].shards > 1) continue;
    starts[d] = -halo->low[d];
    limits[d] = tsr_attr_int_at(tsr_op_attr(halo->op, "limit_indices"), d);
    any |= starts[d] || limits[d] != local->type->dims[d];
  }
  return any ? tsr_site_shard(site, tsr_site_slice(site, local, starts, limits), inner) : local;
}

tsr_status tsr_halo_slice(tsr_resolving *r, tsr_op *op, bool *out_done) {
  int64_t even[TSR_MAX_RANK], low[TSR_MAX_RANK];
  tsr_halo halo = {.even = even, .low = low};
  *out_done = true;
  TSR_TRY(read_cut(r, op, &halo));
  if (!halo.in_cut) return NULL;
  const int rank = halo.in_cut->rank;
  read_ints(op, "start_indices", rank, low);
  bool strided = false, moves = false;
  for (int d = 0; d < rank; d++) {
    low[d] = -low[d];
    strided |= tsr_attr_int_at(tsr_op_attr(op, "strides"), d) != 1;
  }
  TSR_TRY(fill_dims(&halo, even));
  for (int d = 0; d < rank; d++) moves |= halo.dims[d].moves || halo.dims[d].shifts;
  if (!moves && !strided) return NULL;
  *out_done = !strided && tsr_halo_fits(&halo, rank);
  if (!*out_done) return NULL;
  tsr_site site = {.ir = r->ir, .place = op};
  tsr_value *operand = tsr_halo_even(&site, &halo, NULL);
  tsr_value *padding =
      operand ? tsr_site_zeros(&site, tsr_site_scalar(&site, operand->type)) : NULL;
  return tsr_halo_replace(r, &site, &halo,
                          tsr_halo_exchange(r, &site, &halo, operand, padding, finish_slice));
}

// ---- reverse ----

// The mesh whose devices are in reverse order along axes.
static const tsr_attr *reversed_mesh(tsr_resolving *r, const tsr_halo *halo, const bool *reversed) {
  const tsr_attr *mesh = halo->in_cut->mesh;
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  const tsr_attr *ids = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  int64_t devices = 1;
  for (int64_t i = 0; i < axes->count; i++) devices *= tsr_sdy_axis_size(mesh, (int)i);
  int64_t *order = tsr_ir_alloc(r->ir, ((size_t)devices + 1) * sizeof *order);
  if (!order) return NULL;
  for (int64_t i = 0; i < devices; i++) {
    int64_t from = i;
    for (int d = 0; d < halo->in_cut->rank; d++) {
      const tsr_sdy_parts *parts = &halo->in_cut->dims[d].axes;
      for (int64_t k = 0; reversed[d] && k < parts->count; k++) {
        const tsr_sdy_part *part = &parts->items[k];
        int64_t stride = tsr_sdy_axis_size(mesh, part->axis) / tsr_sdy_end(part);
        for (int64_t a = part->axis + 1; a < axes->count; a++)
          stride *= tsr_sdy_axis_size(mesh, (int)a);
        from += (part->size - 1 - 2 * (i / stride % part->size)) * stride;
      }
    }
    order[i] = tsr_attr_int_count(ids) ? tsr_attr_int_at(ids, from) : from;
  }
  const tsr_attr *const fields[] = {axes, tsr_attr_ints(r->ir, order, devices)};
  return fields[1] ? tsr_attr_record(r->ir, TSR_RECORD_SDY_MESH, fields) : NULL;
}

// The symbol of a mesh, made if the module has none.
static tsr_status name_mesh(tsr_resolving *r, const tsr_attr *mesh, const char *like,
                            const tsr_attr **out_symbol) {
  tsr_ir_block *body = r->ir->module->regions[0].first;
  const char *name = NULL;
  for (const tsr_op *op = body->first; op && !name; op = op->next)
    if (tsr_op_is(op, TSR_OP_SDY_MESH) && tsr_attr_equal(tsr_op_attr(op, "mesh"), mesh))
      name = tsr_op_symbol(op);
  if (!name) {
    char base[256];
    const size_t length = strlen(like);
    if (length + sizeof "_reversed" > sizeof base)
      return tsr_fail(TOO_LARGE, "mesh \"%s\": its name is too long", like);
    memcpy(base, like, length);
    memcpy(base + length, "_reversed", sizeof "_reversed");
    TSR_TRY(tsr_symbol_name_unused(&r->namer, base, &name));
    tsr_site site = {.ir = r->ir, .place = body->first};
    const tsr_site_attr attrs[] = {{"mesh", mesh},
                                   {"sym_name", tsr_attr_string(r->ir, name, strlen(name))}};
    tsr_site_op(&site, TSR_OP_SDY_MESH, NULL, 0, NULL, 0, 0, attrs, 2);
    if (site.failure) return site.failure;
  }
  *out_symbol = tsr_attr_symbol(r->ir, name, strlen(name));
  TSR_NEED(*out_symbol);
  return NULL;
}

// Gives the result the sharding of the mesh in reverse order, and resharding to the one it had.
static tsr_status reverse_devices(tsr_resolving *r, tsr_halo *halo, const bool *reversed,
                                  const tsr_type *whole) {
  tsr_op *op = halo->op;
  tsr_value *result = tsr_op_result(op, 0);
  const tsr_attr *out = NULL, *symbol = NULL;
  const tsr_attr *own = tsr_attr_field(halo->in_sharding, TSR_SDY_SHARDING_MESH);
  const tsr_attr *mesh = reversed_mesh(r, halo, reversed);
  TSR_NEED(mesh);
  TSR_TRY(tsr_sharding_get(r->ir, result, &out));
  TSR_TRY(name_mesh(r, mesh, own->kind == TSR_ATTR_SYMBOL ? own->bytes : "mesh", &symbol));
  const tsr_attr *sharding =
      tsr_sharding_with(r->ir, halo->in_sharding, TSR_SDY_SHARDING_MESH, symbol);
  TSR_NEED(sharding);
  TSR_TRY(tsr_value_sharding_set(r->ir, result, sharding));
  tsr_site site = {.ir = r->ir, .place = op->next ? op->next : op};
  if (!op->next) site.block = op->block;
  const tsr_site_attr attr = {"sharding", out ? out : halo->in_sharding};
  tsr_value *back = tsr_site_add(&site, TSR_OP_SDY_RESHARD, result->type, &result, 1, &attr, 1);
  tsr_value *made = add_trim(&site, back, whole, halo->in_sharding);
  if (site.failure) return site.failure;
  TSR_NEED(made);
  tsr_uses_move(result, made, back->def);
  ++*r->changes;
  return NULL;
}

// A device holds the elements that the device at the mirrored place needs. Padding at the end
// would come first, so it is moved to the front before.
tsr_status tsr_halo_reverse(tsr_resolving *r, tsr_op *op, bool *out_done) {
  int64_t even[TSR_MAX_RANK], shifts[TSR_MAX_RANK] = {0};
  bool reversed[TSR_MAX_RANK] = {false};
  tsr_halo halo = {.even = even};
  bool any = false, uneven = false;
  *out_done = true;
  TSR_TRY(read_cut(r, op, &halo));
  if (!halo.in_cut) return NULL;
  const tsr_type *whole = tsr_op_result(op, 0)->type;
  const tsr_attr *dims = tsr_op_attr(op, "dimensions");
  memcpy(even, whole->dims, (size_t)whole->rank * sizeof *even);
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++) {
    const int d = (int)tsr_attr_int_at(dims, i);
    if (halo.dims[d].shards <= 1) continue;
    any = reversed[d] = true;
    even[d] = tsr_even_size(whole->dims[d], halo.dims[d].shards);
    if (even[d] < 0) return tsr_fail(TOO_LARGE, "%s: dimension %d is too large", op->name, d);
    shifts[d] = even[d] - whole->dims[d];
    if (!shifts[d]) continue;
    uneven = true;
    take_axes(&halo, d);
  }
  if (!any) return NULL;
  if (uneven) {
    tsr_site site = {.ir = r->ir, .place = op};
    tsr_value *input = tsr_halo_even(&site, &halo, NULL);
    input = tsr_halo_shift(r, &site, &halo, input, shifts);
    if (site.failure) return site.failure;
    TSR_NEED(input);
    tsr_op_set_operand(op, 0, input);
    tsr_op_result(op, 0)->type = input->type;
  }
  return reverse_devices(r, &halo, reversed, whole);
}
