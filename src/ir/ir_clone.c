// Copies of ops, into the same program or another one.
#include <stdlib.h>
#include <string.h>

#include "ir/intern.h"
#include "ir/ir.h"
#include "ir/type_content.h"
#include "tessera/engine/hash.h"

// ---- the map of values ----

typedef struct value_pair {
  const tsr_value *from;
  tsr_value *to;
} value_pair;

struct tsr_value_map {
  tsr_intern_table table;  // of value_pair
  tsr_arena arena;
};

tsr_value_map *tsr_value_map_create(void) { return calloc(1, sizeof(tsr_value_map)); }

void tsr_value_map_destroy(tsr_value_map *map) {
  if (!map) return;
  tsr_intern_deinit(&map->table);
  tsr_arena_deinit(&map->arena);
  free(map);
}

static uint64_t hash_pointer(const void *pointer) {
  return tsr_hash64(&pointer, sizeof pointer, 0);
}

static bool same_from(const void *item, const void *wanted) {
  return ((const value_pair *)item)->from == wanted;
}

static value_pair *find_pair(const tsr_value_map *map, const tsr_value *from) {
  return (value_pair *)tsr_intern_find(&map->table, hash_pointer(from), same_from, from);
}

bool tsr_value_map_add(tsr_value_map *map, const tsr_value *from, tsr_value *to) {
  value_pair *pair = find_pair(map, from);
  if (pair) {
    pair->to = to;
    return true;
  }
  pair = tsr_arena_alloc(&map->arena, sizeof *pair);
  if (!pair) return false;
  *pair = (value_pair){from, to};
  return tsr_intern_add(&map->table, hash_pointer(from), pair);
}

tsr_value *tsr_value_map_find(const tsr_value_map *map, const tsr_value *from) {
  const value_pair *pair = find_pair(map, from);
  return pair ? pair->to : NULL;
}

// ---- types and attributes of another program ----

static const tsr_type *import_quant(tsr_ir *ir, const tsr_type *type) {
  tsr_quant quant = *type->quant;
  quant.storage = tsr_type_import(ir, quant.storage);
  quant.expressed = tsr_type_import(ir, quant.expressed);
  return quant.storage && quant.expressed ? tsr_type_quant(ir, &quant) : NULL;
}

static const tsr_type **import_types(tsr_ir *ir, const tsr_type *type) {
  const tsr_type **types = tsr_ir_alloc(ir, (size_t)type->count * sizeof(const tsr_type *));
  for (int i = 0; types && i < type->count; i++) {
    types[i] = tsr_type_import(ir, type->types[i]);
    if (!types[i]) return NULL;
  }
  return types;
}

static bool holds_type(const tsr_ir *ir, const tsr_type *type) {
  for (uint64_t i = type->hash & ir->types->mask; ir->types->slots && ir->types->slots[i].item;
       i = (i + 1) & ir->types->mask)
    if (ir->types->slots[i].item == type) return true;
  return false;
}

const tsr_type *tsr_type_import(tsr_ir *ir, const tsr_type *type) {
  if (holds_type(ir, type)) return type;
  const tsr_type *element = NULL;
  const tsr_attr *encoding = NULL;
  const tsr_type **types = NULL;
  if (type->element && !(element = tsr_type_import(ir, type->element))) return NULL;
  if (type->encoding && !(encoding = tsr_attr_import(ir, type->encoding))) return NULL;
  if (type->count && !(types = import_types(ir, type))) return NULL;
  switch (type->kind) {
    case TSR_TYPE_INTEGER:
      return tsr_type_integer(ir, type->width, type->sign);
    case TSR_TYPE_FLOAT:
      return tsr_type_float(ir, type->format);
    case TSR_TYPE_COMPLEX:
      return tsr_type_complex(ir, element);
    case TSR_TYPE_TENSOR:
      return tsr_type_tensor(ir, element, type->rank, type->dims, encoding);
    case TSR_TYPE_UNRANKED:
      return tsr_type_unranked(ir, element);
    case TSR_TYPE_BUFFER:
      return tsr_type_buffer(ir, element, type->rank, type->dims, type->text);
    case TSR_TYPE_TUPLE:
    case TSR_TYPE_FUTURE:
      return tsr_type_tuple(ir, type->kind, types, type->count);
    case TSR_TYPE_FUNCTION:
      return tsr_type_function(ir, types, type->input_count,
                               type->input_count ? types + type->input_count : types,
                               type->count - type->input_count);
    case TSR_TYPE_QUANT:
      return import_quant(ir, type);
    case TSR_TYPE_OPAQUE:
      return tsr_type_opaque(ir, type->text, strlen(type->text));
    default:
      return tsr_type_simple(ir, type->kind);
  }
}

static const tsr_attr **import_items(tsr_ir *ir, const tsr_attr *attr) {
  const tsr_attr **items = tsr_ir_alloc(ir, (size_t)attr->count * sizeof(const tsr_attr *));
  for (int64_t i = 0; items && i < attr->count; i++) {
    items[i] = attr->items[i] ? tsr_attr_import(ir, attr->items[i]) : NULL;
    if (attr->items[i] && !items[i]) return NULL;
  }
  return items;
}

static const tsr_attr *import_dict(tsr_ir *ir, const tsr_attr *attr) {
  tsr_named_attr *entries = tsr_ir_alloc(ir, (size_t)attr->count * sizeof *entries);
  for (int64_t i = 0; entries && i < attr->count; i++) {
    const char *name = attr->entries[i].name;
    entries[i].name = tsr_ir_name(ir, name, strlen(name));
    entries[i].attr = tsr_attr_import(ir, attr->entries[i].attr);
    if (!entries[i].name || !entries[i].attr) return NULL;
  }
  return entries ? tsr_attr_dict(ir, entries, attr->count) : NULL;
}

static const tsr_attr *import_list(tsr_ir *ir, const tsr_attr *attr) {
  const tsr_attr **items = import_items(ir, attr);
  if (!items) return NULL;
  if (attr->kind == TSR_ATTR_ARRAY) return tsr_attr_array(ir, items, attr->count);
  if (attr->kind == TSR_ATTR_SYMBOL)
    return tsr_attr_nested_symbol(ir, attr->bytes, attr->length, items, attr->count);
  return tsr_attr_record(ir, (tsr_record_id)attr->id, items);
}

static const tsr_attr *import_string(tsr_ir *ir, const tsr_attr *attr, const tsr_type *type) {
  return type ? tsr_attr_typed_string(ir, type, attr->bytes, attr->length)
              : tsr_attr_string(ir, attr->bytes, attr->length);
}

const tsr_attr *tsr_attr_import(tsr_ir *ir, const tsr_attr *attr) {
  const tsr_type *type = NULL;
  if (attr->type && !(type = tsr_type_import(ir, attr->type))) return NULL;
  switch (attr->kind) {
    case TSR_ATTR_UNIT:
      return tsr_attr_unit(ir);
    case TSR_ATTR_INTEGER:
      return tsr_attr_integer(ir, type, attr->integer);
    case TSR_ATTR_FLOAT:
      return tsr_attr_float(ir, type, attr->bits);
    case TSR_ATTR_STRING:
      return import_string(ir, attr, type);
    case TSR_ATTR_TYPE:
      return tsr_attr_type(ir, type);
    case TSR_ATTR_DICT:
      return import_dict(ir, attr);
    case TSR_ATTR_DENSE:
      return tsr_attr_dense(ir, type, attr->bytes, attr->length);
    case TSR_ATTR_DENSE_ARRAY:
      return tsr_attr_dense_array(ir, type, attr->bytes, attr->count);
    case TSR_ATTR_RESOURCE:
      return tsr_attr_resource(ir, type, attr->bytes, attr->length);
    case TSR_ATTR_ENUM:
      return tsr_attr_enum(ir, (tsr_enum_id)attr->id, (int)attr->integer);
    case TSR_ATTR_OPAQUE:
      return tsr_attr_opaque(ir, attr->bytes, attr->length);
    case TSR_ATTR_ARRAY:
    case TSR_ATTR_SYMBOL:
    case TSR_ATTR_RECORD:
      return import_list(ir, attr);
  }
  return NULL;
}

// ---- ops ----

typedef struct op_copy {
  tsr_ir *ir;
  tsr_value_map *map;
  bool elsewhere;  // into another program
} op_copy;

static const tsr_type *copy_type(const op_copy *copy, const tsr_type *type) {
  return copy->elsewhere ? tsr_type_import(copy->ir, type) : type;
}

static const tsr_attr *copy_attr(const op_copy *copy, const tsr_attr *attr) {
  return attr && copy->elsewhere ? tsr_attr_import(copy->ir, attr) : attr;
}

static bool fill_parts(const op_copy *copy, const tsr_op *op, tsr_value **operands,
                       const tsr_type **types, tsr_named_attr *attrs) {
  for (int i = 0; i < op->operand_count; i++) {
    tsr_value *value = op->operands[i].value;
    tsr_value *mapped = tsr_value_map_find(copy->map, value);
    operands[i] = mapped ? mapped : value;
  }
  for (int i = 0; i < op->result_count; i++)
    if (!(types[i] = copy_type(copy, op->results[i].type))) return false;
  for (int i = 0; i < op->attr_count; i++) {
    const char *name = op->attrs[i].name;
    attrs[i].name = copy->elsewhere ? tsr_ir_name(copy->ir, name, strlen(name)) : name;
    attrs[i].attr = copy_attr(copy, op->attrs[i].attr);
    if (!attrs[i].name || !attrs[i].attr) return false;
  }
  return true;
}

static tsr_op *copy_op(const op_copy *copy, const tsr_op *op);

static bool copy_block(const op_copy *copy, const tsr_ir_block *block, tsr_ir_block *to) {
  for (int i = 0; i < block->arg_count; i++) {
    const tsr_value *arg = block->args[i];
    const tsr_type *type = copy_type(copy, arg->type);
    const tsr_attr *location = copy_attr(copy, arg->location);
    if (!type || (arg->location && !location)) return false;
    tsr_value *value = tsr_block_add_arg(copy->ir, to, type, location);
    if (!value || !tsr_value_map_add(copy->map, arg, value)) return false;
  }
  for (const tsr_op *op = block->first; op; op = op->next) {
    tsr_op *inner = copy_op(copy, op);
    if (!inner) return false;
    tsr_op_append(to, inner);
  }
  return true;
}

static bool copy_regions(const op_copy *copy, const tsr_op *op, tsr_op *to) {
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next) {
      tsr_ir_block *into = tsr_block_append(copy->ir, &to->regions[i]);
      if (!into || !copy_block(copy, block, into)) return false;
    }
  return true;
}

static tsr_op *make_copy(const op_copy *copy, const tsr_op *op) {
  tsr_arena *arena = &copy->ir->arena;
  tsr_value **operands = tsr_arena_zeros(arena, (size_t)op->operand_count, sizeof(tsr_value *));
  const tsr_type **types = tsr_arena_zeros(arena, (size_t)op->result_count, sizeof(tsr_type *));
  tsr_named_attr *attrs = tsr_arena_zeros(arena, (size_t)op->attr_count, sizeof *attrs);
  if (!operands || !types || !attrs || !fill_parts(copy, op, operands, types, attrs)) return NULL;
  const bool known = op->info->id != TSR_OP_UNKNOWN;
  const char *name = known ? NULL : tsr_ir_name(copy->ir, op->name, strlen(op->name));
  const tsr_attr *location = copy_attr(copy, op->location);
  if ((!known && !name) || (op->location && !location)) return NULL;
  return tsr_op_create(copy->ir, &(tsr_op_parts){.id = op->info->id,
                                                 .name = name,
                                                 .operand_count = op->operand_count,
                                                 .operands = operands,
                                                 .result_count = op->result_count,
                                                 .result_types = types,
                                                 .attr_count = op->attr_count,
                                                 .attrs = attrs,
                                                 .region_count = op->region_count,
                                                 .location = location});
}

static tsr_op *copy_op(const op_copy *copy, const tsr_op *op) {
  tsr_op *to = make_copy(copy, op);
  if (!to) return NULL;
  to->line = op->line;
  to->column = op->column;
  to->origin = op->origin;
  for (int i = 0; i < op->result_count; i++)
    if (!tsr_value_map_add(copy->map, &op->results[i], &to->results[i])) return NULL;
  return copy_regions(copy, op, to) ? to : NULL;
}

// Whether an op belongs to a program: its outermost op is the program's module.
static bool stands_in(const tsr_ir *ir, const tsr_op *op) {
  const tsr_op *outer = op;
  for (const tsr_op *parent; (parent = tsr_op_parent(outer));) outer = parent;
  return outer == ir->module;
}

tsr_op *tsr_op_clone(tsr_ir *ir, const tsr_op *op, tsr_value_map *map) {
  return copy_op(&(op_copy){ir, map, !stands_in(ir, op)}, op);
}
