// Attributes: made once, never changed, compared by content. An attribute is described on the
// stack. One that equals a recent one is that one, since programs say the same few things many
// times; others are copied into the program's memory.
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "tessera/engine/hash.h"

// ---- hash and weight, when the content is complete ----

static uint64_t mix(uint64_t hash, uint64_t value) {
  return tsr_hash64(&value, sizeof value, hash);
}

// Whether the attribute holds a number; the others hold items in the same place.
static bool is_number(const tsr_attr *attr) {
  return attr->kind == TSR_ATTR_INTEGER || attr->kind == TSR_ATTR_ENUM ||
         attr->kind == TSR_ATTR_FLOAT;
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

static void add_hash_and_weight(tsr_attr *attr) {
  const uint64_t head[] = {(uint64_t)attr->kind << 32 | (uint64_t)attr->id,
                           attr->type ? attr->type->hash : 0, (uint64_t)attr->count,
                           is_number(attr) ? attr->bits : 0};
  attr->weight = attr->type ? attr->type->weight : 1;
  attr->hash = tsr_hash64(head, sizeof head, 0);
  if (!is_number(attr) && attr->kind != TSR_ATTR_DENSE_ARRAY) add_content(attr);
  if (attr->length) add_bytes(attr);
}

// ---- the program's own copy ----

static void *copy_part(tsr_ir *ir, const void *part, size_t length) {
  void *copy = tsr_ir_alloc(ir, length);
  if (copy && length) memcpy(copy, part, length);
  return copy;
}

int tsr_named_attr_order(const void *a, const void *b) {
  return strcmp(((const tsr_named_attr *)a)->name, ((const tsr_named_attr *)b)->name);
}

// Elements of DENSE stay where they are.
static bool copy_text(tsr_ir *ir, tsr_attr *attr) {
  if (!attr->bytes || attr->kind == TSR_ATTR_DENSE) return true;
  attr->bytes = tsr_arena_copy(&ir->arena, attr->bytes, attr->length);
  return attr->bytes;
}

static bool copy_items(tsr_ir *ir, tsr_attr *attr) {
  if (is_number(attr) || attr->kind == TSR_ATTR_DENSE_ARRAY || !attr->items) return true;
  const size_t size = attr->kind == TSR_ATTR_DICT ? sizeof *attr->entries : sizeof *attr->items;
  attr->items = copy_part(ir, attr->items, (size_t)attr->count * size);
  return attr->items;
}

static const tsr_attr *keep(tsr_ir *ir, const tsr_attr *draft) {
  tsr_attr *attr = copy_part(ir, draft, sizeof *attr);
  return attr && copy_text(ir, attr) && copy_items(ir, attr) ? attr : NULL;
}

enum { LONGEST_SHARED = 256 };  // bytes of attributes that are worth comparing

static const tsr_attr *finish(tsr_ir *ir, tsr_attr draft) {
  add_hash_and_weight(&draft);
  if (draft.length > LONGEST_SHARED) return keep(ir, &draft);
  const tsr_attr **recent = &ir->recent_attrs[draft.hash % TSR_RECENT_ATTRS];
  if (*recent && tsr_attr_equal(*recent, &draft)) return *recent;
  const tsr_attr *attr = keep(ir, &draft);
  if (attr) *recent = attr;
  return attr;
}

// ---- constructors ----

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
  return finish(ir, (tsr_attr){.kind = TSR_ATTR_INTEGER, .type = type, .integer = value});
}

const tsr_attr *tsr_attr_i64(tsr_ir *ir, int64_t value) {
  return tsr_attr_integer(ir, ir->i64, value);
}

const tsr_attr *tsr_attr_float(tsr_ir *ir, const tsr_type *type, uint64_t bits) {
  return finish(ir, (tsr_attr){.kind = TSR_ATTR_FLOAT, .type = type, .bits = bits});
}

static tsr_attr text_of(tsr_attr_kind kind, const char *bytes, size_t length) {
  return (tsr_attr){.kind = kind, .bytes = length ? bytes : "", .length = length};
}

const tsr_attr *tsr_attr_string(tsr_ir *ir, const char *bytes, size_t length) {
  return finish(ir, text_of(TSR_ATTR_STRING, bytes, length));
}

const tsr_attr *tsr_attr_typed_string(tsr_ir *ir, const tsr_type *type, const char *bytes,
                                      size_t length) {
  tsr_attr attr = text_of(TSR_ATTR_STRING, bytes, length);
  attr.type = type;
  return finish(ir, attr);
}

const tsr_attr *tsr_attr_symbol(tsr_ir *ir, const char *name, size_t length) {
  return finish(ir, text_of(TSR_ATTR_SYMBOL, name, length));
}

const tsr_attr *tsr_attr_nested_symbol(tsr_ir *ir, const char *name, size_t length,
                                       const tsr_attr *const *nested, int64_t count) {
  tsr_attr attr = text_of(TSR_ATTR_SYMBOL, name, length);
  attr.items = nested;
  attr.count = count;
  return finish(ir, attr);
}

const tsr_attr *tsr_attr_type(tsr_ir *ir, const tsr_type *type) {
  return finish(ir, (tsr_attr){.kind = TSR_ATTR_TYPE, .type = type});
}

const tsr_attr *tsr_attr_array(tsr_ir *ir, const tsr_attr *const *items, int64_t count) {
  return finish(ir, (tsr_attr){.kind = TSR_ATTR_ARRAY, .items = items, .count = count});
}

static bool are_sorted(const tsr_named_attr *entries, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (tsr_named_attr_order(&entries[i - 1], &entries[i]) > 0) return false;
  return true;
}

const tsr_attr *tsr_attr_dict(tsr_ir *ir, const tsr_named_attr *entries, int64_t count) {
  tsr_named_attr *sorted = NULL;
  if (!are_sorted(entries, count)) {
    sorted = copy_part(ir, entries, (size_t)count * sizeof *entries);
    if (!sorted) return NULL;
    qsort(sorted, (size_t)count, sizeof *sorted, tsr_named_attr_order);
  }
  return finish(
      ir, (tsr_attr){.kind = TSR_ATTR_DICT, .entries = sorted ? sorted : entries, .count = count});
}

// Whether all elements equal the first: each byte equals the one an element before it.
static bool all_equal(const char *bytes, size_t length, size_t size) {
  return size && length > size && !memcmp(bytes, bytes + size, length - size);
}

const tsr_attr *tsr_attr_dense(tsr_ir *ir, const tsr_type *type, const void *bytes, size_t length) {
  const size_t size = tsr_type_element_bytes(tsr_type_element(type));
  const int64_t count = tsr_type_element_count(type);
  // Without elements one may be written all the same, and MLIR keeps it.
  const bool splat = size && (length == size || (count > 0 && all_equal(bytes, length, size)));
  return finish(ir, (tsr_attr){.kind = TSR_ATTR_DENSE,
                               .type = type,
                               .splat = splat,
                               .bytes = bytes,
                               .length = splat ? size : length});
}

const tsr_attr *tsr_attr_dense_array(tsr_ir *ir, const tsr_type *element, const void *bytes,
                                     int64_t count) {
  const size_t length = (size_t)count * tsr_type_element_bytes(element);
  tsr_attr attr = text_of(TSR_ATTR_DENSE_ARRAY, bytes, length);
  attr.type = element;
  attr.count = count;
  return finish(ir, attr);
}

const tsr_attr *tsr_attr_ints(tsr_ir *ir, const int64_t *values, int64_t count) {
  return tsr_attr_dense_array(ir, ir->i64, values, count);
}

const tsr_attr *tsr_attr_bools(tsr_ir *ir, const bool *values, int64_t count) {
  return tsr_attr_dense_array(ir, ir->true_value->type, values, count);
}

const tsr_attr *tsr_attr_resource(tsr_ir *ir, const tsr_type *type, const char *key,
                                  size_t length) {
  tsr_attr attr = text_of(TSR_ATTR_RESOURCE, key, length);
  attr.type = type;
  return finish(ir, attr);
}

const tsr_attr *tsr_attr_enum(tsr_ir *ir, tsr_enum_id id, int value) {
  return finish(ir, (tsr_attr){.kind = TSR_ATTR_ENUM, .id = (int)id, .integer = value});
}

const tsr_attr *tsr_attr_record(tsr_ir *ir, tsr_record_id id, const tsr_attr *const *fields) {
  return finish(ir, (tsr_attr){.kind = TSR_ATTR_RECORD,
                               .id = (int)id,
                               .items = fields,
                               .count = tsr_record_info_of(id).field_count});
}

const tsr_attr *tsr_attr_opaque(tsr_ir *ir, const char *text, size_t length) {
  return finish(ir, text_of(TSR_ATTR_OPAQUE, text, length));
}

bool tsr_ir_make_common_attrs(tsr_ir *ir) {
  const tsr_type *i1 = tsr_type_integer(ir, 1, TSR_SIGNLESS);
  ir->i64 = tsr_type_integer(ir, 64, TSR_SIGNLESS);
  if (!i1 || !ir->i64) return false;
  ir->true_value = finish(ir, (tsr_attr){.kind = TSR_ATTR_INTEGER, .type = i1, .integer = 1});
  ir->false_value = finish(ir, (tsr_attr){.kind = TSR_ATTR_INTEGER, .type = i1});
  ir->unit = finish(ir, (tsr_attr){.kind = TSR_ATTR_UNIT});
  ir->unknown_location = tsr_attr_record(ir, TSR_RECORD_LOC_UNKNOWN, NULL);
  return ir->true_value && ir->false_value && ir->unit && ir->unknown_location;
}
