// The StableHLO attributes of an op out of those that VHLO stores, by the rows of
// bytecode/vhlo_attrs.def: values change their form, defaults are left out, and several stored
// attributes become the fields of one record.
#include <stdlib.h>
#include <string.h>

#include "bytecode/artifact.h"

enum { MAX_RECORDS = 2, MAX_SPLAT = 256 };

// ---- defaults ----

static bool is_integer(const tsr_attr *attr, int64_t value) {
  return attr->kind == TSR_ATTR_INTEGER && attr->integer == value;
}

static bool is_empty(const tsr_attr *attr, tsr_attr_kind kind) {
  if (attr->kind != kind) return false;
  return kind == TSR_ATTR_STRING ? !attr->length : !attr->count;
}

// Elements of one value, at least one of them.
static bool is_splat(const tsr_attr *attr, int64_t value) {
  if (attr->kind != TSR_ATTR_DENSE || !attr->splat) return false;
  if (attr->type->element->kind != TSR_TYPE_INTEGER) return false;
  return attr->length == 1 ? *attr->bytes == (char)value
                           : attr->length == sizeof value && tsr_attr_int_at(attr, 0) == value;
}

static bool is_default_precision(const tsr_attr *attr) {
  if (attr->kind != TSR_ATTR_ARRAY) return false;
  for (int64_t i = 0; i < attr->count; i++)
    if (!tsr_attr_has_form(attr->items[i], TSR_FORM_ENUM, TSR_ENUM_PRECISION) ||
        attr->items[i]->integer != TSR_PRECISION_DEFAULT)
      return false;
  return true;
}

static bool is_default(const tsr_attr *attr, tsr_vhlo_default otherwise) {
  switch (otherwise) {
    case TSR_VHLO_DEFAULT_NONE:
    case TSR_VHLO_DEFAULT_KEPT_STRING:
      return false;
    case TSR_VHLO_DEFAULT_ZERO:
    case TSR_VHLO_DEFAULT_FALSE:
      return is_integer(attr, 0);
    case TSR_VHLO_DEFAULT_MINUS_ONE:
      return is_integer(attr, -1);
    case TSR_VHLO_DEFAULT_ORIGINAL:
      return is_integer(attr, 1);
    case TSR_VHLO_DEFAULT_EMPTY_STRING:
      return is_empty(attr, TSR_ATTR_STRING);
    case TSR_VHLO_DEFAULT_EMPTY_ARRAY:
    case TSR_VHLO_DEFAULT_LAYOUTS:
      return is_empty(attr, TSR_ATTR_ARRAY);
    case TSR_VHLO_DEFAULT_EMPTY_DICT:
      return is_empty(attr, TSR_ATTR_DICT);
    case TSR_VHLO_DEFAULT_EMPTY_CONFIG:
      return is_empty(attr, TSR_ATTR_STRING) || is_empty(attr, TSR_ATTR_DICT);
    case TSR_VHLO_DEFAULT_EMPTY_INTS:
      return attr->kind == TSR_ATTR_DENSE && !tsr_type_element_count(attr->type);
    case TSR_VHLO_DEFAULT_ONES:
      return is_splat(attr, 1);
    case TSR_VHLO_DEFAULT_PADDING:
    case TSR_VHLO_DEFAULT_FALSES:
      return is_splat(attr, 0);
    case TSR_VHLO_DEFAULT_PRECISION:
      return is_default_precision(attr);
    case TSR_VHLO_DEFAULT_NOTYPE:
      return attr->kind == TSR_ATTR_ENUM && attr->integer == TSR_COMPARE_TYPE_NOTYPE;
    case TSR_VHLO_DEFAULT_ACCURACY:
      return tsr_attr_is_plain_accuracy(attr);
    case TSR_VHLO_DEFAULT_NONE_TYPE:
      return attr->kind == TSR_ATTR_TYPE && attr->type->kind == TSR_TYPE_NONE;
  }
  return false;
}

// The layouts of a custom_call are left out together.
static bool all_default(const tsr_vhlo_op *vhlo, const tsr_attr *const *stored,
                        tsr_vhlo_default otherwise) {
  for (int i = 0; i < vhlo->attr_count; i++)
    if (vhlo->attrs[i].otherwise == otherwise && !is_default(stored[i], otherwise)) return false;
  return true;
}

static bool is_left_out(const tsr_vhlo_op *vhlo, const tsr_attr *const *stored, int index) {
  const tsr_vhlo_default otherwise = vhlo->attrs[index].otherwise;
  if (otherwise == TSR_VHLO_DEFAULT_LAYOUTS) return all_default(vhlo, stored, otherwise);
  return is_default(stored[index], otherwise);
}

// ---- forms ----

static tsr_status wrong_kind(const tsr_vhlo_attr *row, const char *expected) {
  return tsr_fail(BROKEN_PROGRAM, "%s: expected %s, found another attribute", row->stored,
                  expected);
}

static tsr_status made(const tsr_attr *attr, const tsr_attr **out_attr) {
  TSR_NEED(attr);
  *out_attr = attr;
  return NULL;
}

// The list of a tensor of 64-bit integers or of bools. Elements that are all equal are stored once;
// a list of dimensions is short, so a long one is not made out of them.
static tsr_status make_list(tsr_ir *ir, const tsr_vhlo_attr *row, const tsr_attr *attr,
                            const tsr_attr **out_attr) {
  const bool ints = row->form == TSR_VHLO_INTS;
  if (attr->kind != TSR_ATTR_DENSE || attr->type->dtype != (ints ? TSR_I64 : TSR_BOOL))
    return wrong_kind(row, ints ? "a tensor of i64" : "a tensor of i1");
  const tsr_type *element = attr->type->element;
  const int64_t count = tsr_type_element_count(attr->type);
  if (!attr->splat || count == 1)
    return made(tsr_attr_dense_array(ir, element, attr->bytes, count), out_attr);
  if (count > MAX_SPLAT)
    return tsr_fail(TOO_LARGE, "%s: a list of %lld equal elements, at most %d are read",
                    row->stored, (long long)count, MAX_SPLAT);
  char bytes[MAX_SPLAT * sizeof(int64_t)];
  for (int64_t i = 0; i < count; i++)
    memcpy(bytes + (size_t)i * attr->length, attr->bytes, attr->length);
  return made(tsr_attr_dense_array(ir, element, bytes, count), out_attr);
}

static tsr_status make_symbol(tsr_ir *ir, const tsr_vhlo_attr *row, const tsr_attr *attr,
                              const tsr_attr **out_attr) {
  if (attr->kind == TSR_ATTR_SYMBOL) return made(attr, out_attr);
  if (attr->kind != TSR_ATTR_STRING) return wrong_kind(row, "a string");
  return made(tsr_attr_symbol(ir, attr->bytes, attr->length), out_attr);
}

static tsr_status make_symbols(tsr_ir *ir, const tsr_vhlo_attr *row, const tsr_attr *attr,
                               const tsr_attr **out_attr) {
  if (attr->kind != TSR_ATTR_ARRAY) return wrong_kind(row, "an array of strings");
  const tsr_attr **items = tsr_ir_alloc(ir, ((size_t)attr->count + 1) * sizeof(const tsr_attr *));
  TSR_NEED(items);
  for (int64_t i = 0; i < attr->count; i++)
    TSR_TRY(make_symbol(ir, row, attr->items[i], &items[i]));
  return made(tsr_attr_array(ir, items, attr->count), out_attr);
}

static tsr_status make_channel(tsr_ir *ir, const tsr_vhlo_attr *row, const tsr_attr *attr,
                               const tsr_attr **out_attr) {
  if (attr->kind != TSR_ATTR_INTEGER) return wrong_kind(row, "an integer");
  const tsr_attr *fields[] = {tsr_attr_i64(ir, attr->integer), tsr_attr_i64(ir, 0)};
  TSR_NEED(fields[0]);
  TSR_NEED(fields[1]);
  return made(tsr_attr_record(ir, TSR_RECORD_CHANNEL, fields), out_attr);
}

static tsr_status make_flag(tsr_ir *ir, const tsr_vhlo_attr *row, const tsr_attr *attr,
                            const tsr_attr **out_attr) {
  if (!is_integer(attr, 1)) return wrong_kind(row, "a bool");
  return made(tsr_attr_unit(ir), out_attr);
}

static tsr_status convert(tsr_ir *ir, const tsr_vhlo_attr *row, const tsr_attr *attr,
                          const tsr_attr **out_attr) {
  switch (row->form) {
    case TSR_VHLO_INTS:
    case TSR_VHLO_BOOLS:
      return make_list(ir, row, attr, out_attr);
    case TSR_VHLO_FLAG:
      return make_flag(ir, row, attr, out_attr);
    case TSR_VHLO_SYMBOL:
      return make_symbol(ir, row, attr, out_attr);
    case TSR_VHLO_SYMBOLS:
      return make_symbols(ir, row, attr, out_attr);
    case TSR_VHLO_CHANNEL:
      return make_channel(ir, row, attr, out_attr);
    default:
      *out_attr = attr;
      return NULL;
  }
}

// ---- records ----

typedef struct record_parts {
  int record;
  const char *name;  // of the attribute
  int none_count;    // of fields of the none type
  int count;
  const tsr_attr *fields[TSR_VHLO_FIELDS];
} record_parts;

static record_parts *parts_of(record_parts *records, int record) {
  int i = 0;
  while (i < MAX_RECORDS - 1 && records[i].count && records[i].record != record) i++;
  return &records[i];
}

static tsr_status add_field(tsr_ir *ir, record_parts *records, const tsr_vhlo_attr *row,
                            const char *name, const tsr_attr *attr) {
  record_parts *parts = parts_of(records, row->record);
  parts->record = row->record;
  parts->name = name;
  parts->count++;
  parts->none_count += is_default(attr, row->otherwise);
  TSR_TRY(convert(ir, row, attr, &parts->fields[row->field]));
  return NULL;
}

// Lists that an older version of the op does not have are empty.
static tsr_status make_record(tsr_ir *ir, record_parts *parts, const tsr_attr **out_attr) {
  const tsr_record_info info = tsr_record_info_of((tsr_record_id)parts->record);
  for (int i = 0; i < info.field_count; i++) {
    const tsr_attr_info *field = &info.fields[i];
    if (!parts->fields[i] && field->form == TSR_FORM_INTS) {
      parts->fields[i] = tsr_attr_ints(ir, NULL, 0);
      TSR_NEED(parts->fields[i]);
    }
    if (!parts->fields[i] || !tsr_attr_has_form(parts->fields[i], field->form, field->id))
      return tsr_fail(BROKEN_PROGRAM, "%s is missing or of another kind", field->name);
  }
  return made(tsr_attr_record(ir, (tsr_record_id)parts->record, parts->fields), out_attr);
}

tsr_status tsr_vhlo_convert(tsr_ir *ir, const tsr_vhlo_op *vhlo, const char *const *names,
                            const tsr_attr *const *stored, tsr_named_attr *out_attrs,
                            int *out_count) {
  record_parts records[MAX_RECORDS] = {0};
  int count = 0;
  for (int i = 0; i < vhlo->attr_count; i++) {
    const tsr_vhlo_attr *row = &vhlo->attrs[i];
    if (row->form == TSR_VHLO_IGNORED) continue;
    if (row->record >= 0) {
      TSR_TRY(add_field(ir, records, row, names[i], stored[i]));
    } else if (!is_left_out(vhlo, stored, i)) {
      out_attrs[count].name = names[i];
      TSR_TRY(convert(ir, row, stored[i], &out_attrs[count++].attr));
    }
  }
  for (int i = 0; i < MAX_RECORDS && records[i].count; i++) {
    if (records[i].none_count == records[i].count) continue;
    out_attrs[count].name = records[i].name;
    TSR_TRY(make_record(ir, &records[i], &out_attrs[count++].attr));
  }
  *out_count = count;
  return NULL;
}
