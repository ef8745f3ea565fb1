// What propagates before what: levels of ops, and the priorities that users write.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "propagate/edits.h"
#include "propagate/flow.h"
#include "propagate/stage_dump.h"

// ---- levels of ops ----

enum {
  NONE = TSR_SDY_DIRECTION_NONE,
  FORWARD = TSR_SDY_DIRECTION_FORWARD,
  BACKWARD = TSR_SDY_DIRECTION_BACKWARD,
  BOTH = TSR_SDY_DIRECTION_BOTH,
  LEVELS = 5
};
static_assert((FORWARD | BACKWARD) == BOTH && !NONE, "directions are sets");

static bool is_offload(const tsr_op *op) {
  const tsr_attr *target = tsr_op_attr(op, "call_target_name");
  return op->info->id == TSR_OP_CUSTOM_CALL && target &&
         (tsr_attr_is_string(target, "MoveToDevice") || tsr_attr_is_string(target, "MoveToHost"));
}

static bool has_single_uses(const tsr_op *op) {
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *value = tsr_op_operand(op, i);
    if (!tsr_value_has_one_use(value) && !tsr_value_is_scalar(value)) return false;
  }
  return true;
}

// Ops that keep the elements of their operands: the directions they go from the first levels on.
static int passing_directions(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_RESHAPE:
    case TSR_OP_TRANSPOSE:
    case TSR_OP_SDY_DATA_FLOW_EDGE:
    case TSR_OP_SDY_FUNC_DATA_FLOW_EDGE:
      return BOTH;
    case TSR_OP_DYNAMIC_SLICE:
    case TSR_OP_DYNAMIC_UPDATE_SLICE:
      return FORWARD;
    default:
      return tsr_op_is_pointwise(op) || is_offload(op) ? BOTH : NONE;
  }
}

// The directions that all factors of an op go at a level; those of `pass` only its factors that
// pass through.
static int op_directions(int level, const tsr_op *op, int *out_pass) {
  const int broadcast = op->info->id == TSR_OP_BROADCAST_IN_DIM ? BACKWARD : BOTH;
  int all = NONE;
  if (level >= 1 || has_single_uses(op)) all |= passing_directions(op);
  if (level >= 3) all |= broadcast;
  if (level >= 4) all = BOTH;
  *out_pass = level >= 2 ? all | broadcast : all;
  return all;
}

void tsr_flow_directions(const tsr_flow *flow, const tsr_op *op, const tsr_op_rule *rule,
                         uint8_t *out) {
  int pass = BOTH;
  const int all = flow->level < 0 ? BOTH : op_directions(flow->level, op, &pass);
  for (int i = 0; i < rule->factor_count; i++)
    out[i] = (uint8_t)(rule->factors[i].kind == TSR_FACTOR_PASS ? pass : all);
}

static tsr_status run_strategies(tsr_flow *flow) {
  const tsr_flow_strategy strategy = flow->how->strategy;
  if (strategy != TSR_FLOW_AGGRESSIVE) {
    flow->strategy = TSR_SPREAD_BASIC;
    TSR_TRY(tsr_flow_run(flow));
  }
  if (strategy == TSR_FLOW_BASIC) return NULL;
  flow->strategy = TSR_SPREAD_AGGRESSIVE;
  return tsr_flow_run(flow);
}

tsr_status tsr_flow_levels(tsr_flow *flow) {
  flow->level = -1;
  if (!flow->how->op_priorities) return run_strategies(flow);
  for (flow->level = 0; flow->level < LEVELS; flow->level++) TSR_TRY(run_strategies(flow));
  return NULL;
}

// ---- priorities of users ----

typedef struct waiting_dims {
  int64_t priority;
  uint32_t slot;
  const tsr_tensor_sharding *original;
} waiting_dims;

typedef struct waiting_list {
  waiting_dims *items;
  int64_t count, capacity;
} waiting_list;

static tsr_status add_waiting(waiting_list *list, waiting_dims item) {
  waiting_dims *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  TSR_NEED(items);
  list->items = items;
  list->items[list->count++] = item;
  return NULL;
}

static bool repeats_priority(const tsr_tensor_sharding *sharding, int dim) {
  for (int i = 0; i < dim; i++)
    if (sharding->dims[i].priority == sharding->dims[dim].priority) return true;
  return false;
}

static bool has_priorities(const tsr_tensor_sharding *sharding) {
  for (int i = 0; i < sharding->rank; i++)
    if (sharding->dims[i].priority >= 0) return true;
  return false;
}

// A copy whose dims, which are given, may be changed. NULL without memory.
static tsr_dim_sharding *copy_dims(tsr_arena *arena, const tsr_tensor_sharding *from,
                                   tsr_tensor_sharding **out_copy) {
  tsr_tensor_sharding *copy = tsr_arena_alloc(arena, sizeof *copy);
  tsr_dim_sharding *dims = tsr_arena_alloc(arena, ((size_t)from->rank + 1) * sizeof *dims);
  if (!copy || !dims) return NULL;
  *copy = *from;
  if (from->rank) memcpy(dims, from->dims, (size_t)from->rank * sizeof *dims);
  copy->dims = dims;
  *out_copy = copy;
  return dims;
}

// Dims that wait are closed without axes, and their axes are replicated, so that nobody takes them.
static tsr_status hold_back(tsr_flow *flow, uint32_t slot, const tsr_tensor_sharding *sharding) {
  tsr_tensor_sharding *held = NULL;
  tsr_dim_sharding *dims = copy_dims(&flow->table.arena, sharding, &held);
  TSR_NEED(dims);
  int64_t most = sharding->replicated.count;
  for (int i = 0; i < sharding->rank; i++) most += dims[i].axes.count;
  tsr_sdy_parts parts = {
      tsr_arena_alloc(&flow->table.arena, ((size_t)most + 1) * sizeof(tsr_sdy_part)), 0};
  TSR_NEED(parts.items);
  for (int64_t i = 0; i < sharding->replicated.count; i++)
    parts.items[parts.count++] = sharding->replicated.items[i];
  for (int i = 0; i < sharding->rank; i++) {
    if (dims[i].priority > 0) {
      for (int64_t k = 0; k < dims[i].axes.count; k++)
        parts.items[parts.count++] = dims[i].axes.items[k];
      dims[i] = (tsr_dim_sharding){.closed = true};
    }
    dims[i].priority = -1;
  }
  tsr_sdy_parts_sort(&parts);
  held->replicated = parts;
  return tsr_sharding_put(&flow->table, slot, held);
}

static tsr_status hold_all(tsr_flow *flow, waiting_list *list) {
  for (int64_t i = 1; i <= flow->table.count; i++) {
    const tsr_tensor_sharding *sharding = tsr_sharding_at(&flow->table, (uint32_t)i);
    if (!sharding || !has_priorities(sharding)) continue;
    for (int k = 0; k < sharding->rank; k++)
      if (sharding->dims[k].priority > 0 && !repeats_priority(sharding, k))
        TSR_TRY(
            add_waiting(list, (waiting_dims){sharding->dims[k].priority, (uint32_t)i, sharding}));
    TSR_TRY(hold_back(flow, (uint32_t)i, sharding));
  }
  return NULL;
}

static bool is_released(const tsr_tensor_sharding *original, int64_t priority,
                        const tsr_sdy_part *part) {
  for (int i = 0; i < original->rank; i++) {
    if (original->dims[i].priority != priority) continue;
    for (int64_t k = 0; k < original->dims[i].axes.count; k++)
      if (tsr_sdy_same(&original->dims[i].axes.items[k], part)) return true;
  }
  return false;
}

static tsr_status release(tsr_flow *flow, const waiting_dims *item) {
  const tsr_tensor_sharding *now = tsr_sharding_at(&flow->table, item->slot);
  const tsr_tensor_sharding *original = item->original;
  tsr_tensor_sharding *made = NULL;
  tsr_dim_sharding *dims = copy_dims(&flow->table.arena, now, &made);
  TSR_NEED(dims);
  tsr_sdy_parts parts = {tsr_arena_alloc(&flow->table.arena, ((size_t)now->replicated.count + 1) *
                                                                 sizeof(tsr_sdy_part)),
                         0};
  TSR_NEED(parts.items);
  for (int i = 0; i < original->rank && i < now->rank; i++) {
    if (original->dims[i].priority != item->priority) continue;
    dims[i] = original->dims[i];
    dims[i].priority = -1;
  }
  for (int64_t i = 0; i < now->replicated.count; i++)
    if (!is_released(original, item->priority, &now->replicated.items[i]))
      parts.items[parts.count++] = now->replicated.items[i];
  made->replicated = parts;
  return tsr_sharding_put(&flow->table, item->slot, made);
}

static int by_priority(const void *a, const void *b) {
  const waiting_dims *x = a, *y = b;
  if (x->priority != y->priority) return x->priority < y->priority ? -1 : 1;
  return x->slot < y->slot ? -1 : x->slot > y->slot;
}

// Writes the program as it is after a priority.
static tsr_status dump_priority(tsr_flow *flow) {
  const char *folder = flow->how->dump_folder;
  tsr_text name = TSR_TEXT_EMPTY;
  if (!folder || !*folder) return NULL;
  tsr_text_addf(&name, "propagation_after_user_priority_%lld", (long long)flow->user_priority);
  tsr_status status = tsr_text_check(&name);
  if (!status) status = tsr_sharding_table_write(&flow->table);
  if (!status) status = tsr_stage_dump_marked(flow->ir, folder, 0, tsr_text_string(&name));
  tsr_text_deinit(&name);
  return status;
}

static tsr_status run_priorities(tsr_flow *flow, waiting_list *list) {
  TSR_TRY(hold_all(flow, list));
  if (list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, by_priority);
  TSR_TRY(tsr_flow_levels(flow));
  for (int64_t i = 0; i < list->count;) {
    TSR_TRY(dump_priority(flow));
    flow->user_priority = list->items[i].priority;
    for (; i < list->count && list->items[i].priority == flow->user_priority; i++)
      TSR_TRY(release(flow, &list->items[i]));
    TSR_TRY(tsr_flow_levels(flow));
  }
  return NULL;
}

tsr_status tsr_flow_priorities(tsr_flow *flow) {
  waiting_list list = {0};
  if (!flow->how->user_priorities) return tsr_flow_levels(flow);
  tsr_status status = run_priorities(flow, &list);
  free(list.items);
  return status;
}
