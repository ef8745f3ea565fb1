// Common subexpressions: an op without effects that computes what an earlier one does is replaced
// by it. The earlier one stands in the same block or around it, so it dominates.
//
// A hash table holds the ops that can be seen from the current place. Leaving a block takes its ops
// out again, in the reverse order of their coming, so chains never need searching.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "simplify/rewriter.h"

typedef struct seen_op {
  tsr_op *op;
  uint64_t hash;
  int64_t next;  // in the chain of its slot; -1 = the last
} seen_op;

typedef struct merging {
  tsr_ir *ir;
  seen_op *seen;  // a stack
  int64_t count, capacity;
  int64_t *slots;  // the newest of each chain, -1 = empty
  uint64_t mask;
  int64_t hidden;   // ops below are outside an isolated region
  uint32_t number;  // of the newest pair of values in a comparison of regions
  int64_t changes;
} merging;

// ---- hashes ----

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 32;
}

static bool commutes(const tsr_op *op) {
  return op->info->traits & TSR_TRAIT_COMMUTES && op->operand_count == 2;
}

// Operands inside regions are left out: they are compared only between ops that agree in the rest.
static uint64_t hash_body(const tsr_op *op, uint64_t hash) {
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (const tsr_op *inner = block->first; inner; inner = inner->next) {
        hash = mix(hash, (uint64_t)inner->info->id);
        for (int k = 0; k < inner->attr_count; k++) hash = mix(hash, inner->attrs[k].attr->hash);
        hash = hash_body(inner, hash);
      }
  return hash;
}

static uint64_t hash_of(const tsr_op *op) {
  uint64_t hash = mix((uint64_t)op->info->id, (uint64_t)op->operand_count);
  if (commutes(op)) {
    hash = mix(hash, (uintptr_t)tsr_op_operand(op, 0) + (uintptr_t)tsr_op_operand(op, 1));
  } else {
    for (int i = 0; i < op->operand_count; i++) hash = mix(hash, (uintptr_t)tsr_op_operand(op, i));
  }
  for (int i = 0; i < op->attr_count; i++) hash = mix(hash, op->attrs[i].attr->hash);
  for (int i = 0; i < op->result_count; i++) hash = mix(hash, (uintptr_t)op->results[i].type);
  return hash_body(op, hash);
}

// ---- equality ----

// Values defined inside two regions correspond if they got the same number in this comparison,
// which is above `base`; values from outside must be the same.
static bool same_value(const tsr_value *a, const tsr_value *b, uint32_t base) {
  return a == b || (a->mark > base && a->mark == b->mark);
}

static bool same_attrs(const tsr_op *a, const tsr_op *b) {
  if (a->attr_count != b->attr_count) return false;
  for (int i = 0; i < a->attr_count; i++)
    if (strcmp(a->attrs[i].name, b->attrs[i].name) ||
        !tsr_attr_equal(a->attrs[i].attr, b->attrs[i].attr))
      return false;
  return true;
}

static bool same_operands(const tsr_op *a, const tsr_op *b, uint32_t base) {
  if (a->operand_count != b->operand_count) return false;
  bool same = true;
  for (int i = 0; same && i < a->operand_count; i++)
    same = same_value(tsr_op_operand(a, i), tsr_op_operand(b, i), base);
  return same || (commutes(a) && same_value(tsr_op_operand(a, 0), tsr_op_operand(b, 1), base) &&
                  same_value(tsr_op_operand(a, 1), tsr_op_operand(b, 0), base));
}

static bool same_op(merging *m, const tsr_op *a, const tsr_op *b, uint32_t base);

static void pair(merging *m, tsr_value *a, tsr_value *b) { a->mark = b->mark = ++m->number; }

static bool same_block(merging *m, const tsr_ir_block *a, const tsr_ir_block *b, uint32_t base) {
  if (a->arg_count != b->arg_count) return false;
  for (int i = 0; i < a->arg_count; i++) {
    if (a->args[i]->type != b->args[i]->type) return false;
    pair(m, a->args[i], b->args[i]);
  }
  const tsr_op *x = a->first, *y = b->first;
  for (; x && y; x = x->next, y = y->next) {
    if (!same_op(m, x, y, base)) return false;
    for (int i = 0; i < x->result_count; i++) pair(m, &x->results[i], &y->results[i]);
  }
  return !x && !y;
}

static bool same_regions(merging *m, const tsr_op *a, const tsr_op *b, uint32_t base) {
  for (int i = 0; i < a->region_count; i++) {
    const tsr_region *x = &a->regions[i], *y = &b->regions[i];
    if (x->block_count > 1 || x->block_count != y->block_count) return false;
    if (x->first && !same_block(m, x->first, y->first, base)) return false;
  }
  return true;
}

static bool same_op(merging *m, const tsr_op *a, const tsr_op *b, uint32_t base) {
  if (a->info != b->info || a->name != b->name || a->result_count != b->result_count ||
      a->region_count != b->region_count || !same_operands(a, b, base) || !same_attrs(a, b))
    return false;
  for (int i = 0; i < a->result_count; i++)
    if (a->results[i].type != b->results[i].type) return false;
  return same_regions(m, a, b, base);
}

// ---- the table ----

static tsr_status add(merging *m, tsr_op *op, uint64_t hash) {
  seen_op *seen = tsr_grow(m->seen, m->count, &m->capacity, sizeof *seen);
  TSR_NEED(seen);
  m->seen = seen;
  int64_t *slot = &m->slots[hash & m->mask];
  m->seen[m->count] = (seen_op){op, hash, *slot};
  *slot = m->count++;
  return NULL;
}

static void forget(merging *m, int64_t count) {
  while (m->count > count) {
    const seen_op *last = &m->seen[--m->count];
    m->slots[last->hash & m->mask] = last->next;
  }
}

static tsr_op *find(merging *m, const tsr_op *op, uint64_t hash) {
  for (int64_t i = m->slots[hash & m->mask]; i >= m->hidden; i = m->seen[i].next)
    if (m->seen[i].hash == hash && same_op(m, m->seen[i].op, op, m->number)) return m->seen[i].op;
  return NULL;
}

// ---- walking ----

static tsr_status merge_op(merging *m, tsr_op *op);

static tsr_status merge_block(merging *m, tsr_ir_block *block) {
  const int64_t before = m->count;
  for (tsr_op *op = block->first, *next; op; op = next) {
    next = op->next;
    TSR_TRY(merge_op(m, op));
  }
  forget(m, before);
  return NULL;
}

// Branches and loops may use values from around them. The regions of other ops (reducers,
// comparators) take only their arguments, which is what compilers expect of them.
static bool sees_outside(const tsr_op *op) {
  return op->info->id == TSR_OP_WHILE || op->info->id == TSR_OP_IF || op->info->id == TSR_OP_CASE;
}

static tsr_status merge_regions(merging *m, tsr_op *op) {
  const int64_t hidden = m->hidden;
  if (!sees_outside(op)) m->hidden = m->count;
  for (int i = 0; i < op->region_count; i++) {
    // What one block defines another one need not see.
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      TSR_TRY(merge_block(m, block));
  }
  m->hidden = hidden;
  return NULL;
}

static bool can_merge(const tsr_op *op) {
  const unsigned traits = op->info->traits;
  return traits & TSR_TRAIT_PURE && !(traits & TSR_TRAIT_TERMINATES) && op->result_count > 0;
}

static tsr_status merge_op(merging *m, tsr_op *op) {
  if (op->region_count) TSR_TRY(merge_regions(m, op));
  if (!can_merge(op)) return NULL;
  const uint64_t hash = hash_of(op);
  tsr_op *same = find(m, op, hash);
  if (!same) return add(m, op, hash);
  for (int i = 0; i < op->result_count; i++) tsr_value_replace(&op->results[i], &same->results[i]);
  tsr_op_erase(op);
  m->changes++;
  return NULL;
}

static tsr_status count_op(tsr_op *op, void *context) {
  (void)op;
  ++*(int64_t *)context;
  return NULL;
}

static tsr_status merge_all(merging *m) {
  int64_t ops = 0;
  TSR_TRY(tsr_op_walk(m->ir->module, count_op, &ops));
  uint64_t size = 64;
  while (size < (uint64_t)ops) size *= 2;
  m->slots = malloc(size * sizeof *m->slots);
  TSR_NEED(m->slots);
  for (uint64_t i = 0; i < size; i++) m->slots[i] = -1;
  m->mask = size - 1;
  return merge_op(m, m->ir->module);
}

tsr_status tsr_pass_cse(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  (void)options;
  merging m = {.ir = ir};
  tsr_block_marks_clear(ir->module->regions[0].first);
  tsr_status status = merge_all(&m);
  *changes += m.changes;
  free(m.seen);
  free(m.slots);
  return status;
}
