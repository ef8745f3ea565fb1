// sink-moves: gathers, exchanges and permutes go behind the op that uses their results where less
// is moved then: two operands that are moved alike are combined before, a slice of a gathered value
// is cut before, and so is a conversion to a narrower type.
#include "base/arithmetic.h"
#include "collective/collective_build.h"
#include "combine/combine_passes.h"
#include "combine/cut_values.h"
#include "propagate/edits.h"
#include "simplify/evaluate.h"
#include "simplify/rewriter.h"

// ---- operands that are moved alike ----

static const char *axes_name(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_SDY_ALL_GATHER:
      return "gathering_axes";
    case TSR_OP_SDY_ALL_TO_ALL:
      return "params";
    default:
      return NULL;  // a permute is all in its sharding
  }
}

static bool is_move(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_SDY_ALL_GATHER) || tsr_op_is(op, TSR_OP_SDY_ALL_TO_ALL) ||
         tsr_op_is(op, TSR_OP_SDY_COLLECTIVE_PERMUTE);
}

// The only use of a value that a collective moved; NULL otherwise.
static tsr_op *move_of(const tsr_value *value) {
  return is_move(value->def) && tsr_value_has_one_use(value) ? value->def : NULL;
}

// Values that every device can compute again by itself.
static bool is_spread(const tsr_value *value) {
  const tsr_attr *constant = tsr_value_constant(value);
  if (constant) return constant->splat;
  return tsr_op_is(value->def, TSR_OP_BROADCAST_IN_DIM) &&
         tsr_type_rank(tsr_operand_type(value->def, 0)) == 0;
}

static tsr_status is_alike(tsr_ir *ir, const tsr_op *a, const tsr_op *b, bool *out) {
  const char *name = axes_name(a);
  const tsr_attr *from = NULL, *other = NULL;
  TSR_TRY(tsr_sharding_get(ir, tsr_op_operand(a, 0), &from));
  TSR_TRY(tsr_sharding_get(ir, tsr_op_operand(b, 0), &other));
  *out = a->info == b->info && from && tsr_sharding_is_equivalent(from, other) &&
         (!name || tsr_attr_equal(tsr_op_attr(a, name), tsr_op_attr(b, name))) &&
         tsr_sharding_is_equivalent(tsr_op_attr(a, "out_sharding"), tsr_op_attr(b, "out_sharding"));
  return NULL;
}

// The first of the collectives that move the operands, which are alike, and the bytes they move by
// shard; NULL if an operand is neither moved alike nor computed again by each device.
static tsr_status moves_of(tsr_ir *ir, const tsr_op *op, tsr_op **out_move, int64_t *out_bytes) {
  tsr_op *first = NULL;
  *out_move = NULL;
  *out_bytes = 0;
  for (int i = 0; i < op->operand_count; i++) {
    tsr_op *move = move_of(tsr_op_operand(op, i));
    bool alike = true;
    int64_t bytes = 0;
    if (!move && is_spread(tsr_op_operand(op, i))) continue;
    if (move && first) TSR_TRY(is_alike(ir, first, move, &alike));
    if (!move || !alike) return NULL;
    if (!first) first = move;
    TSR_TRY(tsr_cut_bytes(ir, tsr_op_operand(move, 0), &bytes));
    *out_bytes = tsr_saturated_add(*out_bytes, bytes);
  }
  *out_move = first;
  return NULL;
}

// ---- behind an op ----

static tsr_status spread_anew(tsr_rewriter *r, tsr_op *op, int index, const tsr_attr *sharding) {
  tsr_value_map *map = tsr_value_map_create();
  tsr_op *copy = map ? tsr_op_clone(r->ir, tsr_op_operand(op, index)->def, map) : NULL;
  tsr_value_map_destroy(map);
  TSR_NEED(copy);
  tsr_op_insert_before(op, copy);
  tsr_op_set_operand(op, index, tsr_op_result(copy, 0));
  return tsr_value_sharding_set(r->ir, tsr_op_result(copy, 0), sharding);
}

// Operands come as they are before the collective `move`, the result is moved like them.
static tsr_status sink(tsr_rewriter *r, tsr_op *op, tsr_op *move, int spread_count) {
  const tsr_attr *from = NULL;
  tsr_value *result = tsr_op_result(op, 0);
  const char *name = axes_name(move);
  tsr_collective_parts parts = {.id = move->info->id,
                                .name = name,
                                .axes = name ? tsr_op_attr(move, name) : NULL,
                                .sharding = tsr_op_attr(move, "out_sharding")};
  TSR_TRY(tsr_sharding_get(r->ir, tsr_op_operand(move, 0), &from));
  tsr_op *made = tsr_collective_create(r->ir, move, result, &parts);
  TSR_NEED(made);
  tsr_op_insert_after(op, made);
  tsr_uses_move(result, tsr_op_result(made, 0), made);
  for (int i = 0; i < op->operand_count; i++) {
    tsr_op *def = tsr_op_operand(op, i)->def;
    if (is_move(def))
      TSR_TRY(tsr_rewriter_replace(r, def, tsr_op_operand(def, 0)));
    else if (i < spread_count)
      TSR_TRY(spread_anew(r, op, i, from));
  }
  TSR_TRY(tsr_value_sharding_set(r->ir, result, from));
  return tsr_rewriter_changed(r, made);
}

// Whether the result is used as it comes from operands that were moved.
static tsr_status has_sharding_of(tsr_ir *ir, tsr_op *op, const tsr_op *move, bool *out) {
  const tsr_attr *sharding = NULL, *to = tsr_op_attr(move, "out_sharding");
  TSR_TRY(tsr_cut_attr(ir, tsr_op_result(op, 0), to, &sharding));
  *out = tsr_sharding_is_equivalent(sharding, to);
  return NULL;
}

static tsr_status sink_elementwise(tsr_rewriter *r, tsr_op *op) {
  tsr_op *move = NULL;
  int64_t before = 0;
  bool same = false;
  if (!(op->info->traits & TSR_TRAIT_ELEMENTWISE) || !(op->info->traits & TSR_TRAIT_PURE) ||
      op->result_count != 1 || op->region_count || is_move(op))
    return NULL;
  TSR_TRY(moves_of(r->ir, op, &move, &before));
  if (!move) return NULL;
  const tsr_type *from = tsr_operand_type(move, 0), *to = op->results[0].type;
  if (tsr_type_rank(from) != tsr_type_rank(to)) return NULL;
  TSR_TRY(has_sharding_of(r->ir, op, move, &same));
  const int64_t width = (int64_t)tsr_type_element_bytes(tsr_type_element(from));
  int64_t one = 0;
  TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_operand(move, 0), &one));
  const int64_t after = tsr_saturated_multiply(
      one / (width ? width : 1), (int64_t)tsr_type_element_bytes(tsr_type_element(to)));
  return same && after < before ? sink(r, op, move, op->operand_count) : NULL;
}

// A slice along dims that no axis cuts, all of the gathered dims.
static tsr_status sink_slice(tsr_rewriter *r, tsr_op *op) {
  tsr_op *move = move_of(tsr_op_operand(op, 0));
  const tsr_attr *from = NULL;
  bool same = false;
  if (!tsr_op_is(move, TSR_OP_SDY_ALL_GATHER)) return NULL;
  TSR_TRY(tsr_sharding_get(r->ir, tsr_op_operand(move, 0), &from));
  TSR_TRY(has_sharding_of(r->ir, op, move, &same));
  if (!from || !same) return NULL;
  const tsr_attr *dims = tsr_attr_field(from, TSR_SDY_SHARDING_DIMS);
  const tsr_type *whole = tsr_operand_type(op, 0), *part = op->results[0].type;
  bool smaller = false;
  for (int d = 0; d < whole->rank; d++) {
    if (whole->dims[d] == part->dims[d]) continue;
    if (tsr_attr_field(dims->items[d], TSR_SDY_DIM_AXES)->count) return NULL;
    smaller = true;
  }
  return smaller ? sink(r, op, move, 0) : NULL;
}

tsr_status tsr_pass_sink_moves(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  static const tsr_rewrite_rule rules[] = {{TSR_OP_SLICE, sink_slice},
                                           {TSR_OP_DYNAMIC_SLICE, sink_slice},
                                           {TSR_OP_UNKNOWN, sink_elementwise}};
  const tsr_rewrite_set set = TSR_REWRITE_SET(rules);
  return tsr_rewrite(ir, options, &set, 1, changes);
}
