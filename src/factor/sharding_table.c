// The table of all shardings of a program: read once, changed as numbers, written once.
//
// A slot stands for the attribute of one value, or of one result of a function. Values whose
// sharding is that of an edge have the slot of the edge.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "factor/sharding_lists.h"
#include "factor/shardings.h"
#include "verify/sdy_checks.h"

typedef struct tsr_sharding_slot {
  const tsr_tensor_sharding *sharding;
  tsr_value *value;  // NULL: a result of a function
  tsr_op *func;      // then this one
  int index;         // in its list
  bool changed;
} tsr_sharding_slot;

// ---- numbering ----

typedef struct numbering {
  tsr_sharding_table *table;
  int64_t capacity;
} numbering;

static tsr_status add_slot(numbering *n, tsr_sharding_slot slot) {
  tsr_sharding_table *table = n->table;
  if (table->count >= UINT32_MAX - 1)
    return tsr_fail(TOO_LARGE, "program has more than %u values", UINT32_MAX - 1);
  tsr_sharding_slot *slots = tsr_grow(table->slots, table->count + 1, &n->capacity, sizeof *slots);
  TSR_NEED(slots);
  table->slots = slots;
  slots[++table->count] = slot;
  return NULL;
}

static tsr_status number_value(numbering *n, tsr_value *value) {
  value->mark = 0;
  if (tsr_shardable(value) != value) return NULL;
  TSR_TRY(add_slot(n, (tsr_sharding_slot){.value = value, .index = value->index}));
  value->mark = (uint32_t)n->table->count;
  return NULL;
}

static tsr_status number_results(numbering *n, tsr_op *func) {
  const int count = tsr_sharding_list_of_results(func).count;
  func->mark = (uint32_t)n->table->count + 1;
  for (int i = 0; i < count; i++)
    TSR_TRY(add_slot(n, (tsr_sharding_slot){.func = func, .index = i}));
  return NULL;
}

enum { STEPS_MOST = 256 };

// Gives a value the slot of the one that has its sharding; async ops in each other take several
// steps to it.
static tsr_status share_slot(numbering *n, tsr_value *value) {
  (void)n;
  tsr_value *at = value;
  for (int i = 0; i < STEPS_MOST && at && !at->mark; i++) {
    tsr_value *next = tsr_shardable(at);
    at = next == at ? NULL : next;
  }
  if (at) value->mark = at->mark;
  return NULL;
}

// Calls `visit` for the results of an op and the arguments of its blocks.
static tsr_status visit_values(numbering *n, tsr_op *op,
                               tsr_status (*visit)(numbering *n, tsr_value *value)) {
  for (int i = 0; i < op->result_count; i++) TSR_TRY(visit(n, tsr_op_result(op, i)));
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (int a = 0; a < block->arg_count; a++) TSR_TRY(visit(n, block->args[a]));
  return NULL;
}

static tsr_status number_op(tsr_op *op, void *context) {
  TSR_TRY(visit_values(context, op, number_value));
  return op->info->id == TSR_OP_FUNC ? number_results(context, op) : NULL;
}

static tsr_status share_op(tsr_op *op, void *context) {
  return visit_values(context, op, share_slot);
}

// ---- reading ----

static tsr_status read_slot(tsr_sharding_table *table, tsr_sharding_slot *slot) {
  const tsr_attr *attr = NULL;
  if (slot->value)
    TSR_TRY(tsr_value_sharding(table->ir, slot->value, &attr));
  else
    attr = tsr_func_result_sharding(slot->func, slot->index);
  if (!attr) return NULL;
  const tsr_op *op = slot->func;
  if (slot->value) op = slot->value->def ? slot->value->def : tsr_block_parent(slot->value->block);
  const tsr_attr *mesh = tsr_sdy_mesh_of(table->ir, op, attr);
  if (!mesh)
    return tsr_fail(UNKNOWN_SYMBOL, "%s: the mesh of a sharding is not in the program", op->name);
  tsr_tensor_sharding *sharding = NULL;
  TSR_TRY(tsr_sharding_read(&table->arena, mesh, attr, &sharding));
  slot->sharding = sharding;
  return NULL;
}

static tsr_status fill(numbering *n) {
  tsr_sharding_table *table = n->table;
  TSR_TRY(tsr_op_walk(table->ir->module, number_op, n));
  TSR_TRY(tsr_op_walk(table->ir->module, share_op, n));
  for (int64_t i = 1; i <= table->count; i++) TSR_TRY(read_slot(table, &table->slots[i]));
  return NULL;
}

tsr_status tsr_sharding_table_init(tsr_ir *ir, tsr_sharding_table *out_table) {
  tsr_sharding_table table = {.ir = ir, .arena = TSR_ARENA_EMPTY};
  numbering n = {&table, 0};
  table.slots = tsr_grow(NULL, 0, &n.capacity, sizeof *table.slots);
  tsr_status status = table.slots ? NULL : tsr_fail(NO_MEMORY, "memory of a program");
  if (!status) table.slots[0] = (tsr_sharding_slot){0};
  if (!status) status = fill(&n);
  if (status)
    tsr_sharding_table_deinit(&table);
  else
    *out_table = table;
  return status;
}

void tsr_sharding_table_deinit(tsr_sharding_table *table) {
  free(table->slots);
  tsr_arena_deinit(&table->arena);
  *table = (tsr_sharding_table){0};
}

// ---- using ----

uint32_t tsr_func_result_slot(const tsr_op *func, int index) {
  return func->mark + (uint32_t)index;
}

const tsr_tensor_sharding *tsr_sharding_at(const tsr_sharding_table *table, uint32_t slot) {
  return table->slots[slot].sharding;
}

tsr_value *tsr_sharding_owner(const tsr_sharding_table *table, uint32_t slot) {
  return table->slots[slot].value;
}

static tsr_value *value_in(const tsr_sharding_list *list, int index) {
  return list->block ? list->block->args[index] : tsr_op_result(list->op, index);
}

// The slot of an entry of a list; NULL if the value has its sharding elsewhere, on an edge.
static tsr_sharding_slot *slot_in(const tsr_sharding_table *table, const tsr_sharding_list *list,
                                  int index) {
  tsr_sharding_slot *slot = &table->slots[value_in(list, index)->mark];
  return slot->value == value_in(list, index) ? slot : NULL;
}

static int rank_of(const tsr_type *type) {
  return type->kind == TSR_TYPE_TENSOR || type->kind == TSR_TYPE_BUFFER ? type->rank : 0;
}

// Gives the other values of a list open shardings: it has shardings for all or for none.
static tsr_status open_others(tsr_sharding_table *table, const tsr_sharding_list *list,
                              const tsr_tensor_sharding *like) {
  for (int i = 0; i < list->count; i++) {
    tsr_sharding_slot *slot = slot_in(table, list, i);
    if (!slot || slot->sharding) continue;
    slot->sharding = tsr_sharding_empty(&table->arena, like->mesh_ref, like->mesh,
                                        rank_of(slot->value->type), false);
    TSR_NEED(slot->sharding);
  }
  return NULL;
}

tsr_status tsr_sharding_put(tsr_sharding_table *table, uint32_t slot,
                            const tsr_tensor_sharding *sharding) {
  if (!slot) return NULL;
  tsr_sharding_slot *at = &table->slots[slot];
  const bool first = !at->sharding;
  at->sharding = sharding;
  at->changed = true;
  if (!first || !at->value || !sharding) return NULL;
  const tsr_sharding_list list = tsr_sharding_list_of(at->value);
  if (list.kind != TSR_SHARDINGS_OF_OP || list.count < 2) return NULL;
  return open_others(table, &list, sharding);
}

// ---- writing ----

// Most values have one of a few shardings: attributes that were made are found again by the hash of
// the sharding.
enum { KEPT_ATTRS = 256 };
typedef struct kept_attr {
  const tsr_tensor_sharding *sharding;
  const tsr_attr *attr;
  const tsr_attr *list;  // the SDY_SHARDINGS of it alone, or NULL
} kept_attr;

typedef struct table_writer {
  tsr_sharding_table *table;
  kept_attr kept[KEPT_ATTRS];
} table_writer;

static uint64_t mix(uint64_t hash, uint64_t number) {
  hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

static uint64_t mix_parts(uint64_t hash, const tsr_sdy_parts *parts) {
  for (int64_t i = 0; i < parts->count; i++)
    hash = mix(hash, (uint64_t)parts->items[i].axis << 48 ^ (uint64_t)parts->items[i].pre << 24 ^
                         (uint64_t)parts->items[i].size);
  return mix(hash, (uint64_t)parts->count);
}

static uint64_t hash_of(const tsr_tensor_sharding *sharding) {
  uint64_t hash = (uint64_t)sharding->rank;
  for (int i = 0; i < sharding->rank; i++)
    hash = mix(mix_parts(hash, &sharding->dims[i].axes), sharding->dims[i].closed);
  return mix_parts(mix_parts(hash, &sharding->replicated), &sharding->unreduced);
}

// The attribute of a sharding, in a place that may be taken by another one later.
static tsr_status keep_attr(table_writer *writer, const tsr_tensor_sharding *sharding,
                            kept_attr **out_kept) {
  kept_attr *kept = &writer->kept[hash_of(sharding) % KEPT_ATTRS];
  *out_kept = kept;
  if (kept->sharding && tsr_tensor_sharding_equal(kept->sharding, sharding)) return NULL;
  const tsr_attr *attr = tsr_sharding_attr(writer->table->ir, sharding);
  TSR_NEED(attr);
  *kept = (kept_attr){.sharding = sharding, .attr = attr};
  return NULL;
}

static tsr_status attr_of(table_writer *writer, tsr_sharding_slot *slot,
                          const tsr_attr **out_attr) {
  kept_attr *kept = NULL;
  slot->changed = false;
  *out_attr = NULL;
  if (!slot->sharding) return NULL;
  TSR_TRY(keep_attr(writer, slot->sharding, &kept));
  *out_attr = kept->attr;
  return NULL;
}

// The slot of an entry, also of the results of a function.
static tsr_sharding_slot *any_slot_in(const tsr_sharding_table *table,
                                      const tsr_sharding_list *list, int index) {
  if (list->kind == TSR_SHARDINGS_IN_DICTS && !list->block)
    return &table->slots[tsr_func_result_slot(list->op, index)];
  return slot_in(table, list, index);
}

// Writes the list that a changed slot is in, with all other entries.
static tsr_status write_list(table_writer *writer, const tsr_sharding_list *list) {
  tsr_ir *ir = writer->table->ir;
  const tsr_attr **attrs = tsr_ir_alloc(ir, sizeof *attrs * ((size_t)list->count + 1));
  TSR_NEED(attrs);
  for (int i = 0; i < list->count; i++) {
    tsr_sharding_slot *slot = any_slot_in(writer->table, list, i);
    attrs[i] = NULL;
    if (slot)
      TSR_TRY(attr_of(writer, slot, &attrs[i]));
    else if (list->kind == TSR_SHARDINGS_OF_OP)
      TSR_TRY(tsr_value_sharding(ir, value_in(list, i), &attrs[i]));
    if (!attrs[i] && list->kind == TSR_SHARDINGS_OF_OP) return NULL;  // none for all
  }
  return tsr_sharding_list_write(ir, list, attrs);
}

// The same for the only result of an op: the list is one of those made before.
static tsr_status write_alone(table_writer *writer, const tsr_sharding_list *list,
                              tsr_sharding_slot *slot) {
  kept_attr *kept = NULL;
  TSR_TRY(keep_attr(writer, slot->sharding, &kept));
  slot->changed = false;
  if (!kept->list) {
    TSR_TRY(tsr_sharding_list_write(writer->table->ir, list, &kept->attr));
    kept->list = tsr_op_attr(list->op, list->name);
    return NULL;
  }
  const char *name = tsr_ir_name(writer->table->ir, list->name, strlen(list->name));
  TSR_NEED(name);
  TSR_NEED(tsr_op_set_attr(writer->table->ir, list->op, name, kept->list));
  return NULL;
}

static tsr_status write_slot(table_writer *writer, tsr_sharding_slot *slot) {
  const tsr_sharding_list list =
      slot->value ? tsr_sharding_list_of(slot->value) : tsr_sharding_list_of_results(slot->func);
  if (list.kind == TSR_SHARDINGS_OF_OP && list.count == 1 && slot->sharding)
    return write_alone(writer, &list, slot);
  return write_list(writer, &list);
}

tsr_status tsr_sharding_table_write(tsr_sharding_table *table) {
  table_writer writer = {.table = table};
  for (int64_t i = 1; i <= table->count; i++)
    if (table->slots[i].changed) TSR_TRY(write_slot(&writer, &table->slots[i]));
  return NULL;
}
