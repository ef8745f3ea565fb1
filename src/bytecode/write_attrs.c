// Attributes of an artifact: a code and what follows it (attr_codes.def).
//
// Attributes of VHLO ops take VHLO's codes, all others the builtin dialect's; records of Shardy and
// locations have one form wherever they stand. What has no code is stored as MLIR's text.
#include <string.h>

#include "bytecode/write_internal.h"
#include "syntax/syntax.h"

static tsr_status put_attr(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect) {
  int64_t index = 0;
  TSR_TRY(tsr_emit_attr(emitter, attr, dialect, &index));
  tsr_put_varint(&emitter->scratch, (uint64_t)index);
  return NULL;
}

static tsr_status put_string(tsr_emitter *emitter, const char *bytes, size_t length) {
  int64_t index = 0;
  TSR_TRY(tsr_emit_string(emitter, bytes, length, &index));
  tsr_put_varint(&emitter->scratch, (uint64_t)index);
  return NULL;
}

static tsr_status put_attrs(tsr_emitter *emitter, const tsr_attr *const *items, int64_t count,
                            tsr_code_dialect dialect) {
  tsr_put_varint(&emitter->scratch, (uint64_t)count);
  for (int64_t i = 0; i < count; i++) TSR_TRY(put_attr(emitter, items[i], dialect));
  return NULL;
}

// Begins an entry with its code; a version that is too old for it is refused.
static tsr_status begin(tsr_emitter *emitter, tsr_code_dialect dialect, tsr_attr_code_form form,
                        int id, const char *what, size_t *out_start) {
  const int code = tsr_attr_code_find(dialect, form, id);
  const tsr_attr_code *row = tsr_attr_code_of(dialect, (uint64_t)code);
  TSR_TRY(tsr_emit_allow(emitter, what, row->since));
  *out_start = emitter->scratch.length;
  tsr_put_varint(&emitter->scratch, (uint64_t)code);
  return NULL;
}

static tsr_status end(tsr_emitter *emitter, tsr_code_dialect dialect, size_t start,
                      int64_t *out_index) {
  return tsr_emit_store(emitter, &emitter->attrs, dialect, start, out_index);
}

static tsr_status store_text(tsr_emitter *emitter, const tsr_attr *attr, int64_t *out_index) {
  const size_t start = emitter->scratch.length;
  tsr_stored_entry stored = {.dialect = TSR_DIALECT_BUILTIN, .is_text = true};
  tsr_attr_print(attr, &emitter->scratch);
  tsr_text_add_char(&emitter->scratch, '\0');
  return tsr_emit_store_blob(emitter, &emitter->attrs, &stored, start, 0, out_index);
}

// A string attribute of these bytes.
static tsr_status store_string(tsr_emitter *emitter, const char *bytes, size_t length,
                               tsr_code_dialect dialect, int64_t *out_index) {
  size_t start = 0;
  TSR_TRY(begin(emitter, dialect, TSR_CODE_STRING, 0, "a string", &start));
  TSR_TRY(put_string(emitter, bytes, length));
  return end(emitter, dialect, start, out_index);
}

static tsr_status store_typed_string(tsr_emitter *emitter, const tsr_attr *attr,
                                     tsr_code_dialect dialect, int64_t *out_index) {
  if (dialect == TSR_DIALECT_VHLO)
    return tsr_fail(UNSUPPORTED, "a string with a type has no form in portable artifacts");
  size_t start = 0;
  TSR_TRY(begin(emitter, dialect, TSR_CODE_TYPED_STRING, 0, "a string", &start));
  TSR_TRY(put_string(emitter, attr->bytes, attr->length));
  TSR_TRY(tsr_put_type(emitter, attr->type, dialect));
  return end(emitter, dialect, start, out_index);
}

// VHLO has strings in place of symbols; nested ones stay builtin.
static tsr_status store_symbol(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                               int64_t *out_index) {
  if (dialect == TSR_DIALECT_VHLO && !attr->count)
    return store_string(emitter, attr->bytes, attr->length, dialect, out_index);
  const tsr_attr_code_form form = attr->count ? TSR_CODE_NESTED_SYMBOL : TSR_CODE_SYMBOL;
  int64_t root = 0;
  size_t start = 0;
  TSR_TRY(store_string(emitter, attr->bytes, attr->length, TSR_DIALECT_BUILTIN, &root));
  TSR_TRY(begin(emitter, TSR_DIALECT_BUILTIN, form, 0, "a symbol", &start));
  tsr_put_varint(&emitter->scratch, (uint64_t)root);
  if (attr->count) TSR_TRY(put_attrs(emitter, attr->items, attr->count, TSR_DIALECT_BUILTIN));
  return end(emitter, TSR_DIALECT_BUILTIN, start, out_index);
}

// VHLO has an attribute for i1.
static tsr_status store_integer(tsr_emitter *emitter, const tsr_attr *attr,
                                tsr_code_dialect dialect, int64_t *out_index) {
  const bool is_bool =
      dialect == TSR_DIALECT_VHLO && attr->type->kind == TSR_TYPE_INTEGER && attr->type->width == 1;
  size_t start = 0;
  if (is_bool) {
    TSR_TRY(begin(emitter, dialect, TSR_CODE_BOOL, 0, "a bool", &start));
    tsr_put_varint(&emitter->scratch, attr->integer != 0);
  } else {
    TSR_TRY(begin(emitter, dialect, TSR_CODE_INTEGER, 0, "an integer", &start));
    TSR_TRY(tsr_put_type(emitter, attr->type, dialect));
    tsr_put_bits(&emitter->scratch, tsr_type_bits(attr->type), attr->integer);
  }
  return end(emitter, dialect, start, out_index);
}

static tsr_status store_float(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                              int64_t *out_index) {
  const int bits = tsr_type_bits(attr->type);
  if (bits > 64) return store_text(emitter, attr, out_index);
  size_t start = 0;
  TSR_TRY(begin(emitter, dialect, TSR_CODE_FLOAT, 0, "a float", &start));
  TSR_TRY(tsr_put_type(emitter, attr->type, dialect));
  tsr_put_bits(&emitter->scratch, bits, (int64_t)attr->bits);
  return end(emitter, dialect, start, out_index);
}

static tsr_status store_dict(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                             int64_t *out_index) {
  if (dialect == TSR_DIALECT_BUILTIN)
    return tsr_emit_dictionary(emitter, attr->entries, attr->count, dialect, out_index);
  size_t start = 0;
  TSR_TRY(begin(emitter, dialect, TSR_CODE_DICT, 0, "a dictionary", &start));
  tsr_put_varint(&emitter->scratch, (uint64_t)attr->count);
  for (int64_t i = 0; i < attr->count; i++) {
    const char *name = attr->entries[i].name;
    int64_t key = 0;
    TSR_TRY(store_string(emitter, name, strlen(name), dialect, &key));
    tsr_put_varint(&emitter->scratch, (uint64_t)key);
    TSR_TRY(put_attr(emitter, attr->entries[i].attr, dialect));
  }
  return end(emitter, dialect, start, out_index);
}

tsr_status tsr_emit_dictionary(tsr_emitter *emitter, const tsr_named_attr *entries, int64_t count,
                               tsr_code_dialect dialect, int64_t *out_index) {
  size_t start = 0;
  TSR_TRY(begin(emitter, TSR_DIALECT_BUILTIN, TSR_CODE_DICT, 0, "a dictionary", &start));
  tsr_put_varint(&emitter->scratch, (uint64_t)count);
  for (int64_t i = 0; i < count; i++) {
    int64_t key = 0;
    TSR_TRY(
        store_string(emitter, entries[i].name, strlen(entries[i].name), TSR_DIALECT_BUILTIN, &key));
    tsr_put_varint(&emitter->scratch, (uint64_t)key);
    TSR_TRY_NOTE(put_attr(emitter, entries[i].attr, dialect), "attribute %s", entries[i].name);
  }
  return end(emitter, TSR_DIALECT_BUILTIN, start, out_index);
}

// ---- tensors ----

static tsr_status store_blob(tsr_emitter *emitter, tsr_code_dialect dialect, size_t start,
                             const void *bytes, size_t length, uint64_t hash, int64_t *out_index) {
  tsr_put_varint(&emitter->scratch, length);
  tsr_stored_entry stored = {.dialect = dialect, .blob = bytes, .blob_length = length};
  return tsr_emit_store_blob(emitter, &emitter->attrs, &stored, start, hash, out_index);
}

// Bools are packed, the first in the lowest bit; a splat is one byte of equal bits.
static tsr_status pack_bools(tsr_emitter *emitter, const char *bytes, int64_t count, bool splat,
                             const char **out_bytes, size_t *out_length) {
  const size_t length = splat && count ? 1 : ((size_t)count + 7) / 8;
  char *packed = tsr_arena_zeros(&emitter->arena, length + 1, 1);
  TSR_NEED(packed);
  if (splat && count > 1)
    packed[0] = bytes[0] ? (char)0xff : 0;
  else
    for (int64_t i = 0; i < count; i++)
      if (bytes[i]) packed[i / 8] = (char)(packed[i / 8] | 1 << (i % 8));
  *out_bytes = packed;
  *out_length = length;
  return NULL;
}

static bool is_bool_tensor(const tsr_type *type) {
  const tsr_type *element = tsr_type_element(type);
  return element->kind == TSR_TYPE_INTEGER && element->width == 1;
}

static tsr_status store_dense(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                              int64_t *out_index) {
  const char *bytes = attr->bytes;
  size_t length = attr->length, start = 0;
  const int64_t count = tsr_type_element_count(attr->type);
  if (is_bool_tensor(attr->type))
    TSR_TRY(pack_bools(emitter, attr->bytes, count, attr->splat, &bytes, &length));
  TSR_TRY(begin(emitter, dialect, TSR_CODE_DENSE, 0, "a constant", &start));
  TSR_TRY(tsr_put_type(emitter, attr->type, dialect));
  return store_blob(emitter, dialect, start, bytes, length, attr->hash, out_index);
}

tsr_status tsr_emit_tensor(tsr_emitter *emitter, int width, int rank, const int64_t *dims,
                           const void *bytes, size_t length, int64_t *out_index) {
  const tsr_code_dialect vhlo = TSR_DIALECT_VHLO;
  int64_t element = 0, type = 0;
  size_t start = emitter->scratch.length;
  tsr_put_varint(&emitter->scratch,
                 (uint64_t)tsr_type_code_find(vhlo, TSR_TYPE_CODE_INTEGER, width, TSR_SIGNLESS));
  TSR_TRY(tsr_emit_store(emitter, &emitter->types, vhlo, start, &element));
  tsr_put_varint(&emitter->scratch, (uint64_t)tsr_type_code_find(vhlo, TSR_TYPE_CODE_TENSOR, 0, 0));
  tsr_put_varint(&emitter->scratch, (uint64_t)rank);
  for (int i = 0; i < rank; i++) tsr_put_svarint(&emitter->scratch, dims[i]);
  tsr_put_varint(&emitter->scratch, (uint64_t)element);
  TSR_TRY(tsr_emit_store(emitter, &emitter->types, vhlo, start, &type));
  TSR_TRY(begin(emitter, vhlo, TSR_CODE_DENSE, 0, "a list", &start));
  tsr_put_varint(&emitter->scratch, (uint64_t)type);
  // The bytes may be the caller's own: they become part of the entry.
  tsr_put_varint(&emitter->scratch, length);
  tsr_text_add_bytes(&emitter->scratch, bytes, length);
  return end(emitter, vhlo, start, out_index);
}

// Lists of i64 and i1 are tensors in VHLO.
static tsr_status store_list(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                             int64_t *out_index) {
  const int width = attr->type->kind == TSR_TYPE_INTEGER && attr->type->sign == TSR_SIGNLESS
                        ? attr->type->width
                        : 0;
  if (dialect == TSR_DIALECT_VHLO && width == 64)
    return tsr_emit_tensor(emitter, 64, 1, &attr->count, attr->bytes, attr->length, out_index);
  if (dialect == TSR_DIALECT_VHLO && width == 1) {
    const char *bytes = NULL;
    size_t length = 0;
    TSR_TRY(pack_bools(emitter, attr->bytes, attr->count, false, &bytes, &length));
    return tsr_emit_tensor(emitter, 1, 1, &attr->count, bytes, length, out_index);
  }
  size_t start = 0;
  TSR_TRY(begin(emitter, TSR_DIALECT_BUILTIN, TSR_CODE_DENSE_ARRAY, 0, "a list", &start));
  TSR_TRY(tsr_put_type(emitter, attr->type, TSR_DIALECT_BUILTIN));
  tsr_put_varint(&emitter->scratch, (uint64_t)attr->count);
  return store_blob(emitter, TSR_DIALECT_BUILTIN, start, attr->bytes, attr->length, attr->hash,
                    out_index);
}

static tsr_status store_resource(tsr_emitter *emitter, const tsr_attr *attr, int64_t *out_index) {
  int64_t key = 0, resource = 0;
  TSR_TRY(tsr_emit_string(emitter, attr->bytes, attr->length, &key));
  size_t start = emitter->scratch.length;
  tsr_text_add_bytes(&emitter->scratch, attr->bytes, attr->length);
  TSR_TRY(tsr_emit_store(emitter, &emitter->resources, TSR_DIALECT_BUILTIN, start, &resource));
  TSR_TRY(begin(emitter, TSR_DIALECT_BUILTIN, TSR_CODE_RESOURCE, 0, "a resource", &start));
  TSR_TRY(tsr_put_type(emitter, attr->type, TSR_DIALECT_BUILTIN));
  tsr_put_varint(&emitter->scratch, (uint64_t)resource);
  return end(emitter, TSR_DIALECT_BUILTIN, start, out_index);
}

// ---- records ----

// Whether a record can be stored in this way: the fields that it does not store have the values
// that a reader gives them.
static bool wire_fits(const tsr_attr *field, tsr_wire wire) {
  switch (wire) {
    case TSR_WIRE_ABSENT:
      return !field;
    case TSR_WIRE_EMPTY:
      return !field || !field->count;
    case TSR_WIRE_FIRST:
      return !field || !field->integer;
    case TSR_WIRE_LINE_COLUMN:
      return tsr_attr_int_count(field) == 2;
    default:
      return true;
  }
}

// A list of shardings has another code if one of them has unreduced axes.
static bool list_fits(const tsr_attr *attr, int code) {
  if (attr->id != TSR_RECORD_SDY_SHARDINGS) return true;
  const tsr_attr *list = tsr_attr_field(attr, TSR_SDY_SHARDINGS_LIST);
  bool unreduced = false;
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_attr *axes = tsr_attr_field(list->items[i], TSR_SDY_SHARDING_UNREDUCED);
    if (axes && axes->count) unreduced = true;
  }
  return unreduced == (code != tsr_attr_code_find(TSR_DIALECT_SDY, TSR_CODE_RECORD, attr->id));
}

static bool record_fits(const tsr_attr *attr, const tsr_attr_code *row, int code) {
  if (row->form != TSR_CODE_RECORD || row->id != attr->id || !list_fits(attr, code)) return false;
  for (int i = 0; i < (int)attr->count; i++)
    if (!wire_fits(attr->items[i], row->wires[i])) return false;
  return true;
}

// The code that can hold a record; -1 if there is none.
static int record_code(const tsr_attr *attr, tsr_code_dialect dialect) {
  for (int code = 0; code < 64; code++) {
    const tsr_attr_code *row = tsr_attr_code_of(dialect, (uint64_t)code);
    if (row && record_fits(attr, row, code)) return code;
  }
  return -1;
}

static void put_ints(tsr_emitter *emitter, const tsr_attr *field, tsr_wire wire) {
  const int64_t count = tsr_attr_int_count(field);
  if (wire != TSR_WIRE_LINE_COLUMN) tsr_put_varint(&emitter->scratch, (uint64_t)count);
  for (int64_t i = 0; i < count; i++) {
    const int64_t value = tsr_attr_int_at(field, i);
    if (wire == TSR_WIRE_INTS)
      tsr_put_svarint(&emitter->scratch, value);
    else
      tsr_put_varint(&emitter->scratch, (uint64_t)value);
  }
}

static tsr_status put_optional(tsr_emitter *emitter, const tsr_attr *field, tsr_wire wire,
                               tsr_code_dialect dialect) {
  int64_t index = 0;
  if (field) TSR_TRY(tsr_emit_attr(emitter, field, dialect, &index));
  if (wire == TSR_WIRE_OPTIONAL_ATTR) {
    tsr_put_flagged(&emitter->scratch, (uint64_t)index, field != NULL);
    return NULL;
  }
  tsr_put_varint(&emitter->scratch, field != NULL);
  if (field) tsr_put_varint(&emitter->scratch, (uint64_t)index);
  return NULL;
}

static tsr_status put_location(tsr_emitter *emitter, const tsr_attr *location) {
  int64_t index = 0;
  TSR_TRY(tsr_emit_location(emitter, location, &index));
  tsr_put_varint(&emitter->scratch, (uint64_t)index);
  return NULL;
}

static tsr_status put_field(tsr_emitter *emitter, const tsr_attr *field, tsr_wire wire,
                            tsr_code_dialect dialect) {
  tsr_text *out = &emitter->scratch;
  switch (wire) {
    case TSR_WIRE_ATTR:
    case TSR_WIRE_SYMBOL:
      return put_attr(emitter, field, dialect);
    case TSR_WIRE_LOCATION:
      return put_location(emitter, field);
    case TSR_WIRE_ATTRS:
      return put_attrs(emitter, field->items, field->count, dialect);
    case TSR_WIRE_OPTIONAL_ATTR:
    case TSR_WIRE_MAYBE_ATTR:
      return put_optional(emitter, field, wire, dialect);
    case TSR_WIRE_TEXT:
      return put_string(emitter, field->bytes, field->length);
    case TSR_WIRE_INT:
    case TSR_WIRE_CASE:
      tsr_put_svarint(out, field->integer);
      return NULL;
    case TSR_WIRE_INTS:
    case TSR_WIRE_COUNTS:
    case TSR_WIRE_LINE_COLUMN:
      put_ints(emitter, field, wire);
      return NULL;
    case TSR_WIRE_BYTE:
      tsr_text_add_char(out, field->integer != 0);
      return NULL;
    case TSR_WIRE_OPTIONAL_COUNT:
      tsr_put_flagged(out, field ? (uint64_t)field->integer : 0, field != NULL);
      return NULL;
    case TSR_WIRE_DOUBLE:
      tsr_put_bits(out, 64, (int64_t)field->bits);
      return NULL;
    default:
      return NULL;
  }
}

// Versions before 1.9 know only line and column.
static tsr_status store_old_place(tsr_emitter *emitter, const tsr_attr *attr, int64_t *out_index) {
  const tsr_attr *place = tsr_attr_field(attr, TSR_LOC_FILE_PLACE);
  const int64_t count = tsr_attr_int_count(place);
  size_t start = 0;
  TSR_TRY(begin(emitter, TSR_DIALECT_BUILTIN, TSR_CODE_RECORD, TSR_RECORD_LOC_FILE, "a location",
                &start));
  TSR_TRY(put_attr(emitter, tsr_attr_field(attr, TSR_LOC_FILE_NAME), TSR_DIALECT_BUILTIN));
  for (int64_t i = 0; i < 2; i++)
    tsr_put_varint(&emitter->scratch, i < count ? (uint64_t)tsr_attr_int_at(place, i) : 0);
  return end(emitter, TSR_DIALECT_BUILTIN, start, out_index);
}

static tsr_code_dialect dialect_of_record(int id) {
  const char *dialect = tsr_record_info_of((tsr_record_id)id).dialect;
  if (!strcmp(dialect, "sdy")) return TSR_DIALECT_SDY;
  return !strcmp(dialect, "loc") ? TSR_DIALECT_BUILTIN : TSR_DIALECT_VHLO;
}

static tsr_status store_record(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                               int64_t *out_index) {
  const tsr_code_dialect own = dialect_of_record(attr->id);
  const int code = own == TSR_DIALECT_VHLO && dialect != own ? -1 : record_code(attr, own);
  if (code < 0) return store_text(emitter, attr, out_index);
  const tsr_attr_code *row = tsr_attr_code_of(own, (uint64_t)code);
  if (attr->id == TSR_RECORD_LOC_FILE && row->since > emitter->version)
    return store_old_place(emitter, attr, out_index);
  const tsr_record_info info = tsr_record_info_of((tsr_record_id)attr->id);
  TSR_TRY_NOTE(tsr_emit_allow(emitter, info.name, row->since), "#%s", info.dialect);
  const size_t start = emitter->scratch.length;
  tsr_put_varint(&emitter->scratch, (uint64_t)code);
  const tsr_code_dialect inner = own == TSR_DIALECT_VHLO ? TSR_DIALECT_VHLO : TSR_DIALECT_BUILTIN;
  for (int i = 0; i < (int)attr->count; i++)
    TSR_TRY(put_field(emitter, attr->items[i], row->wires[i], inner));
  return end(emitter, own, start, out_index);
}

tsr_status tsr_emit_location(tsr_emitter *emitter, const tsr_attr *location, int64_t *out_index) {
  if (location) return tsr_emit_attr(emitter, location, TSR_DIALECT_BUILTIN, out_index);
  size_t start = 0;
  TSR_TRY(begin(emitter, TSR_DIALECT_BUILTIN, TSR_CODE_RECORD, TSR_RECORD_LOC_UNKNOWN, "a location",
                &start));
  return end(emitter, TSR_DIALECT_BUILTIN, start, out_index);
}

// ---- all kinds ----

static tsr_status store_enum(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                             int64_t *out_index) {
  if (dialect != TSR_DIALECT_VHLO || tsr_attr_code_find(dialect, TSR_CODE_ENUM, attr->id) < 0)
    return store_text(emitter, attr, out_index);
  const char *name = tsr_enum_info_of((tsr_enum_id)attr->id)->name;
  size_t start = 0;
  TSR_TRY(begin(emitter, dialect, TSR_CODE_ENUM, attr->id, name, &start));
  tsr_put_varint(&emitter->scratch, (uint64_t)attr->integer);
  return end(emitter, dialect, start, out_index);
}

static tsr_status store_simple(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                               int64_t *out_index) {
  size_t start = 0;
  if (attr->kind == TSR_ATTR_UNIT) {
    TSR_TRY(begin(emitter, TSR_DIALECT_BUILTIN, TSR_CODE_UNIT, 0, "unit", &start));
    return end(emitter, TSR_DIALECT_BUILTIN, start, out_index);
  }
  if (attr->kind == TSR_ATTR_TYPE) {
    TSR_TRY(begin(emitter, dialect, TSR_CODE_TYPE, 0, "a type", &start));
    TSR_TRY(tsr_put_type(emitter, attr->type, dialect));
  } else {
    TSR_TRY(begin(emitter, dialect, TSR_CODE_ARRAY, 0, "an array", &start));
    TSR_TRY(put_attrs(emitter, attr->items, attr->count, dialect));
  }
  return end(emitter, dialect, start, out_index);
}

static tsr_status store_attr(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                             int64_t *out_index) {
  switch (attr->kind) {
    case TSR_ATTR_UNIT:
    case TSR_ATTR_TYPE:
    case TSR_ATTR_ARRAY:
      return store_simple(emitter, attr, dialect, out_index);
    case TSR_ATTR_INTEGER:
      return store_integer(emitter, attr, dialect, out_index);
    case TSR_ATTR_FLOAT:
      return store_float(emitter, attr, dialect, out_index);
    case TSR_ATTR_STRING:
      if (attr->type) return store_typed_string(emitter, attr, dialect, out_index);
      return store_string(emitter, attr->bytes, attr->length, dialect, out_index);
    case TSR_ATTR_SYMBOL:
      return store_symbol(emitter, attr, dialect, out_index);
    case TSR_ATTR_DICT:
      return store_dict(emitter, attr, dialect, out_index);
    case TSR_ATTR_DENSE:
      return store_dense(emitter, attr, dialect, out_index);
    case TSR_ATTR_DENSE_ARRAY:
      return store_list(emitter, attr, dialect, out_index);
    case TSR_ATTR_RESOURCE:
      return store_resource(emitter, attr, out_index);
    case TSR_ATTR_ENUM:
      return store_enum(emitter, attr, dialect, out_index);
    case TSR_ATTR_RECORD:
      return store_record(emitter, attr, dialect, out_index);
    default:
      return store_text(emitter, attr, out_index);
  }
}

// Attributes are remembered by address: locations of large programs share their parts, and would
// take exponential time otherwise.
tsr_status tsr_emit_attr(tsr_emitter *emitter, const tsr_attr *attr, tsr_code_dialect dialect,
                         int64_t *out_index) {
  const int variant = (int)dialect + TSR_DIALECT_COUNT;
  const int64_t known = tsr_emit_recall(emitter, attr, variant);
  if (known >= 0) {
    *out_index = known;
    return NULL;
  }
  if (emitter->depth >= TSR_EMIT_DEPTH)
    return tsr_fail(TOO_LARGE, "an attribute is nested deeper than %d levels", TSR_EMIT_DEPTH);
  emitter->depth++;
  TSR_TRY(store_attr(emitter, attr, dialect, out_index));
  emitter->depth--;
  return tsr_emit_remember(emitter, attr, variant, *out_index);
}
