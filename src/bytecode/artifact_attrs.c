// Attributes as the builtin, VHLO and Shardy dialects store them, by the forms of
// bytecode/attr_codes.def. What VHLO stores becomes what StableHLO has at once; only what depends
// on the op is left to bytecode/vhlo_convert.c.
#include <string.h>

#include "bytecode/artifact.h"

typedef tsr_status attr_reader(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               const tsr_attr_code *code, const tsr_attr **out_attr);

static tsr_status made(const tsr_attr *attr, const tsr_attr **out_attr) {
  TSR_NEED(attr);
  *out_attr = attr;
  return NULL;
}

// ---- what several forms share ----

tsr_status tsr_artifact_ints(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const int64_t **out_values, int *out_count) {
  int count = 0;
  TSR_TRY(tsr_wire_count(cursor, "integers", &count));
  int64_t *values = tsr_arena_zeros(&artifact->arena, (size_t)count + 1, sizeof *values);
  TSR_NEED(values);
  for (int i = 0; i < count; i++) TSR_TRY(tsr_wire_svarint(cursor, &values[i]));
  *out_values = values;
  *out_count = count;
  return NULL;
}

static tsr_status read_attrs(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr ***out_attrs, int *out_count) {
  int count = 0;
  TSR_TRY(tsr_wire_count(cursor, "attributes", &count));
  const tsr_attr **attrs = tsr_arena_zeros(&artifact->arena, (size_t)count + 1, sizeof *attrs);
  TSR_NEED(attrs);
  for (int i = 0; i < count; i++) TSR_TRY(tsr_artifact_attr(artifact, cursor, &attrs[i]));
  *out_attrs = attrs;
  *out_count = count;
  return NULL;
}

static tsr_status read_kind(tsr_artifact *artifact, tsr_wire_cursor *cursor, tsr_attr_kind kind,
                            const char *what, const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(tsr_artifact_attr(artifact, cursor, out_attr));
  if ((*out_attr)->kind == kind) return NULL;
  return tsr_wire_fail(&start, BROKEN_PROGRAM, "expected %s, found another attribute", what);
}

static tsr_status read_bit(tsr_wire_cursor *cursor, bool *out_bit) {
  int bit = 0;
  TSR_TRY(tsr_wire_index(cursor, "case", 2, &bit));
  *out_bit = bit;
  return NULL;
}

// ---- plain values ----

static tsr_status read_unit(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                            const tsr_attr_code *code, const tsr_attr **out_attr) {
  (void)cursor;
  (void)code;
  return made(tsr_attr_unit(artifact->ir), out_attr);
}

static tsr_status read_bool(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                            const tsr_attr_code *code, const tsr_attr **out_attr) {
  (void)code;
  bool value = false;
  TSR_TRY(read_bit(cursor, &value));
  return made(tsr_attr_bool(artifact->ir, value), out_attr);
}

static tsr_status make_enum(tsr_artifact *artifact, const tsr_wire_cursor *place, int family,
                            uint64_t value, const tsr_attr **out_attr) {
  const tsr_enum_info *info = tsr_enum_info_of((tsr_enum_id)family);
  if (value > INT32_MAX || !tsr_enum_name((tsr_enum_id)family, (int64_t)value))
    return tsr_wire_fail(place, BROKEN_PROGRAM, "case %llu of %s.%s, which is not known",
                         (unsigned long long)value, info->dialect, info->name);
  return made(tsr_attr_enum(artifact->ir, (tsr_enum_id)family, (int)value), out_attr);
}

static tsr_status read_enum(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                            const tsr_attr_code *code, const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  uint64_t value = 0;
  TSR_TRY(tsr_wire_varint(cursor, &value));
  return make_enum(artifact, &start, code->id, value, out_attr);
}

enum { API_VERSIONS = 5 };

static tsr_status read_api_version(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                   const tsr_attr_code *code, const tsr_attr **out_attr) {
  (void)code;
  int value = 0;
  TSR_TRY(tsr_wire_index(cursor, "api version", API_VERSIONS, &value));
  const tsr_type *i32 = tsr_type_integer(artifact->ir, 32, TSR_SIGNLESS);
  TSR_NEED(i32);
  return made(tsr_attr_integer(artifact->ir, i32, value), out_attr);
}

// An integer of more than 64 bits, in words of 64 from the lowest; words of zeros above the others
// are not stored. Only values of 64 bits with a sign are kept.
static tsr_status read_wide(tsr_wire_cursor *cursor, int bits, uint64_t *out_value) {
  const tsr_wire_cursor start = *cursor;
  const int width = (bits + 63) / 64;
  int count = 0;
  bool zeros = true, ones = true;
  TSR_TRY(tsr_wire_count(cursor, "words", &count));
  if (!count || count > width)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "%d words for an integer of %d bits", count, bits);
  for (int i = 0; i < count; i++) {
    int64_t word = 0;
    TSR_TRY(tsr_wire_svarint(cursor, &word));
    const uint64_t all = i == width - 1 && bits % 64 ? ((uint64_t)1 << bits % 64) - 1 : UINT64_MAX;
    if (!i) *out_value = (uint64_t)word;
    if (i) zeros &= !word;
    if (i) ones &= (uint64_t)word == all;
  }
  const bool negative = *out_value >> 63;
  if (negative ? ones && count == width : zeros) return NULL;
  return tsr_wire_fail(&start, UNSUPPORTED, "an integer of %d bits whose value needs more than 64",
                       bits);
}

static tsr_status read_number(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_attr_code *code, const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  const bool is_float = code->form == TSR_CODE_FLOAT;
  const tsr_type *type = NULL;
  uint64_t bits = 0;
  TSR_TRY(tsr_artifact_type(artifact, cursor, &type));
  const bool fits = is_float ? type->kind == TSR_TYPE_FLOAT
                             : type->kind == TSR_TYPE_INTEGER || type->kind == TSR_TYPE_INDEX;
  if (!fits)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "a number whose type is not %s",
                         is_float ? "a float" : "an integer");
  if (tsr_type_bits(type) <= 64)
    TSR_TRY(tsr_wire_integer(cursor, tsr_type_bits(type), &bits));
  else if (is_float)
    return tsr_wire_fail(&start, UNSUPPORTED, "a float of %d bits, at most 64 are read",
                         tsr_type_bits(type));
  else
    TSR_TRY(read_wide(cursor, tsr_type_bits(type), &bits));
  return made(is_float ? tsr_attr_float(artifact->ir, type, bits)
                       : tsr_attr_integer(artifact->ir, type, (int64_t)bits),
              out_attr);
}

static tsr_status read_string(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_attr_code *code, const tsr_attr **out_attr) {
  tsr_artifact_string string = {0};
  const tsr_type *type = NULL;
  TSR_TRY(tsr_artifact_string_at(artifact, cursor, &string));
  if (code->form == TSR_CODE_STRING)
    return made(tsr_attr_string(artifact->ir, string.bytes, string.length), out_attr);
  TSR_TRY(tsr_artifact_type(artifact, cursor, &type));
  return made(tsr_attr_typed_string(artifact->ir, type, string.bytes, string.length), out_attr);
}

static tsr_status read_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                            const tsr_attr_code *code, const tsr_attr **out_attr) {
  (void)code;
  const tsr_type *type = NULL;
  TSR_TRY(tsr_artifact_type(artifact, cursor, &type));
  return made(tsr_attr_type(artifact->ir, type), out_attr);
}

static tsr_status read_symbol(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_attr_code *code, const tsr_attr **out_attr) {
  const tsr_attr *root = NULL;
  const tsr_attr **nested = NULL;
  int count = 0;
  TSR_TRY(read_kind(artifact, cursor, TSR_ATTR_STRING, "the name of a symbol", &root));
  if (code->form == TSR_CODE_SYMBOL)
    return made(tsr_attr_symbol(artifact->ir, root->bytes, root->length), out_attr);
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(read_attrs(artifact, cursor, &nested, &count));
  for (int i = 0; i < count; i++)
    if (nested[i]->kind != TSR_ATTR_SYMBOL || nested[i]->count)
      return tsr_wire_fail(&start, BROKEN_PROGRAM, "nested name %d is not a symbol", i);
  return made(tsr_attr_nested_symbol(artifact->ir, root->bytes, root->length, nested, count),
              out_attr);
}

// ---- lists ----

static tsr_status read_array(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr_code *code, const tsr_attr **out_attr) {
  (void)code;
  const tsr_attr **items = NULL;
  int count = 0;
  TSR_TRY(read_attrs(artifact, cursor, &items, &count));
  return made(tsr_attr_array(artifact->ir, items, count), out_attr);
}

static tsr_status read_key(tsr_artifact *artifact, tsr_wire_cursor *cursor, const char **out_name) {
  const tsr_wire_cursor start = *cursor;
  const tsr_attr *key = NULL;
  TSR_TRY(read_kind(artifact, cursor, TSR_ATTR_STRING, "the name of an entry", &key));
  if (!key->length || strlen(key->bytes) != key->length)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "the name of an entry is empty or holds a zero");
  *out_name = tsr_ir_name(artifact->ir, key->bytes, key->length);
  TSR_NEED(*out_name);
  return NULL;
}

static tsr_status read_dict(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                            const tsr_attr_code *code, const tsr_attr **out_attr) {
  (void)code;
  const tsr_wire_cursor start = *cursor;
  int count = 0;
  TSR_TRY(tsr_wire_count(cursor, "entries", &count));
  tsr_named_attr *entries = tsr_arena_zeros(&artifact->arena, (size_t)count + 1, sizeof *entries);
  TSR_NEED(entries);
  for (int i = 0; i < count; i++) {
    TSR_TRY(read_key(artifact, cursor, &entries[i].name));
    TSR_TRY(tsr_artifact_attr(artifact, cursor, &entries[i].attr));
  }
  TSR_TRY(made(tsr_attr_dict(artifact->ir, entries, count), out_attr));
  for (int i = 1; i < count; i++)
    if ((*out_attr)->entries[i].name == (*out_attr)->entries[i - 1].name)
      return tsr_wire_fail(&start, BROKEN_PROGRAM, "two entries \"%.60s\"",
                           (*out_attr)->entries[i].name);
  return NULL;
}

// ---- elements ----

static tsr_status read_dense(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr_code *code, const tsr_attr **out_attr) {
  (void)code;
  const tsr_type *type = NULL;
  TSR_TRY(tsr_artifact_type(artifact, cursor, &type));
  return tsr_artifact_dense(artifact, cursor, type, out_attr);
}

static tsr_status read_dense_array(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                   const tsr_attr_code *code, const tsr_attr **out_attr) {
  (void)code;
  return tsr_artifact_dense_array(artifact, cursor, out_attr);
}

static tsr_status read_resource(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                const tsr_attr_code *code, const tsr_attr **out_attr) {
  (void)code;
  const tsr_wire_cursor start = *cursor;
  const tsr_type *type = NULL;
  int index = 0;
  TSR_TRY(tsr_artifact_type(artifact, cursor, &type));
  if (type->kind != TSR_TYPE_TENSOR)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "a dense_resource whose type is not a tensor");
  TSR_TRY(tsr_wire_index(cursor, "resource", artifact->resource_count, &index));
  const tsr_artifact_string *key = &artifact->resource_keys[index];
  return made(tsr_attr_resource(artifact->ir, type, key->bytes, key->length), out_attr);
}

// ---- records ----

typedef tsr_status field_reader(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                const tsr_attr_info *field, const tsr_attr **out_attr);

static tsr_status field_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  return tsr_artifact_attr(artifact, cursor, out_attr);
}

static tsr_status field_symbol(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_artifact_attr(artifact, cursor, &attr));
  return made(attr->kind == TSR_ATTR_STRING
                  ? tsr_attr_symbol(artifact->ir, attr->bytes, attr->length)
                  : attr,
              out_attr);
}

static tsr_status field_location(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                 const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  return tsr_artifact_location(artifact, cursor, out_attr);
}

static tsr_status field_attrs(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  return read_array(artifact, cursor, NULL, out_attr);
}

static tsr_status field_optional_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                      const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  return tsr_artifact_optional_attr(artifact, cursor, out_attr);
}

static tsr_status field_maybe_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                   const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  bool present = false;
  TSR_TRY(read_bit(cursor, &present));
  return present ? tsr_artifact_attr(artifact, cursor, out_attr) : NULL;
}

static tsr_status field_byte_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                  const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  unsigned char present = 0;
  TSR_TRY(tsr_wire_byte(cursor, &present));
  return present ? tsr_artifact_attr(artifact, cursor, out_attr) : NULL;
}

static tsr_status field_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  return read_type(artifact, cursor, NULL, out_attr);
}

static tsr_status field_text(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  tsr_artifact_string string = {0};
  TSR_TRY(tsr_artifact_string_at(artifact, cursor, &string));
  return made(tsr_attr_string(artifact->ir, string.bytes, string.length), out_attr);
}

static tsr_status field_int(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                            const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  int64_t value = 0;
  TSR_TRY(tsr_wire_svarint(cursor, &value));
  return made(tsr_attr_integer(artifact->ir, artifact->i64, value), out_attr);
}

static tsr_status field_ints(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  const int64_t *values = NULL;
  int count = 0;
  TSR_TRY(tsr_artifact_ints(artifact, cursor, &values, &count));
  return made(tsr_attr_dense_array(artifact->ir, artifact->i64, values, count), out_attr);
}

enum { MAX_PLACE = 4 };  // line, column, end line, end column

static tsr_status read_place(tsr_artifact *artifact, tsr_wire_cursor *cursor, int count,
                             const tsr_attr **out_attr) {
  int64_t values[MAX_PLACE] = {0};
  for (int i = 0; i < count; i++) {
    int value = 0;
    TSR_TRY(tsr_wire_index(cursor, "line or column", INT32_MAX, &value));
    values[i] = value;
  }
  return made(tsr_attr_dense_array(artifact->ir, artifact->i64, values, count), out_attr);
}

static tsr_status field_counts(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  int count = 0;
  TSR_TRY(tsr_wire_index(cursor, "number of places", MAX_PLACE + 1, &count));
  return read_place(artifact, cursor, count, out_attr);
}

static tsr_status field_line_column(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                    const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  return read_place(artifact, cursor, 2, out_attr);
}

static tsr_status field_byte(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  unsigned char byte = 0;
  TSR_TRY(tsr_wire_byte(cursor, &byte));
  return made(tsr_attr_bool(artifact->ir, byte), out_attr);
}

static tsr_status field_optional_count(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                       const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  uint64_t value = 0;
  bool present = false;
  TSR_TRY(tsr_wire_flagged(cursor, &value, &present));
  return present ? made(tsr_attr_integer(artifact->ir, artifact->i64, (int64_t)value), out_attr)
                 : NULL;
}

static tsr_status field_double(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)field;
  uint64_t bits = 0;
  TSR_TRY(tsr_wire_integer(cursor, 64, &bits));
  const tsr_type *f64 = tsr_type_float(artifact->ir, TSR_FLOAT_F64);
  TSR_NEED(f64);
  return made(tsr_attr_float(artifact->ir, f64, bits), out_attr);
}

static tsr_status field_case(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr_info *field, const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  int64_t value = 0;
  TSR_TRY(tsr_wire_svarint(cursor, &value));
  return make_enum(artifact, &start, field->id, (uint64_t)value, out_attr);
}

static tsr_status field_absent(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)artifact;
  (void)cursor;
  (void)field;
  *out_attr = NULL;
  return NULL;
}

static tsr_status field_empty(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_attr_info *field, const tsr_attr **out_attr) {
  (void)cursor;
  (void)field;
  return made(tsr_attr_array(artifact->ir, NULL, 0), out_attr);
}

static tsr_status field_first(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_attr_info *field, const tsr_attr **out_attr) {
  return make_enum(artifact, cursor, field->id, 0, out_attr);
}

static field_reader *const field_readers[] = {
    [TSR_WIRE_ATTR] = field_attr,
    [TSR_WIRE_SYMBOL] = field_symbol,
    [TSR_WIRE_LOCATION] = field_location,
    [TSR_WIRE_ATTRS] = field_attrs,
    [TSR_WIRE_OPTIONAL_ATTR] = field_optional_attr,
    [TSR_WIRE_MAYBE_ATTR] = field_maybe_attr,
    [TSR_WIRE_BYTE_ATTR] = field_byte_attr,
    [TSR_WIRE_TYPE] = field_type,
    [TSR_WIRE_TEXT] = field_text,
    [TSR_WIRE_INT] = field_int,
    [TSR_WIRE_INTS] = field_ints,
    [TSR_WIRE_COUNTS] = field_counts,
    [TSR_WIRE_LINE_COLUMN] = field_line_column,
    [TSR_WIRE_BYTE] = field_byte,
    [TSR_WIRE_OPTIONAL_COUNT] = field_optional_count,
    [TSR_WIRE_DOUBLE] = field_double,
    [TSR_WIRE_CASE] = field_case,
    [TSR_WIRE_ABSENT] = field_absent,
    [TSR_WIRE_EMPTY] = field_empty,
    [TSR_WIRE_FIRST] = field_first,
};

static tsr_status check_field(const tsr_wire_cursor *cursor, const tsr_record_info *record,
                              const tsr_attr_info *field, const tsr_attr *attr) {
  if (attr ? tsr_attr_has_form(attr, field->form, field->id) : !field->required) return NULL;
  return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%s.%s: the field %s is %s", record->dialect,
                       record->name, field->name, attr ? "of another kind" : "missing");
}

static tsr_status read_record(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_attr_code *code, const tsr_attr **out_attr) {
  const tsr_record_info record = tsr_record_info_of((tsr_record_id)code->id);
  const tsr_attr *fields[TSR_VHLO_FIELDS] = {0};
  if (code->id == TSR_RECORD_LOC_UNKNOWN) return made(artifact->ir->unknown_location, out_attr);
  for (int i = 0; i < record.field_count; i++) {
    const tsr_wire_cursor start = *cursor;
    TSR_TRY(field_readers[code->wires[i]](artifact, cursor, &record.fields[i], &fields[i]));
    TSR_TRY(check_field(&start, &record, &record.fields[i], fields[i]));
  }
  return made(tsr_attr_record(artifact->ir, (tsr_record_id)code->id, fields), out_attr);
}

static attr_reader *const readers[] = {
    [TSR_CODE_ARRAY] = read_array,
    [TSR_CODE_BOOL] = read_bool,
    [TSR_CODE_ENUM] = read_enum,
    [TSR_CODE_API_VERSION] = read_api_version,
    [TSR_CODE_DICT] = read_dict,
    [TSR_CODE_FLOAT] = read_number,
    [TSR_CODE_INTEGER] = read_number,
    [TSR_CODE_STRING] = read_string,
    [TSR_CODE_TYPED_STRING] = read_string,
    [TSR_CODE_DENSE] = read_dense,
    [TSR_CODE_TYPE] = read_type,
    [TSR_CODE_UNIT] = read_unit,
    [TSR_CODE_SYMBOL] = read_symbol,
    [TSR_CODE_NESTED_SYMBOL] = read_symbol,
    [TSR_CODE_RESOURCE] = read_resource,
    [TSR_CODE_DENSE_ARRAY] = read_dense_array,
    [TSR_CODE_DENSE_STRINGS] = tsr_artifact_carried_attr,
    [TSR_CODE_SPARSE] = tsr_artifact_carried_attr,
    [TSR_CODE_DISTINCT] = tsr_artifact_carried_attr,
    [TSR_CODE_RECORD] = read_record,
};

tsr_status tsr_artifact_decode_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                    const tsr_attr_code *code, const tsr_attr **out_attr) {
  return readers[code->form](artifact, cursor, code, out_attr);
}
