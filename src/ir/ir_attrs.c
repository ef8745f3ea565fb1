// Attributes: made once, never changed, compared by content.
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "tessera/engine/hash.h"

static tsr_attr *make(tsr_ir *ir, tsr_attr_kind kind) {
  tsr_attr *attr = tsr_arena_zeros(&ir->arena, 1, sizeof *attr);
  if (attr) attr->kind = kind;
  return attr;
}

// ---- hash and weight, when the content is complete ----

static uint64_t mix(uint64_t hash, uint64_t value) {
  return tsr_hash64(&value, sizeof value, hash);
}

static void add_inside(tsr_attr *attr, const tsr_attr *inside) {
  attr->hash = mix(attr->hash, inside ? inside->hash : 0);
  if (inside && __builtin_add_overflow(attr->weight, inside->weight, &attr->weight))
    attr->weight = UINT32_MAX;
}

static void add_content(tsr_attr *attr) {
  for (int64_t i = 0; i < attr->count; i++) {
    if (attr->kind != TSR_ATTR_DICT) {
      add_inside(attr, attr->items[i]);
      continue;
    }
    attr->hash = tsr_hash64(attr->entries[i].name, strlen(attr->entries[i].name), attr->hash);
    add_inside(attr, attr->entries[i].attr);
  }
}

enum { HASHED_ENDS = 256 };  // bytes at each end of large elements that are hashed

static void add_bytes(tsr_attr *attr) {
  const size_t part = attr->length < 2 * HASHED_ENDS ? attr->length : HASHED_ENDS;
  attr->hash = mix(tsr_hash64(attr->bytes, part, attr->hash), attr->length);
  if (part < attr->length)
    attr->hash = tsr_hash64(attr->bytes + attr->length - part, part, attr->hash);
}

// NULL stays NULL.
static const tsr_attr *finish(tsr_attr *attr) {
  if (!attr) return NULL;
  const uint64_t head[] = {(uint64_t)attr->kind, (uint64_t)attr->id,
                           attr->type ? attr->type->hash : 0, (uint64_t)attr->count};
  attr->weight = attr->type ? attr->type->weight : 1;
  attr->hash = tsr_hash64(head, sizeof head, 0);
  switch (attr->kind) {
    case TSR_ATTR_INTEGER:
    case TSR_ATTR_ENUM:
      attr->hash = mix(attr->hash, (uint64_t)attr->integer);
      break;
    case TSR_ATTR_FLOAT:
      attr->hash = mix(attr->hash, attr->bits);
      break;
    case TSR_ATTR_ARRAY:
    case TSR_ATTR_RECORD:
    case TSR_ATTR_SYMBOL:
    case TSR_ATTR_DICT:
      add_content(attr);
      break;
    default:
      break;
  }
  add_bytes(attr);
  return attr;
}

const tsr_attr *tsr_attr_unit(tsr_ir *ir) { return ir->unit; }

const tsr_attr *tsr_attr_bool(tsr_ir *ir, bool value) {
  return value ? ir->true_value : ir->false_value;
}

static int64_t keep_width(const tsr_type *type, int64_t value) {
  const int width = tsr_type_bits(type);
  if (width >= 64 || width < 1) return value;
  const uint64_t low = (uint64_t)value << (64 - width);
  const bool zero_extend = type->sign == TSR_UNSIGNED || width == 1;
  return zero_extend ? (int64_t)(low >> (64 - width)) : (int64_t)low >> (64 - width);
}

const tsr_attr *tsr_attr_integer(tsr_ir *ir, const tsr_type *type, int64_t value) {
  value = keep_width(type, value);
  if (type == ir->true_value->type) return tsr_attr_bool(ir, value);
  tsr_attr *attr = make(ir, TSR_ATTR_INTEGER);
  if (!attr) return NULL;
  attr->type = type;
  attr->integer = value;
  return finish(attr);
}

const tsr_attr *tsr_attr_i64(tsr_ir *ir, int64_t value) {
  const tsr_type *i64 = tsr_type_integer(ir, 64, TSR_SIGNLESS);
  return i64 ? tsr_attr_integer(ir, i64, value) : NULL;
}

const tsr_attr *tsr_attr_float(tsr_ir *ir, const tsr_type *type, uint64_t bits) {
  tsr_attr *attr = make(ir, TSR_ATTR_FLOAT);
  if (!attr) return NULL;
  attr->type = type;
  attr->bits = bits;
  return finish(attr);
}

static tsr_attr *make_text(tsr_ir *ir, tsr_attr_kind kind, const char *bytes, size_t length) {
  tsr_attr *attr = make(ir, kind);
  if (!attr) return NULL;
  attr->bytes = tsr_arena_copy(&ir->arena, length ? bytes : "", length);
  attr->length = length;
  return attr->bytes ? attr : NULL;
}

const tsr_attr *tsr_attr_string(tsr_ir *ir, const char *bytes, size_t length) {
  return finish(make_text(ir, TSR_ATTR_STRING, bytes, length));
}

const tsr_attr *tsr_attr_typed_string(tsr_ir *ir, const tsr_type *type, const char *bytes,
                                      size_t length) {
  tsr_attr *attr = make_text(ir, TSR_ATTR_STRING, bytes, length);
  if (attr) attr->type = type;
  return finish(attr);
}

const tsr_attr *tsr_attr_symbol(tsr_ir *ir, const char *name, size_t length) {
  return finish(make_text(ir, TSR_ATTR_SYMBOL, name, length));
}

static const tsr_attr *const *copy_items(tsr_ir *ir, const tsr_attr *const *items, int64_t count) {
  const tsr_attr **copy = tsr_ir_alloc(ir, (size_t)count * sizeof *copy);
  if (copy && items && count) memcpy(copy, items, (size_t)count * sizeof *copy);
  return copy;
}

const tsr_attr *tsr_attr_nested_symbol(tsr_ir *ir, const char *name, size_t length,
                                       const tsr_attr *const *nested, int64_t count) {
  tsr_attr *attr = make_text(ir, TSR_ATTR_SYMBOL, name, length);
  if (!attr) return NULL;
  attr->items = copy_items(ir, nested, count);
  attr->count = count;
  return attr->items ? finish(attr) : NULL;
}

const tsr_attr *tsr_attr_type(tsr_ir *ir, const tsr_type *type) {
  tsr_attr *attr = make(ir, TSR_ATTR_TYPE);
  if (attr) attr->type = type;
  return finish(attr);
}

const tsr_attr *tsr_attr_array(tsr_ir *ir, const tsr_attr *const *items, int64_t count) {
  tsr_attr *attr = make(ir, TSR_ATTR_ARRAY);
  if (!attr) return NULL;
  attr->items = copy_items(ir, items, count);
  attr->count = count;
  return attr->items ? finish(attr) : NULL;
}

int tsr_named_attr_order(const void *a, const void *b) {
  return strcmp(((const tsr_named_attr *)a)->name, ((const tsr_named_attr *)b)->name);
}

const tsr_attr *tsr_attr_dict(tsr_ir *ir, const tsr_named_attr *entries, int64_t count) {
  tsr_attr *attr = make(ir, TSR_ATTR_DICT);
  tsr_named_attr *copy = tsr_ir_alloc(ir, (size_t)count * sizeof *copy);
  if (!attr || !copy) return NULL;
  if (count) {
    memcpy(copy, entries, (size_t)count * sizeof *copy);
    qsort(copy, (size_t)count, sizeof *copy, tsr_named_attr_order);
  }
  attr->entries = copy;
  attr->count = count;
  return finish(attr);
}

// Whether all elements equal the first: each byte equals the one an element before it.
static bool all_equal(const char *bytes, size_t length, size_t size) {
  return size && length > size && !memcmp(bytes, bytes + size, length - size);
}

const tsr_attr *tsr_attr_dense(tsr_ir *ir, const tsr_type *type, const void *bytes, size_t length) {
  tsr_attr *attr = make(ir, TSR_ATTR_DENSE);
  if (!attr) return NULL;
  const size_t size = tsr_type_element_bytes(tsr_type_element(type));
  const int64_t count = tsr_type_element_count(type);
  attr->type = type;
  attr->bytes = bytes;
  // Without elements one may be written all the same, and MLIR keeps it.
  attr->splat = size && (length == size || (count > 0 && all_equal(bytes, length, size)));
  attr->length = attr->splat ? size : length;
  return finish(attr);
}

const tsr_attr *tsr_attr_dense_array(tsr_ir *ir, const tsr_type *element, const void *bytes,
                                     int64_t count) {
  const size_t length = (size_t)count * tsr_type_element_bytes(element);
  tsr_attr *attr = make_text(ir, TSR_ATTR_DENSE_ARRAY, bytes, length);
  if (!attr) return NULL;
  attr->type = element;
  attr->count = count;
  return finish(attr);
}

const tsr_attr *tsr_attr_ints(tsr_ir *ir, const int64_t *values, int64_t count) {
  const tsr_type *i64 = tsr_type_integer(ir, 64, TSR_SIGNLESS);
  return i64 ? tsr_attr_dense_array(ir, i64, values, count) : NULL;
}

const tsr_attr *tsr_attr_bools(tsr_ir *ir, const bool *values, int64_t count) {
  return tsr_attr_dense_array(ir, ir->true_value->type, values, count);
}

const tsr_attr *tsr_attr_resource(tsr_ir *ir, const tsr_type *type, const char *key,
                                  size_t length) {
  tsr_attr *attr = make_text(ir, TSR_ATTR_RESOURCE, key, length);
  if (attr) attr->type = type;
  return finish(attr);
}

const tsr_attr *tsr_attr_enum(tsr_ir *ir, tsr_enum_id id, int value) {
  tsr_attr *attr = make(ir, TSR_ATTR_ENUM);
  if (!attr) return NULL;
  attr->id = (int)id;
  attr->integer = value;
  return finish(attr);
}

const tsr_attr *tsr_attr_record(tsr_ir *ir, tsr_record_id id, const tsr_attr *const *fields) {
  const int count = tsr_record_info_of(id).field_count;
  tsr_attr *attr = make(ir, TSR_ATTR_RECORD);
  if (!attr) return NULL;
  attr->id = (int)id;
  attr->items = copy_items(ir, fields, count);
  attr->count = count;
  return attr->items ? finish(attr) : NULL;
}

const tsr_attr *tsr_attr_opaque(tsr_ir *ir, const char *text, size_t length) {
  return finish(make_text(ir, TSR_ATTR_OPAQUE, text, length));
}

bool tsr_ir_make_common_attrs(tsr_ir *ir) {
  const tsr_type *i1 = tsr_type_integer(ir, 1, TSR_SIGNLESS);
  tsr_attr *yes = make(ir, TSR_ATTR_INTEGER), *no = make(ir, TSR_ATTR_INTEGER);
  if (!i1 || !yes || !no) return false;
  yes->type = no->type = i1;
  yes->integer = 1;
  ir->true_value = finish(yes);
  ir->false_value = finish(no);
  ir->unit = finish(make(ir, TSR_ATTR_UNIT));
  ir->unknown_location = tsr_attr_record(ir, TSR_RECORD_LOC_UNKNOWN, NULL);
  return ir->unit && ir->unknown_location;
}
