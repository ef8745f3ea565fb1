// broadcast-slices: a slice of a gathered value that lies in one shard is cut out by the device
// that has it, which sends it to the others. Where a gather serves such slices only, and these are
// smaller, nothing is gathered.
#include "base/arithmetic.h"
#include "combine/combine_passes.h"
#include "combine/device_ops.h"
#include "combine/moved_bytes.h"
#include "propagate/edits.h"

typedef struct slicing {
  tsr_ir *ir;
  int64_t channel;
  int64_t changes;
} slicing;

// A slice within its shard.
typedef struct local_slice {
  int64_t starts[TSR_MAX_RANK], limits[TSR_MAX_RANK];
  int64_t member;  // of each group, which has it
} local_slice;

// False if it needs several shards.
static bool find_local(const tsr_gathered *g, const tsr_op *op, local_slice *out) {
  const tsr_attr *starts = tsr_op_attr(op, "start_indices");
  const tsr_attr *strides = tsr_op_attr(op, "strides");
  *out = (local_slice){.member = 0};
  for (int d = 0; d < op->results[0].type->rank; d++) {
    const int64_t size = g->shard->type->dims[d], count = op->results[0].type->dims[d];
    const int64_t start = tsr_attr_int_at(starts, d);
    if (!count || !size) return false;
    const int64_t last = start + (count - 1) * tsr_attr_int_at(strides, d), shard = start / size;
    if (last / size != shard) return false;
    out->starts[d] = start - shard * size;
    out->limits[d] = last + 1 - shard * size;
    out->member += shard * g->strides[d];
  }
  return true;
}

// ---- one gather ----

// Whether all users of a gathered value are such slices, and smaller than what is gathered.
static bool is_worth_it(const tsr_value *value, const tsr_gathered *g) {
  int64_t bytes = 0;
  local_slice local;
  for (const tsr_use *use = value->uses; use; use = use->next) {
    if (!tsr_op_is(use->user, TSR_OP_SLICE) || !find_local(g, use->user, &local)) return false;
    bytes = tsr_saturated_add(bytes, tsr_type_bytes_of(use->user->results[0].type));
  }
  return bytes < tsr_moved_bytes_of(g->gather) && tsr_gathered_only(value, g);
}

static tsr_status send_slice(slicing *s, const tsr_gathered *g, tsr_op *op) {
  tsr_site site = {.ir = s->ir, .place = op};
  const tsr_type *type = op->results[0].type;
  local_slice local;
  if (!find_local(g, op, &local)) return NULL;
  const tsr_site_attr cut[] = {{"limit_indices", tsr_attr_ints(s->ir, local.limits, type->rank)},
                               {"start_indices", tsr_attr_ints(s->ir, local.starts, type->rank)},
                               {"strides", tsr_op_attr(op, "strides")}};
  tsr_value *own = g->shard;
  own = tsr_site_add(&site, TSR_OP_SLICE, type, &own, 1, cut, 3);
  const tsr_site_attr sent[] = {
      {"channel_handle", tsr_channel_attr(s->ir, s->channel++)},
      {"replica_groups", tsr_groups_from(s->ir, g->gather, local.member)}};
  tsr_value *value =
      own ? tsr_site_add(&site, TSR_OP_COLLECTIVE_BROADCAST, type, &own, 1, sent, 2) : NULL;
  if (site.failure) return site.failure;
  TSR_NEED(value);
  tsr_value_replace(tsr_op_result(op, 0), value);
  tsr_op_erase(op);
  s->changes++;
  return NULL;
}

static tsr_status send_slices(slicing *s, tsr_value *value) {
  tsr_gathered g;
  if (!tsr_gathered_find(value, &g) || !is_worth_it(value, &g)) return NULL;
  while (value->uses) TSR_TRY(send_slice(s, &g, value->uses->user));
  tsr_gathered_erase(value, &g);
  return NULL;
}

// ---- all gathers ----

static tsr_status collect(tsr_op *op, void *context) {
  tsr_op_list *list = context;
  return tsr_op_is(op, TSR_OP_SLICE) ? tsr_op_list_add(list, op) : NULL;
}

tsr_status tsr_pass_broadcast_slices(tsr_ir *ir, const tsr_pass_options *options,
                                     int64_t *changes) {
  slicing s = {.ir = ir, .channel = tsr_channel_unused(ir)};
  tsr_op_list list = {0};
  (void)options;
  tsr_status status = tsr_op_walk(ir->module, collect, &list);
  for (int64_t i = 0; !status && i < list.count; i++)
    if (list.items[i]->block) status = send_slices(&s, tsr_op_operand(list.items[i], 0));
  tsr_op_list_deinit(&list);
  *changes += s.changes;
  return status;
}
