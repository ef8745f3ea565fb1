// partition-rules, reduction-kinds: how ops are cut that Shardy leaves to XLA.
//
// Explicit reshards follow the sharding rule of an op. Where that is missing, or would give a wrong
// result, this writes one on the op: a dimension that must not be sharded is one of a factor that
// needs replication.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "factor/rule.h"
#include "factor/rule_build.h"
#include "propagate/edits.h"
#include "factor/shardings.h"
#include "localize/partial_bodies.h"
#include "resolve/cut_build.h"
#include "simplify/passes.h"
#include "spmd/fallbacks.h"
#include "spmd/pad_uneven.h"
#include "spmd/spmd_passes.h"

typedef struct rule_writing {
  tsr_ir *ir;
  tsr_arena scratch;
  int64_t *changes;
} rule_writing;

static bool has_body(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_REDUCE) || tsr_op_is(op, TSR_OP_SCATTER);
}

// ---- rules ----

// Which factors of a rule need replication beside those that do.
typedef bool factor_choice(const tsr_op *op, const tsr_op_rule *rule, int factor);

static bool passes(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  (void)op;
  return rule->factors[factor].kind == TSR_FACTOR_PASS;
}

static bool reduces(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  (void)op;
  return rule->factors[factor].kind == TSR_FACTOR_REDUCTION;
}

// Of a reshape: what is in one tensor only is in no order that the other one has.
static bool is_single(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  (void)op;
  return rule->used[factor + 1] - rule->used[factor] < 2;
}

static const tsr_op_rule *change_kinds(rule_writing *w, const tsr_op *op, const tsr_op_rule *rule,
                                       factor_choice *chosen, tsr_factor_kind kind) {
  tsr_op_rule *made = tsr_arena_alloc(&w->scratch, sizeof *made);
  tsr_factor *factors =
      tsr_arena_alloc(&w->scratch, ((size_t)rule->factor_count + 1) * sizeof *factors);
  if (!made || !factors) return NULL;
  *made = *rule;
  made->custom = false;
  for (int i = 0; i < rule->factor_count; i++) {
    factors[i] = rule->factors[i];
    if (chosen(op, rule, i)) factors[i].kind = kind;
  }
  made->factors = factors;
  return made;
}

static const tsr_op_rule *replicate(rule_writing *w, const tsr_op *op, const tsr_op_rule *rule,
                                    factor_choice *chosen) {
  return change_kinds(w, op, rule, chosen, TSR_FACTOR_NEED_REPLICATION);
}

// Parts of a reduction that Shardy has no all-reduce for: each device reduces its shard, and the
// parts are folded where shapes are made local; or the operand is gathered.
static tsr_status fold_rule(rule_writing *w, const tsr_op *op, const tsr_op_rule **rule) {
  tsr_partials partials = TSR_PARTIALS_NONE;
  int kind = -1;
  TSR_TRY(tsr_partials_of(w->ir, op, &partials, &kind));
  if (partials == TSR_PARTIALS_FOLD)
    *rule = change_kinds(w, op, *rule, reduces, TSR_FACTOR_PASS);
  else if (partials == TSR_PARTIALS_NONE)
    *rule = replicate(w, op, *rule, reduces);
  return NULL;
}

static const tsr_type *tensor_type(const tsr_op *op, int tensor) {
  return tensor < op->operand_count ? tsr_operand_type(op, tensor)
                                    : op->results[tensor - op->operand_count].type;
}

// The leading dims of a custom call that JAX says are of batches: all tensors have them, and each
// index of them is computed by itself. 0 = none.
static int batch_dims(const tsr_op *op) {
  const tsr_attr *attrs = tsr_op_attr(op, "mhlo.frontend_attributes");
  const tsr_attr *text =
      attrs && attrs->kind == TSR_ATTR_DICT ? tsr_dict_find(attrs, "num_batch_dims") : NULL;
  if (!tsr_op_is(op, TSR_OP_CUSTOM_CALL) || !text || text->kind != TSR_ATTR_STRING) return 0;
  const long count = strtol(text->bytes, NULL, 10);
  const int tensors = op->operand_count + op->result_count;
  if (count < 1 || count > TSR_MAX_RANK || !tensors) return 0;
  for (int i = 0; i < tensors; i++)
    for (int d = 0; d < count; d++)
      if (tensor_type(op, i)->rank <= d ||
          tensor_type(op, i)->dims[d] != tensor_type(op, 0)->dims[d])
        return 0;
  return (int)count;
}

// A rule of an op whose tensors are gathered but for dims of batches: a factor for each other dim
// of each.
static tsr_status whole_rule(rule_writing *w, const tsr_op *op, const tsr_op_rule **out_rule) {
  const int count = op->operand_count + op->result_count, batch = batch_dims(op);
  int *ranks = tsr_arena_zeros(&w->scratch, (size_t)count + 1, sizeof *ranks);
  tsr_rule_builder builder;
  TSR_NEED(ranks);
  for (int i = 0; i < count; i++) ranks[i] = tsr_dims_of(tensor_type(op, i)).rank;
  if (!tsr_rule_begin(&builder, &w->scratch, op->operand_count, count, ranks))
    return tsr_fail(NO_MEMORY, "a sharding rule");
  for (int d = 0; d < batch; d++)
    tsr_map_dims(&builder, 0, count, d,
                 tsr_add_factor(&builder, tensor_type(op, 0)->dims[d], TSR_FACTOR_PASS, false));
  for (int i = 0; i < count; i++)
    for (int d = batch; d < ranks[i]; d++)
      tsr_map_dim(
          &builder, i, d,
          tsr_add_factor(&builder, tensor_type(op, i)->dims[d], TSR_FACTOR_NEED_REPLICATION, true));
  return tsr_rule_finish(&builder, false, out_rule);
}

// ---- convolutions ----

static const struct {
  int tensor, field;
} spatial_dims[] = {
    {0, TSR_CONV_INPUT_SPATIAL}, {1, TSR_CONV_KERNEL_SPATIAL}, {2, TSR_CONV_OUTPUT_SPATIAL}};

static bool is_spatial(const tsr_attr *numbers, const tsr_rule_place *place) {
  return tsr_ints_have(tsr_attr_field(numbers, spatial_dims[place->tensor].field), place->dim);
}

// What a device receives when a dim of a value is gathered.
static tsr_status gathered_bytes(rule_writing *w, tsr_value *value, int64_t dim, int64_t *out) {
  const tsr_tensor_sharding *cut = NULL;
  TSR_TRY(tsr_cut_of_value(&w->scratch, w->ir, value, &cut));
  *out = cut ? tsr_received_bytes(value->type, cut, &cut->dims[dim].axes) : 0;
  return NULL;
}

// Whether the kernel of a convolution keeps its shards along a spatial dim, and the results of
// parts of windows are summed: as in the gradient of a kernel, where windows are as large as the
// input and results are few.
static tsr_status sums_windows(rule_writing *w, const tsr_op *op, const int64_t *dims, bool *out) {
  const tsr_tensor_sharding *cut = NULL;
  int64_t input = 0, kernel = 0;
  TSR_TRY(gathered_bytes(w, tsr_op_operand(op, 0), dims[0], &input));
  TSR_TRY(gathered_bytes(w, tsr_op_operand(op, 1), dims[1], &kernel));
  TSR_TRY(tsr_cut_of_value(&w->scratch, w->ir, tsr_op_operand(op, 1), &cut));
  const int64_t shards = cut ? tsr_cut_count(cut, (int)dims[1]) : 1;
  const int64_t sent = tsr_saturated_multiply(
      2 * (int64_t)tsr_type_element_bytes(tsr_type_element(op->results[0].type)),
      tsr_type_element_count(op->results[0].type));
  *out = kernel > 0 && sent > 0 && sent < tsr_saturated_add(input, kernel) &&
         tensor_type(op, 0)->dims[dims[0]] % shards == 0 &&
         tensor_type(op, 1)->dims[dims[1]] % shards == 0;
  return NULL;
}

// The factors of a spatial dim.
static tsr_status add_spatial(rule_writing *w, const tsr_op *op, const int64_t *dims,
                              tsr_rule_builder *builder) {
  bool sums = false;
  TSR_TRY(sums_windows(w, op, dims, &sums));
  const int whole = sums ? 2 : 1, shared = 3 - whole;
  const int cut = tsr_add_factor(builder, tensor_type(op, shared)->dims[dims[shared]],
                                 sums ? TSR_FACTOR_REDUCTION : TSR_FACTOR_PERMUTATION, false);
  const int kept = tsr_add_factor(builder, tensor_type(op, whole)->dims[dims[whole]],
                                  TSR_FACTOR_NEED_REPLICATION, true);
  tsr_map_dim(builder, 0, (int)dims[0], cut);
  tsr_map_dim(builder, shared, (int)dims[shared], cut);
  tsr_map_dim(builder, whole, (int)dims[whole], kept);
  return NULL;
}

// Windows overlap, so that what is inside of them is no factor of the input: the kernel's window is
// needed whole, and the windows are those of the results; or parts of windows are summed.
static tsr_status window_rule(rule_writing *w, const tsr_op *op, const tsr_op_rule **rule) {
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const tsr_op_rule *old = *rule;
  const int ranks[] = {tensor_type(op, 0)->rank, tensor_type(op, 1)->rank,
                       tensor_type(op, 2)->rank};
  int *made = tsr_arena_alloc(&w->scratch, ((size_t)old->factor_count + 1) * sizeof *made);
  tsr_rule_builder builder;
  TSR_NEED(made);
  if (!tsr_rule_begin(&builder, &w->scratch, 2, 3, ranks))
    return tsr_fail(NO_MEMORY, "a sharding rule");
  for (int i = 0; i < old->factor_count; i++) made[i] = -1;
  for (int i = 0; i < old->place_count; i++) {
    const tsr_rule_place *place = &old->places[i];
    const tsr_factor *factor = &old->factors[place->factor];
    if (is_spatial(numbers, place)) continue;
    if (made[place->factor] < 0)
      made[place->factor] = tsr_add_factor(&builder, factor->size, factor->kind, factor->blocked);
    tsr_map_dim(&builder, place->tensor, place->dim, made[place->factor]);
  }
  const tsr_attr *outputs = tsr_attr_field(numbers, TSR_CONV_OUTPUT_SPATIAL);
  for (int64_t i = 0; i < tsr_attr_int_count(outputs); i++) {
    int64_t dims[3];
    for (int t = 0; t < 3; t++)
      dims[t] = tsr_attr_int_at(tsr_attr_field(numbers, spatial_dims[t].field), i);
    TSR_TRY(add_spatial(w, op, dims, &builder));
  }
  return tsr_rule_finish(&builder, false, rule);
}

static bool moves(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  (void)op;
  return rule->factors[factor].kind == TSR_FACTOR_PERMUTATION;
}

// Whether windows that choose elements can be exchanged: there are some, without negative padding,
// and nobody wrote a rule of their own.
static bool has_exchanged_windows(const tsr_op *op, const tsr_op_rule *rule) {
  const tsr_type *windows = tensor_type(op, 1);
  const tsr_attr *padding = tsr_op_attr(op, "padding");
  for (int64_t i = 0; padding && i < tsr_attr_int_count(padding); i++)
    if (tsr_attr_int_at(padding, i) < 0) return false;
  for (int d = 0; d < windows->rank; d++)
    if (!windows->dims[d] || tsr_rule_dim(rule, 0, d + 1) != tsr_rule_dim(rule, 0, d) + 1)
      return false;
  return true;
}

// Windows of a sharded dim are those that touch a shard of the result: what they choose from and
// what they scatter has the same axes.
static tsr_status select_rule(rule_writing *w, const tsr_op *op, const tsr_op_rule **rule) {
  const tsr_type *from = tensor_type(op, 0), *windows = tensor_type(op, 1);
  const int ranks[] = {from->rank, from->rank, 0, from->rank};
  tsr_rule_builder builder;
  if (!has_exchanged_windows(op, *rule)) {
    *rule = replicate(w, op, *rule, moves);
    return NULL;
  }
  if (!tsr_rule_begin(&builder, &w->scratch, 3, 4, ranks))
    return tsr_fail(NO_MEMORY, "a sharding rule");
  for (int d = 0; d < from->rank; d++) {
    const tsr_factor *old = &(*rule)->factors[(*rule)->places[tsr_rule_dim(*rule, 0, d)].factor];
    const int made = tsr_add_factor(&builder, windows->dims[d], old->kind, false);
    tsr_map_dim(&builder, 0, d, made);
    tsr_map_dim(&builder, 1, d, made);
    tsr_map_dim(&builder, 3, d, made);
  }
  return tsr_rule_finish(&builder, false, rule);
}

// ---- slices whose start is not known ----

// Whether a sum of what each device has of the slice moves less than gathering the operand.
static tsr_status sums_slice(rule_writing *w, const tsr_op *op, bool *out) {
  const tsr_type *from = tensor_type(op, 0), *to = op->results[0].type;
  const tsr_tensor_sharding *cut = NULL;
  int64_t sent = 2, held = 1, shards = 1;
  TSR_TRY(tsr_cut_of_value(&w->scratch, w->ir, tsr_op_operand(op, 0), &cut));
  for (int d = 0; cut && d < cut->rank; d++) {
    const int64_t count = tsr_cut_count(cut, d);
    held = tsr_saturated_multiply(held, from->dims[d] / count);
    const bool whole = from->dims[d] == to->dims[d];
    sent = tsr_saturated_multiply(sent, whole ? to->dims[d] / count : to->dims[d]);
    if (!whole) shards = tsr_saturated_multiply(shards, count);
  }
  *out = sent < tsr_saturated_multiply(held, shards - 1);
  return NULL;
}

static tsr_status slice_rule(rule_writing *w, const tsr_op *op, const tsr_op_rule **rule) {
  const int count = op->operand_count + 1;
  const tsr_type *from = tensor_type(op, 0), *to = op->results[0].type;
  int *ranks = tsr_arena_zeros(&w->scratch, (size_t)count + 1, sizeof *ranks);
  tsr_rule_builder builder;
  bool sums = false;
  TSR_NEED(ranks);
  TSR_TRY(sums_slice(w, op, &sums));
  if (!sums) return NULL;
  ranks[0] = ranks[count - 1] = from->rank;
  if (!tsr_rule_begin(&builder, &w->scratch, op->operand_count, count, ranks))
    return tsr_fail(NO_MEMORY, "a sharding rule");
  for (int d = 0; d < from->rank; d++) {
    const int held = tsr_add_factor(&builder, from->dims[d], TSR_FACTOR_PASS, false);
    tsr_map_dim(&builder, 0, d, held);
    tsr_map_dim(&builder, count - 1, d,
                from->dims[d] == to->dims[d]
                    ? held
                    : tsr_add_factor(&builder, to->dims[d], TSR_FACTOR_NEED_REPLICATION, true));
  }
  return tsr_rule_finish(&builder, false, rule);
}

// ---- largest elements ----

// The k largest of each shard are gathered, with their indices, where they are few beside it.
static tsr_status top_rule(rule_writing *w, const tsr_op *op, const tsr_op_rule **rule) {
  const tsr_type *from = tensor_type(op, 0);
  const int last = from->rank - 1, ranks[] = {from->rank, from->rank, from->rank};
  const int64_t k = tsr_op_int(op, "k", 0);
  const tsr_tensor_sharding *cut = NULL;
  tsr_rule_builder builder;
  TSR_TRY(tsr_cut_of_value(&w->scratch, w->ir, tsr_op_operand(op, 0), &cut));
  const int64_t shards = cut && last >= 0 ? tsr_cut_count(cut, last) : 1;
  if (shards <= 1 || !k || from->dims[last] % shards) return NULL;
  if (tsr_saturated_multiply(2 * (shards - 1), k) >= from->dims[last] / shards) return NULL;
  if (!tsr_rule_begin(&builder, &w->scratch, 1, 3, ranks))
    return tsr_fail(NO_MEMORY, "a sharding rule");
  for (int d = 0; d < last; d++) tsr_add_common(&builder, d, from->dims[d], TSR_FACTOR_PASS, false);
  tsr_map_dim(&builder, 0, last,
              tsr_add_factor(&builder, from->dims[last], TSR_FACTOR_PASS, false));
  tsr_map_dims(&builder, 1, 3, last,
               tsr_add_factor(&builder, k, TSR_FACTOR_NEED_REPLICATION, true));
  return tsr_rule_finish(&builder, false, rule);
}

// ---- concatenations ----

static tsr_value *tensor_of(const tsr_op *op, int tensor) {
  return tensor < op->operand_count ? tsr_op_operand(op, tensor)
                                    : tsr_op_result(op, tensor - op->operand_count);
}

// The most shards that a tensor of the op has along a dim.
static tsr_status most_shards(rule_writing *w, const tsr_op *op, int dim, int64_t *out_shards) {
  *out_shards = 1;
  for (int i = 0; i <= op->operand_count; i++) {
    const tsr_tensor_sharding *cut = NULL;
    TSR_TRY(tsr_cut_of_value(&w->scratch, w->ir, tensor_of(op, i), &cut));
    if (cut && dim < cut->rank && tsr_cut_count(cut, dim) > *out_shards)
      *out_shards = tsr_cut_count(cut, dim);
  }
  return NULL;
}

// The dim that operands are joined along: shards are exchanged. Operands of a single element are
// needed whole; with many operands also those that the shards do not divide, which are not padded
// then, and they must divide the result.
static tsr_status join_rule(rule_writing *w, const tsr_op *op, const tsr_op_rule **rule) {
  const int dim = (int)tsr_op_int(op, "dimension", 0), result = op->operand_count;
  const tsr_type *type = tensor_type(op, result);
  int *ranks = tsr_arena_zeros(&w->scratch, (size_t)result + 2, sizeof *ranks);
  tsr_rule_builder builder;
  int64_t shards = 1;
  TSR_NEED(ranks);
  TSR_TRY(most_shards(w, op, dim, &shards));
  const bool many = op->operand_count > TSR_MOST_JOINED;
  if (shards <= 1 || (many && type->dims[dim] % shards)) return NULL;
  for (int i = 0; i <= result; i++) ranks[i] = type->rank;
  if (!tsr_rule_begin(&builder, &w->scratch, result, result + 1, ranks))
    return tsr_fail(NO_MEMORY, "a sharding rule");
  for (int d = 0; d < type->rank; d++) {
    if (d != dim) {
      tsr_add_common(&builder, d, type->dims[d], TSR_FACTOR_PASS, false);
      continue;
    }
    const int joined = tsr_add_factor(&builder, type->dims[d], TSR_FACTOR_PERMUTATION, false);
    for (int i = 0; i <= result; i++) {
      const int64_t size = tensor_type(op, i)->dims[d];
      const bool moved = many ? size && size % shards == 0 : size > 1;
      tsr_map_dim(
          &builder, i, d,
          moved ? joined : tsr_add_factor(&builder, size, TSR_FACTOR_NEED_REPLICATION, true));
    }
  }
  return tsr_rule_finish(&builder, false, rule);
}

static bool has_known_sizes(const tsr_op *op) {
  for (int i = 0; i < op->operand_count + op->result_count; i++) {
    const tsr_type *type = tensor_type(op, i);
    if (type->kind == TSR_TYPE_TUPLE || (tsr_type_is_shaped(type) && !tsr_type_is_static(type)))
      return false;
  }
  return true;
}

// Whether an op is cut by other means than a rule.
static bool needs_no_rule(const tsr_op *op) {
  if (op->info->traits & TSR_TRAIT_TERMINATES || tsr_is_data_flow_op(op->info->id)) return true;
  if (!tsr_op_computes(op)) return true;
  switch (op->info->id) {
    case TSR_OP_CONSTANT:
    case TSR_OP_IOTA:
    case TSR_OP_PARTITION_ID:
    case TSR_OP_REPLICA_ID:
      return true;
    default:
      return !op->result_count && !op->operand_count;
  }
}

static tsr_status write_rule(rule_writing *w, tsr_op *op, const tsr_op_rule *rule) {
  const tsr_attr *attr = tsr_rule_attr(w->ir, rule);
  TSR_NEED(attr);
  ++*w->changes;
  return tsr_op_attr_set(w->ir, op, "sdy.sharding_rule", attr);
}

static tsr_status visit_op(tsr_op *op, void *context) {
  rule_writing *w = context;
  const tsr_op_rule *rule = NULL;
  tsr_arena_reset(&w->scratch);
  if (needs_no_rule(op)) return NULL;
  if (!has_known_sizes(op))
    return tsr_fail(UNSUPPORTED, "%s: a tuple or a tensor of unknown size is not partitioned",
                    op->name);
  TSR_TRY(tsr_rule_of(&w->scratch, op, TSR_RULE_EXPANDED, &rule));
  const bool unknown = !rule || rule->custom;
  if (unknown) {
    TSR_TRY(whole_rule(w, op, &rule));
    return write_rule(w, op, rule);
  }
  const tsr_op_rule *own = rule;
  if (tsr_op_is(op, TSR_OP_RNG_BIT_GENERATOR) || tsr_op_is(op, TSR_OP_RNG))
    rule = replicate(w, op, rule, passes);
  else if (tsr_op_is(op, TSR_OP_RESHAPE))
    rule = replicate(w, op, rule, is_single);
  else if (tsr_op_is(op, TSR_OP_CONVOLUTION))
    TSR_TRY(window_rule(w, op, &rule));
  else if (tsr_op_is(op, TSR_OP_SELECT_AND_SCATTER))
    TSR_TRY(select_rule(w, op, &rule));
  else if (tsr_op_is(op, TSR_OP_DYNAMIC_SLICE))
    TSR_TRY(slice_rule(w, op, &rule));
  else if (tsr_op_is(op, TSR_OP_CHLO_TOP_K))
    TSR_TRY(top_rule(w, op, &rule));
  else if (tsr_op_is(op, TSR_OP_CONCATENATE))
    TSR_TRY(join_rule(w, op, &rule));
  else if (has_body(op))
    TSR_TRY(fold_rule(w, op, &rule));
  TSR_NEED(rule);
  const bool written = rule != own || strncmp(op->name, "stablehlo.", 10);
  return written ? write_rule(w, op, rule) : NULL;
}

tsr_status tsr_pass_partition_rules(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  rule_writing w = {.ir = ir, .changes = changes};
  (void)options;
  TSR_TRY(tsr_passes_run(ir, "inline{scalars,sharded}", NULL));  // what bodies call is seen
  tsr_status status = tsr_op_walk(ir->module, visit_op, &w);
  tsr_arena_deinit(&w.scratch);
  return status;
}

// Propagation goes through ops of chlo as through what XLA expands them to.
static tsr_status visit_chlo(tsr_op *op, void *context) {
  rule_writing *w = context;
  const tsr_op_rule *rule = NULL;
  tsr_arena_reset(&w->scratch);
  if (strncmp(op->name, "chlo.", 5) || tsr_op_attr(op, "sdy.sharding_rule") || !has_known_sizes(op))
    return NULL;
  if (tsr_op_is(op, TSR_OP_CHLO_ERF)) return NULL;  // XLA keeps it, and has no rule
  TSR_TRY(tsr_rule_of(&w->scratch, op, TSR_RULE_EXPANDED, &rule));
  return rule ? write_rule(w, op, rule) : NULL;
}

tsr_status tsr_pass_chlo_rules(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  rule_writing w = {.ir = ir, .changes = changes};
  (void)options;
  tsr_status status = tsr_op_walk(ir->module, visit_chlo, &w);
  tsr_arena_deinit(&w.scratch);
  return status;
}

// ---- kinds of all-reduces ----

static tsr_status set_kind(tsr_op *op, void *context) {
  rule_writing *w = context;
  if (!tsr_op_is(op, TSR_OP_SDY_ALL_REDUCE)) return NULL;
  const tsr_op *source = tsr_op_operand(op, 0)->def;
  if (!source || !has_body(source)) return NULL;
  tsr_partials partials = TSR_PARTIALS_NONE;
  int kind = -1;
  TSR_TRY(tsr_partials_of(w->ir, source, &partials, &kind));
  if (partials != TSR_PARTIALS_REDUCE)
    return tsr_fail(UNSUPPORTED, "%s: partial results of its body do not add up", source->name);
  if (kind == TSR_SDY_REDUCTION_SUM) return NULL;
  const tsr_attr *attr = tsr_attr_enum(w->ir, TSR_ENUM_SDY_REDUCTION, kind);
  TSR_NEED(attr);
  ++*w->changes;
  return tsr_op_attr_set(w->ir, op, "reduction_op", attr);
}

tsr_status tsr_pass_reduction_kinds(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  rule_writing w = {.ir = ir, .changes = changes};
  (void)options;
  return tsr_op_walk(ir->module, set_kind, &w);
}
