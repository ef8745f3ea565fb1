// Records: those of stablehlo and chlo, and locations.
#include <string.h>

#include "base/text_internal.h"
#include "syntax/float_literal.h"
#include "syntax/record_forms.h"
#include "syntax/writer_parts.h"

#define ROW(id, body, order) [TSR_RECORD_##id] = tsr_print_##body,
static tsr_print_body *const bodies[TSR_RECORD_COUNT] = {TSR_RECORD_FORMS(ROW)};
#undef ROW

void tsr_record_body_print(const tsr_attr *record, tsr_text *out) {
  if (bodies[record->id])
    bodies[record->id](record, out);
  else
    tsr_location_print(record, out);
}

// MLIR writes #dialect.name<...> where the body is in angle brackets, else #dialect<name...>.
void tsr_record_print(const tsr_attr *record, tsr_text *out) {
  if (!bodies[record->id]) {
    tsr_location_print(record, out);
    return;
  }
  const tsr_record_info info = tsr_record_info_of((tsr_record_id)record->id);
  const bool wrapped = record->id == TSR_RECORD_CONV || record->id == TSR_RECORD_SDY_SHARDINGS;
  const size_t start = out->length;
  tsr_text_addf(out, "#%s.%s%s", info.dialect, info.name,
                wrapped                                    ? "<"
                : record->id == TSR_RECORD_SDY_DIM_MAPPING ? " "
                                                           : "");
  const size_t body = out->length;
  tsr_record_body_print(record, out);
  if (wrapped) tsr_text_add_char(out, '>');
  if (wrapped || out->failed || out->data[body] == '<') return;
  out->data[start + 1 + strlen(info.dialect)] = '<';
  tsr_text_add_char(out, '>');
}

// ---- <name = value, ...> ----

static bool is_left_out(const tsr_attr *record, const tsr_attr_info *field, const tsr_attr *value) {
  const tsr_struct_order order = tsr_record_order((tsr_record_id)record->id);
  if (!value) return true;
  if (order != TSR_ORDER_LOOSE && record->id != TSR_RECORD_ACCURACY) return false;
  if (field->form == TSR_FORM_INTS) return !tsr_attr_int_count(value);
  if (field->form == TSR_FORM_I64) return !value->integer;
  return field->form == TSR_FORM_FLOAT && tsr_float_value(value->type->format, value->bits) == 0;
}

static void print_sizes(const tsr_attr *sizes, tsr_text *out) {
  for (int64_t i = 0; i < tsr_attr_int_count(sizes); i++) {
    const int64_t size = tsr_attr_int_at(sizes, i);
    if (i) tsr_text_add(out, ", ");
    if (size == TSR_DYNAMIC)
      tsr_text_add_char(out, '?');
    else
      tsr_text_add_int(out, size);
  }
}

static void print_field(const tsr_attr *record, const tsr_attr_info *field, const tsr_attr *value,
                        tsr_text *out) {
  switch (field->form) {
    case TSR_FORM_INTS:
      tsr_text_add_char(out, '[');
      print_sizes(value, out);
      tsr_text_add_char(out, ']');
      break;
    case TSR_FORM_RECORD:
      tsr_record_body_print(value, out);
      break;
    case TSR_FORM_RECORDS:
      tsr_text_add_char(out, '[');
      tsr_items_print(
          value, record->id == TSR_RECORD_GROUP_AXES ? tsr_attr_print : tsr_record_body_print, out);
      tsr_text_add_char(out, ']');
      break;
    case TSR_FORM_I64:
    case TSR_FORM_FLOAT:
      tsr_attr_print_untyped(value, out);
      break;
    default:
      tsr_attr_print(value, out);
  }
}

static void print_fields(const tsr_attr *record, tsr_text *out) {
  const tsr_record_info info = tsr_record_info_of((tsr_record_id)record->id);
  const char *equals = record->id == TSR_RECORD_MESH ? "=" : " = ";
  bool first = true;
  for (int i = 0; i < info.field_count; i++) {
    const tsr_attr *value = tsr_attr_field(record, i);
    if (is_left_out(record, &info.fields[i], value)) continue;
    if (!first) tsr_text_add(out, ", ");
    first = false;
    tsr_text_add(out, info.fields[i].name);
    tsr_text_add(out, equals);
    print_field(record, &info.fields[i], value, out);
  }
}

void tsr_print_struct(const tsr_attr *record, tsr_text *out) {
  tsr_text_add_char(out, '<');
  print_fields(record, out);
  tsr_text_add_char(out, '>');
}

// ---- other forms ----

void tsr_print_bounds(const tsr_attr *record, tsr_text *out) {
  tsr_text_add_char(out, '<');
  print_sizes(tsr_attr_field(record, TSR_BOUNDS_SIZES), out);
  tsr_text_add_char(out, '>');
}

void tsr_print_sub_axis_info(const tsr_attr *record, tsr_text *out) {
  tsr_text_addf(out, "(%lld)%lld",
                (long long)tsr_attr_field(record, TSR_SUB_AXIS_PRE_SIZE)->integer,
                (long long)tsr_attr_field(record, TSR_SUB_AXIS_SIZE)->integer);
}

// One part of a convolution's dimensions: two with letters, and the spatial ones.
typedef struct conv_names {
  const char *letters;
  int first, second, spatial;  // fields
} conv_names;

static const conv_names conv_parts[] = {
    {"bf", TSR_CONV_INPUT_BATCH, TSR_CONV_INPUT_FEATURE, TSR_CONV_INPUT_SPATIAL},
    {"io", TSR_CONV_KERNEL_INPUT_FEATURE, TSR_CONV_KERNEL_OUTPUT_FEATURE, TSR_CONV_KERNEL_SPATIAL},
    {"bf", TSR_CONV_OUTPUT_BATCH, TSR_CONV_OUTPUT_FEATURE, TSR_CONV_OUTPUT_SPATIAL},
};

// How many names dimension `position` has. Gives one of them: -1 and -2 are the letters, others the
// numbers of spatial dimensions.
static int find_conv_name(const tsr_attr *record, const conv_names *names, int64_t position,
                          int64_t *out_name) {
  const tsr_attr *spatial = tsr_attr_field(record, names->spatial);
  int found = 0;
  for (int64_t i = -2; i < tsr_attr_int_count(spatial); i++) {
    const int64_t dim = i == -1   ? tsr_attr_field(record, names->first)->integer
                        : i == -2 ? tsr_attr_field(record, names->second)->integer
                                  : tsr_attr_int_at(spatial, i);
    if (dim != position) continue;
    *out_name = i;
    found++;
  }
  return found;
}

enum { CONV_RANK = 64 };  // of dimensions that are written with names

// Whether each dimension of a part has one name.
static bool has_conv_names(const tsr_attr *record, const conv_names *names) {
  const int64_t rank = tsr_attr_int_count(tsr_attr_field(record, names->spatial)) + 2;
  int64_t name = 0;
  for (int64_t i = 0; i < rank && rank <= CONV_RANK; i++)
    if (find_conv_name(record, names, i, &name) != 1) return false;
  return rank <= CONV_RANK;
}

static void print_conv_part(const tsr_attr *record, const conv_names *names, tsr_text *out) {
  tsr_text_add_char(out, '[');
  for (int64_t i = 0; i < tsr_attr_int_count(tsr_attr_field(record, names->spatial)) + 2; i++) {
    int64_t name = 0;
    find_conv_name(record, names, i, &name);
    if (i) tsr_text_add(out, ", ");
    if (name < 0)
      tsr_text_add_char(out, names->letters[-1 - name]);
    else
      tsr_text_add_int(out, name);
  }
  tsr_text_add_char(out, ']');
}

// Dimensions built wrong have no such names; the verifier reports them.
void tsr_print_conv(const tsr_attr *record, tsr_text *out) {
  for (int i = 0; i < 3; i++)
    if (!has_conv_names(record, &conv_parts[i])) {
      tsr_text_add(out, "raw ");
      print_fields(record, out);
      return;
    }
  for (int i = 0; i < 3; i++) {
    if (i) tsr_text_add(out, i == 1 ? "x" : "->");
    print_conv_part(record, &conv_parts[i], out);
  }
}

// ---- locations ----

static void print_inner(const tsr_attr *location, tsr_text *out);

static void print_name(const tsr_attr *name, tsr_text *out) {
  tsr_string_print(name->bytes, name->length, out);
}

static void print_file(const tsr_attr *location, tsr_text *out) {
  const tsr_attr *place = tsr_attr_field(location, TSR_LOC_FILE_PLACE);
  const int64_t count = tsr_attr_int_count(place);
  int64_t at[4] = {0};
  for (int64_t i = 0; i < count && i < 4; i++) at[i] = tsr_attr_int_at(place, i);
  print_name(tsr_attr_field(location, TSR_LOC_FILE_NAME), out);
  tsr_text_addf(out, ":%lld:%lld", (long long)at[0], (long long)at[1]);
  if (count == 3) tsr_text_addf(out, " to :%lld", (long long)at[2]);
  if (count == 4) tsr_text_addf(out, " to %lld:%lld", (long long)at[2], (long long)at[3]);
}

static void print_fused(const tsr_attr *location, tsr_text *out) {
  const tsr_attr *metadata = tsr_attr_field(location, TSR_LOC_FUSED_METADATA);
  tsr_text_add(out, "fused");
  if (metadata) {
    tsr_text_add_char(out, '<');
    tsr_attr_print(metadata, out);
    tsr_text_add_char(out, '>');
  }
  tsr_text_add_char(out, '[');
  tsr_items_print(tsr_attr_field(location, TSR_LOC_FUSED_LIST), print_inner, out);
  tsr_text_add_char(out, ']');
}

// What stands between the parentheses of loc(...).
static void print_inner(const tsr_attr *location, tsr_text *out) {
  const tsr_attr *child = NULL;
  switch (location->kind == TSR_ATTR_RECORD ? location->id : TSR_RECORD_LOC_UNKNOWN) {
    case TSR_RECORD_LOC_FILE:
      print_file(location, out);
      break;
    case TSR_RECORD_LOC_NAME:
      print_name(tsr_attr_field(location, TSR_LOC_NAME_NAME), out);
      child = tsr_attr_field(location, TSR_LOC_NAME_CHILD);
      if (!child) break;
      tsr_text_add_char(out, '(');
      print_inner(child, out);
      tsr_text_add_char(out, ')');
      break;
    case TSR_RECORD_LOC_CALL:
      tsr_text_add(out, "callsite(");
      print_inner(tsr_attr_field(location, TSR_LOC_CALL_CALLEE), out);
      tsr_text_add(out, " at ");
      print_inner(tsr_attr_field(location, TSR_LOC_CALL_CALLER), out);
      tsr_text_add_char(out, ')');
      break;
    case TSR_RECORD_LOC_FUSED:
      print_fused(location, out);
      break;
    default:
      tsr_text_add(out, "unknown");
  }
}

void tsr_location_print(const tsr_attr *location, tsr_text *out) {
  tsr_text_add(out, "loc(");
  if (location)
    print_inner(location, out);
  else
    tsr_text_add(out, "unknown");
  tsr_text_add_char(out, ')');
}
