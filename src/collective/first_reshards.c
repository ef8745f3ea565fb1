#include "collective/first_reshards.h"

#include "ir/intern.h"
#include "propagate/edits.h"
#include "tessera/engine/hash.h"

enum { FEW_USES = 32 };

typedef struct known_uses {
  const tsr_value *value;
  const tsr_use *newest;  // that was seen; NULL = none
  int64_t moves;          // of ops between blocks, when it was begun
  int64_t edition;        // of the lists
  bool has_reshapes;
  bool is_stale;
} known_uses;

typedef struct block_firsts {
  const tsr_value *value;
  const tsr_ir_block *block;
  int64_t edition;
  tsr_op **items;
  int64_t count;
} block_firsts;

static bool has_few_uses(const tsr_value *value) {
  int count = 0;
  for (const tsr_use *use = value->uses; use && count <= FEW_USES; use = use->next) count++;
  return count <= FEW_USES;
}

// ---- tables ----

static bool is_of_value(const void *item, const void *wanted) {
  return ((const known_uses *)item)->value == wanted;
}

static tsr_status uses_of(tsr_greedy *g, const tsr_value *value, known_uses **out_uses) {
  tsr_arena *arena = NULL;
  tsr_intern_table *memory = tsr_greedy_memory(g, TSR_GREEDY_USES, &arena);
  const uint64_t hash = tsr_hash64(&value, sizeof value, 0);
  *out_uses = (known_uses *)(uintptr_t)tsr_intern_find(memory, hash, is_of_value, value);
  if (*out_uses) return NULL;
  *out_uses = tsr_arena_zeros(arena, 1, sizeof **out_uses);
  TSR_NEED(*out_uses);
  (*out_uses)->value = value;
  (*out_uses)->is_stale = true;
  TSR_NEED(tsr_intern_add(memory, hash, *out_uses));
  return NULL;
}

static bool is_of_block(const void *item, const void *wanted) {
  const block_firsts *a = item, *b = wanted;
  return a->value == b->value && a->block == b->block;
}

// Lists of an older edition are empty.
static tsr_status firsts_of(tsr_greedy *g, const known_uses *uses, const tsr_ir_block *block,
                            block_firsts **out_firsts) {
  tsr_arena *arena = NULL;
  tsr_intern_table *memory = tsr_greedy_memory(g, TSR_GREEDY_FIRSTS, &arena);
  const block_firsts wanted = {.value = uses->value, .block = block, .edition = uses->edition};
  const void *const key[] = {uses->value, block};
  const uint64_t hash = tsr_hash64(key, sizeof key, 0);
  block_firsts *found =
      (block_firsts *)(uintptr_t)tsr_intern_find(memory, hash, is_of_block, &wanted);
  if (!found) {
    found = tsr_arena_zeros(arena, 1, sizeof *found);
    TSR_NEED(found);
    *found = wanted;
    TSR_NEED(tsr_intern_add(memory, hash, found));
  }
  if (found->edition != uses->edition) *found = wanted;
  *out_firsts = found;
  return NULL;
}

// ---- uses ----

static bool is_there(const tsr_op *op, const tsr_value *value, const tsr_ir_block *block) {
  return op->block == block && tsr_op_operand(op, 0) == value;
}

static bool is_alike(const tsr_op *a, const tsr_op *b) {
  return tsr_op_result(a, 0)->type == tsr_op_result(b, 0)->type &&
         tsr_attr_equal(tsr_op_attr(a, "sharding"), tsr_op_attr(b, "sharding"));
}

static tsr_status add_reshard(tsr_greedy *g, known_uses *uses, tsr_op *op) {
  tsr_arena *arena = NULL;
  block_firsts *firsts = NULL;
  TSR_TRY(firsts_of(g, uses, op->block, &firsts));
  for (int64_t i = 0; i < firsts->count; i++) {
    if (!is_alike(firsts->items[i], op)) continue;
    if (!is_there(firsts->items[i], uses->value, op->block))
      uses->is_stale = true;
    else if (tsr_greedy_is_before(g, op, firsts->items[i]))
      firsts->items[i] = op;
    return NULL;
  }
  tsr_greedy_memory(g, TSR_GREEDY_FIRSTS, &arena);
  tsr_op **items = tsr_arena_grow(arena, firsts->items, firsts->count, sizeof *items);
  TSR_NEED(items);
  firsts->items = items;
  items[firsts->count++] = op;
  return NULL;
}

// Adds the uses that are newer than those seen. The one by `op` is not remembered as seen, since
// the rule that asks may replace it.
static tsr_status refresh(tsr_greedy *g, known_uses *uses, const tsr_op *op) {
  const tsr_use *newest = uses->value->uses;
  for (const tsr_use *use = newest; use && use != uses->newest; use = use->next) {
    if (tsr_op_is(use->user, TSR_OP_SDY_RESHARD))
      TSR_TRY(add_reshard(g, uses, use->user));
    else
      uses->has_reshapes |= tsr_op_is(use->user, TSR_OP_RESHAPE);
  }
  uses->newest = newest && newest->user == op ? newest->next : newest;
  return NULL;
}

static tsr_status begin_anew(tsr_greedy *g, known_uses *uses, const tsr_op *op) {
  *uses = (known_uses){
      .value = uses->value, .moves = tsr_greedy_moves(g), .edition = uses->edition + 1};
  return refresh(g, uses, op);
}

static bool are_there(const block_firsts *firsts) {
  for (int64_t i = 0; i < firsts->count; i++)
    if (!is_there(firsts->items[i], firsts->value, firsts->block)) return false;
  return true;
}

tsr_status tsr_first_reshards_of(tsr_greedy *g, const tsr_value *value, const tsr_op *op,
                                 bool *out_known, tsr_first_reshards *out_list) {
  known_uses *uses = NULL;
  block_firsts *firsts = NULL;
  *out_known = false;
  if (has_few_uses(value)) return NULL;
  TSR_TRY(uses_of(g, value, &uses));
  if (uses->moves != tsr_greedy_moves(g)) uses->is_stale = true;
  if (!uses->is_stale) TSR_TRY(refresh(g, uses, op));
  if (!uses->is_stale) TSR_TRY(firsts_of(g, uses, op->block, &firsts));
  if (!firsts || !are_there(firsts)) {
    TSR_TRY(begin_anew(g, uses, op));
    TSR_TRY(firsts_of(g, uses, op->block, &firsts));
  }
  *out_known = !uses->has_reshapes;
  *out_list = (tsr_first_reshards){firsts->items, firsts->count};
  return NULL;
}
