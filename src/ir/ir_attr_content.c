// What attributes hold: equality, hashes, forms, lookups.
#include <string.h>

#include "ir/ir.h"
#include "ir/type_content.h"

// ---- equality ----

static bool same_text(const tsr_attr *a, const tsr_attr *b) {
  return a->length == b->length && (!a->length || !memcmp(a->bytes, b->bytes, a->length));
}

static bool same_items(const tsr_attr *a, const tsr_attr *b) {
  if (a->count != b->count) return false;
  for (int64_t i = 0; i < a->count; i++)
    if (!tsr_attr_equal(a->items[i], b->items[i])) return false;
  return true;
}

static bool same_entries(const tsr_attr *a, const tsr_attr *b) {
  if (a->count != b->count) return false;
  for (int64_t i = 0; i < a->count; i++)
    if (strcmp(a->entries[i].name, b->entries[i].name) != 0 ||
        !tsr_attr_equal(a->entries[i].attr, b->entries[i].attr))
      return false;
  return true;
}

bool tsr_attr_equal(const tsr_attr *a, const tsr_attr *b) {
  if (a == b) return true;
  if (!a || !b || a->hash != b->hash || a->kind != b->kind || a->id != b->id ||
      !tsr_type_equal(a->type, b->type))
    return false;
  switch (a->kind) {
    case TSR_ATTR_UNIT:
    case TSR_ATTR_TYPE:
      return true;
    case TSR_ATTR_INTEGER:
    case TSR_ATTR_ENUM:
      return a->integer == b->integer;
    case TSR_ATTR_FLOAT:
      return a->bits == b->bits;
    case TSR_ATTR_ARRAY:
    case TSR_ATTR_RECORD:
      return same_items(a, b);
    case TSR_ATTR_DICT:
      return same_entries(a, b);
    case TSR_ATTR_SYMBOL:
      return same_text(a, b) && same_items(a, b);
    default:
      return a->splat == b->splat && same_text(a, b);
  }
}

// ---- forms ----

static bool is_integer(const tsr_attr *attr, int width) {
  return attr->kind == TSR_ATTR_INTEGER && attr->type->kind == TSR_TYPE_INTEGER &&
         attr->type->width == width && attr->type->sign == TSR_SIGNLESS;
}

static bool is_list_of(const tsr_attr *attr, int width) {
  return attr->kind == TSR_ATTR_DENSE_ARRAY && attr->type->kind == TSR_TYPE_INTEGER &&
         attr->type->width == width;
}

static bool is_dense_i64(const tsr_attr *attr) {
  const tsr_type *element = attr->kind == TSR_ATTR_DENSE ? tsr_type_element(attr->type) : NULL;
  return element && element->kind == TSR_TYPE_INTEGER && element->width == 64 &&
         element->sign == TSR_SIGNLESS;
}

static bool all_have_form(const tsr_attr *attr, tsr_attr_form form, int id) {
  if (attr->kind != TSR_ATTR_ARRAY) return false;
  for (int64_t i = 0; i < attr->count; i++)
    if (!tsr_attr_has_form(attr->items[i], form, id)) return false;
  return true;
}

bool tsr_attr_has_form(const tsr_attr *attr, tsr_attr_form form, int id) {
  switch (form) {
    case TSR_FORM_ANY_ATTR:
      return true;
    case TSR_FORM_UNIT:
      return attr->kind == TSR_ATTR_UNIT;
    case TSR_FORM_BOOL:
      return is_integer(attr, 1);
    case TSR_FORM_INT:
      return attr->kind == TSR_ATTR_INTEGER;
    case TSR_FORM_I32:
      return is_integer(attr, 32);
    case TSR_FORM_I64:
      return is_integer(attr, 64);
    case TSR_FORM_FLOAT:
      return attr->kind == TSR_ATTR_FLOAT;
    case TSR_FORM_STRING:
      return attr->kind == TSR_ATTR_STRING;
    case TSR_FORM_SYMBOL:
      return attr->kind == TSR_ATTR_SYMBOL && !attr->count;
    case TSR_FORM_TYPE:
      return attr->kind == TSR_ATTR_TYPE;
    case TSR_FORM_INTS:
      return is_list_of(attr, 64);
    case TSR_FORM_BOOLS:
      return is_list_of(attr, 1);
    case TSR_FORM_DENSE:
      return attr->kind == TSR_ATTR_DENSE || attr->kind == TSR_ATTR_RESOURCE;
    case TSR_FORM_DENSE_I64:
      return is_dense_i64(attr);
    case TSR_FORM_ARRAY:
      return attr->kind == TSR_ATTR_ARRAY;
    case TSR_FORM_DICT:
      return attr->kind == TSR_ATTR_DICT;
    case TSR_FORM_ENUM:
      return attr->kind == TSR_ATTR_ENUM && attr->id == id;
    case TSR_FORM_RECORD:
      return attr->kind == TSR_ATTR_RECORD && attr->id == id;
    case TSR_FORM_ENUMS:
      return all_have_form(attr, TSR_FORM_ENUM, id);
    case TSR_FORM_RECORDS:
      return all_have_form(attr, TSR_FORM_RECORD, id);
    case TSR_FORM_SYMBOLS:
      return all_have_form(attr, TSR_FORM_SYMBOL, 0);
  }
  return false;
}

// ---- lookups ----

const tsr_attr *tsr_dict_find(const tsr_attr *dict, const char *name) {
  if (!dict) return NULL;
  int64_t low = 0, high = dict->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const int order = strcmp(name, dict->entries[middle].name);
    if (!order) return dict->entries[middle].attr;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

bool tsr_attr_is_string(const tsr_attr *attr, const char *string) {
  return attr && (attr->kind == TSR_ATTR_STRING || attr->kind == TSR_ATTR_SYMBOL) &&
         attr->length == strlen(string) && !memcmp(attr->bytes, string, attr->length);
}

int64_t tsr_attr_int_count(const tsr_attr *attr) {
  if (!attr) return 0;
  return attr->kind == TSR_ATTR_DENSE_ARRAY ? attr->count : tsr_type_element_count(attr->type);
}

const char *tsr_attr_element(const tsr_attr *dense, int64_t index) {
  const size_t size = tsr_type_element_bytes(tsr_type_element(dense->type));
  return dense->bytes + (dense->splat ? 0 : (size_t)index * size);
}

int64_t tsr_attr_int_at(const tsr_attr *attr, int64_t index) {
  const tsr_type *element = tsr_type_element(attr->type);
  uint64_t value = 0;
  if (attr->kind == TSR_ATTR_DENSE_ARRAY && element->width == 64) {  // nearly all lists
    memcpy(&value, attr->bytes + sizeof value * (size_t)index, sizeof value);
    return (int64_t)value;
  }
  const size_t size = tsr_type_element_bytes(element);
  memcpy(&value, tsr_attr_element(attr, index), size < sizeof value ? size : sizeof value);
  const int unused = 64 - tsr_type_bits(element);
  if (element->sign == TSR_UNSIGNED || unused >= 63 || unused <= 0) return (int64_t)value;
  return (int64_t)(value << unused) >> unused;
}
