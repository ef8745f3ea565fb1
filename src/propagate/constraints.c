// Sharding constraints that say how their operand is sharded give it their sharding before
// propagation, since propagation would leave its dimensions open.
#include "factor/shardings.h"
#include "propagate/edits.h"
#include "propagate/flow_notes.h"
#include "propagate/manual_axes.h"
#include "propagate/sharding_passes.h"
#include "verify/sdy_checks.h"

static bool is_constraint(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_SDY_SHARDING_CONSTRAINT) ||
         tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION);
}

// The sharding that a use asks for; NULL if it asks for none.
static const tsr_attr *wanted_by(const tsr_use *use) {
  const tsr_op *user = use->user;
  if (tsr_op_is(user, TSR_OP_SDY_SHARDING_CONSTRAINT)) return tsr_op_attr(user, "sharding");
  if (!tsr_op_is(user, TSR_OP_SDY_MANUAL_COMPUTATION)) return NULL;
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(user, "in_shardings"));
  const int64_t index = use - user->operands;
  return list && index < list->count ? list->items[index] : NULL;
}

static bool is_fully_closed(const tsr_attr *sharding) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  for (int64_t i = 0; i < dims->count; i++)
    if (!tsr_attr_field(dims->items[i], TSR_SDY_DIM_CLOSED)->integer) return false;
  return true;
}

static bool should_apply(tsr_value *input, const tsr_attr *old, const tsr_attr *sharding) {
  if (!tsr_shardable(input) || old || !is_fully_closed(sharding)) return false;
  for (const tsr_use *use = input->uses; use; use = use->next) {
    const tsr_attr *other = wanted_by(use);
    if (other && !tsr_attr_equal(other, sharding)) return false;
  }
  return true;
}

// A target of an edge stands for more than this value, so its sharding stays; but unreduced axes do
// not propagate.
static tsr_status keep_unreduced(tsr_ir *ir, tsr_value *input, const tsr_attr *sharding) {
  const tsr_attr *axes = tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED);
  if (!axes->count) return NULL;
  const tsr_attr *bare = tsr_sharding_bare(ir, tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH),
                                           tsr_type_rank(input->type), false);
  TSR_NEED(bare);
  bare = tsr_sharding_with(ir, bare, TSR_SDY_SHARDING_UNREDUCED, axes);
  TSR_NEED(bare);
  bare = tsr_sharding_with(ir, bare, TSR_SDY_SHARDING_REDUCTION,
                           tsr_attr_field(sharding, TSR_SDY_SHARDING_REDUCTION));
  TSR_NEED(bare);
  return tsr_sharding_store(ir, tsr_shardable(input), bare);
}

static bool is_edge_target(tsr_value *input) {
  return tsr_op_is(input->def, TSR_OP_SDY_DATA_FLOW_EDGE) || tsr_shardable(input) != input;
}

// The constraint that stands right after the value: `op` itself, moved there, or a new one where it
// is a manual computation.
static tsr_status constraint_after(tsr_ir *ir, tsr_op *op, tsr_value *input,
                                   const tsr_attr *sharding, tsr_op **out_constraint) {
  tsr_op *constraint = op;
  if (tsr_op_is(op, TSR_OP_SDY_SHARDING_CONSTRAINT)) {
    tsr_op_unlink(op);
  } else {
    const tsr_named_attr attr = {tsr_ir_name(ir, "sharding", 8), sharding};
    TSR_NEED(attr.name);
    constraint = tsr_op_like(ir, op, TSR_OP_SDY_SHARDING_CONSTRAINT, input, &attr);
    TSR_NEED(constraint);
  }
  tsr_op_insert_after_value(input, constraint);
  constraint->mark = input->def ? input->def->mark : 0;
  *out_constraint = constraint;
  return NULL;
}

typedef struct applying {
  tsr_ir *ir;
  int64_t *changes;
  uint32_t numbered;
  tsr_flow_notes *notes;  // NULL = none are asked for
  tsr_arena scratch;
} applying;

// Notes that the input of a constraint got its axes through it.
static tsr_status note_applied(applying *a, const tsr_op *op, const tsr_op_rule *rule,
                               tsr_value *input, const tsr_attr *attr) {
  const tsr_attr *mesh = tsr_sdy_mesh_of(a->ir, op, attr);
  tsr_tensor_sharding *sharding = NULL;
  tsr_projection before, after;
  if (!mesh || !rule->place_count) return NULL;
  TSR_TRY(tsr_sharding_read(&a->scratch, mesh, attr, &sharding));
  const tsr_tensor_sharding *const old[] = {NULL, sharding}, *const now[] = {sharding, sharding};
  tsr_value *const values[] = {input, tsr_op_result(op, 0)};
  TSR_TRY(tsr_project(&a->scratch, rule, mesh, old, false, &before));
  TSR_TRY(tsr_project(&a->scratch, rule, mesh, now, false, &after));
  return tsr_flow_notes_step(a->notes, op, values, &before, &after, &a->scratch);
}

// Gives the input of a constraint its sharding. Shardy leaves the rule of the constraint there.
static tsr_status store(applying *a, tsr_op *op, tsr_value *input, const tsr_attr *sharding) {
  const tsr_op_rule *rule = NULL;
  TSR_TRY(tsr_sharding_store(a->ir, input, sharding));
  if (!tsr_op_is(op, TSR_OP_SDY_SHARDING_CONSTRAINT)) return NULL;
  tsr_arena_reset(&a->scratch);
  TSR_TRY(tsr_rule_of(&a->scratch, op, TSR_RULE_PLAIN, &rule));
  if (!rule) return NULL;
  if (a->notes) TSR_TRY(note_applied(a, op, rule, input, sharding));
  const tsr_attr *attr = tsr_rule_attr(a->ir, rule);
  TSR_NEED(attr);
  return tsr_op_attr_set(a->ir, op, "sdy.sharding_rule", attr);
}

static tsr_status apply_to(applying *a, tsr_op *op, tsr_value *input, const tsr_attr *sharding) {
  tsr_ir *ir = a->ir;
  tsr_op *constraint = NULL;
  const tsr_attr *old = NULL;
  TSR_TRY(tsr_sharding_get(ir, input, &old));
  if (!should_apply(input, old, sharding)) return NULL;
  if (!is_edge_target(input)) return store(a, op, input, sharding);
  TSR_TRY(constraint_after(ir, op, input, sharding, &constraint));
  tsr_uses_move(input, tsr_op_result(constraint, 0), constraint);
  return keep_unreduced(ir, input, sharding);
}

// ---- chains ----

static bool is_constrained(const tsr_value *value, const tsr_op *except) {
  for (const tsr_use *use = value->uses; use; use = use->next)
    if (use->user != except && is_constraint(use->user)) return true;
  return false;
}

// The last constraint of the chain that `head` begins; NULL if it begins none.
static tsr_op *chain_tail(tsr_op *head) {
  const tsr_value *input = tsr_op_operand(head, 0);
  if (tsr_op_is(input->def, TSR_OP_SDY_SHARDING_CONSTRAINT) || is_constrained(input, head))
    return NULL;
  tsr_op *tail = head;
  while (tsr_value_has_one_use(tsr_op_result(tail, 0)) &&
         tsr_op_is(tsr_op_result(tail, 0)->uses->user, TSR_OP_SDY_SHARDING_CONSTRAINT))
    tail = tsr_op_result(tail, 0)->uses->user;
  return tail == head || is_constrained(tsr_op_result(tail, 0), NULL) ? NULL : tail;
}

// Later uses of what the chain begins with take its end instead.
static tsr_status use_tail(tsr_ir *ir, tsr_op *head) {
  const tsr_op *tail = chain_tail(head);
  tsr_value *input = tsr_op_operand(head, 0);
  const tsr_attr *sharding = NULL;
  TSR_TRY(tsr_sharding_get(ir, input, &sharding));
  if (!tail || sharding) return NULL;
  for (tsr_use *use = input->uses, *next = NULL; use; use = next) {
    tsr_op *user = use->user;
    next = use->next;
    if (user != head && !tsr_op_is(user, TSR_OP_FUNC_RETURN) && user->block == tail->block &&
        user->mark > tail->mark)
      tsr_op_set_operand(user, (int)(use - user->operands), tsr_op_result(tail, 0));
  }
  return NULL;
}

// ---- the pass ----

// The mark of an op is its place in the program, so that uses know whether they come later.
static tsr_status number_op(tsr_op *op, void *context) {
  applying *a = context;
  op->mark = ++a->numbered;
  return NULL;
}

static tsr_status apply_op(tsr_op *op, void *context) {
  applying *a = context;
  if (tsr_op_is(op, TSR_OP_SDY_SHARDING_CONSTRAINT)) {
    TSR_TRY(use_tail(a->ir, op));
    ++*a->changes;
    return apply_to(a, op, tsr_op_operand(op, 0), tsr_op_attr(op, "sharding"));
  }
  if (!tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION)) return NULL;
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(op, "in_shardings"));
  for (int i = 0; list && i < op->operand_count && i < list->count; i++, ++*a->changes)
    TSR_TRY(apply_to(a, op, tsr_op_operand(op, i), list->items[i]));
  return NULL;
}

static tsr_status apply_all(applying *a) {
  tsr_status status = tsr_op_walk(a->ir->module, number_op, a);
  if (!status) status = tsr_op_walk_after(a->ir->module, apply_op, a);
  tsr_arena_deinit(&a->scratch);
  return status;
}

static tsr_status number_values(tsr_ir *ir, tsr_flow_notes *notes) {
  tsr_sharding_table table;
  TSR_TRY(tsr_sharding_table_init(ir, &table));
  const int64_t count = table.count;
  tsr_sharding_table_deinit(&table);  // the slots stay in the marks of values
  return tsr_flow_notes_number(notes, count);
}

tsr_status tsr_pass_apply_sharding_constraints(tsr_ir *ir, const tsr_pass_options *options,
                                               int64_t *changes) {
  applying a = {.ir = ir, .changes = changes};
  tsr_flow_notes notes;
  const bool origins = tsr_pass_flag(options, TSR_SHARDING_ORIGINS);
  const bool edges = tsr_pass_flag(options, TSR_SHARDING_EDGES);
  if (!origins && !edges) return apply_all(&a);
  TSR_TRY(tsr_flow_notes_begin(&notes, ir, origins, edges));
  a.notes = &notes;
  tsr_status status = number_values(ir, &notes);
  if (!status) status = apply_all(&a);
  if (!status) status = tsr_flow_notes_write(&notes);
  tsr_flow_notes_deinit(&notes);
  return status;
}
