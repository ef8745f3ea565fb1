// Operations, blocks and regions: made, linked, changed. Every change of an operand keeps the lists
// of uses right: new uses go to the front, as MLIR puts them, since the order of uses decides the
// order in which propagation visits them.
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

// ---- uses ----

static void link_use(tsr_use *use, tsr_value *value) {
  use->value = value;
  use->next = value->uses;
  use->link = &value->uses;
  if (use->next) use->next->link = &use->next;
  value->uses = use;
}

static void unlink_use(tsr_use *use) {
  if (!use->value) return;
  *use->link = use->next;
  if (use->next) use->next->link = use->link;
  use->value = NULL;
}

void tsr_op_set_operand(tsr_op *op, int index, tsr_value *value) {
  tsr_use *use = &op->operands[index];
  if (use->value == value) return;
  unlink_use(use);
  link_use(use, value);
}

bool tsr_op_set_operands(tsr_ir *ir, tsr_op *op, tsr_value *const *values, int count) {
  tsr_use *uses = op->operands;
  if (count > op->operand_count) {
    uses = tsr_arena_zeros(&ir->arena, (size_t)count, sizeof *uses);
    if (!uses) return false;
  }
  for (int i = 0; i < op->operand_count; i++) unlink_use(&op->operands[i]);
  op->operands = uses;
  op->operand_count = count;
  for (int i = 0; i < count; i++) {
    uses[i].user = op;
    link_use(&uses[i], values[i]);
  }
  return true;
}

void tsr_value_replace(tsr_value *from, tsr_value *to) {
  if (from == to) return;
  tsr_use *last = NULL;  // from the oldest to the newest, so that the newest ends in front
  for (tsr_use *use = from->uses; use; use = use->next) last = use;
  while (last) {
    tsr_use *before = last->link == &from->uses
                          ? NULL
                          : (tsr_use *)((char *)last->link - offsetof(tsr_use, next));
    unlink_use(last);
    link_use(last, to);
    last = before;
  }
}

// ---- attributes ----

// The position of a name among the sorted attributes, or where it would be inserted.
static int attr_position(const tsr_op *op, const char *name, bool *out_found) {
  int i = 0;
  for (; i < op->attr_count; i++) {
    const int order = op->attrs[i].name == name ? 0 : strcmp(op->attrs[i].name, name);
    if (order < 0) continue;
    *out_found = !order;
    return i;
  }
  *out_found = false;
  return i;
}

const tsr_attr *tsr_op_attr(const tsr_op *op, const char *name) {
  bool found = false;
  const int at = attr_position(op, name, &found);
  return found ? op->attrs[at].attr : NULL;
}

static void remove_attr(tsr_op *op, int at) {
  op->attr_count--;
  memmove(op->attrs + at, op->attrs + at + 1, (size_t)(op->attr_count - at) * sizeof *op->attrs);
}

static bool insert_attr(tsr_ir *ir, tsr_op *op, int at, tsr_named_attr entry) {
  tsr_named_attr *attrs = tsr_ir_alloc(ir, (size_t)(op->attr_count + 1) * sizeof *attrs);
  if (!attrs) return false;
  if (at) memcpy(attrs, op->attrs, (size_t)at * sizeof *attrs);
  attrs[at] = entry;
  if (at < op->attr_count)
    memcpy(attrs + at + 1, op->attrs + at, (size_t)(op->attr_count - at) * sizeof *attrs);
  op->attrs = attrs;
  op->attr_count++;
  return true;
}

bool tsr_op_set_attr(tsr_ir *ir, tsr_op *op, const char *name, const tsr_attr *attr) {
  bool found = false;
  const int at = attr_position(op, name, &found);
  if (!attr) {
    if (found) remove_attr(op, at);
    return true;
  }
  if (!found) return insert_attr(ir, op, at, (tsr_named_attr){name, attr});
  op->attrs[at].attr = attr;
  return true;
}

bool tsr_op_is_inherent(const tsr_op *op, const char *name) {
  for (int i = 0; i < op->info->attr_count; i++)
    if (!strcmp(op->info->attrs[i].name, name)) return true;
  return false;
}

int64_t tsr_op_int(const tsr_op *op, const char *name, int64_t otherwise) {
  const tsr_attr *attr = tsr_op_attr(op, name);
  return attr && (attr->kind == TSR_ATTR_INTEGER || attr->kind == TSR_ATTR_ENUM) ? attr->integer
                                                                                 : otherwise;
}

bool tsr_op_flag(const tsr_op *op, const char *name) {
  const tsr_attr *attr = tsr_op_attr(op, name);
  return attr && (attr->kind == TSR_ATTR_UNIT || (attr->kind == TSR_ATTR_INTEGER && attr->integer));
}

// ---- making ----

static void *part_of(char **memory, size_t count, size_t size) {
  void *part = *memory;
  *memory += count * size;
  return part;
}

static void fill_op(tsr_op *op, const tsr_op_parts *parts) {
  for (int i = 0; i < op->operand_count; i++) {
    op->operands[i].user = op;
    link_use(&op->operands[i], parts->operands[i]);
  }
  for (int i = 0; i < op->result_count; i++)
    op->results[i] = (tsr_value){.type = parts->result_types[i], .def = op, .index = i};
  for (int i = 0; i < op->region_count; i++) op->regions[i].parent = op;
  if (op->attr_count) {
    memcpy(op->attrs, parts->attrs, (size_t)op->attr_count * sizeof *op->attrs);
    if (op->attr_count > 1)
      qsort(op->attrs, (size_t)op->attr_count, sizeof *op->attrs, tsr_named_attr_order);
  }
}

// One block of memory: the op, then its operands, results, regions, attributes and symbol.
tsr_op *tsr_op_create(tsr_ir *ir, const tsr_op_parts *parts) {
  const size_t operands = (size_t)parts->operand_count, results = (size_t)parts->result_count,
               regions = (size_t)parts->region_count, attrs = (size_t)parts->attr_count,
               symbols = tsr_op_info_of(parts->id)->traits & TSR_TRAIT_SYMBOL ? 1 : 0;
  char *memory =
      tsr_arena_zeros(&ir->arena, 1,
                      sizeof(tsr_op) + operands * sizeof(tsr_use) + results * sizeof(tsr_value) +
                          regions * sizeof(tsr_region) + attrs * sizeof(tsr_named_attr) +
                          symbols * sizeof(struct tsr_symbol_node));
  if (!memory) return NULL;
  tsr_op *op = part_of(&memory, 1, sizeof *op);
  op->info = tsr_op_info_of(parts->id);
  op->name = parts->name ? parts->name : op->info->name;
  op->location = parts->location;
  op->operand_count = parts->operand_count;
  op->result_count = parts->result_count;
  op->region_count = parts->region_count;
  op->attr_count = parts->attr_count;
  op->operands = part_of(&memory, operands, sizeof *op->operands);
  op->results = part_of(&memory, results, sizeof *op->results);
  op->regions = part_of(&memory, regions, sizeof *op->regions);
  op->attrs = part_of(&memory, attrs, sizeof *op->attrs);
  op->symbol = symbols ? part_of(&memory, 1, sizeof *op->symbol) : NULL;
  fill_op(op, parts);
  return op;
}

tsr_ir_block *tsr_block_append(tsr_ir *ir, tsr_region *region) {
  tsr_ir_block *block = tsr_arena_zeros(&ir->arena, 1, sizeof *block);
  if (!block) return NULL;
  block->region = region;
  tsr_ir_block **end = &region->first;
  while (*end) end = &(*end)->next;
  *end = block;
  region->block_count++;
  return block;
}

tsr_value *tsr_block_add_arg(tsr_ir *ir, tsr_ir_block *block, const tsr_type *type,
                             const tsr_attr *location) {
  tsr_value *value = tsr_arena_zeros(&ir->arena, 1, sizeof *value);
  if (!value) return NULL;
  *value =
      (tsr_value){.type = type, .block = block, .index = block->arg_count, .location = location};
  if ((block->arg_count & (block->arg_count - 1)) == 0) {  // full at every power of two
    const size_t capacity = block->arg_count ? 2 * (size_t)block->arg_count : 1;
    tsr_value **args = tsr_ir_alloc(ir, capacity * sizeof(tsr_value *));
    if (!args) return NULL;
    if (block->arg_count) memcpy(args, block->args, (size_t)block->arg_count * sizeof(tsr_value *));
    block->args = args;
  }
  block->args[block->arg_count++] = value;
  return value;
}

// ---- linking ----

void tsr_op_append(tsr_ir_block *block, tsr_op *op) {
  op->block = block;
  op->prev = block->last;
  op->next = NULL;
  if (block->last)
    block->last->next = op;
  else
    block->first = op;
  block->last = op;
}

void tsr_op_insert_before(tsr_op *place, tsr_op *op) {
  op->block = place->block;
  op->next = place;
  op->prev = place->prev;
  if (place->prev)
    place->prev->next = op;
  else
    place->block->first = op;
  place->prev = op;
}

void tsr_op_unlink(tsr_op *op) {
  if (!op->block) return;
  if (op->prev)
    op->prev->next = op->next;
  else
    op->block->first = op->next;
  if (op->next)
    op->next->prev = op->prev;
  else
    op->block->last = op->prev;
  op->block = NULL;
  op->prev = op->next = NULL;
}

static tsr_status drop_uses(tsr_op *op, void *context) {
  (void)context;
  for (int i = 0; i < op->operand_count; i++) unlink_use(&op->operands[i]);
  return NULL;
}

void tsr_op_erase(tsr_op *op) {
  tsr_status_free(tsr_op_walk(op, drop_uses, NULL));  // cannot fail
  tsr_op_unlink(op);
}

// ---- where things stand ----

tsr_ir_block *tsr_value_block(const tsr_value *value) {
  return value->def ? value->def->block : value->block;
}

tsr_op *tsr_block_parent(const tsr_ir_block *block) {
  return block && block->region ? block->region->parent : NULL;
}

tsr_op *tsr_op_parent(const tsr_op *op) { return tsr_block_parent(op->block); }

tsr_op *tsr_block_terminator(const tsr_ir_block *block) {
  tsr_op *last = block->last;
  return last && (last->info->traits & TSR_TRAIT_TERMINATES) ? last : NULL;
}

// ---- walking ----

tsr_status tsr_op_walk(tsr_op *op, tsr_op_visit *visit, void *context) {
  TSR_TRY(visit(op, context));
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (tsr_op *inner = block->first, *next; inner; inner = next) {
        next = inner->next;
        TSR_TRY(tsr_op_walk(inner, visit, context));
      }
  return NULL;
}

static void clear_args(tsr_ir_block *block) {
  for (int i = 0; i < block->arg_count; i++) block->args[i]->mark = 0;
}

static tsr_status clear_op(tsr_op *op, void *context) {
  (void)context;
  op->mark = 0;
  for (int i = 0; i < op->result_count; i++) op->results[i].mark = 0;
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next) clear_args(block);
  return NULL;
}

void tsr_block_marks_clear(tsr_ir_block *block) {
  clear_args(block);
  for (tsr_op *op = block->first; op; op = op->next)
    tsr_status_free(tsr_op_walk(op, clear_op, NULL));  // cannot fail
}
