// The ops of an exchange. Each round cuts what a device sends out of its leaf, sends it, moves what
// came to its place in the result, and takes it where the device's piece is.
#include <stdlib.h>

#include "combine/exchange_plan.h"
#include "propagate/edits.h"
#include "resolve/cut_build.h"

typedef struct emitting {
  const tsr_exchange_plan *plan;
  tsr_site site;
  const tsr_type *type;  // of the result
  int dim;
  int64_t *table;     // a number for each device
  tsr_value *device;  // its number; NULL = not asked for yet
  int64_t *channel;
} emitting;

// ---- numbers of devices ----

static bool is_constant(const emitting *e) {
  for (int64_t i = 1; i < e->plan->trace.devices; i++)
    if (e->table[i] != e->table[0]) return false;
  return true;
}

// The entry of the table that a device has.
static tsr_value *own_number(emitting *e) {
  if (is_constant(e)) return tsr_site_integer(&e->site, 64, e->table[0]);
  if (!e->device) e->device = tsr_site_device(&e->site, 1, 1);
  return tsr_site_lookup(&e->site, e->table, e->plan->trace.devices, e->device);
}

// The elements of `x` from the device's entry of the table on.
static tsr_value *own_slice(emitting *e, tsr_value *x, int64_t width) {
  int64_t dims[TSR_MAX_RANK];
  tsr_value *operands[TSR_MAX_RANK + 1] = {x};
  if (!x || (width == x->type->dims[e->dim] && is_constant(e) && !e->table[0])) return x;
  for (int d = 0; d < x->type->rank; d++) dims[d] = d == e->dim ? width : x->type->dims[d];
  for (int d = 0; d < x->type->rank; d++)
    operands[d + 1] = d == e->dim ? own_number(e) : tsr_site_integer(&e->site, 64, 0);
  const tsr_site_attr sizes = {"slice_sizes", tsr_attr_ints(e->site.ir, dims, x->type->rank)};
  return tsr_site_add(&e->site, TSR_OP_DYNAMIC_SLICE, tsr_site_sized(&e->site, x->type, dims),
                      operands, x->type->rank + 1, &sizes, 1);
}

// ---- one round ----

// Where a device begins to cut: at its piece, or earlier if the round is wider than what follows.
static int64_t sent_start(const tsr_exchange_round *round, const tsr_traced_piece *piece, int dim) {
  const int64_t most = round->leaf->type->dims[dim] - round->width;
  return piece->from < most ? piece->from : most;
}

static const tsr_attr *pairs_of(emitting *e, const tsr_exchange_round *round) {
  const int64_t devices = e->plan->trace.devices;
  int64_t *pairs = tsr_ir_alloc(e->site.ir, ((size_t)devices * 2 + 1) * sizeof *pairs);
  int64_t dims[] = {0, 2};
  if (!pairs) return NULL;
  for (int64_t i = 0; i < devices; i++)
    if (round->from[i]) {
      pairs[2 * dims[0]] = i;
      pairs[2 * dims[0]++ + 1] = round->from[i]->target;
    }
  const tsr_type *type = tsr_type_tensor(e->site.ir, e->site.ir->i64, 2, dims, NULL);
  return type ? tsr_attr_dense(e->site.ir, type, pairs, (size_t)dims[0] * 2 * sizeof *pairs) : NULL;
}

static tsr_value *send(emitting *e, const tsr_exchange_round *round) {
  int64_t usual = 0;  // for devices that send nothing
  for (int64_t i = e->plan->trace.devices; i-- > 0;)
    if (round->from[i]) usual = sent_start(round, round->from[i], e->dim);
  for (int64_t i = 0; i < e->plan->trace.devices; i++)
    e->table[i] = round->from[i] ? sent_start(round, round->from[i], e->dim) : usual;
  tsr_value *cut = own_slice(e, round->leaf, round->width);
  const tsr_site_attr attrs[] = {{"channel_handle", tsr_channel_attr(e->site.ir, (*e->channel)++)},
                                 {"source_target_pairs", pairs_of(e, round)}};
  return cut ? tsr_site_add(&e->site, TSR_OP_COLLECTIVE_PERMUTE, cut->type, &cut, 1, attrs, 2)
             : NULL;
}

// Moves what a device has to its place in a value of the size of the result.
static tsr_value *move_to_place(emitting *e, const tsr_exchange_round *round, tsr_value *x) {
  int64_t low[TSR_MAX_RANK] = {0}, high[TSR_MAX_RANK] = {0}, dims[TSR_MAX_RANK];
  const int64_t size = e->type->dims[e->dim], width = x ? x->type->dims[e->dim] : 0;
  int64_t usual = 0;
  for (int64_t i = e->plan->trace.devices; i-- > 0;) {
    const tsr_traced_piece *piece = round->to[i];
    if (!piece) continue;
    // The index in x of the first element of the result.
    usual = piece->from - piece->at - (round->local ? 0 : sent_start(round, piece, e->dim));
    e->table[i] = usual;
    if (-usual > low[e->dim]) low[e->dim] = -usual;
    if (usual + size - width > high[e->dim]) high[e->dim] = usual + size - width;
  }
  for (int64_t i = 0; i < e->plan->trace.devices; i++)
    e->table[i] = (round->to[i] ? e->table[i] : usual) + low[e->dim];
  if (!x) return NULL;
  for (int d = 0; d < e->type->rank; d++) dims[d] = x->type->dims[d] + low[d] + high[d];
  if (low[e->dim] || high[e->dim])
    x = tsr_site_pad(&e->site, x, tsr_site_zeros(&e->site, tsr_site_scalar(&e->site, x->type)),
                     tsr_site_sized(&e->site, x->type, dims), low, high, NULL);
  return own_slice(e, x, size);
}

static tsr_value *spread_number(emitting *e, const tsr_type *type) {
  tsr_value *number = own_number(e);
  return number && type ? tsr_site_broadcast(&e->site, number, type, NULL) : NULL;
}

// `old` but for the device's piece, which is that of `moved`.
static tsr_value *take_piece(emitting *e, const tsr_exchange_round *round, tsr_value *moved,
                             tsr_value *old) {
  const int64_t devices = e->plan->trace.devices, size = e->type->dims[e->dim];
  bool whole = true;
  for (int64_t i = 0; i < devices; i++)
    whole = whole && round->to[i] && round->to[i]->count == size;
  if (!old || whole || !moved) return moved;
  const tsr_type *type =
      tsr_type_tensor(e->site.ir, e->site.ir->i64, e->type->rank, e->type->dims, NULL);
  const tsr_site_attr along = {"iota_dimension", tsr_attr_i64(e->site.ir, e->dim)};
  tsr_value *index = type ? tsr_site_add(&e->site, TSR_OP_IOTA, type, NULL, 0, &along, 1) : NULL;
  for (int64_t i = 0; i < devices; i++) e->table[i] = round->to[i] ? round->to[i]->at : 0;
  tsr_value *after = tsr_site_compare(&e->site, index, spread_number(e, type), TSR_DIRECTION_GE);
  for (int64_t i = 0; i < devices; i++)
    e->table[i] = round->to[i] ? round->to[i]->at + round->to[i]->count : 0;
  tsr_value *before = tsr_site_compare(&e->site, index, spread_number(e, type), TSR_DIRECTION_LT);
  tsr_value *const operands[] = {tsr_site_binary(&e->site, TSR_OP_AND, after, before), moved, old};
  return operands[0] ? tsr_site_add(&e->site, TSR_OP_SELECT, e->type, operands, 3, NULL, 0) : NULL;
}

// ---- all rounds ----

static bool has_padding(const tsr_piece_trace *t) {
  for (int64_t i = 0; i < t->count; i++)
    if (!t->pieces[i].leaf) return true;
  return false;
}

static tsr_value *emit_rounds(emitting *e) {
  const tsr_exchange_plan *plan = e->plan;
  tsr_value *value = NULL;
  if (has_padding(&plan->trace))
    value = plan->trace.padding ? tsr_site_broadcast(&e->site, plan->trace.padding, e->type, NULL)
                                : tsr_site_zeros(&e->site, e->type);
  for (int64_t i = 0; i < plan->round_count; i++) {
    const tsr_exchange_round *round = &plan->rounds[i];
    tsr_value *x = round->local ? round->leaf : send(e, round);
    value = take_piece(e, round, move_to_place(e, round, x), value);
    if (!value) return NULL;
  }
  return value;
}

static const tsr_attr *groups_of(emitting *e) {
  const tsr_piece_trace *t = &e->plan->trace;
  int64_t *ids = tsr_ir_alloc(e->site.ir, ((size_t)t->devices + 1) * sizeof *ids);
  int64_t count = 0, sources = 0;
  if (!ids) return NULL;
  for (int64_t i = 0; i < t->devices; i++) {
    if (t->pieces[i].device != i) continue;
    ids[count++] = i;
    sources++;
    for (int64_t k = 0; k < t->devices; k++)
      if (k != i && t->pieces[k].device == i) ids[count++] = k;
  }
  if (!sources) return NULL;
  const int64_t dims[] = {sources, count / sources};
  const tsr_type *type = tsr_type_tensor(e->site.ir, e->site.ir->i64, 2, dims, NULL);
  return type ? tsr_attr_dense(e->site.ir, type, ids, (size_t)count * sizeof *ids) : NULL;
}

static tsr_value *emit_broadcast(emitting *e) {
  const tsr_traced_piece *piece = &e->plan->trace.pieces[0];
  for (int64_t i = 0; i < e->plan->trace.devices; i++) e->table[i] = piece->from;
  tsr_value *cut = own_slice(e, piece->leaf, piece->count);
  const tsr_site_attr attrs[] = {{"channel_handle", tsr_channel_attr(e->site.ir, (*e->channel)++)},
                                 {"replica_groups", groups_of(e)}};
  return cut ? tsr_site_add(&e->site, TSR_OP_COLLECTIVE_BROADCAST, cut->type, &cut, 1, attrs, 2)
             : NULL;
}

tsr_status tsr_exchange_emit(tsr_ir *ir, tsr_exchange_plan *plan, int64_t *channel) {
  emitting e = {.plan = plan,
                .site = {.ir = ir, .place = plan->root},
                .type = plan->root->results[0].type,
                .dim = plan->trace.dim,
                .table = calloc((size_t)plan->trace.devices + 1, sizeof *e.table),
                .channel = channel};
  TSR_NEED(e.table);
  tsr_value *value = plan->broadcast ? emit_broadcast(&e) : emit_rounds(&e);
  free(e.table);
  if (e.site.failure) return e.site.failure;
  TSR_NEED(value);
  plan->result = value;
  tsr_value_replace(tsr_op_result(plan->root, 0), value);
  return NULL;
}
