// Pairs of @SPMDFullToShardShape and @SPMDShardToFullShape around a call: a manual computation.
//
//   %1 = @Sharding(%0) sharding S          the operand is sharded as S,
//   %2 = @SPMDFullToShardShape(%1) manual  and seen from here on as its shard
//   %3 = call @body(%2)
//   %4 = @Sharding(%3) manual
//   %5 = @SPMDShardToFullShape(%4) sharding T
#include <stdlib.h>

#include "base/grow.h"
#include "gspmd/gspmd_mesh.h"
#include "propagate/edits.h"
#include "propagate/symbol_names.h"

typedef struct manual_call {
  tsr_gspmd *gspmd;
  tsr_op *call;
  uint32_t manual;  // axes
  bool known;       // whether `manual` was found
  tsr_value **operands;
  const tsr_attr **in, **out;
  int *kept;  // the results that are used
  const tsr_type **types;
  int kept_count;
} manual_call;

static tsr_status set_manual(manual_call *m, uint32_t inside, uint32_t outside) {
  const uint32_t manual = inside & ~outside;
  if (m->known && manual != m->manual)
    return tsr_fail(UNSUPPORTED,
                    "operands and results of the call at line %u have different "
                    "manual axes",
                    m->call->line);
  m->known = true;
  m->manual = manual;
  return NULL;
}

static tsr_status read_call(manual_call *m, const tsr_op *op, const tsr_type *type,
                            tsr_gspmd_sharding *out) {
  const tsr_attr *text = tsr_op_attr(op, TSR_GSPMD_SHARDING);
  uint64_t open = 0;
  if (!text || op->operand_count != 1 || op->result_count != 1)
    return tsr_fail(CONSTRAINT, "@%s at line %u has no sharding, or not one operand and one result",
                    tsr_op_attr(op, "call_target_name")->bytes, op->line);
  TSR_TRY(tsr_gspmd_open_dims(op, &open));
  return tsr_gspmd_sharding_of(m->gspmd, text, 0, tsr_type_rank(type), open, out);
}

static tsr_status read_operand(manual_call *m, int index) {
  tsr_op *pair = tsr_op_operand(m->call, index)->def;
  tsr_gspmd_sharding inside, outside;
  if (!tsr_gspmd_calls(pair, "SPMDFullToShardShape"))
    return tsr_fail(UNSUPPORTED,
                    "operand %d of the call at line %u does not come from @SPMDFullToShardShape",
                    index, m->call->line);
  TSR_TRY(read_call(m, pair, tsr_op_result(pair, 0)->type, &inside));
  tsr_value *full = tsr_op_operand(pair, 0);
  if (!tsr_gspmd_calls(full->def, "Sharding"))
    return tsr_fail(UNSUPPORTED, "@SPMDFullToShardShape at line %u without @Sharding before it",
                    pair->line);
  TSR_TRY(read_call(m, full->def, full->type, &outside));
  m->operands[index] = tsr_op_operand(full->def, 0);
  m->in[index] = outside.attr;
  return set_manual(m, inside.manual, outside.manual);
}

// One use of a result: by the pair, or by a constraint inside that only pairs use.
static tsr_status read_use(manual_call *m, const tsr_op *user, uint32_t inside, int index,
                           bool *first) {
  tsr_gspmd_sharding outside;
  if (!tsr_gspmd_calls(user, "SPMDShardToFullShape"))
    return tsr_fail(UNSUPPORTED,
                    "result %d of the call at line %u goes to %s, not to "
                    "@SPMDShardToFullShape",
                    index, m->call->line, user->name);
  const tsr_type *type = tsr_op_result(user, 0)->type;
  TSR_TRY(read_call(m, user, type, &outside));
  TSR_TRY(set_manual(m, inside, outside.manual));
  if (*first) {
    m->kept[m->kept_count] = index;
    m->types[m->kept_count] = type;
    m->out[m->kept_count++] = outside.attr;
  } else if (!tsr_attr_equal(m->out[m->kept_count - 1], outside.attr)) {
    return tsr_fail(UNSUPPORTED, "result %d of the call at line %u is sharded in two ways", index,
                    m->call->line);
  }
  *first = false;
  return NULL;
}

static tsr_status read_result(manual_call *m, int index) {
  const uint32_t all = (uint32_t)((UINT64_C(1) << m->gspmd->axis_count) - 1);
  bool first = true;
  for (tsr_use *use = tsr_op_result(m->call, index)->uses; use; use = use->next) {
    if (!tsr_gspmd_calls(use->user, "Sharding")) {
      TSR_TRY(read_use(m, use->user, m->known ? m->manual : all, index, &first));
      continue;
    }
    tsr_gspmd_sharding inside;
    TSR_TRY(read_call(m, use->user, tsr_op_result(use->user, 0)->type, &inside));
    for (tsr_use *next = tsr_op_result(use->user, 0)->uses; next; next = next->next)
      TSR_TRY(read_use(m, next->user, inside.manual, index, &first));
  }
  return NULL;
}

// ---- the computation ----

static const tsr_attr *manual_axes(const manual_call *m) {
  const tsr_attr *names[TSR_MAX_DIGITS];
  const tsr_attr *axes = tsr_attr_field(m->gspmd->mesh, TSR_SDY_MESH_AXES);
  int count = 0;
  for (int i = 0; i < m->gspmd->axis_count; i++)
    if (m->manual >> i & 1) names[count++] = tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_NAME);
  const tsr_attr *list = tsr_attr_array(m->gspmd->ir, names, count);
  return list ? tsr_attr_record(m->gspmd->ir, TSR_RECORD_SDY_MANUAL_AXES, &list) : NULL;
}

static tsr_status make_op(manual_call *m, tsr_op **out_op) {
  tsr_ir *ir = m->gspmd->ir;
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "in_shardings", 12), tsr_shardings_attr(ir, m->in, m->call->operand_count)},
      {tsr_ir_name(ir, "out_shardings", 13), tsr_shardings_attr(ir, m->out, m->kept_count)},
      {tsr_ir_name(ir, "manual_axes", 11), manual_axes(m)}};
  for (int i = 0; i < 3; i++)
    if (!attrs[i].name || !attrs[i].attr) return tsr_fail(NO_MEMORY, "a manual computation");
  const tsr_op_parts parts = {.id = TSR_OP_SDY_MANUAL_COMPUTATION,
                              .operands = m->operands,
                              .operand_count = m->call->operand_count,
                              .result_types = m->types,
                              .result_count = m->kept_count,
                              .region_count = 1,
                              .attrs = attrs,
                              .attr_count = 3,
                              .location = m->call->location};
  *out_op = tsr_op_create(ir, &parts);
  TSR_NEED(*out_op);
  return NULL;
}

static tsr_status fill_body(manual_call *m, tsr_op *op) {
  tsr_ir *ir = m->gspmd->ir;
  tsr_op *func = tsr_callee(ir, m->call);
  tsr_value_map *map = tsr_value_map_create();
  TSR_NEED(map);
  tsr_op *copy = tsr_op_clone(ir, func, map);
  tsr_value_map_destroy(map);
  TSR_NEED(copy);
  tsr_body_take(&op->regions[0], &copy->regions[0]);
  TSR_TRY(tsr_return_exchange(ir, op->regions[0].first, TSR_OP_SDY_RETURN));
  tsr_op *end = tsr_block_terminator(op->regions[0].first);
  tsr_value **values = tsr_ir_alloc(ir, sizeof *values * ((size_t)m->kept_count + 1));
  TSR_NEED(values);
  for (int i = 0; i < m->kept_count; i++) values[i] = tsr_op_operand(end, m->kept[i]);
  TSR_NEED(tsr_op_set_operands(ir, end, values, m->kept_count));
  return NULL;
}

static void drop_unused(tsr_op *op) {
  if (op && op->result_count == 1 && !tsr_op_result(op, 0)->uses) tsr_op_erase(op);
}

// The pairs after a result: each gives its uses to the result of the computation.
static void join_result(tsr_value *result, tsr_value *made) {
  while (result->uses) {
    tsr_op *user = result->uses->user;
    if (tsr_gspmd_calls(user, "Sharding"))
      join_result(tsr_op_result(user, 0), made);  // NOLINT(misc-no-recursion): one level
    else
      tsr_value_replace(tsr_op_result(user, 0), made);
    tsr_op_erase(user);
  }
}

static tsr_status import_call(manual_call *m) {
  tsr_op *op = NULL;
  for (int i = 0; i < m->call->operand_count; i++) TSR_TRY(read_operand(m, i));
  for (int i = 0; i < m->call->result_count; i++) TSR_TRY(read_result(m, i));
  TSR_TRY(make_op(m, &op));
  tsr_op_insert_before(m->call, op);
  TSR_TRY(fill_body(m, op));
  for (int i = 0; i < m->kept_count; i++)
    join_result(tsr_op_result(m->call, m->kept[i]), tsr_op_result(op, i));
  tsr_op_erase(m->call);
  return NULL;
}

// ---- which calls ----

static bool ends_at_pair(const tsr_value *value) {
  for (const tsr_use *use = value->uses; use; use = use->next) {
    if (tsr_gspmd_calls(use->user, "SPMDShardToFullShape")) return true;
    const tsr_value *next =
        tsr_gspmd_calls(use->user, "Sharding") ? tsr_op_result(use->user, 0) : NULL;
    for (const tsr_use *last = next ? next->uses : NULL; last; last = last->next)
      if (tsr_gspmd_calls(last->user, "SPMDShardToFullShape")) return true;
  }
  return false;
}

static bool stands_in_pairs(const tsr_op *call) {
  for (int i = 0; i < call->operand_count; i++)
    if (tsr_gspmd_calls(tsr_op_operand(call, i)->def, "SPMDFullToShardShape")) return true;
  for (int i = 0; i < call->result_count; i++)
    if (ends_at_pair(tsr_op_result(call, i))) return true;
  return false;
}

typedef struct call_list {
  tsr_op **items;
  int64_t count, capacity;
} call_list;

// Ops around a call go with it, so calls are listed before any is changed.
static tsr_status list_call(tsr_op *op, void *context) {
  call_list *list = context;
  if (!tsr_op_is(op, TSR_OP_CALL) || !stands_in_pairs(op)) return NULL;
  tsr_op **items = tsr_grow(list->items, list->count, &list->capacity, sizeof(tsr_op *));
  TSR_NEED(items);
  list->items = items;
  items[list->count++] = op;
  return NULL;
}

static tsr_status enter_call(tsr_gspmd *gspmd, tsr_op *op) {
  tsr_ir *ir = gspmd->ir;
  const tsr_op *func = tsr_callee(ir, op);
  if (!func || !tsr_func_body(func))
    return tsr_fail(UNSUPPORTED, "a call of a function without a body at line %u", op->line);
  const size_t room = (size_t)op->operand_count + (size_t)op->result_count + 1;
  manual_call m = {.gspmd = gspmd, .call = op};
  m.operands = tsr_ir_alloc(ir, sizeof *m.operands * room);
  m.in = tsr_ir_alloc(ir, sizeof(const tsr_attr *) * room);
  m.out = tsr_ir_alloc(ir, sizeof(const tsr_attr *) * room);
  m.kept = tsr_ir_alloc(ir, sizeof *m.kept * room);
  m.types = tsr_ir_alloc(ir, sizeof(const tsr_type *) * room);
  if (!m.operands || !m.in || !m.out || !m.kept || !m.types)
    return tsr_fail(NO_MEMORY, "a manual computation");
  return import_call(&m);
}

// Pairs whose results nothing uses any more go, and constraints before them.
static tsr_status drop_pairs(tsr_op *op, void *context) {
  (void)context;
  if (!tsr_gspmd_calls(op, "SPMDFullToShardShape") || op->result_count != 1) return NULL;
  if (tsr_op_result(op, 0)->uses) return NULL;
  tsr_op *before = op->operand_count == 1 ? tsr_op_operand(op, 0)->def : NULL;
  tsr_op_erase(op);
  if (tsr_gspmd_calls(before, "Sharding")) drop_unused(before);
  return NULL;
}

// Callees first, so that a body that is copied has its own computations already.
tsr_status tsr_gspmd_import_manual(tsr_gspmd *gspmd, int64_t *changes) {
  call_list list = {0};
  tsr_status status = tsr_calls_walk(gspmd->ir, list_call, &list);
  for (int64_t i = 0; !status && i < list.count; i++) status = enter_call(gspmd, list.items[i]);
  *changes += list.count;
  free(list.items);
  return status ? status : tsr_op_walk_after(gspmd->ir->module, drop_pairs, NULL);
}
