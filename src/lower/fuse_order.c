// Which steps a block needs, and their order.
#include "lower/fuse_order.h"

#include "lower/lower_reduce.h"
#include "lower/slice_view.h"

// A step to come: a group, or an op by itself.
typedef struct order_unit {
  tsr_fuse_op *op;  // of a group any
  bool opened;      // what it needs is on the stack above it
} order_unit;

typedef struct unit_order {
  tsr_fuser *fuser;
  order_unit *stack;
  int64_t count, capacity;
  tsr_fusion *fusions;
  int fusion_count, fusion_capacity;
} unit_order;

static bool *demanded_of(tsr_fuse_op *op) {
  return op->group ? &op->group->demanded : &op->demanded;
}
static bool *placed_of(tsr_fuse_op *op) { return op->group ? &op->group->placed : &op->placed; }

static tsr_status push(unit_order *order, tsr_fuse_op *op, bool opened) {
  if (order->count == order->capacity) {
    const int64_t capacity = 2 * order->capacity + 64;
    order_unit *stack = tsr_lower_alloc(order->fuser->lowering, capacity, sizeof *stack);
    TSR_NEED(stack);
    for (int64_t i = 0; i < order->count; i++) stack[i] = order->stack[i];
    order->stack = stack;
    order->capacity = capacity;
  }
  order->stack[order->count++] = (order_unit){op, opened};
  return NULL;
}

// ---- what a step needs ----

typedef tsr_status source_fn(unit_order *order, tsr_fuse_op *def, const tsr_value *value);

static tsr_status visit_value(unit_order *order, const tsr_value *value, source_fn *visit) {
  tsr_fuse_op *def = tsr_fuser_def(order->fuser, value);
  return def ? visit(order, def, value) : NULL;
}

// An operand, or what is read through it.
static tsr_status visit_operand(unit_order *order, const tsr_use *use, source_fn *visit) {
  const tsr_value *value = use->value;
  while (!order->fuser->unfused && value->def && tsr_op_absorbs(use, value->def))
    value = tsr_op_operand(value->def, 0);
  return visit_value(order, value, visit);
}

static tsr_status visit_sources(unit_order *order, const tsr_fuse_op *op, source_fn *visit) {
  if (op->group) {
    for (int i = 0; i < op->group->node_count; i++)
      if (op->group->nodes[i].kind == TSR_NODE_LOAD)
        TSR_TRY(visit_value(order, op->group->nodes[i].value, visit));
    return NULL;
  }
  const bool arg = tsr_is_arg_reduce(op->op);  // it does not read its second operand
  for (int i = 0; i < op->op->operand_count; i++)
    if (!arg || i != 1) TSR_TRY(visit_operand(order, &op->op->operands[i], visit));
  for (int i = 0; i < op->capture_count; i++) TSR_TRY(visit_value(order, op->captures[i], visit));
  return NULL;
}

// ---- which steps are needed ----

static tsr_status demand(unit_order *order, tsr_fuse_op *def, const tsr_value *value) {
  (void)value;
  def->reader_count++;
  if (def->group) def->group->nodes[def->node].stored = true;
  if (*demanded_of(def)) return NULL;
  *demanded_of(def) = true;
  return push(order, def, false);
}

static tsr_status demand_all(unit_order *order) {
  for (int i = 0; i < order->fuser->count; i++) {
    tsr_fuse_op *op = &order->fuser->ops[i];
    if (op->kind != TSR_FUSE_ALONE && op->kind != TSR_FUSE_END) continue;
    op->demanded = true;
    TSR_TRY(push(order, op, false));
  }
  while (order->count) TSR_TRY(visit_sources(order, order->stack[--order->count].op, demand));
  return NULL;
}

// ---- their order ----

// Large constants are written again for every step that reads them, so that none lives long.
static bool is_fill(const unit_order *order, const tsr_fuse_op *op) {
  return !order->fuser->unfused && tsr_op_fills(op->op);
}

static tsr_status add_fusion(unit_order *order, tsr_fusion **out_fusion) {
  if (order->fusion_count == order->fusion_capacity) {
    const int capacity = 2 * order->fusion_capacity + 16;
    tsr_fusion *fusions = tsr_lower_alloc(order->fuser->lowering, capacity, sizeof *fusions);
    TSR_NEED(fusions);
    for (int i = 0; i < order->fusion_count; i++) fusions[i] = order->fusions[i];
    order->fusions = fusions;
    order->fusion_capacity = capacity;
  }
  *out_fusion = &order->fusions[order->fusion_count++];
  return NULL;
}

static tsr_status need(unit_order *order, tsr_fuse_op *def, const tsr_value *value) {
  (void)value;
  return *placed_of(def) || is_fill(order, def) ? NULL : push(order, def, false);
}

// The transpose that a product writes through: the only reader of its result.
static tsr_fuse_op *transpose_of(const tsr_fuser *fuser, const tsr_fuse_op *op) {
  if (op->op->info->id != TSR_OP_DOT_GENERAL || fuser->unfused || op->reader_count != 1)
    return NULL;
  const tsr_use *use = op->op->results[0].uses;
  if (!use || use->next || use->user->block != fuser->block) return NULL;
  tsr_fuse_op *user = &fuser->ops[use->user->mark];
  const bool transposes = user->kind == TSR_FUSE_MOVES && user->op->info->id == TSR_OP_TRANSPOSE;
  return transposes && user->demanded && !user->placed ? user : NULL;
}

// A slice that can be made when it is read first: nothing writes what it is a slice of.
static bool may_wait(const tsr_fuse_op *op) {
  if (op->op->info->id != TSR_OP_DYNAMIC_SLICE) return false;
  for (const tsr_use *use = tsr_op_operand(op->op, 0)->uses; use; use = use->next) {
    const bool ends = (use->user->info->traits & TSR_TRAIT_TERMINATES) != 0;
    if (use->user->info->id != TSR_OP_DYNAMIC_SLICE && !ends) return false;
  }
  return true;
}

// A slice that kernels read where it lies.
static bool is_view(const tsr_fuser *fuser, const tsr_fuse_op *op) {
  return !fuser->unfused && op->read_by_kernels && may_wait(op) && tsr_slice_is_piece(op->op) &&
         !tsr_slice_is_known(fuser->lowering, op->op);
}

// Whether an op by itself is lowered here, not by its row.
static bool is_own(const tsr_fuser *fuser, const tsr_fuse_op *op) {
  return (op->op->info->id == TSR_OP_REDUCE && op->kind == TSR_FUSE_MOVES) ||
         tsr_op_fills(op->op) || is_view(fuser, op);
}

static tsr_status list_ops(unit_order *order, tsr_fuse_op *op) {
  tsr_fusion *fusion = NULL;
  TSR_TRY(add_fusion(order, &fusion));
  const int count = op->group ? op->group->member_count : 2;
  fusion->ops = tsr_lower_alloc(order->fuser->lowering, count, sizeof(tsr_op *));
  TSR_NEED(fusion->ops);
  fusion->group = op->group;
  for (int i = 0; op->group && i < op->group->node_count; i++)
    if (op->group->nodes[i].member) fusion->ops[fusion->count++] = op->group->nodes[i].value->def;
  if (op->group) {
    fusion->fused = true;
    return NULL;
  }
  tsr_fuse_op *transpose = transpose_of(order->fuser, op);
  fusion->ops[fusion->count++] = op->op;
  fusion->fused = transpose || is_own(order->fuser, op);
  if (!transpose) return NULL;
  fusion->ops[fusion->count++] = transpose->op;
  transpose->placed = true;
  return NULL;
}

// Writes a constant for the reader of this stamp.
static tsr_status fill(unit_order *order, tsr_fuse_op *def, const tsr_value *value) {
  (void)value;
  if (!is_fill(order, def) || def->stamp == order->fuser->stamp) return NULL;
  def->stamp = order->fuser->stamp;
  return list_ops(order, def);
}

static tsr_status fill_for(unit_order *order, const tsr_fuse_op *op) {
  if (op->op->info->id == TSR_OP_WHILE) return NULL;  // it writes its first values itself
  order->fuser->stamp++;
  return visit_sources(order, op, fill);
}

// ---- updates ----

// The op that writes a value into a larger one, if that is all that is done with it.
static tsr_fuse_op *update_with(const tsr_fuser *fuser, const tsr_value *value) {
  for (const tsr_use *use = value->uses; use && !use->next; use = use->user->results[0].uses) {
    if (use->user->block != fuser->block) return NULL;
    tsr_fuse_op *user = &fuser->ops[use->user->mark];
    if (use->user->info->id == TSR_OP_DYNAMIC_UPDATE_SLICE) return user;
    if (user->kind != TSR_FUSE_MOVES) return NULL;
  }
  return NULL;
}

// Whether all that an update needs is there but for small values, and nothing else still reads what
// it writes to.
static bool is_ready(const tsr_fuser *fuser, const tsr_fuse_op *update) {
  for (int i = 0; i < update->op->operand_count; i++) {
    tsr_fuse_op *def = tsr_fuser_def(fuser, tsr_op_operand(update->op, i));
    while (def && def->kind == TSR_FUSE_MOVES && !def->placed)
      def = tsr_fuser_def(fuser, tsr_op_operand(def->op, 0));
    if (def && !*placed_of(def) && tsr_type_bytes(tsr_operand_type(update->op, i)) > 64)
      return false;
  }
  for (const tsr_use *use = tsr_op_operand(update->op, 0)->uses; use; use = use->next)
    if (use->user != update->op &&
        (use->user->block != fuser->block || !*placed_of(&fuser->ops[use->user->mark])))
      return false;
  return true;
}

// Updates follow what they write, whose memory is free then.
static tsr_status place_updates(unit_order *order, const tsr_fusion *fusion) {
  for (int i = 0; i < fusion->count; i++)
    for (int k = 0; k < fusion->ops[i]->result_count; k++) {
      tsr_fuse_op *update = update_with(order->fuser, &fusion->ops[i]->results[k]);
      if (update && !update->placed && is_ready(order->fuser, update))
        TSR_TRY(push(order, update, false));
    }
  return NULL;
}

static tsr_status place(unit_order *order, tsr_fuse_op *first) {
  TSR_TRY(push(order, first, false));
  while (order->count) {
    order_unit *top = &order->stack[order->count - 1];
    tsr_fuse_op *op = top->op;
    if (!top->opened && !*placed_of(op)) {
      top->opened = true;
      TSR_TRY(visit_sources(order, op, need));
      continue;
    }
    order->count--;
    if (*placed_of(op)) continue;
    *placed_of(op) = true;
    TSR_TRY(fill_for(order, op));
    TSR_TRY(list_ops(order, op));
    if (!order->fuser->unfused)
      TSR_TRY(place_updates(order, &order->fusions[order->fusion_count - 1]));
  }
  return NULL;
}

// Whether a step is placed where its op stands, and not only for its readers.
static bool has_place(const tsr_fuse_op *op, int number) {
  if (op->kind == TSR_FUSE_END) return false;
  if (op->group) return op->group->demanded && op->group->last == number && !op->group->placed;
  const bool reduces = op->kind == TSR_FUSE_ROWS || op->kind == TSR_FUSE_FOLD;
  return op->demanded && !op->placed && (op->kind == TSR_FUSE_ALONE || reduces) && !may_wait(op);
}

tsr_status tsr_fuser_order(tsr_fuser *fuser, tsr_fusion **out_fusions, int *out_count) {
  unit_order order = {.fuser = fuser};
  TSR_TRY(demand_all(&order));
  for (int i = 0; i < fuser->count; i++)
    if (has_place(&fuser->ops[i], i)) TSR_TRY(place(&order, &fuser->ops[i]));
  for (int i = 0; i < fuser->count; i++) {  // what the terminator reads without a step between
    tsr_fuse_op *op = &fuser->ops[i];
    if (op->kind == TSR_FUSE_END)
      TSR_TRY(fill_for(&order, op));
    else if (*demanded_of(op) && !*placed_of(op) && !is_fill(&order, op))
      TSR_TRY(place(&order, op));
  }
  *out_fusions = order.fusions;
  *out_count = order.fusion_count;
  return NULL;
}
