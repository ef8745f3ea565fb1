// Constants and broadcasts of scalars copied, one for each use: uses of a constant should not be
// sharded alike just because they share it.
//
// A constant sub-computation is a constant or iota, or a broadcast, reshape, slice or elementwise
// op of such. Each use by another op gets a copy of the whole sub-computation. Scalars are not
// copied: they are never sharded.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "factor/rule.h"
#include "propagate/edits.h"
#include "propagate/sharding_passes.h"
#include "propagate/symbol_names.h"

enum { MOST_COPIES = 4000000 };

// Marks of ops. Functions and computations whose body is more than a constant expression of its
// arguments are VARYING.
enum { CONSTANT = 1, EXPANSION = 2, VARYING = 4 };

typedef struct split_ops {
  tsr_op **items;
  int64_t count, capacity;
} split_ops;

typedef struct splitting {
  tsr_ir *ir;
  tsr_symbol_namer namer;
  split_ops constants, expansions, stack;
  const char **varying;  // names of named computations
  int64_t varying_count, varying_capacity;
  tsr_op *func;
  int64_t changes;
} splitting;

static tsr_status add_op(split_ops *list, tsr_op *op) {
  tsr_op **items = tsr_grow(list->items, list->count, &list->capacity, sizeof(tsr_op *));
  TSR_NEED(items);
  list->items = items;
  list->items[list->count++] = op;
  return NULL;
}

// ---- what is constant ----

// Copies share the mark of the function that they were made of.
static tsr_op *origin_of(const splitting *s, tsr_op *func) {
  tsr_op *origin = tsr_ir_find_symbol(s->ir, tsr_func_origin(func));
  return tsr_op_is(origin, TSR_OP_FUNC) ? origin : func;
}

static bool is_varying_name(const splitting *s, const tsr_op *named) {
  const tsr_attr *name = tsr_op_attr(named, "name");
  for (int64_t i = 0; i < s->varying_count; i++)
    if (tsr_attr_is_string(name, s->varying[i])) return true;
  return false;
}

static bool keeps_constants(const splitting *s, const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_CALL: {
      tsr_op *callee = tsr_callee(s->ir, op);
      return callee && !(origin_of(s, callee)->mark & VARYING);
    }
    case TSR_OP_SDY_NAMED_COMPUTATION:
      return !is_varying_name(s, op);
    case TSR_OP_BROADCAST_IN_DIM:
    case TSR_OP_RESHAPE:
    case TSR_OP_SLICE:
      return true;
    default:
      return op->info->traits & TSR_TRAIT_PURE && tsr_op_is_pointwise(op);
  }
}

static bool is_constant(const splitting *s, const tsr_op *op) {
  if (tsr_op_is(op, TSR_OP_SDY_CONSTANT) || tsr_op_is(op, TSR_OP_IOTA)) return true;
  if (!keeps_constants(s, op)) return false;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_op *def = tsr_op_operand(op, i)->def;
    if (!def || !(def->mark & CONSTANT)) return false;
  }
  return true;
}

static bool is_expansion(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_BROADCAST_IN_DIM) && tsr_value_is_scalar(tsr_op_operand(op, 0));
}

// ---- copies ----

static tsr_status copy_groups(splitting *s, tsr_op *op, tsr_value_map *map, tsr_op *place) {
  for (int i = 0; i < op->result_count; i++)
    for (const tsr_use *use = tsr_op_result(op, i)->uses; use; use = use->next) {
      if (!tsr_op_is(use->user, TSR_OP_SDY_SHARDING_GROUP)) continue;
      tsr_op *group = tsr_op_clone(s->ir, use->user, map);
      TSR_NEED(group);
      tsr_op_insert_before(place, group);
    }
  return NULL;
}

static tsr_status copy_op(splitting *s, tsr_op *op, tsr_value_map *map) {
  tsr_op *copy = tsr_op_clone(s->ir, op, map);
  TSR_NEED(copy);
  copy->mark = 0;
  tsr_op_insert_before(op, copy);
  if (++s->changes > MOST_COPIES)
    return tsr_fail(TOO_LARGE, "more than %d copies of constants", MOST_COPIES);
  if (tsr_op_is(copy, TSR_OP_CALL)) {
    const tsr_op *callee = tsr_callee(s->ir, copy);
    tsr_op *func = NULL;
    if (callee && tsr_func_body(callee)) {
      TSR_TRY(tsr_func_copy(&s->namer, callee, &func));
      TSR_TRY(tsr_callee_set(s->ir, copy, tsr_op_symbol(func)));
    }
  }
  return copy_groups(s, op, map, op);
}

static bool needs_copy(const tsr_value *value, const tsr_value_map *map) {
  return value->def && !tsr_value_is_scalar(value) && !tsr_value_map_find(map, value);
}

// The op and all that it is computed of, without those already copied. Operands come first.
static tsr_status copy_tree(splitting *s, tsr_op *root, tsr_value_map *map) {
  s->stack.count = 0;
  TSR_TRY(add_op(&s->stack, root));
  while (s->stack.count) {
    tsr_op *op = s->stack.items[s->stack.count - 1];
    const int64_t before = s->stack.count;
    for (int i = op->operand_count; i-- > 0;)
      if (needs_copy(tsr_op_operand(op, i), map))
        TSR_TRY(add_op(&s->stack, tsr_op_operand(op, i)->def));
    if (s->stack.count > before) continue;
    s->stack.count--;
    if (op->result_count && needs_copy(tsr_op_result(op, 0), map)) TSR_TRY(copy_op(s, op, map));
  }
  return NULL;
}

static tsr_status copy_value(splitting *s, tsr_op *user, int index) {
  tsr_value *value = tsr_op_operand(user, index);
  if (tsr_value_is_scalar(value)) return NULL;
  tsr_value_map *map = tsr_value_map_create();
  TSR_NEED(map);
  tsr_status status = copy_tree(s, value->def, map);
  tsr_value *copy = status ? NULL : tsr_value_map_find(map, value);
  if (copy) tsr_op_set_operand(user, index, copy);
  tsr_value_map_destroy(map);
  return status;
}

// ---- one region ----

static tsr_op *named_parent(const tsr_op *op) {
  tsr_op *parent = tsr_op_parent(op);
  while (parent && !tsr_op_is(parent, TSR_OP_SDY_NAMED_COMPUTATION)) parent = tsr_op_parent(parent);
  return parent;
}

static tsr_status note_varying(splitting *s, const tsr_op *op) {
  const tsr_op *named = named_parent(op);
  origin_of(s, s->func)->mark |= VARYING;
  if (!named || is_varying_name(s, named)) return NULL;
  const char **names =
      tsr_grow(s->varying, s->varying_count, &s->varying_capacity, sizeof(const char *));
  TSR_NEED(names);
  s->varying = names;
  s->varying[s->varying_count++] = tsr_op_attr(named, "name")->bytes;
  return NULL;
}

static tsr_status split_op(splitting *s, tsr_op *op) {
  if (tsr_op_is(op, TSR_OP_SDY_SHARDING_GROUP)) return NULL;
  if (is_constant(s, op)) {
    op->mark |= CONSTANT;
    return add_op(&s->constants, op);
  }
  if (!keeps_constants(s, op) && !(op->info->traits & TSR_TRAIT_TERMINATES))
    TSR_TRY(note_varying(s, op));
  if (is_expansion(op)) {
    op->mark |= EXPANSION;
    return add_op(&s->expansions, op);
  }
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_op *def = tsr_op_operand(op, i)->def;
    if (def && def->mark & (CONSTANT | EXPANSION)) TSR_TRY(copy_value(s, op, i));
  }
  return NULL;
}

// Named computations have been split before. Programs are nested to a depth that is limited.
// NOLINTNEXTLINE(misc-no-recursion)
static tsr_status split_region(splitting *s, const tsr_region *region) {
  for (tsr_ir_block *block = region->first; block; block = block->next)
    for (tsr_op *op = block->first, *next = NULL; op; op = next) {
      next = op->next;
      TSR_TRY(split_op(s, op));
      if (tsr_op_is(op, TSR_OP_SDY_NAMED_COMPUTATION)) continue;
      for (int i = 0; i < op->region_count; i++) TSR_TRY(split_region(s, &op->regions[i]));
    }
  return NULL;
}

static void erase_unused(tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    for (const tsr_use *use = tsr_op_result(op, i)->uses; use; use = use->next)
      if (!tsr_op_is(use->user, TSR_OP_SDY_SHARDING_GROUP)) return;
  for (int i = 0; i < op->result_count; i++)
    while (tsr_op_result(op, i)->uses) tsr_op_erase(tsr_op_result(op, i)->uses->user);
  tsr_op_erase(op);
}

static tsr_status split_whole(splitting *s, const tsr_region *region) {
  s->constants.count = s->expansions.count = 0;
  TSR_TRY(split_region(s, region));
  for (int64_t i = 0; i < s->expansions.count; i++) erase_unused(s->expansions.items[i]);
  for (int64_t i = s->constants.count; i-- > 0;) erase_unused(s->constants.items[i]);
  return NULL;
}

static tsr_status split_named(tsr_op *op, void *context) {
  return tsr_op_is(op, TSR_OP_SDY_NAMED_COMPUTATION) ? split_whole(context, &op->regions[0]) : NULL;
}

// ---- the pass ----

// Shardy's own constants are not merged by anyone.
static tsr_status rename_constant(tsr_op *op, void *context) {
  (void)context;
  op->mark = 0;
  if (!tsr_op_is(op, TSR_OP_CONSTANT)) return NULL;
  op->info = tsr_op_info_of(TSR_OP_SDY_CONSTANT);
  op->name = op->info->name;
  return NULL;
}

static tsr_status split_functions(splitting *s, const tsr_call_order *order) {
  for (int i = 0; i < order->count; i++) order->list[i]->mark = 0;
  for (int i = 0; i < order->count; i++) {
    s->func = order->list[i];
    TSR_TRY(tsr_op_walk_after(s->func, split_named, s));
    TSR_TRY(split_whole(s, &s->func->regions[0]));
  }
  return NULL;
}

tsr_status tsr_pass_constant_or_scalar_splitter(tsr_ir *ir, const tsr_pass_options *options,
                                                int64_t *changes) {
  splitting s = {.ir = ir, .namer = {.ir = ir}};
  tsr_call_order order = {0};
  (void)options;
  TSR_TRY(tsr_op_walk(ir->module, rename_constant, NULL));
  TSR_TRY(tsr_call_order_make(ir, &order));
  tsr_status status = split_functions(&s, &order);
  *changes += s.changes;
  free(order.list);
  free(s.constants.items);
  free(s.expansions.items);
  free(s.stack.items);
  free(s.varying);
  return status;
}
