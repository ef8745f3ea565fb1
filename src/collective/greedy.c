#include "collective/greedy.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ir/intern.h"
#include "propagate/edits.h"
#include "simplify/rewriter.h"
#include "tessera/engine/hash.h"

enum { MOST_ROUNDS = 10 };
enum { ORDER_GAP = 1 << 20 };

// What is known of an op whose mark is its index.
typedef struct greedy_node {
  int64_t waiting;  // place on the stack plus 1; 0 = it does not wait
  int64_t order;    // in its block; 0 = not known
} greedy_node;

struct tsr_greedy {
  tsr_ir *ir;
  const tsr_greedy_rule *rules;
  int rule_count;
  const char *label;
  tsr_op **stack;  // NULL where an op was taken off
  int64_t count, capacity;
  greedy_node *nodes;  // [0] is nobody's
  int64_t node_count, node_capacity;
  tsr_intern_table constants;
  int64_t changes;
  tsr_arena arena;
  tsr_intern_table memory[TSR_GREEDY_KINDS];  // of rules
  tsr_arena kept;                             // what stands in it
  int64_t moves;
};

tsr_ir *tsr_greedy_ir(tsr_greedy *g) { return g->ir; }
tsr_arena *tsr_greedy_arena(tsr_greedy *g) { return &g->arena; }

int64_t tsr_greedy_moves(const tsr_greedy *g) { return g->moves; }

tsr_intern_table *tsr_greedy_memory(tsr_greedy *g, tsr_greedy_kind kind, tsr_arena **out_arena) {
  *out_arena = &g->kept;
  return &g->memory[kind];
}

// ---- the stack ----

static tsr_status node_of(tsr_greedy *g, tsr_op *op, greedy_node **out_node) {
  if (!op->mark) {
    greedy_node *nodes = tsr_grow(g->nodes, g->node_count, &g->node_capacity, sizeof *nodes);
    TSR_NEED(nodes);
    g->nodes = nodes;
    op->mark = (uint32_t)g->node_count;
    g->nodes[g->node_count++] = (greedy_node){0};
  }
  *out_node = &g->nodes[op->mark];
  return NULL;
}

static tsr_status push_one(tsr_greedy *g, tsr_op *op) {
  greedy_node *node = NULL;
  TSR_TRY(node_of(g, op, &node));
  if (node->waiting) return NULL;
  tsr_op **stack = tsr_grow(g->stack, g->count, &g->capacity, sizeof *stack);
  TSR_NEED(stack);
  g->stack = stack;
  g->stack[g->count++] = op;
  node->waiting = g->count;
  return NULL;
}

// Ops around it may be changed by what happens in their regions, so they wait too.
tsr_status tsr_greedy_push(tsr_greedy *g, tsr_op *op) {
  for (; op && op != g->ir->module; op = tsr_op_parent(op)) TSR_TRY(push_one(g, op));
  return NULL;
}

static tsr_status take_off(tsr_op *op, void *context) {
  tsr_greedy *g = context;
  greedy_node *node = &g->nodes[op->mark];
  if (op->mark && node->waiting) {
    g->stack[node->waiting - 1] = NULL;
    node->waiting = 0;
  }
  return NULL;
}

static void forget(tsr_greedy *g, tsr_op *op) {
  tsr_status_free(tsr_op_walk(op, take_off, g));  // cannot fail
}

void tsr_greedy_forget(tsr_greedy *g, tsr_op *op) {
  g->moves++;
  forget(g, op);
}

static void reverse_stack(tsr_greedy *g) {
  for (int64_t i = 0, k = g->count - 1; i < k; i++, k--) {
    tsr_op *op = g->stack[i];
    g->stack[i] = g->stack[k];
    g->stack[k] = op;
  }
  for (int64_t i = 0; i < g->count; i++)
    if (g->stack[i]) g->nodes[g->stack[i]->mark].waiting = i + 1;
}

// ---- order ----

static int64_t known_order(const tsr_greedy *g, const tsr_op *op) {
  return op && op->mark ? g->nodes[op->mark].order : 0;
}

// Numbers all ops of a block that have nodes; those that have none never move or are asked for.
static void number_block(tsr_greedy *g, const tsr_ir_block *block) {
  int64_t order = 0;
  for (const tsr_op *op = block->first; op; op = op->next) {
    order += ORDER_GAP;
    if (op->mark) g->nodes[op->mark].order = order;
  }
}

static int64_t order_of(tsr_greedy *g, const tsr_op *op) {
  greedy_node *node = &g->nodes[op->mark];
  if (node->order) return node->order;
  const int64_t low = known_order(g, op->prev), high = known_order(g, op->next);
  if ((low || !op->prev) && high > low + 1)
    node->order = low + (high - low) / 2;
  else
    number_block(g, op->block);
  return node->order;
}

bool tsr_greedy_is_before(tsr_greedy *g, tsr_op *a, tsr_op *b) {
  if (!a->mark || !b->mark) return false;
  const int64_t first = order_of(g, a), second = order_of(g, b);
  return first && order_of(g, a) < second;
}

// ---- changes ----

tsr_status tsr_greedy_insert(tsr_greedy *g, tsr_op *place, tsr_op *op) {
  tsr_op_insert_before(place, op);
  return tsr_greedy_push(g, op);
}

// Whether a value has at most one user but `op`.
static bool is_used_little(const tsr_value *value, const tsr_op *op) {
  const tsr_op *other = NULL;
  for (const tsr_use *use = value->uses; use; use = use->next) {
    if (use->user == op || use->user == other) continue;
    if (other) return false;
    other = use->user;
  }
  return true;
}

// What an op used may be unused when it is gone, or used once.
static tsr_status leave(tsr_op *op, void *context) {
  tsr_greedy *g = context;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *value = tsr_op_operand(op, i);
    if (value->def && is_used_little(value, op)) TSR_TRY(tsr_greedy_push(g, value->def));
  }
  return take_off(op, g);
}

tsr_status tsr_greedy_erase(tsr_greedy *g, tsr_op *op) {
  TSR_TRY(tsr_op_walk_after(op, leave, g));
  forget(g, op);
  tsr_op_erase(op);
  return NULL;
}

tsr_status tsr_greedy_replace(tsr_greedy *g, tsr_op *op, tsr_value *const *values) {
  for (int i = 0; i < op->result_count; i++) {
    for (const tsr_use *use = op->results[i].uses; use; use = use->next)
      TSR_TRY(tsr_greedy_push(g, use->user));
    tsr_uses_move(tsr_op_result(op, i), values[i], NULL);
  }
  return tsr_greedy_erase(g, op);
}

// ---- constants ----

// The op in whose first block constants of a block belong.
static tsr_op *constant_home(tsr_op *op) {
  tsr_op *parent = tsr_op_parent(op);
  while (parent->block && !(parent->info->traits & TSR_TRAIT_ISOLATED) &&
         parent->info->id != TSR_OP_UNKNOWN)
    parent = tsr_op_parent(parent);
  return parent;
}

typedef struct wanted_constant {
  const tsr_op *op, *home;
} wanted_constant;

static const tsr_attr *constant_value(const tsr_op *op) { return tsr_op_attr(op, "value"); }

static bool is_same_constant(const void *item, const void *wanted) {
  const tsr_op *kept = item;
  const wanted_constant *w = wanted;
  return tsr_op_parent(kept) == w->home && kept->info == w->op->info &&
         tsr_op_result(kept, 0)->type == tsr_op_result(w->op, 0)->type &&
         tsr_attr_equal(constant_value(kept), constant_value(w->op));
}

static uint64_t constant_hash(const tsr_op *op, const tsr_op *home) {
  const void *const place[] = {home, op->info, tsr_op_result(op, 0)->type};
  return tsr_hash64(place, sizeof place, constant_value(op)->hash);
}

static bool is_kept_constant(const tsr_greedy *g, const tsr_op *op, const tsr_op *home) {
  const wanted_constant wanted = {op, home};
  return op && op->info->id == TSR_OP_CONSTANT && constant_value(op) &&
         tsr_intern_find(&g->constants, constant_hash(op, home), is_same_constant, &wanted) == op;
}

static void move_first(tsr_greedy *g, tsr_op *op, tsr_ir_block *block) {
  if (block->first == op) return;
  tsr_op_unlink(op);
  tsr_op_insert_before(block->first, op);
  if (op->mark) g->nodes[op->mark].order = 0;
}

// Replaces a constant by an equal one of its function, or puts it before all other ops there.
static tsr_status settle_constant(tsr_greedy *g, tsr_op *op, bool *out_gone) {
  tsr_op *home = constant_home(op);
  const wanted_constant wanted = {op, home};
  const uint64_t hash = constant_hash(op, home);
  tsr_op *kept = (tsr_op *)tsr_intern_find(&g->constants, hash, is_same_constant, &wanted);
  *out_gone = false;
  if (kept) {
    tsr_value *value = tsr_op_result(kept, 0);
    *out_gone = true;
    g->changes++;
    return tsr_greedy_replace(g, op, &value);
  }
  tsr_ir_block *block = home->regions[0].first;
  if (op->block != block || !is_kept_constant(g, op->prev, home)) move_first(g, op, block);
  TSR_NEED(tsr_intern_add(&g->constants, hash, op));
  return NULL;
}

// ---- rounds ----

// Programs are nested to a depth that their reader limits.
// NOLINTNEXTLINE(misc-no-recursion)
static tsr_status collect(tsr_greedy *g, tsr_op *op) {
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (tsr_op *inner = block->first, *next = NULL; inner; inner = next) {
        bool gone = false;
        next = inner->next;
        if (inner->info->id == TSR_OP_CONSTANT && constant_value(inner))
          TSR_TRY(settle_constant(g, inner, &gone));
        if (gone) continue;
        TSR_TRY(tsr_greedy_push(g, inner));
        TSR_TRY(collect(g, inner));
      }
  return NULL;
}

static bool is_dead(const tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    if (tsr_op_result(op, i)->uses) return false;
  return tsr_op_is_droppable(op);
}

static bool has_its_parts(const tsr_op *op) {
  return tsr_op_count_fits(op->info->operands, op->operand_count) &&
         tsr_op_count_fits(op->info->results, op->result_count) &&
         tsr_op_count_fits(op->info->regions, op->region_count);
}

static tsr_status visit(tsr_greedy *g, tsr_op *op, bool *changed) {
  if (is_dead(op)) {
    *changed = true;
    g->changes++;
    return tsr_greedy_erase(g, op);
  }
  for (int i = 0; i < g->rule_count && has_its_parts(op); i++) {
    bool applied = false;
    if (g->rules[i].id != op->info->id) continue;
    if (g->label && (!g->rules[i].label || strcmp(g->label, g->rules[i].label) != 0)) continue;
    TSR_TRY(g->rules[i].apply(g, op, &applied));
    tsr_arena_reset(&g->arena);
    if (!applied) continue;
    *changed = true;
    g->changes++;
    return NULL;
  }
  return NULL;
}

static tsr_status run_round(tsr_greedy *g, bool *changed) {
  *changed = false;
  g->count = 0;
  tsr_intern_deinit(&g->constants);
  TSR_TRY(collect(g, g->ir->module));
  reverse_stack(g);
  while (g->count) {
    tsr_op *op = g->stack[--g->count];
    if (!op) continue;
    g->nodes[op->mark].waiting = 0;
    TSR_TRY(visit(g, op, changed));
  }
  return NULL;
}

static tsr_status run(tsr_greedy *g) {
  bool changed = true;
  TSR_NEED(g->nodes = tsr_grow(NULL, 0, &g->node_capacity, sizeof *g->nodes));
  g->nodes[g->node_count++] = (greedy_node){0};
  tsr_marks_clear(g->ir);
  for (int round = 0; changed && round < MOST_ROUNDS; round++) TSR_TRY(run_round(g, &changed));
  return NULL;
}

tsr_status tsr_greedy_run(tsr_ir *ir, const tsr_greedy_rule *rules, int count, const char *label,
                          int64_t *changes) {
  tsr_greedy g = {.ir = ir, .rules = rules, .rule_count = count, .label = label};
  tsr_status status = run(&g);
  *changes += g.changes;
  free(g.stack);
  free(g.nodes);
  tsr_intern_deinit(&g.constants);
  for (int i = 0; i < TSR_GREEDY_KINDS; i++) tsr_intern_deinit(&g.memory[i]);
  tsr_arena_deinit(&g.arena);
  tsr_arena_deinit(&g.kept);
  return status;
}
