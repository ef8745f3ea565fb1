// sdy-convert-global-to-local: values and functions get local types, ops are handed to the function
// of their kind.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "localize/localize.h"
#include "localize/localize_passes.h"
#include "propagate/edits.h"
#include "verify/verify.h"

// ---- values ----

static tsr_status add_record(tsr_localizing *l, tsr_value *value, const tsr_whole *whole) {
  if (!l->count) l->count = 1;  // 0 = a value without one
  tsr_whole *wholes = tsr_grow(l->wholes, l->count, &l->capacity, sizeof *wholes);
  if (!wholes) return tsr_fail(NO_MEMORY, "types of values");
  l->wholes = wholes;
  value->mark = l->count;
  l->wholes[l->count++] = *whole;
  return NULL;
}

tsr_status tsr_whole_of(tsr_localizing *l, tsr_value *value, tsr_whole *out_whole) {
  if (!value->mark) {
    tsr_whole whole = {.type = value->type};
    TSR_TRY(tsr_cut_of_value(&l->arena, l->ir, value, &whole.cut));
    TSR_TRY(add_record(l, value, &whole));
  }
  *out_whole = l->wholes[value->mark];
  return NULL;
}

tsr_status tsr_local_type(tsr_localizing *l, const tsr_op *op, const tsr_whole *whole,
                          const tsr_type **out_type) {
  int64_t dims[TSR_MAX_RANK];
  const tsr_type *type = whole->type;
  *out_type = type;
  if (!tsr_cut_has_axes(whole->cut) || type->kind != TSR_TYPE_TENSOR) return NULL;
  if (type->rank > TSR_MAX_RANK || type->rank != whole->cut->rank)
    return tsr_fail(UNSUPPORTED, "%s: a tensor of rank %d, expected at most %d", op->name,
                    type->rank, TSR_MAX_RANK);
  for (int d = 0; d < type->rank; d++) {
    const int64_t shards = tsr_cut_count(whole->cut, d);
    if (type->dims[d] == TSR_DYNAMIC ? shards > 1 : type->dims[d] % shards != 0)
      return tsr_fail(CONSTRAINT,
                      "%s: dimension %d of size %lld is cut in %lld, which does not divide it",
                      op->name, d, (long long)type->dims[d], (long long)shards);
    dims[d] = type->dims[d] == TSR_DYNAMIC ? TSR_DYNAMIC : type->dims[d] / shards;
  }
  *out_type = tsr_type_tensor(l->ir, type->element, type->rank, dims, type->encoding);
  TSR_NEED(*out_type);
  return NULL;
}

tsr_status tsr_localize_value(tsr_localizing *l, const tsr_op *op, tsr_value *value) {
  tsr_whole whole;
  TSR_TRY(tsr_whole_of(l, value, &whole));
  return tsr_local_type(l, op, &whole, &value->type);
}

tsr_status tsr_localize_replace(tsr_localizing *l, tsr_site *site, tsr_op *op,
                                tsr_value *const *values) {
  if (site->failure) return site->failure;
  for (int i = 0; i < op->result_count; i++) {
    tsr_whole whole;
    TSR_NEED(values[i]);
    TSR_TRY(tsr_whole_of(l, tsr_op_result(op, i), &whole));
    // A value may stand for several of the program: they have the same local type.
    if (!values[i]->mark) TSR_TRY(add_record(l, values[i], &whole));
    tsr_value_replace(tsr_op_result(op, i), values[i]);
  }
  tsr_op_erase(op);
  l->changes++;
  return NULL;
}

tsr_status tsr_localize_plain(tsr_localizing *l, tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(tsr_localize_value(l, op, tsr_op_result(op, i)));
  return NULL;
}

// ---- regions ----

static tsr_status localize_block(tsr_localizing *l, tsr_ir_block *block);

static tsr_status localize_args(tsr_localizing *l, const tsr_op *op, tsr_ir_block *block) {
  for (int i = 0; i < block->arg_count; i++) TSR_TRY(tsr_localize_value(l, op, block->args[i]));
  return NULL;
}

// NOLINTNEXTLINE(misc-no-recursion): programs are nested to a depth that their reader limits
static tsr_status localize_regions(tsr_localizing *l, tsr_op *op) {
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next) {
      TSR_TRY(localize_args(l, op, block));
      TSR_TRY(localize_block(l, block));
    }
  return NULL;
}

// A value that leaves a manual computation has the sharding of the result from now on. One that
// came in as it is, or leaves twice, gets a copy for that.
static tsr_status leave_manual(tsr_localizing *l, tsr_op *op, tsr_op *end, tsr_value **values) {
  tsr_site site = {.ir = l->ir, .place = end};
  for (int i = 0; i < op->result_count; i++) {
    bool shared =
        !tsr_op_operand(end, i)->def || tsr_value_block(tsr_op_operand(end, i)) != end->block;
    values[i] = tsr_op_operand(end, i);
    for (int k = 0; k < i; k++) shared |= values[k] == values[i];
    if (shared)
      values[i] = tsr_site_add(&site, TSR_OP_RESHAPE, values[i]->type, &values[i], 1, NULL, 0);
    if (site.failure) return site.failure;
    TSR_NEED(values[i]);
    values[i]->mark = 0;
  }
  return NULL;
}

// The body of a manual computation takes its place.
// NOLINTNEXTLINE(misc-no-recursion)
static tsr_status localize_manual(tsr_localizing *l, tsr_op *op) {
  tsr_ir_block *body = op->regions[0].first;
  tsr_op *end = tsr_block_terminator(body);
  tsr_site site = {.ir = l->ir, .place = op};
  tsr_value **values = tsr_ir_alloc(l->ir, ((size_t)op->result_count + 1) * sizeof *values);
  TSR_NEED(values);
  TSR_TRY(localize_args(l, op, body));
  for (int i = 0; i < body->arg_count; i++)
    if (body->args[i]->type != tsr_operand_type(op, i))
      return tsr_fail(CONSTRAINT, "%s: operand %d has another local type than its argument",
                      op->name, i);
  TSR_TRY(localize_block(l, body));
  TSR_TRY(leave_manual(l, op, end, values));
  for (int i = 0; i < body->arg_count; i++) tsr_value_replace(body->args[i], tsr_op_operand(op, i));
  for (tsr_op *inner = body->first, *next = NULL; inner && inner != end; inner = next) {
    next = inner->next;
    tsr_op_unlink(inner);
    tsr_op_insert_before(op, inner);
  }
  return tsr_localize_replace(l, &site, op, values);
}

// ---- functions ----

static tsr_status localize_func(tsr_localizing *l, tsr_op *func) {
  const tsr_type *type = tsr_func_type(func);
  const int inputs = type->input_count, results = type->count - type->input_count;
  const tsr_type **types = tsr_ir_alloc(l->ir, ((size_t)type->count + 1) * sizeof *types);
  TSR_NEED(types);
  memcpy(types, type->types, (size_t)type->count * sizeof *types);
  tsr_ir_block *body = tsr_func_body(func);
  for (int i = 0; i < type->count; i++) {
    tsr_whole whole = {.type = types[i]};
    const tsr_attr *dict = i < inputs ? tsr_func_arg_attrs(func, i) : NULL;
    const tsr_attr *sharding = i < inputs ? tsr_dict_find(dict, "sdy.sharding")
                                          : tsr_func_result_sharding(func, i - inputs);
    if (types[i]->kind != TSR_TYPE_TENSOR) continue;
    TSR_TRY(tsr_cut_of_attr(&l->arena, l->ir, func, sharding, &whole.cut));
    TSR_TRY_NOTE(tsr_local_type(l, func, &whole, &types[i]), "function \"%s\", %s %d",
                 tsr_op_symbol(func), i < inputs ? "argument" : "result",
                 i < inputs ? i : i - inputs);
  }
  const tsr_type *made = tsr_type_function(l->ir, types, inputs, types + inputs, results);
  const tsr_attr *attr = made ? tsr_attr_type(l->ir, made) : NULL;
  TSR_NEED(attr);
  if (body) TSR_TRY(localize_args(l, func, body));
  TSR_TRY(tsr_op_attr_set(l->ir, func, "function_type", attr));
  return body ? localize_block(l, body) : NULL;
}

// ---- ops ----

static const struct {
  tsr_op_id id;
  tsr_localize_fn *run;
} localized_ops[] = {{TSR_OP_SDY_ALL_GATHER, tsr_localize_all_gather},
                     {TSR_OP_SDY_ALL_SLICE, tsr_localize_all_slice},
                     {TSR_OP_SDY_ALL_TO_ALL, tsr_localize_all_to_all},
                     {TSR_OP_SDY_COLLECTIVE_PERMUTE, tsr_localize_permute},
                     {TSR_OP_SDY_ALL_REDUCE, tsr_localize_all_reduce},
                     {TSR_OP_SDY_REDUCE_SCATTER, tsr_localize_reduce_scatter},
                     {TSR_OP_SDY_CONSTANT, tsr_localize_constant},
                     {TSR_OP_CONSTANT, tsr_localize_constant},
                     {TSR_OP_CONCATENATE, tsr_localize_concatenate},
                     {TSR_OP_CONVOLUTION, tsr_localize_convolution},
                     {TSR_OP_DOT, tsr_localize_dot},
                     {TSR_OP_DOT_GENERAL, tsr_localize_dot},
                     {TSR_OP_IOTA, tsr_localize_iota},
                     {TSR_OP_PAD, tsr_localize_pad},
                     {TSR_OP_SLICE, tsr_localize_slice},
                     {TSR_OP_REDUCE, tsr_localize_reduce},
                     {TSR_OP_REDUCE_WINDOW, tsr_localize_window},
                     {TSR_OP_SELECT_AND_SCATTER, tsr_localize_select},
                     {TSR_OP_CHLO_TOP_K, tsr_localize_top_k},
                     {TSR_OP_DYNAMIC_SLICE, tsr_localize_dynamic_slice},
                     {TSR_OP_DYNAMIC_UPDATE_SLICE, tsr_localize_dynamic_update},
                     {TSR_OP_GATHER, tsr_localize_gather},
                     {TSR_OP_SCATTER, tsr_localize_scatter}};

// Ops of Shardy that must be gone by now.
static bool is_unresolved(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_SDY_RESHARD:
    case TSR_OP_SDY_SHARDING_CONSTRAINT:
    case TSR_OP_SDY_SHARDING_GROUP:
    case TSR_OP_SDY_DATA_FLOW_EDGE:
    case TSR_OP_SDY_PROPAGATION_BARRIER:
    case TSR_OP_SDY_SHARDED_TO_UNREDUCED:
    case TSR_OP_SDY_REPLICATED_TO_UNREDUCED:
      return true;
    default:
      return false;
  }
}

// NOLINTNEXTLINE(misc-no-recursion)
static tsr_status localize_op(tsr_localizing *l, tsr_op *op) {
  if (tsr_op_is(op, TSR_OP_FUNC)) return localize_func(l, op);
  if (tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION)) return localize_manual(l, op);
  if (is_unresolved(op))
    return tsr_fail(CONSTRAINT, "%s: it must become a collective before shapes are local",
                    op->name);
  for (size_t i = 0; i < sizeof localized_ops / sizeof *localized_ops; i++)
    if (tsr_op_is(op, localized_ops[i].id)) return localized_ops[i].run(l, op);
  TSR_TRY(localize_regions(l, op));
  return tsr_localize_plain(l, op);
}

// NOLINTNEXTLINE(misc-no-recursion)
static tsr_status localize_block(tsr_localizing *l, tsr_ir_block *block) {
  for (tsr_op *op = block->first, *next = NULL; op; op = next) {
    next = op->next;
    TSR_TRY(localize_op(l, op));
  }
  return NULL;
}

// ---- the pass ----

static tsr_status prepare(tsr_op *op, void *context) {
  tsr_localizing *l = context;
  const tsr_attr *channel = tsr_op_attr(op, "channel_handle");
  for (int i = 0; i < op->result_count; i++) tsr_op_result(op, i)->mark = 0;
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (int k = 0; k < block->arg_count; k++) block->args[k]->mark = 0;
  if (!channel || !tsr_attr_has_form(channel, TSR_FORM_RECORD, TSR_RECORD_CHANNEL)) return NULL;
  const int64_t handle = tsr_attr_field(channel, TSR_CHANNEL_HANDLE)->integer;
  if (handle >= l->next_channel && handle < INT64_MAX) l->next_channel = handle + 1;
  return NULL;
}

tsr_status tsr_pass_convert_global_to_local(tsr_ir *ir, const tsr_pass_options *options,
                                            int64_t *changes) {
  tsr_localizing l = {.ir = ir,
                      .per_dim = tsr_pass_flag(options, TSR_LOCALIZE_PER_DIM),
                      .combine = tsr_pass_flag(options, TSR_LOCALIZE_COMBINE),
                      .mesh_axes = tsr_pass_flag(options, TSR_LOCALIZE_MESH_AXES),
                      .exchange = tsr_pass_flag(options, TSR_LOCALIZE_EXCHANGE),
                      .replicas = tsr_pass_number(options, TSR_LOCALIZE_REPLICAS, 1),
                      .partitions = tsr_pass_number(options, TSR_LOCALIZE_PARTITIONS, 1),
                      .next_channel = 1};
  tsr_status status = tsr_op_walk(ir->module, prepare, &l);
  if (!status) status = localize_regions(&l, ir->module);
  // Operands of an op that are not sharded alike have local types that do not fit.
  if (!status)
    status = tsr_note(tsr_verify(ir, "the program of one device"),
                      "shardings do not fit together: reshards must be inserted before");
  *changes += l.changes;
  tsr_arena_deinit(&l.arena);
  free(l.wholes);
  return status;
}

// ---- the table ----

#define OPTION(id) (1u << TSR_LOCALIZE_##id)
#define PASS_ROWS "localize/localize_passes.def"
#include "simplify/pass_table.inc"

tsr_pass_table tsr_localize_passes(void) { return pass_table; }
