// The factors of elementwise ops and of ops that move elements: shapes, slices, broadcasts.
#include "base/arithmetic.h"
#include "factor/rule_build.h"

// ---- elementwise ----

bool tsr_factors_pointwise(tsr_rule_builder *builder, const tsr_op *op) {
  return tsr_add_elementwise(builder, op);
}

// An elementwise op of chlo: XLA makes it one or several of StableHLO before it propagates.
bool tsr_factors_expanded(tsr_rule_builder *builder, const tsr_op *op) {
  return (builder->how & TSR_RULE_EXPANDED) && tsr_add_elementwise(builder, op);
}

bool tsr_factors_bitcast_convert(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims from = tsr_operand_dims(op, 0), to = tsr_result_dims(op, 0);
  tsr_add_leading(builder, from, (int)tsr_least(from.rank, to.rank));
  if (from.rank < to.rank)
    tsr_add_pair(builder, TSR_NO_DIM, to.rank - 1, to.sizes[to.rank - 1],
                 TSR_FACTOR_NEED_REPLICATION);
  else if (from.rank > to.rank)
    tsr_add_pair(builder, from.rank - 1, TSR_NO_DIM, from.sizes[from.rank - 1],
                 TSR_FACTOR_NEED_REPLICATION);
  return true;
}

// ---- dims rearranged ----

bool tsr_factors_broadcast_in_dim(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims from = tsr_operand_dims(op, 0), to = tsr_result_dims(op, 0);
  const tsr_attr *mapped = tsr_op_attr(op, "broadcast_dimensions");
  for (int dim = 0; dim < to.rank; dim++) {
    int64_t source = TSR_NO_DIM;
    for (int64_t i = 0; i < from.rank && i < tsr_attr_int_count(mapped); i++)
      if (tsr_attr_int_at(mapped, i) == dim) source = i;
    if (source >= 0 && from.sizes[source] == 1 && to.sizes[dim] != 1) {
      tsr_add_pair(builder, source, TSR_NO_DIM, 1, TSR_FACTOR_PASS);
      source = TSR_NO_DIM;
    }
    tsr_add_pair(builder, source, dim, to.sizes[dim], TSR_FACTOR_PASS);
  }
  return true;
}

bool tsr_factors_transpose(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_attr *permutation = tsr_op_attr(op, "permutation");
  const tsr_dims from = tsr_operand_dims(op, 0);
  for (int dim = 0; dim < from.rank; dim++) {
    const int64_t source = tsr_attr_int_at(permutation, dim);
    tsr_add_pair(builder, source, dim, from.sizes[source], TSR_FACTOR_PASS);
  }
  return true;
}

bool tsr_factors_reverse(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims dims = tsr_result_dims(op, 0);
  const tsr_attr *reversed = tsr_op_attr(op, "dimensions");
  for (int i = 0; i < dims.rank; i++)
    tsr_add_common(builder, i, dims.sizes[i],
                   tsr_ints_have(reversed, i) ? TSR_FACTOR_PERMUTATION : TSR_FACTOR_PASS, false);
  return true;
}

// ---- reshape ----

// One side of a reshape: the dims so far have the product `whole`, their factors `made`. Both are
// bounded by the number of elements.
typedef struct reshape_side {
  tsr_dims dims;
  int at;
  int64_t whole, made;
} reshape_side;

static bool is_at_one(const reshape_side *side) {
  return side->at < side->dims.rank && side->dims.sizes[side->at] == 1;
}

// What is left of the dims so far; `made` divides `whole`.
static int64_t rest(const reshape_side *side) {
  return side->made > 0 ? side->whole / side->made : 1;
}

static void begin_dim(reshape_side *side) {
  if (side->at < side->dims.rank && side->whole == side->made)
    side->whole *= side->dims.sizes[side->at];
}

static void end_dim(reshape_side *side) {
  if (side->at < side->dims.rank && side->whole == side->made) side->at++;
}

// The factor that one side gets alone, as it is behind the other: one that makes them meet again,
// or one that leaves their divisor for the next step.
static int64_t lone_factor(const reshape_side *behind, const reshape_side *ahead, int64_t shared) {
  const int64_t next = rest(behind), gap = behind->made > 0 ? ahead->made / behind->made : 0;
  if (gap > 0 && gap * behind->made == ahead->made && next % gap == 0) return gap;
  return next > shared ? next / shared : next;
}

static void reshape_step(tsr_rule_builder *builder, reshape_side *from, reshape_side *to) {
  const int64_t shared = tsr_gcd(rest(from), rest(to));
  int64_t in = 1, out = 1;  // what each side gets
  if (from->made == to->made && shared > 1) {
    tsr_add_pair(builder, from->at, to->at, shared, TSR_FACTOR_PASS);
    from->made *= shared;
    to->made *= shared;
    return;
  }
  if (from->made == to->made) {
    in = rest(from);
    out = rest(to);
  } else if (from->made < to->made) {
    in = lone_factor(from, to, shared);
  } else {
    out = lone_factor(to, from, shared);
  }
  if (from->made <= to->made) tsr_add_pair(builder, from->at, TSR_NO_DIM, in, TSR_FACTOR_PASS);
  if (to->made <= from->made) tsr_add_pair(builder, TSR_NO_DIM, to->at, out, TSR_FACTOR_PASS);
  from->made *= in;
  to->made *= out;
}

bool tsr_factors_reshape(tsr_rule_builder *builder, const tsr_op *op) {
  reshape_side from = {tsr_operand_dims(op, 0), 0, 1, 1};
  reshape_side to = {tsr_result_dims(op, 0), 0, 1, 1};
  const int64_t elements = tsr_type_element_count(tsr_operand_type(op, 0));
  // Without elements there is nothing to shard.
  if (elements <= 0 || tsr_type_element_count(tsr_op_result(op, 0)->type) != elements) return false;
  while (from.at < from.dims.rank || to.at < to.dims.rank) {
    if (is_at_one(&from)) {
      tsr_add_pair(builder, from.at++, TSR_NO_DIM, 1, TSR_FACTOR_PASS);
    } else if (is_at_one(&to)) {
      tsr_add_pair(builder, TSR_NO_DIM, to.at++, 1, TSR_FACTOR_PASS);
    } else {
      begin_dim(&from);
      begin_dim(&to);
      reshape_step(builder, &from, &to);
      end_dim(&from);
      end_dim(&to);
    }
  }
  return true;
}

// ---- slices ----

static bool is_conservative(const tsr_rule_builder *builder) {
  return (builder->how & TSR_RULE_CONSERVATIVE) != 0;
}

bool tsr_factors_slice(tsr_rule_builder *builder, const tsr_op *op) {
  return tsr_add_resized(builder, tsr_operand_dims(op, 0), tsr_result_dims(op, 0),
                         TSR_FACTOR_PERMUTATION, is_conservative(builder));
}

bool tsr_factors_pad(tsr_rule_builder *builder, const tsr_op *op) {
  return tsr_factors_slice(builder, op);
}

// Where the slice starts is not known, so no shift of data would do.
bool tsr_factors_dynamic_slice(tsr_rule_builder *builder, const tsr_op *op) {
  return tsr_add_resized(builder, tsr_operand_dims(op, 0), tsr_result_dims(op, 0),
                         TSR_FACTOR_NEED_REPLICATION, true);
}

// The values and the indices of the largest elements.
bool tsr_factors_top_k(tsr_rule_builder *builder, const tsr_op *op) {
  return tsr_factors_dynamic_slice(builder, op);
}

bool tsr_factors_expanded_top_k(tsr_rule_builder *builder, const tsr_op *op) {
  return (builder->how & TSR_RULE_EXPANDED) && tsr_factors_top_k(builder, op);
}

static bool is_constant(const tsr_value *value) {
  if (!value->def) return false;
  const tsr_op_id id = value->def->info->id;
  return id == TSR_OP_CONSTANT || id == TSR_OP_SDY_CONSTANT || id == TSR_OP_CHLO_CONSTANT;
}

static bool starts_are_constant(const tsr_op *op) {
  for (int i = 2; i < op->operand_count; i++)
    if (!is_constant(tsr_op_operand(op, i))) return false;
  return true;
}

// Each device updates what it has of the operand, out of a whole update.
bool tsr_factors_dynamic_update_slice(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims dims = tsr_operand_dims(op, 0), update = tsr_operand_dims(op, 1);
  const tsr_factor_kind kind =
      starts_are_constant(op) ? TSR_FACTOR_PASS : TSR_FACTOR_NEED_REPLICATION;
  if (dims.rank != update.rank) return false;
  for (int i = 0; i < dims.rank; i++) {
    if (dims.sizes[i] == update.sizes[i]) {
      tsr_add_common(builder, i, dims.sizes[i], TSR_FACTOR_PASS, false);
      continue;
    }
    const int factor = tsr_add_factor(builder, dims.sizes[i], TSR_FACTOR_PASS, false);
    tsr_map_dim(builder, 0, i, factor);
    tsr_map_dim(builder, builder->operand_count, i, factor);
    tsr_map_dim(builder, 1, i, tsr_add_factor(builder, update.sizes[i], kind, false));
  }
  return true;
}

static bool is_slice(const tsr_value *value) {
  return value->def && value->def->info->id == TSR_OP_SLICE;
}

static const tsr_value *before_slice(const tsr_value *value) {
  return is_slice(value) ? tsr_op_operand(value->def, 0) : value;
}

// Slices put together again are a shift: all operands are slices, or all but some of one value.
static bool is_rotation(const tsr_op *op) {
  const tsr_value *whole = before_slice(tsr_op_operand(op, 0));
  bool all_slices = true, any_slice = false, same = true;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *operand = tsr_op_operand(op, i);
    all_slices &= is_slice(operand);
    any_slice |= is_slice(operand);
    same &= before_slice(operand) == whole;
  }
  return all_slices || (same && any_slice);
}

bool tsr_factors_concatenate(tsr_rule_builder *builder, const tsr_op *op) {
  const tsr_dims dims = tsr_result_dims(op, 0);
  const int64_t along = tsr_op_int(op, "dimension", -1);
  for (int i = 0; i < dims.rank; i++) {
    tsr_factor_kind kind = TSR_FACTOR_PASS;
    if (i == along) {
      if (is_conservative(builder)) continue;
      kind = is_rotation(op) ? TSR_FACTOR_PERMUTATION : TSR_FACTOR_NEED_REPLICATION;
    }
    tsr_add_common(builder, i, dims.sizes[i], kind, false);
  }
  return true;
}
