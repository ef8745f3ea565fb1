// sdy-resolve-permutation-factors: ops that move elements along a sharded dim (pad, slice, reverse,
// windows) get them by halo exchange, or their dims are gathered first.
#include <string.h>

#include "factor/rule.h"
#include "propagate/edits.h"
#include "reshard/op_reshards.h"
#include "resolve/halo_ops.h"
#include "resolve/resolve_passes.h"

static const struct {
  tsr_op_id id;
  tsr_halo_fn *run;
} halo_ops[] = {
    {TSR_OP_PAD, tsr_halo_pad}, {TSR_OP_SLICE, tsr_halo_slice}, {TSR_OP_REVERSE, tsr_halo_reverse}};

// ---- dims that are gathered ----

// Whether each device has what it needs of a dim of a slice or pad already.
static bool stays_local(const tsr_op *op, const tsr_tensor_sharding *cut, int dim) {
  const int64_t shards = cut ? tsr_cut_count(cut, dim) : 1;
  const int64_t size = tsr_operand_type(op, 0)->dims[dim];
  const int64_t made = tsr_op_result(op, 0)->type->dims[dim];
  tsr_halo_dim h = {.shards = shards};
  if (shards <= 1) return true;
  h.in = tsr_even_size(size, shards) / shards;
  h.out = tsr_even_size(made, shards) / shards;
  if (tsr_op_is(op, TSR_OP_SLICE))
    return h.in == h.out && !tsr_attr_int_at(tsr_op_attr(op, "start_indices"), dim) &&
           tsr_attr_int_at(tsr_op_attr(op, "strides"), dim) == 1;
  if (tsr_attr_int_at(tsr_op_attr(op, "interior_padding"), dim) || !h.in || !h.out) return false;
  const int64_t low = tsr_attr_int_at(tsr_op_attr(op, "edge_padding_low"), dim);
  for (int64_t t = 0; t < shards; t++) {
    const int64_t start = t * h.out - low, end = start + h.out - 1;
    const int64_t first = start > 0 ? start : 0, last = end < size - 1 ? end : size - 1;
    if (first <= last && (first / h.in != t || last / h.in != t)) return false;
  }
  return true;
}

static tsr_status gather_dims(tsr_resolving *r, tsr_op *op, const tsr_op_rule *rule) {
  tsr_reshard_run run = {.ir = r->ir, .full = true, .changes = r->changes};
  const tsr_tensor_sharding *cut = NULL;
  bool any = false;
  bool *gathered = tsr_arena_zeros(&r->scratch, (size_t)rule->factor_count + 1, sizeof *gathered);
  TSR_NEED(gathered);
  const bool moves = tsr_op_is(op, TSR_OP_SLICE) || tsr_op_is(op, TSR_OP_PAD);
  if (moves) TSR_TRY(tsr_cut_of_value(&r->scratch, r->ir, tsr_op_operand(op, 0), &cut));
  for (int i = 0; i < rule->factor_count; i++) {
    const int place = rule->uses[rule->used[i]];
    gathered[i] = rule->factors[i].kind == TSR_FACTOR_PERMUTATION &&
                  !(moves && stays_local(op, cut, rule->places[place].dim));
    any |= gathered[i];
  }
  if (!any) return NULL;
  tsr_status status = tsr_gather_factors(&run, op, rule, gathered);
  tsr_arena_deinit(&run.scratch);
  return status;
}

static bool has_permutation(const tsr_op_rule *rule) {
  for (int i = 0; i < rule->factor_count; i++)
    if (rule->factors[i].kind == TSR_FACTOR_PERMUTATION) return true;
  return false;
}

// ---- the pass ----

// Whether local shapes are made of an op with its exchanges (sdy-convert-global-to-local).
static bool is_left(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_PAD) || tsr_op_is(op, TSR_OP_SLICE) ||
         tsr_op_is(op, TSR_OP_CONCATENATE) || tsr_op_is(op, TSR_OP_CONVOLUTION) ||
         tsr_op_is(op, TSR_OP_REDUCE_WINDOW) || tsr_op_is(op, TSR_OP_SELECT_AND_SCATTER);
}

static tsr_status resolve_op(tsr_op *op, void *context) {
  tsr_resolving *r = context;
  const tsr_op_rule *rule = NULL;
  bool done = false;
  tsr_arena_reset(&r->scratch);
  if (op->info->traits & TSR_TRAIT_TERMINATES || strncmp(op->name, "stablehlo.", 10)) return NULL;
  if (r->leaves && is_left(op)) return NULL;
  if (tsr_op_is(op, TSR_OP_RESHAPE)) return tsr_resolve_reshape(r, op);
  TSR_TRY(tsr_rule_of(&r->scratch, op, TSR_RULE_PLAIN, &rule));
  if (!rule || rule->custom || !has_permutation(rule)) return NULL;
  for (size_t i = 0; r->halos && i < sizeof halo_ops / sizeof *halo_ops; i++)
    if (tsr_op_is(op, halo_ops[i].id)) TSR_TRY(halo_ops[i].run(r, op, &done));
  return done ? NULL : gather_dims(r, op, rule);
}

static tsr_status find_channel(tsr_op *op, void *context) {
  tsr_resolving *r = context;
  const tsr_attr *channel = tsr_op_attr(op, "channel_handle");
  if (!channel || !tsr_attr_has_form(channel, TSR_FORM_RECORD, TSR_RECORD_CHANNEL)) return NULL;
  const int64_t handle = tsr_attr_field(channel, TSR_CHANNEL_HANDLE)->integer;
  if (handle >= r->next_channel && handle < INT64_MAX) r->next_channel = handle + 1;
  return NULL;
}

tsr_status tsr_pass_resolve_permutation_factors(tsr_ir *ir, const tsr_pass_options *options,
                                                int64_t *changes) {
  tsr_resolving r = {.ir = ir,
                     .halos = tsr_pass_number(options, TSR_RESOLVE_HALOS, 1),
                     .leaves = tsr_pass_flag(options, TSR_RESOLVE_LEAVES),
                     .replicas = tsr_pass_number(options, TSR_RESOLVE_REPLICAS, 1),
                     .partitions = tsr_pass_number(options, TSR_RESOLVE_PARTITIONS, 1),
                     .next_channel = 1,
                     .namer = {.ir = ir},
                     .changes = changes};
  tsr_status status = tsr_op_walk(ir->module, find_channel, &r);
  if (!status) status = tsr_op_walk_after(ir->module, resolve_op, &r);
  tsr_arena_deinit(&r.scratch);
  return status;
}
