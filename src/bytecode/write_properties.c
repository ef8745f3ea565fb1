// The properties of an op: its inherent attributes, as the table of VHLO ops stores them, and with
// the defaults that StableHLO leaves out.
#include <string.h>

#include "bytecode/write_internal.h"

// ---- values ----

// The attribute or field that a row stores; NULL if it is absent.
static const tsr_attr *find_value(const tsr_op *op, const tsr_vhlo_attr *row) {
  const tsr_attr *attr = row->name ? tsr_op_attr(op, row->name) : NULL;
  if (!attr || row->record < 0) return attr;
  return attr->kind == TSR_ATTR_RECORD && attr->id == row->record ? attr->items[row->field] : NULL;
}

static tsr_status put_code(tsr_emitter *emitter, tsr_attr_code_form form, int64_t value,
                           int64_t *out_index) {
  const size_t start = emitter->scratch.length;
  const int code = tsr_attr_code_find(TSR_DIALECT_VHLO, form, 0);
  tsr_put_varint(&emitter->scratch, (uint64_t)code);
  tsr_put_varint(&emitter->scratch, (uint64_t)value);
  return tsr_emit_store(emitter, &emitter->attrs, TSR_DIALECT_VHLO, start, out_index);
}

// An integer of i64.
static tsr_status put_i64(tsr_emitter *emitter, int64_t value, int64_t *out_index) {
  const tsr_code_dialect vhlo = TSR_DIALECT_VHLO;
  const size_t start = emitter->scratch.length;
  int64_t type = 0;
  tsr_put_varint(&emitter->scratch,
                 (uint64_t)tsr_type_code_find(vhlo, TSR_TYPE_CODE_INTEGER, 64, TSR_SIGNLESS));
  TSR_TRY(tsr_emit_store(emitter, &emitter->types, vhlo, start, &type));
  tsr_put_varint(&emitter->scratch, (uint64_t)tsr_attr_code_find(vhlo, TSR_CODE_INTEGER, 0));
  tsr_put_varint(&emitter->scratch, (uint64_t)type);
  tsr_put_bits(&emitter->scratch, 64, value);
  return tsr_emit_store(emitter, &emitter->attrs, vhlo, start, out_index);
}

static bool is_true(const tsr_attr *attr) {
  return attr->kind == TSR_ATTR_UNIT || (attr->kind == TSR_ATTR_INTEGER && attr->integer);
}

static int64_t channel_of(const tsr_attr *attr) {
  if (attr->kind == TSR_ATTR_RECORD && attr->id == TSR_RECORD_CHANNEL)
    return tsr_attr_field(attr, TSR_CHANNEL_HANDLE)->integer;
  return attr->kind == TSR_ATTR_INTEGER ? attr->integer : 0;
}

static tsr_status store_value(tsr_emitter *emitter, const tsr_attr *value, const tsr_vhlo_attr *row,
                              int64_t *out_index) {
  switch (row->form) {
    case TSR_VHLO_FLAG:
      return put_code(emitter, TSR_CODE_BOOL, is_true(value), out_index);
    case TSR_VHLO_CHANNEL:
      return put_i64(emitter, channel_of(value), out_index);
    case TSR_VHLO_API_VERSION:
      return put_code(emitter, TSR_CODE_API_VERSION, value->integer, out_index);
    // Symbols are strings, and lists of integers tensors, wherever they stand in VHLO.
    default:
      return tsr_emit_attr(emitter, value, TSR_DIALECT_VHLO, out_index);
  }
}

// ---- defaults ----

static tsr_status store_empty(tsr_emitter *emitter, tsr_attr_code_form form, int64_t *out_index) {
  return put_code(emitter, form, 0, out_index);
}

static tsr_status store_empty_string(tsr_emitter *emitter, int64_t *out_index) {
  int64_t string = 0;
  TSR_TRY(tsr_emit_string(emitter, "", 0, &string));
  return put_code(emitter, TSR_CODE_STRING, string, out_index);
}

// The dimensions that windows have: those of a convolution or of window_dimensions.
static int64_t window_rank(const tsr_op *op) {
  const tsr_attr *dims = tsr_op_attr(op, "dimension_numbers");
  if (dims && dims->kind == TSR_ATTR_RECORD && dims->id == TSR_RECORD_CONV)
    return tsr_attr_int_count(tsr_attr_field(dims, TSR_CONV_INPUT_SPATIAL));
  return tsr_attr_int_count(tsr_op_attr(op, "window_dimensions"));
}

static tsr_status store_windows(tsr_emitter *emitter, const tsr_op *op, tsr_vhlo_default kind,
                                int64_t *out_index) {
  static const char one[8] = {1}, zero[8] = {0};
  const int64_t dims[] = {window_rank(op), 2};
  const int width = kind == TSR_VHLO_DEFAULT_FALSES ? 1 : 64;
  const int rank = kind == TSR_VHLO_DEFAULT_PADDING ? 2 : 1;
  const size_t length = !dims[0] ? 0 : width == 1 ? 1 : sizeof one;
  const char *bytes = kind == TSR_VHLO_DEFAULT_ONES ? one : zero;
  return tsr_emit_tensor(emitter, width, rank, dims, bytes, length, out_index);
}

static tsr_status store_precisions(tsr_emitter *emitter, int64_t *out_index) {
  const tsr_code_dialect vhlo = TSR_DIALECT_VHLO;
  const size_t start = emitter->scratch.length;
  int64_t precision = 0;
  tsr_put_varint(&emitter->scratch,
                 (uint64_t)tsr_attr_code_find(vhlo, TSR_CODE_ENUM, TSR_ENUM_PRECISION));
  tsr_put_varint(&emitter->scratch, TSR_PRECISION_DEFAULT);
  TSR_TRY(tsr_emit_store(emitter, &emitter->attrs, vhlo, start, &precision));
  tsr_put_varint(&emitter->scratch, (uint64_t)tsr_attr_code_find(vhlo, TSR_CODE_ARRAY, 0));
  tsr_put_varint(&emitter->scratch, 2);
  for (int i = 0; i < 2; i++) tsr_put_varint(&emitter->scratch, (uint64_t)precision);
  return tsr_emit_store(emitter, &emitter->attrs, vhlo, start, out_index);
}

static tsr_status store_case(tsr_emitter *emitter, int family, int number, int64_t *out_index) {
  const size_t start = emitter->scratch.length;
  tsr_put_varint(&emitter->scratch,
                 (uint64_t)tsr_attr_code_find(TSR_DIALECT_VHLO, TSR_CODE_ENUM, family));
  tsr_put_varint(&emitter->scratch, (uint64_t)number);
  return tsr_emit_store(emitter, &emitter->attrs, TSR_DIALECT_VHLO, start, out_index);
}

static tsr_status store_accuracy(tsr_emitter *emitter, int64_t *out_index) {
  const tsr_code_dialect vhlo = TSR_DIALECT_VHLO;
  int64_t mode = 0;
  TSR_TRY(store_case(emitter, TSR_ENUM_ACCURACY_MODE, TSR_ACCURACY_MODE_DEFAULT, &mode));
  const size_t start = emitter->scratch.length;
  tsr_put_varint(&emitter->scratch,
                 (uint64_t)tsr_attr_code_find(vhlo, TSR_CODE_RECORD, TSR_RECORD_ACCURACY));
  for (int i = 0; i < 2; i++) tsr_put_bits(&emitter->scratch, 64, 0);
  tsr_put_svarint(&emitter->scratch, 0);
  tsr_put_varint(&emitter->scratch, (uint64_t)mode);
  return tsr_emit_store(emitter, &emitter->attrs, vhlo, start, out_index);
}

static tsr_status store_none_type(tsr_emitter *emitter, int64_t *out_index) {
  const tsr_code_dialect vhlo = TSR_DIALECT_VHLO;
  const size_t start = emitter->scratch.length;
  int64_t type = 0;
  tsr_put_varint(&emitter->scratch,
                 (uint64_t)tsr_type_code_find(vhlo, TSR_TYPE_CODE_SIMPLE, TSR_TYPE_NONE, 0));
  TSR_TRY(tsr_emit_store(emitter, &emitter->types, vhlo, start, &type));
  return put_code(emitter, TSR_CODE_TYPE, type, out_index);
}

enum { API_ORIGINAL = 1, API_TYPED_FFI = 4 };

static tsr_status store_default(tsr_emitter *emitter, const tsr_op *op, const tsr_vhlo_attr *row,
                                int64_t *out_index) {
  static const int64_t none = 0;
  switch (row->otherwise) {
    case TSR_VHLO_DEFAULT_ZERO:
      return put_i64(emitter, 0, out_index);
    case TSR_VHLO_DEFAULT_MINUS_ONE:
      return put_i64(emitter, -1, out_index);
    case TSR_VHLO_DEFAULT_FALSE:
      return put_code(emitter, TSR_CODE_BOOL, 0, out_index);
    case TSR_VHLO_DEFAULT_EMPTY_STRING:
    case TSR_VHLO_DEFAULT_KEPT_STRING:
      return store_empty_string(emitter, out_index);
    case TSR_VHLO_DEFAULT_EMPTY_ARRAY:
    case TSR_VHLO_DEFAULT_LAYOUTS:
      return store_empty(emitter, TSR_CODE_ARRAY, out_index);
    case TSR_VHLO_DEFAULT_EMPTY_DICT:
      return store_empty(emitter, TSR_CODE_DICT, out_index);
    case TSR_VHLO_DEFAULT_EMPTY_CONFIG:
      if (tsr_op_int(op, "api_version", API_ORIGINAL) == API_TYPED_FFI)
        return store_empty(emitter, TSR_CODE_DICT, out_index);
      return store_empty_string(emitter, out_index);
    case TSR_VHLO_DEFAULT_EMPTY_INTS:
      return tsr_emit_tensor(emitter, 64, 1, &none, "", 0, out_index);
    case TSR_VHLO_DEFAULT_ONES:
    case TSR_VHLO_DEFAULT_FALSES:
    case TSR_VHLO_DEFAULT_PADDING:
      return store_windows(emitter, op, row->otherwise, out_index);
    case TSR_VHLO_DEFAULT_PRECISION:
      return store_precisions(emitter, out_index);
    case TSR_VHLO_DEFAULT_NOTYPE:
      return store_case(emitter, TSR_ENUM_COMPARE_TYPE, TSR_COMPARE_TYPE_NOTYPE, out_index);
    case TSR_VHLO_DEFAULT_ORIGINAL:
      return put_code(emitter, TSR_CODE_API_VERSION, API_ORIGINAL, out_index);
    case TSR_VHLO_DEFAULT_ACCURACY:
      return store_accuracy(emitter, out_index);
    case TSR_VHLO_DEFAULT_NONE_TYPE:
      return store_none_type(emitter, out_index);
    case TSR_VHLO_DEFAULT_NONE:
      break;
  }
  return tsr_fail(CONSTRAINT, "attribute %s is missing", row->name);
}

// ---- what older versions cannot hold ----

// Whether a value says nothing, so that an op version without it holds the same.
static bool says_nothing(const tsr_attr *value) {
  if (!value) return true;
  switch (value->kind) {
    case TSR_ATTR_INTEGER:
    case TSR_ATTR_ENUM:
      return !value->integer;
    case TSR_ATTR_FLOAT:
      return !value->bits;
    case TSR_ATTR_ARRAY:
    case TSR_ATTR_DICT:
    case TSR_ATTR_DENSE_ARRAY:
      return !value->count;
    case TSR_ATTR_DENSE:
      return !value->length;
    case TSR_ATTR_RECORD:
      for (int64_t i = 0; i < value->count; i++)
        if (!says_nothing(value->items[i])) return false;
      return true;
    default:
      return false;
  }
}

static const tsr_vhlo_attr *find_row(const tsr_vhlo_op *op, const char *stored) {
  for (int i = 0; i < op->attr_count; i++)
    if (!strcmp(op->attrs[i].stored, stored)) return &op->attrs[i];
  return NULL;
}

static tsr_status check_left_out(const tsr_emitter *emitter, const tsr_op *op,
                                 const tsr_vhlo_op *row) {
  const tsr_vhlo_op *newest = tsr_vhlo_of(row->id, TSR_VHLO_NEWEST);
  if (!newest || newest == row) return NULL;
  for (int i = 0; i < newest->attr_count; i++) {
    const tsr_vhlo_attr *attr = &newest->attrs[i];
    if (find_row(row, attr->stored) || says_nothing(find_value(op, attr))) continue;
    return tsr_fail(UNSUPPORTED, "%s cannot be stored in StableHLO %d.%d.0", attr->stored,
                    TSR_VERSION_ARGUMENTS(emitter->version));
  }
  return NULL;
}

// Inherent attributes that VHLO has no place for, such as no_inline.
static tsr_status check_stored(const tsr_op *op, const tsr_vhlo_op *row) {
  const tsr_vhlo_op *newest = tsr_vhlo_of(row->id, TSR_VHLO_NEWEST);
  for (int i = 0; i < op->attr_count; i++) {
    const char *name = op->attrs[i].name;
    bool stored = !tsr_op_is_inherent(op, name);
    for (int k = 0; newest && k < newest->attr_count && !stored; k++)
      stored = newest->attrs[k].name && !strcmp(newest->attrs[k].name, name);
    if (!stored)
      return tsr_fail(UNSUPPORTED, "attribute %s has no form in portable artifacts", name);
  }
  return NULL;
}

static tsr_status check_custom_call(const tsr_emitter *emitter, const tsr_op *op) {
  if (op->info->id != TSR_OP_CUSTOM_CALL) return NULL;
  const tsr_attr *config = tsr_op_attr(op, "backend_config");
  if (config && config->kind == TSR_ATTR_DICT)
    TSR_TRY(tsr_emit_allow(emitter, "a dictionary as backend_config", TSR_VHLO_VERSION(1, 3)));
  if (tsr_op_int(op, "api_version", API_ORIGINAL) == API_TYPED_FFI)
    TSR_TRY(tsr_emit_allow(emitter, "api_version 4", TSR_VHLO_VERSION(1, 3)));
  for (int i = 0; i < op->operand_count; i++)
    if (tsr_operand_type(op, i)->kind == TSR_TYPE_FUTURE)
      return tsr_emit_allow(emitter, "a future as operand", TSR_VHLO_VERSION(1, 17));
  return NULL;
}

// ---- properties ----

static tsr_status store_vhlo(tsr_emitter *emitter, const tsr_op *op, const tsr_vhlo_op *row,
                             int64_t *out_index) {
  TSR_TRY(check_stored(op, row));
  TSR_TRY(check_left_out(emitter, op, row));
  TSR_TRY(check_custom_call(emitter, op));
  if (!row->attr_count) {
    *out_index = -1;
    return NULL;
  }
  const size_t start = emitter->scratch.length;
  for (int i = 0; i < row->attr_count; i++) {
    const tsr_vhlo_attr *attr = &row->attrs[i];
    const tsr_attr *value = find_value(op, attr);
    int64_t index = 0;
    TSR_TRY_NOTE(value ? store_value(emitter, value, attr, &index)
                       : store_default(emitter, op, attr, &index),
                 "attribute %s", attr->stored);
    tsr_put_varint(&emitter->scratch, (uint64_t)index);
  }
  return tsr_emit_store(emitter, &emitter->properties, TSR_DIALECT_VHLO, start, out_index);
}

// Shardy's later additions follow the older properties, and older readers do not know them.
static bool is_late(const tsr_attr_info *field) { return !strcmp(field->name, "reduction_op"); }

static tsr_status store_other(tsr_emitter *emitter, const tsr_op *op, int64_t *out_index) {
  if (!op->info->attr_count) {
    *out_index = -1;
    return NULL;
  }
  const size_t start = emitter->scratch.length;
  for (int i = 0; i < op->info->attr_count; i++) {
    const tsr_attr_info *field = &op->info->attrs[i];
    const tsr_attr *value = tsr_op_attr(op, field->name);
    int64_t index = 0;
    if (value) TSR_TRY(tsr_emit_attr(emitter, value, TSR_DIALECT_BUILTIN, &index));
    if (!value && is_late(field)) continue;
    if (!field->required)
      tsr_put_flagged(&emitter->scratch, (uint64_t)index, value != NULL);
    else if (value)
      tsr_put_varint(&emitter->scratch, (uint64_t)index);
    else
      return tsr_fail(CONSTRAINT, "attribute %s is missing", field->name);
  }
  return tsr_emit_store(emitter, &emitter->properties, TSR_DIALECT_BUILTIN, start, out_index);
}

tsr_status tsr_emit_properties(tsr_emitter *emitter, const tsr_op *op, const tsr_vhlo_op *row,
                               int64_t *out_index) {
  return row ? store_vhlo(emitter, op, row, out_index) : store_other(emitter, op, out_index);
}
