// The program as a whole: its memory, its names, its module.
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

#include "ir/intern.h"
#include "ir/type_content.h"
#include "tessera/engine/hash.h"

struct tsr_kept_memory {
  struct tsr_kept_memory *next;
  void *memory;
  void (*release)(void *memory);
};

static bool make_tables(tsr_ir *ir) {
  struct tsr_intern_table *tables = tsr_arena_zeros(&ir->arena, 2, sizeof *tables);
  ir->symbols = tsr_arena_zeros(&ir->arena, 1, sizeof(tsr_op *));
  if (!tables || !ir->symbols) return false;
  ir->types = tables;
  ir->names = tables + 1;
  return true;
}

static bool make_module(tsr_ir *ir) {
  const tsr_op_parts parts = {.id = TSR_OP_MODULE, .region_count = 1};
  ir->module = tsr_op_create(ir, &parts);
  return ir->module && tsr_block_append(ir, &ir->module->regions[0]);
}

tsr_ir *tsr_ir_create(void) {
  tsr_ir *ir = calloc(1, sizeof *ir);
  if (!ir) return NULL;
  ir->arena.large = true;
  if (make_tables(ir) && tsr_ir_make_common_attrs(ir) && make_module(ir)) return ir;
  tsr_ir_destroy(ir);
  return NULL;
}

void tsr_ir_destroy(tsr_ir *ir) {
  if (!ir) return;
  for (struct tsr_kept_memory *kept = ir->kept; kept; kept = kept->next)
    kept->release(kept->memory);
  if (ir->types) {
    tsr_intern_deinit(ir->types);
    tsr_intern_deinit(ir->names);
  }
  tsr_arena_deinit(&ir->arena);
  free(ir);
}

bool tsr_ir_keep(tsr_ir *ir, void *memory, void (*release)(void *memory)) {
  struct tsr_kept_memory *kept = tsr_arena_alloc(&ir->arena, sizeof *kept);
  if (!kept) {
    release(memory);
    return false;
  }
  *kept = (struct tsr_kept_memory){ir->kept, memory, release};
  ir->kept = kept;
  return true;
}

void *tsr_ir_alloc(tsr_ir *ir, size_t bytes) { return tsr_arena_alloc(&ir->arena, bytes); }

// ---- names ----

typedef struct name_wanted {
  const char *name;
  size_t length;
} name_wanted;

static bool same_name(const void *item, const void *wanted) {
  const name_wanted *name = wanted;
  return !strncmp(item, name->name, name->length) && !((const char *)item)[name->length];
}

const char *tsr_ir_name(tsr_ir *ir, const char *name, size_t length) {
  const uint64_t hash = tsr_hash64(name, length, 0);
  const char *known = tsr_intern_find(ir->names, hash, same_name, &(name_wanted){name, length});
  if (known) return known;
  const char *copy = tsr_arena_copy(&ir->arena, name, length);
  return copy && tsr_intern_add(ir->names, hash, copy) ? copy : NULL;
}

// ---- symbols ----

const char *tsr_op_symbol(const tsr_op *op) {
  if (!(op->info->traits & TSR_TRAIT_SYMBOL)) return NULL;
  const tsr_attr *name = tsr_op_attr(op, "sym_name");
  return name && name->kind == TSR_ATTR_STRING ? name->bytes : NULL;
}

static tsr_ir_block *module_body(const tsr_ir *ir) { return ir->module->regions[0].first; }

static bool is_symbol(const tsr_op *op, const char *name) {
  const char *symbol = tsr_op_symbol(op);
  return symbol && !strcmp(symbol, name);
}

// Where an op of this hash hangs in the index, or would.
static tsr_op **symbol_place(const tsr_ir *ir, uint64_t hash, const char *name) {
  tsr_op **place = ir->symbols;
  for (uint64_t left = hash; *place; left >>= 2) {
    if ((*place)->symbol->hash == hash && is_symbol(*place, name)) break;
    place = &(*place)->symbol->children[left & 3];
  }
  return place;
}

static uint64_t hash_name(const char *name) { return tsr_hash64(name, strlen(name), 0); }

static void index_symbols(const tsr_ir *ir) {
  *ir->symbols = NULL;
  for (tsr_op *op = module_body(ir)->first; op; op = op->next) {
    const char *name = op->symbol ? tsr_op_symbol(op) : NULL;
    if (!name) continue;
    *op->symbol = (struct tsr_symbol_node){.hash = hash_name(name)};
    tsr_op **place = symbol_place(ir, op->symbol->hash, name);
    if (!*place) *place = op;
  }
}

static tsr_op *find_linearly(const tsr_ir *ir, const char *name) {
  for (tsr_op *op = module_body(ir)->first; op; op = op->next)
    if (op->symbol && is_symbol(op, name)) return op;
  return NULL;
}

// Ops that left the module or were renamed stay in the index until it is made again, so what is
// found is checked, and what is not found is searched for.
tsr_op *tsr_ir_find_symbol(const tsr_ir *ir, const char *name) {
  tsr_op *op = *symbol_place(ir, hash_name(name), name);
  if (op && op->block == module_body(ir)) return op;
  op = find_linearly(ir, name);
  if (op) index_symbols(ir);
  return op;
}

static bool is_func(const tsr_op *op) { return op->info->id == TSR_OP_FUNC; }

tsr_op *tsr_ir_entry(const tsr_ir *ir) {
  tsr_op *only = NULL;
  int count = 0;
  for (tsr_op *op = module_body(ir)->first; op; op = op->next) {
    if (!is_func(op)) continue;
    const char *name = tsr_op_symbol(op);
    if (name && !strcmp(name, "main")) return op;
    only = op;
    count++;
  }
  return count == 1 ? only : NULL;
}

// ---- functions ----

const tsr_type *tsr_func_type(const tsr_op *func) {
  const tsr_attr *type = tsr_op_attr(func, "function_type");
  return type && type->kind == TSR_ATTR_TYPE ? type->type : NULL;
}

tsr_ir_block *tsr_func_body(const tsr_op *func) { return func->regions[0].first; }

static const tsr_attr *attrs_at(const tsr_op *func, const char *name, int index) {
  const tsr_attr *list = tsr_op_attr(func, name);
  if (!list || list->kind != TSR_ATTR_ARRAY || index < 0 || index >= list->count) return NULL;
  const tsr_attr *attrs = list->items[index];
  return attrs && attrs->kind == TSR_ATTR_DICT ? attrs : NULL;
}

const tsr_attr *tsr_func_arg_attrs(const tsr_op *func, int index) {
  return attrs_at(func, "arg_attrs", index);
}

const tsr_attr *tsr_func_result_attrs(const tsr_op *func, int index) {
  return attrs_at(func, "res_attrs", index);
}
