// Attributes as MLIR prints them.
#include <string.h>

#include "base/text_internal.h"
#include "syntax/float_literal.h"
#include "syntax/writer_parts.h"

static const tsr_attr_style whole = {TSR_TYPE_SHOWN, 0};

// ---- names and strings ----

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_bare(const char *name, size_t length) {
  if (!length || !is_letter(*name)) return false;
  for (size_t i = 1; i < length; i++)
    if (!is_letter(name[i]) && !(name[i] >= '0' && name[i] <= '9') && name[i] != '$' &&
        name[i] != '.')
      return false;
  return true;
}

void tsr_string_print(const char *bytes, size_t length, tsr_text *out) {
  static const char digits[] = "0123456789ABCDEF";
  tsr_text_add_char(out, '"');
  for (size_t i = 0, start = 0; i <= length; i++) {
    const unsigned char c = i < length ? (unsigned char)bytes[i] : '"';
    if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') continue;
    tsr_text_add_bytes(out, bytes + start, i - start);
    start = i + 1;
    if (i == length) break;
    const char escape[] = {'\\', digits[c >> 4], digits[c & 15]};
    tsr_text_add_bytes(out, c == '\\' ? "\\\\" : escape, c == '\\' ? 2 : 3);
  }
  tsr_text_add_char(out, '"');
}

static void print_bare_or_quoted(const char *name, size_t length, tsr_text *out) {
  if (is_bare(name, length))
    tsr_text_add_bytes(out, name, length);
  else
    tsr_string_print(name, length, out);
}

void tsr_attr_name_print(const char *name, tsr_text *out) {
  print_bare_or_quoted(name, strlen(name), out);
}

void tsr_symbol_print(const char *name, size_t length, tsr_text *out) {
  tsr_text_add_char(out, '@');
  print_bare_or_quoted(name, length, out);
}

static void print_symbol(const tsr_attr *attr, tsr_text *out) {
  tsr_symbol_print(attr->bytes, attr->length, out);
  for (int64_t i = 0; i < attr->count; i++) {
    tsr_text_add(out, "::");
    tsr_symbol_print(attr->items[i]->bytes, attr->items[i]->length, out);
  }
}

// ---- numbers ----

static void print_type_behind(const tsr_attr *attr, tsr_text *out) {
  tsr_text_add(out, " : ");
  tsr_type_print(attr->type, out);
}

static bool is_i64(const tsr_type *type) {
  return type->kind == TSR_TYPE_INTEGER && type->width == 64 && type->sign == TSR_SIGNLESS;
}

static void print_integer(const tsr_attr *attr, tsr_type_shown shown, tsr_text *out) {
  const tsr_type *type = attr->type;
  if (type->kind == TSR_TYPE_INTEGER && type->width == 1 && type->sign == TSR_SIGNLESS) {
    tsr_text_add(out, attr->integer ? "true" : "false");
    return;
  }
  if (type->kind == TSR_TYPE_INTEGER && type->sign == TSR_UNSIGNED)
    tsr_text_addf(out, "%llu", (unsigned long long)attr->integer);
  else if (type->kind == TSR_TYPE_INTEGER && type->width == 1)
    tsr_text_add(out, attr->integer ? "-1" : "0");
  else
    tsr_text_add_int(out, attr->integer);
  if (shown == TSR_TYPE_SHOWN || (shown == TSR_TYPE_IF_UNUSUAL && !is_i64(type)))
    print_type_behind(attr, out);
}

static void print_float(const tsr_attr *attr, tsr_type_shown shown, tsr_text *out) {
  const bool as_bits = tsr_float_print(attr->type->format, attr->bits, out);
  const bool usual = attr->type->format == TSR_FLOAT_F64 && !as_bits;
  if (shown == TSR_TYPE_SHOWN || (shown == TSR_TYPE_IF_UNUSUAL && !usual))
    print_type_behind(attr, out);
}

// ---- lists ----

void tsr_items_print(const tsr_attr *array, void (*print)(const tsr_attr *item, tsr_text *out),
                     tsr_text *out) {
  for (int64_t i = 0; i < array->count; i++) {
    if (i) tsr_text_add(out, ", ");
    print(array->items[i], out);
  }
}

void tsr_ints_print(const tsr_attr *ints, tsr_text *out) {
  const int64_t count = tsr_attr_int_count(ints);
  tsr_text_add_char(out, '[');
  for (int64_t i = 0; i < count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_text_add_int(out, tsr_attr_int_at(ints, i));
  }
  tsr_text_add_char(out, ']');
}

static void print_array(const tsr_attr *attr, tsr_attr_style style, tsr_text *out) {
  style.type = TSR_TYPE_IF_UNUSUAL;
  tsr_text_add_char(out, '[');
  for (int64_t i = 0; i < attr->count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_attr_print_in(attr->items[i], style, out);
  }
  tsr_text_add_char(out, ']');
}

static void print_entries(const tsr_named_attr *entries, int64_t count, tsr_attr_style style,
                          tsr_text *out) {
  style.type = TSR_TYPE_SHOWN;
  tsr_text_add_char(out, '{');
  for (int64_t i = 0; i < count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_attr_name_print(entries[i].name, out);
    if (entries[i].attr->kind == TSR_ATTR_UNIT) continue;
    tsr_text_add(out, " = ");
    tsr_attr_print_in(entries[i].attr, style, out);
  }
  tsr_text_add_char(out, '}');
}

void tsr_attr_dict_print(const tsr_named_attr *entries, int64_t count, tsr_text *out) {
  if (count) print_entries(entries, count, whole, out);
}

// ---- enums ----

void tsr_enum_case_print(const tsr_attr *value, tsr_text *out) {
  const char *name = tsr_enum_name((tsr_enum_id)value->id, value->integer);
  tsr_text_add(out, name ? name : "?");
}

void tsr_enum_list_print(const tsr_attr *array, tsr_text *out) {
  tsr_text_add_char(out, '[');
  tsr_items_print(array, tsr_enum_case_print, out);
  tsr_text_add_char(out, ']');
}

static void print_enum(const tsr_attr *attr, tsr_text *out) {
  const tsr_enum_info *info = tsr_enum_info_of((tsr_enum_id)attr->id);
  const bool dotted = attr->id == TSR_ENUM_ACCURACY_MODE;
  tsr_text_addf(out, dotted ? "#%s.%s<" : "#%s<%s ", info->dialect, info->name);
  tsr_enum_case_print(attr, out);
  tsr_text_add_char(out, '>');
}

// ---- all attributes ----

static bool is_elided(const tsr_attr *attr, tsr_attr_style style) {
  return style.elide_elements > 0 && !attr->splat &&
         tsr_type_element_count(attr->type) > style.elide_elements;
}

static void print_dense(const tsr_attr *attr, tsr_attr_style style, tsr_text *out) {
  if (is_elided(attr, style))
    tsr_text_add(out, "dense_resource<__elided__>");
  else
    tsr_dense_print(attr, out);
  if (style.type != TSR_TYPE_HIDDEN) print_type_behind(attr, out);
}

static void print_resource(const tsr_attr *attr, tsr_attr_style style, tsr_text *out) {
  tsr_text_add(out, "dense_resource<");
  print_bare_or_quoted(attr->bytes, attr->length, out);
  tsr_text_add_char(out, '>');
  if (style.type != TSR_TYPE_HIDDEN) print_type_behind(attr, out);
}

void tsr_attr_print_in(const tsr_attr *attr, tsr_attr_style style, tsr_text *out) {
  switch (attr->kind) {
    case TSR_ATTR_UNIT:
      tsr_text_add(out, "unit");
      break;
    case TSR_ATTR_INTEGER:
      print_integer(attr, style.type, out);
      break;
    case TSR_ATTR_FLOAT:
      print_float(attr, style.type, out);
      break;
    case TSR_ATTR_STRING:
      tsr_string_print(attr->bytes, attr->length, out);
      if (attr->type && style.type != TSR_TYPE_HIDDEN) print_type_behind(attr, out);
      break;
    case TSR_ATTR_SYMBOL:
      print_symbol(attr, out);
      break;
    case TSR_ATTR_TYPE:
      tsr_type_print(attr->type, out);
      break;
    case TSR_ATTR_ARRAY:
      print_array(attr, style, out);
      break;
    case TSR_ATTR_DICT:
      print_entries(attr->entries, attr->count, style, out);
      break;
    case TSR_ATTR_DENSE:
      print_dense(attr, style, out);
      break;
    case TSR_ATTR_DENSE_ARRAY:
      tsr_dense_array_print(attr, out);
      break;
    case TSR_ATTR_RESOURCE:
      print_resource(attr, style, out);
      break;
    case TSR_ATTR_ENUM:
      print_enum(attr, out);
      break;
    case TSR_ATTR_RECORD:
      tsr_record_print(attr, out);
      break;
    case TSR_ATTR_OPAQUE:
      tsr_text_add_bytes(out, attr->bytes, attr->length);
      break;
  }
}

void tsr_attr_print(const tsr_attr *attr, tsr_text *out) { tsr_attr_print_in(attr, whole, out); }

void tsr_attr_print_untyped(const tsr_attr *attr, tsr_text *out) {
  tsr_attr_print_in(attr, (tsr_attr_style){TSR_TYPE_HIDDEN, 0}, out);
}

void tsr_attr_print_elided(const tsr_attr *attr, int64_t elide_elements, tsr_text *out) {
  tsr_attr_print_in(attr, (tsr_attr_style){TSR_TYPE_SHOWN, elide_elements}, out);
}
