// Attributes with fields: the form of each, and those of stablehlo and chlo.
//
// Most are written <name = value, ...>; the table says for each how strict MLIR is about order and
// absence. Where a record stands inside another, or in an op, its #dialect.name may be left out.
#include <stdio.h>
#include <string.h>

#include "syntax/reader_parts.h"
#include "syntax/record_forms.h"

#define ROW(id, body, struct_order) [TSR_RECORD_##id] = {tsr_read_##body, TSR_ORDER_##struct_order},
static const struct {
  tsr_read_body *read;  // NULL = has no body, such as a location
  tsr_struct_order order;
} forms[TSR_RECORD_COUNT] = {TSR_RECORD_FORMS(ROW)};
#undef ROW

tsr_struct_order tsr_record_order(tsr_record_id id) { return forms[id].order; }

// A whole attribute where a body may stand too.
static tsr_status read_whole(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  const char *start = reader->token.start;
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_read_attr(reader, NULL, &attr));
  const tsr_record_info info = tsr_record_info_of(id);
  if (attr->kind != TSR_ATTR_RECORD || attr->id != (int)id)
    return tsr_reader_fail(reader, start, SYNTAX, "expected a #%s.%s", info.dialect, info.name);
  *out_attr = attr;
  return NULL;
}

tsr_status tsr_read_record_body(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  if (tsr_at_kind(reader, TSR_TOKEN_HASH)) return read_whole(reader, id, out_attr);
  const tsr_record_info info = tsr_record_info_of(id);
  if (!forms[id].read)
    return tsr_reader_fail(reader, reader->token.start, SYNTAX, "%s.%s is not an attribute",
                           info.dialect, info.name);
  TSR_TRY(tsr_reader_enter(reader));
  TSR_TRY(forms[id].read(reader, id, out_attr));
  tsr_reader_leave(reader);
  return NULL;
}

typedef struct record_list {
  tsr_record_id id;
  tsr_attr_list list;
} record_list;

static tsr_status add_record(tsr_reader *reader, void *context) {
  record_list *records = context;
  const tsr_attr *record = NULL;
  TSR_TRY(tsr_read_record_body(reader, records->id, &record));
  return tsr_attr_list_add(reader, &records->list, record);
}

tsr_status tsr_read_record_list(tsr_reader *reader, const char *open, const char *close,
                                tsr_record_id id, const tsr_attr **out_array) {
  record_list records = {id, {NULL, 0}};
  TSR_TRY(tsr_read_list(reader, open, close, add_record, &records));
  *out_array = tsr_attr_array(reader->ir, records.list.items, records.list.count);
  TSR_NEED(*out_array);
  return NULL;
}

// ---- enums ----

tsr_status tsr_read_enum(tsr_reader *reader, tsr_enum_id id, const tsr_attr **out_attr) {
  const tsr_token *token = &reader->token;
  const int value = tsr_at_kind(reader, TSR_TOKEN_WORD)
                        ? tsr_enum_value(id, token->start, tsr_token_length(token))
                        : -1;
  if (value < 0) {
    char what[200] = "one of";
    size_t length = strlen(what);
    for (int i = 0; i < 8 && length < sizeof what; i++) {
      const char *name = tsr_enum_name(id, i);
      if (name) length += (size_t)snprintf(what + length, sizeof what - length, " %s", name);
    }
    return tsr_reader_expected(reader, what);
  }
  tsr_next(reader);
  *out_attr = tsr_attr_enum(reader->ir, id, value);
  TSR_NEED(*out_attr);
  return NULL;
}

typedef struct enum_list {
  tsr_enum_id id;
  tsr_attr_list list;
} enum_list;

static tsr_status add_enum(tsr_reader *reader, void *context) {
  enum_list *values = context;
  const tsr_attr *value = NULL;
  TSR_TRY(tsr_read_enum(reader, values->id, &value));
  return tsr_attr_list_add(reader, &values->list, value);
}

tsr_status tsr_read_enum_list(tsr_reader *reader, tsr_enum_id id, const tsr_attr **out_attr) {
  enum_list values = {id, {NULL, 0}};
  TSR_TRY(tsr_read_list(reader, "[", "]", add_enum, &values));
  *out_attr = tsr_attr_array(reader->ir, values.list.items, values.list.count);
  TSR_NEED(*out_attr);
  return NULL;
}

// ---- <name = value, ...> ----

typedef struct dim_list {
  int64_t *values, count;
} dim_list;

static tsr_status add_dim(tsr_reader *reader, void *context) {
  dim_list *list = context;
  int64_t *values = tsr_arena_grow(&reader->ir->arena, list->values, list->count, sizeof *values);
  TSR_NEED(values);
  list->values = values;
  int64_t *value = &values[list->count++];
  *value = TSR_DYNAMIC;
  return tsr_take_sign(reader, "?") ? NULL : tsr_read_int(reader, "an integer", value);
}

static tsr_status read_dim_list(tsr_reader *reader, const char *open, const char *close,
                                const tsr_attr **out_attr) {
  dim_list list = {NULL, 0};
  TSR_TRY(tsr_read_list(reader, open, close, add_dim, &list));
  *out_attr = tsr_attr_ints(reader->ir, list.values, list.count);
  TSR_NEED(*out_attr);
  return NULL;
}

static tsr_status read_scalar(tsr_reader *reader, const tsr_attr_info *field,
                              const tsr_attr **out_attr) {
  int64_t number = 0;
  bool flag = false;
  const char *bytes = NULL;
  size_t length = 0;
  const tsr_type *type = NULL;
  switch (field->form) {
    case TSR_FORM_I64:
      TSR_TRY(tsr_read_int(reader, "an integer", &number));
      *out_attr = tsr_attr_i64(reader->ir, number);
      break;
    case TSR_FORM_BOOL:
      TSR_TRY(tsr_read_bool(reader, &flag));
      *out_attr = tsr_attr_bool(reader->ir, flag);
      break;
    case TSR_FORM_STRING:
      TSR_TRY(tsr_read_string(reader, "a string", &bytes, &length));
      *out_attr = tsr_attr_string(reader->ir, bytes, length);
      break;
    case TSR_FORM_TYPE:
      TSR_TRY(tsr_read_type(reader, &type));
      *out_attr = tsr_attr_type(reader->ir, type);
      break;
    default:
      type = tsr_type_float(reader->ir, TSR_FLOAT_F64);
      TSR_NEED(type);
      if (!tsr_at_kind(reader, TSR_TOKEN_FLOAT) && !tsr_at_kind(reader, TSR_TOKEN_INTEGER) &&
          !tsr_at_sign(reader, "-"))
        return tsr_reader_expected(reader, "a number such as 1.0");
      TSR_TRY(tsr_read_attr(reader, type, out_attr));
  }
  TSR_NEED(*out_attr);
  return NULL;
}

// An array of records, each in full: MLIR reads the axes of replica groups as a plain array.
static tsr_status read_array_of(tsr_reader *reader, const tsr_attr_info *field,
                                const tsr_attr **out_attr) {
  const char *start = reader->token.start;
  TSR_TRY(tsr_read_array(reader, out_attr));
  if (tsr_attr_has_form(*out_attr, field->form, field->id)) return NULL;
  const tsr_record_info info = tsr_record_info_of((tsr_record_id)field->id);
  return tsr_reader_fail(reader, start, SYNTAX, "\"%s\" holds something else than #%s.%s",
                         field->name, info.dialect, info.name);
}

static tsr_status read_field(tsr_reader *reader, tsr_record_id id, const tsr_attr_info *field,
                             const tsr_attr **out_attr) {
  const char *start = reader->token.start;
  switch (field->form) {
    case TSR_FORM_INTS:
      return read_dim_list(reader, "[", "]", out_attr);
    case TSR_FORM_RECORD:
      return tsr_read_record_body(reader, (tsr_record_id)field->id, out_attr);
    case TSR_FORM_RECORDS:
      if (id == TSR_RECORD_GROUP_AXES) return read_array_of(reader, field, out_attr);
      return tsr_read_record_list(reader, "[", "]", (tsr_record_id)field->id, out_attr);
    case TSR_FORM_ANY_ATTR:
    case TSR_FORM_DENSE:
    case TSR_FORM_ENUM:
      TSR_TRY(tsr_read_attr(reader, NULL, out_attr));
      if (tsr_attr_has_form(*out_attr, field->form, field->id)) return NULL;
      return tsr_reader_fail(reader, start, SYNTAX, "\"%s\" holds another kind of attribute",
                             field->name);
    default:
      return read_scalar(reader, field, out_attr);
  }
}

static tsr_status expected_field(tsr_reader *reader, const tsr_record_info *info,
                                 const tsr_attr *const *fields) {
  char what[400] = "one of";
  size_t length = strlen(what);
  for (int i = 0; i < info->field_count && length < sizeof what; i++)
    if (!fields[i])
      length += (size_t)snprintf(what + length, sizeof what - length, " %s", info->fields[i].name);
  return tsr_reader_expected(reader, length > 6 ? what : "\">\"");
}

// The field that the current word names.
static tsr_status find_field(tsr_reader *reader, tsr_record_id id, const tsr_attr *const *fields,
                             int least, int *out_field) {
  const tsr_record_info info = tsr_record_info_of(id);
  for (int i = 0; i < info.field_count; i++) {
    if (!tsr_at_word(reader, info.fields[i].name)) continue;
    if (fields[i])
      return tsr_reader_fail(reader, reader->token.start, SYNTAX, "\"%s\" is given twice",
                             info.fields[i].name);
    if (forms[id].order == TSR_ORDER_FIXED && i < least)
      return tsr_reader_fail(reader, reader->token.start, SYNTAX,
                             "\"%s\" stands too late, the fields of #%s.%s have an order",
                             info.fields[i].name, info.dialect, info.name);
    *out_field = i;
    return NULL;
  }
  return expected_field(reader, &info, fields);
}

// What a field that is not written holds: an empty list, or 0.
static tsr_status fill_absent(tsr_reader *reader, const tsr_attr_info *field, bool may_miss,
                              const tsr_attr **out_attr) {
  if (*out_attr || !field->required) return NULL;
  const tsr_type *f64 = tsr_type_float(reader->ir, TSR_FLOAT_F64);
  TSR_NEED(f64);
  if (may_miss && field->form == TSR_FORM_INTS)
    *out_attr = tsr_attr_ints(reader->ir, NULL, 0);
  else if (may_miss && field->form == TSR_FORM_I64)
    *out_attr = tsr_attr_i64(reader->ir, 0);
  else if (may_miss && field->form == TSR_FORM_FLOAT)
    *out_attr = tsr_attr_float(reader->ir, f64, 0);
  else
    return tsr_reader_fail(reader, reader->token.start, SYNTAX, "\"%s\" is missing", field->name);
  TSR_NEED(*out_attr);
  return NULL;
}

enum { MOST_FIELDS = 16 };

// The fields before ">".
static tsr_status read_fields(tsr_reader *reader, tsr_record_id id, tsr_struct_order order,
                              const tsr_attr **out_attr) {
  const tsr_record_info info = tsr_record_info_of(id);
  const tsr_attr *fields[MOST_FIELDS] = {NULL};
  bool more = !tsr_at_sign(reader, ">");
  for (int field = 0, least = 0; more; least = field + 1) {
    TSR_TRY(find_field(reader, id, fields, least, &field));
    tsr_next(reader);
    TSR_TRY(tsr_expect_sign(reader, "="));
    TSR_TRY(read_field(reader, id, &info.fields[field], &fields[field]));
    more = tsr_take_sign(reader, ",");
    // MLIR takes a comma at the end of those whose fields may be absent.
    if (order == TSR_ORDER_LOOSE && tsr_at_sign(reader, ">")) break;
  }
  if (!tsr_at_sign(reader, ">")) return tsr_expect_sign(reader, ">");
  const bool may_miss = order == TSR_ORDER_LOOSE || id == TSR_RECORD_ACCURACY;
  for (int i = 0; i < info.field_count; i++)
    TSR_TRY(fill_absent(reader, &info.fields[i], may_miss, &fields[i]));
  *out_attr = tsr_attr_record(reader->ir, id, fields);
  TSR_NEED(*out_attr);
  return NULL;
}

tsr_status tsr_read_struct(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  TSR_TRY(tsr_expect_sign(reader, "<"));
  TSR_TRY(read_fields(reader, id, forms[id].order, out_attr));
  return tsr_expect_sign(reader, ">");
}

// ---- the other forms of stablehlo ----

// <3, ?>, or <bounds = [3, ?]>.
tsr_status tsr_read_bounds(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  const tsr_attr *sizes = NULL;
  const tsr_token next = tsr_peek_next(reader);
  const bool named = next.kind == TSR_TOKEN_WORD;
  if (named) {
    TSR_TRY(tsr_expect_sign(reader, "<"));
    TSR_TRY(tsr_expect_word(reader, "bounds"));
    TSR_TRY(tsr_expect_sign(reader, "="));
  }
  TSR_TRY(read_dim_list(reader, named ? "[" : "<", named ? "]" : ">", &sizes));
  if (named) TSR_TRY(tsr_expect_sign(reader, ">"));
  *out_attr = tsr_attr_record(reader->ir, id, &sizes);
  TSR_NEED(*out_attr);
  return NULL;
}

// (pre-size)size
tsr_status tsr_read_sub_axis_info(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  int64_t before = 0, size = 0;
  TSR_TRY(tsr_expect_sign(reader, "("));
  TSR_TRY(tsr_read_int(reader, "the pre-size of a sub-axis", &before));
  TSR_TRY(tsr_expect_sign(reader, ")"));
  TSR_TRY(tsr_read_int(reader, "the size of a sub-axis", &size));
  const tsr_attr *const fields[] = {tsr_attr_i64(reader->ir, before),
                                    tsr_attr_i64(reader->ir, size)};
  TSR_NEED(fields[0] && fields[1]);
  *out_attr = tsr_attr_record(reader->ir, id, fields);
  TSR_NEED(*out_attr);
  return NULL;
}

// One part of a convolution's dimensions: [b, 0, 1, f]. `letters` names the two that are not
// spatial.
typedef struct conv_part {
  const char *letters;
  int64_t position[2], count;  // -1 = not given yet
  int64_t *spatial;            // the position of each spatial dimension
  int64_t spatial_count;
} conv_part;

enum { MOST_SPATIAL = 1024 };

static tsr_status place_spatial(tsr_reader *reader, conv_part *part, int64_t dim, const char *at) {
  if (dim < 0 || dim >= MOST_SPATIAL)
    return tsr_reader_fail(reader, at, SYNTAX, "spatial dimension %lld is not from 0 to %d",
                           (long long)dim, MOST_SPATIAL - 1);
  if (part->spatial[dim] >= 0)
    return tsr_reader_fail(reader, at, SYNTAX, "spatial dimension %lld is given twice",
                           (long long)dim);
  part->spatial[dim] = part->count++;
  if (dim >= part->spatial_count) part->spatial_count = dim + 1;
  return NULL;
}

static tsr_status read_conv_dim(tsr_reader *reader, void *context) {
  conv_part *part = context;
  const char *at = reader->token.start;
  if (tsr_at_kind(reader, TSR_TOKEN_INTEGER)) {
    int64_t dim = 0;
    TSR_TRY(tsr_read_int(reader, "a dimension", &dim));
    return place_spatial(reader, part, dim, at);
  }
  for (int i = 0; i < 2; i++) {
    const char letter[] = {part->letters[i], '\0'};
    if (part->position[i] < 0 && tsr_take_word(reader, letter)) {
      part->position[i] = part->count++;
      return NULL;
    }
  }
  char what[] = "a number or one of b f";
  memcpy(what + sizeof what - 4, (char[]){part->letters[0], ' ', part->letters[1]}, 3);
  return tsr_reader_expected(reader, what);
}

static tsr_status read_conv_part(tsr_reader *reader, const char *letters,
                                 const tsr_attr **out_first, const tsr_attr **out_second,
                                 const tsr_attr **out_spatial) {
  int64_t spatial[MOST_SPATIAL];
  memset(spatial, 0xff, sizeof spatial);
  conv_part part = {letters, {-1, -1}, 0, spatial, 0};
  const char *start = reader->token.start;
  TSR_TRY(tsr_read_list(reader, "[", "]", read_conv_dim, &part));
  for (int i = 0; i < 2; i++)
    if (part.position[i] < 0)
      return tsr_reader_fail(reader, start, SYNTAX, "dimension %c is missing", letters[i]);
  for (int64_t i = 0; i < part.spatial_count; i++)
    if (spatial[i] < 0)
      return tsr_reader_fail(reader, start, SYNTAX, "spatial dimension %lld is missing",
                             (long long)i);
  *out_first = tsr_attr_i64(reader->ir, part.position[0]);
  *out_second = tsr_attr_i64(reader->ir, part.position[1]);
  *out_spatial = tsr_attr_ints(reader->ir, spatial, part.spatial_count);
  TSR_NEED(*out_first && *out_second && *out_spatial);
  return NULL;
}

// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], or all fields after "raw".
tsr_status tsr_read_conv(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  if (tsr_take_word(reader, "raw")) return read_fields(reader, id, TSR_ORDER_LOOSE, out_attr);
  const tsr_attr *f[MOST_FIELDS] = {NULL};
  TSR_TRY(read_conv_part(reader, "bf", &f[TSR_CONV_INPUT_BATCH], &f[TSR_CONV_INPUT_FEATURE],
                         &f[TSR_CONV_INPUT_SPATIAL]));
  TSR_TRY(tsr_expect_word(reader, "x"));
  TSR_TRY(read_conv_part(reader, "io", &f[TSR_CONV_KERNEL_INPUT_FEATURE],
                         &f[TSR_CONV_KERNEL_OUTPUT_FEATURE], &f[TSR_CONV_KERNEL_SPATIAL]));
  TSR_TRY(tsr_expect_sign(reader, "->"));
  TSR_TRY(read_conv_part(reader, "bf", &f[TSR_CONV_OUTPUT_BATCH], &f[TSR_CONV_OUTPUT_FEATURE],
                         &f[TSR_CONV_OUTPUT_SPATIAL]));
  *out_attr = tsr_attr_record(reader->ir, id, f);
  TSR_NEED(*out_attr);
  return NULL;
}
