// Products of tensors where the version that reshards few ops moves the result, not an operand.
//
// Operands that agree, and a result that has the axes of the contracted dims in one dim where the
// operand has others, would make XLA gather an operand. Computing the result with the axes of the
// operand and resharding it is cheaper if it is not larger than the operand.
#include "propagate/edits.h"
#include "reshard/op_reshards.h"

typedef struct dot_conflict {
  const tsr_op_reshards *r;
  int64_t sizes[3];  // elements of the operands and the result
  int factor;        // of the result that differs; -1 = none
  tsr_sdy_parts axes;
  tsr_sdy_parts reduced;  // of all contracted dims
  tsr_sdy_parts seen;     // of dims that one operand has
} dot_conflict;

static void append(tsr_sdy_parts *list, const tsr_sdy_parts *axes) {
  for (int64_t i = 0; i < axes->count; i++) list->items[list->count++] = axes->items[i];
}

// Looks at one factor; false if the case is not this one.
static bool look_at(dot_conflict *c, int factor) {
  const tsr_projection *projection = &c->r->projection;
  const tsr_factor_sharding *left = tsr_projected(projection, 0, factor);
  const tsr_factor_sharding *right = tsr_projected(projection, 1, factor);
  const tsr_factor_sharding *result = tsr_projected(projection, 2, factor);
  const tsr_factor_sharding *operand = left ? left : right;
  int64_t size = left ? c->sizes[0] : c->sizes[1];
  if (!operand) return false;
  if (left && right) {
    if (!tsr_sdy_parts_equal(&left->axes, &right->axes)) return false;
    if (c->sizes[1] > size) size = c->sizes[1];
    if (projection->rule->factors[factor].kind == TSR_FACTOR_REDUCTION) {
      append(&c->reduced, &operand->axes);
      return true;
    }
  } else {
    if (tsr_parts_overlap(&operand->axes, &c->seen)) return false;
    append(&c->seen, &operand->axes);
  }
  if (!result) return false;
  if (tsr_sdy_parts_equal(&result->axes, &operand->axes)) return true;
  if (!operand->axes.count || c->factor >= 0 || c->sizes[2] > size) return false;
  c->factor = factor;
  c->axes = operand->axes;
  return true;
}

static bool begin(tsr_reshard_run *run, dot_conflict *c) {
  const tsr_op *op = c->r->op;
  size_t most = 1;
  for (int i = 0; i < c->r->projection.rule->place_count; i++)
    most += (size_t)c->r->projection.places[i].axes.count;
  c->reduced.items = tsr_arena_alloc(&run->scratch, most * sizeof *c->reduced.items);
  c->seen.items = tsr_arena_alloc(&run->scratch, most * sizeof *c->seen.items);
  for (int i = 0; i < 2; i++) c->sizes[i] = tsr_type_element_count(tsr_operand_type(op, i));
  c->sizes[2] = tsr_type_element_count(tsr_op_result(op, 0)->type);
  return c->reduced.items && c->seen.items;
}

tsr_status tsr_reshard_dot(tsr_reshard_run *run, tsr_op_reshards *r) {
  dot_conflict c = {.r = r, .factor = -1};
  tsr_value *result = tsr_op_result(r->op, 0), *resharded = NULL;
  const tsr_attr *sharding = NULL;
  if (!begin(run, &c)) return tsr_fail(NO_MEMORY, "axes of %s", r->op->name);
  for (int i = 0; i < r->projection.rule->factor_count; i++)
    if (!look_at(&c, i)) return NULL;
  if (c.factor < 0) return NULL;
  tsr_factor_sharding *place = tsr_projected(&r->projection, 2, c.factor);
  if (!place->axes.count || !tsr_sdy_parts_equal(&place->axes, &c.reduced)) return NULL;
  place->axes = c.axes;
  TSR_TRY(tsr_op_reshards_made(run, r, 2, &sharding));
  TSR_TRY(tsr_value_sharding_set(run->ir, result, sharding));
  const tsr_insertion at = tsr_insertion_after(r->op);
  TSR_TRY(tsr_add_reshard(run, &at, result, r->attrs[2], &resharded));
  tsr_uses_move(result, resharded, resharded->def);
  return NULL;
}
