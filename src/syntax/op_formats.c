// Reading and printing ops in their forms. The table of forms is made of syntax/op_formats.def;
// formats are interpreted here.
#include <ctype.h>
#include <string.h>

#include "base/text_internal.h"
#include "syntax/op_forms.h"
#include "syntax/writer.h"

// The end of a name that starts at `at`.
static const char *name_end(const char *at) {
  while ((*at >= 'a' && *at <= 'z') || *at == '_' || (*at >= '0' && *at <= '9')) at++;
  return at;
}

// The end of the group that starts with "?(" at `at`: its ")".
static const char *group_end(const char *at) { return strchr(at, ')'); }

static const tsr_attr_info *find_field(const tsr_op_info *info, const char *name, size_t length) {
  for (int i = 0; i < info->attr_count; i++)
    if (*info->attrs[i].name == *name && !strncmp(info->attrs[i].name, name, length) &&
        !info->attrs[i].name[length])
      return &info->attrs[i];
  return NULL;
}

// The attribute that decides about a group: the only one it names.
static const tsr_attr_info *field_of_group(const tsr_op_info *info, const char *at) {
  const char *name = strchr(at, '$') + 1;
  return find_field(info, name, (size_t)(name_end(name) - name));
}

// ---- reading ----

static tsr_status read_integer(tsr_reader *in, const tsr_type *type, const tsr_attr **out_attr) {
  int64_t value = 0;
  TSR_NEED(type);
  TSR_TRY(tsr_read_int(in, "an integer", &value));
  *out_attr = tsr_attr_integer(in->ir, type, value);
  return NULL;
}

static tsr_status read_ints(tsr_reader *in, const tsr_attr **out_attr) {
  const int64_t *values = NULL;
  int64_t count = 0;
  TSR_TRY(tsr_read_int_list(in, &values, &count));
  *out_attr = tsr_attr_ints(in->ir, values, count);
  return NULL;
}

static tsr_status read_text(tsr_reader *in, const tsr_attr **out_attr) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_read_string(in, "a string", &bytes, &length));
  *out_attr = tsr_attr_string(in->ir, bytes, length);
  return NULL;
}

static tsr_status read_symbol(tsr_reader *in, const tsr_attr **out_attr) {
  const char *name = NULL;
  TSR_TRY(tsr_read_symbol_name(in, &name));
  *out_attr = tsr_attr_symbol(in->ir, name, strlen(name));
  return NULL;
}

static tsr_status read_flag(tsr_reader *in, const tsr_attr **out_attr) {
  bool value = false;
  TSR_TRY(tsr_read_bool(in, &value));
  *out_attr = tsr_attr_bool(in->ir, value);
  return NULL;
}

static bool is_unsigned_32(const tsr_attr_info *field) { return !strcmp(field->name, "iteration"); }

// An attribute as its row says; where "#" stands it is written out.
static tsr_status read_field(tsr_reader *in, const tsr_attr_info *field,
                             const tsr_attr **out_attr) {
  if (tsr_at_kind(in, TSR_TOKEN_HASH)) return tsr_read_attr(in, NULL, out_attr);
  switch (field->form) {
    case TSR_FORM_INTS:
      return tsr_at_sign(in, "[") ? read_ints(in, out_attr) : tsr_read_attr(in, NULL, out_attr);
    case TSR_FORM_I64:
      return read_integer(in, in->ir->i64, out_attr);
    case TSR_FORM_I32:
      return read_integer(in, tsr_type_integer(in->ir, 32, TSR_SIGNLESS), out_attr);
    case TSR_FORM_INT:
      return tsr_read_attr(
          in, tsr_type_integer(in->ir, is_unsigned_32(field) ? 32 : 64, TSR_UNSIGNED), out_attr);
    case TSR_FORM_BOOL:
      return read_flag(in, out_attr);
    case TSR_FORM_STRING:
      return read_text(in, out_attr);
    case TSR_FORM_SYMBOL:
      return read_symbol(in, out_attr);
    case TSR_FORM_ENUM:
      return tsr_read_enum(in, (tsr_enum_id)field->id, out_attr);
    case TSR_FORM_RECORD:
      return tsr_read_record_body(in, (tsr_record_id)field->id, out_attr);
    case TSR_FORM_FLOAT:
      return tsr_read_attr(in, tsr_type_float(in->ir, TSR_FLOAT_F64), out_attr);
    default:
      return tsr_read_attr(in, NULL, out_attr);
  }
}

static tsr_status read_named_field(tsr_op_reader *reader, tsr_draft *draft, const char *name,
                                   const char *end) {
  const tsr_attr_info *field = find_field(draft->info, name, (size_t)(end - name));
  const tsr_attr *attr = NULL;
  TSR_TRY(read_field(reader->in, field, &attr));
  TSR_NEED(attr);
  return tsr_draft_attr(reader, draft, field->name, attr);
}

static tsr_status expect_word(tsr_reader *in, const char *word, const char *end) {
  enum { LONGEST = 32 };
  const size_t length = (size_t)(end - word);
  if (tsr_at_kind(in, TSR_TOKEN_WORD) && tsr_token_length(&in->token) == length &&
      !memcmp(in->token.start, word, length)) {
    tsr_next(in);
    return NULL;
  }
  char text[LONGEST] = "";
  memcpy(text, word, length);
  return tsr_expect_word(in, text);
}

// Whether the text goes on with the group at `at`: with its comma and its word, or with its word,
// or with one of the enum's words where the group has none.
static bool group_follows(const tsr_reader *in, const tsr_op_info *info, const char *at) {
  const bool comma = *at == ',';
  tsr_token token = in->token;
  if (comma && !tsr_at_sign(in, ",")) return false;
  if (comma) token = tsr_peek_next(in);
  at += comma;
  while (*at == ' ') at++;
  if (*at == '$') {
    const tsr_attr_info *field = field_of_group(info, at);
    return field->form != TSR_FORM_ENUM || token.kind == TSR_TOKEN_HASH ||
           (token.kind == TSR_TOKEN_WORD &&
            tsr_enum_value((tsr_enum_id)field->id, token.start, tsr_token_length(&token)) >= 0);
  }
  const size_t length = (size_t)(name_end(at) - at);
  return token.kind == TSR_TOKEN_WORD && tsr_token_length(&token) == length &&
         !memcmp(token.start, at, length);
}

// Reads one piece of a format and moves `*at` past it; groups are read by their pieces.
static tsr_status read_piece(tsr_op_reader *reader, tsr_draft *draft, const char **at) {
  const char *piece = *at;
  const char *end = name_end(piece + 1);
  *at = piece + 1;
  switch (*piece) {
    case ' ':
    case ')':
      break;
    case '%':
      if (piece[1] != '*') return tsr_draft_operand(reader, draft);
      ++*at;
      return tsr_draft_operands(reader, draft);
    case '&':
      return tsr_draft_attr_dict(reader, draft);
    case '$':
      *at = end;
      return read_named_field(reader, draft, piece + 1, end);
    case '@':
      *at = end;
      return tsr_op_notation_find(piece + 1, (size_t)(end - piece) - 1)->read(reader, draft);
    case '~':
      *at = end;
      return tsr_op_notation_find(piece + 1, (size_t)(end - piece) - 1)->read(reader, draft);
    default:
      if (isalpha((unsigned char)*piece)) {
        *at = end;
        return expect_word(reader->in, piece, end);
      }
      return tsr_expect_sign(reader->in, (char[2]){*piece, '\0'});
  }
  return NULL;
}

static tsr_status read_format(tsr_op_reader *reader, tsr_draft *draft, const char *format) {
  const char *close = NULL;  // of the group that is open: not text of the op
  for (const char *at = format; *at;) {
    if (*at == '?') {
      const char *end = group_end(at);
      const bool follows =
          field_of_group(draft->info, at) && group_follows(reader->in, draft->info, at + 2);
      close = follows ? end : NULL;
      at = follows ? at + 2 : end + 1;
    } else if (*at == ')' && at != close) {
      TSR_TRY(tsr_expect_sign(reader->in, ")"));
      at++;
    } else {
      TSR_TRY(read_piece(reader, draft, &at));
    }
  }
  return NULL;
}

// ---- printing ----

static void print_field(tsr_op_printer *printer, const tsr_attr_info *field, const tsr_attr *attr) {
  switch (field->form) {
    case TSR_FORM_INTS:
      tsr_ints_print(attr, printer->out);
      break;
    case TSR_FORM_I64:
    case TSR_FORM_I32:
    case TSR_FORM_INT:
    case TSR_FORM_BOOL:
    case TSR_FORM_FLOAT:
      tsr_attr_print_untyped(attr, printer->out);
      break;
    case TSR_FORM_ENUM:
      tsr_enum_case_print(attr, printer->out);
      break;
    case TSR_FORM_RECORD:
      tsr_record_body_print(attr, printer->out);
      break;
    default:
      tsr_print_attr(printer, attr);
      break;
  }
}

static void print_named_field(tsr_op_printer *printer, const tsr_op *op, const char *name,
                              const char *end, uint32_t *used) {
  const tsr_attr_info *field = find_field(op->info, name, (size_t)(end - name));
  *used |= UINT32_C(1) << (field - op->info->attrs);
  print_field(printer, field, tsr_op_attr(op, field->name));
}

static void print_notation(tsr_op_printer *printer, const tsr_op *op, const char *name,
                           const char *end, uint32_t *used) {
  const tsr_op_notation *notation = tsr_op_notation_find(name, (size_t)(end - name));
  for (int i = 0; i < TSR_NOTATION_ATTRS && notation->attrs[i]; i++)
    *used |= tsr_row_bit(op->info, notation->attrs[i]);
  notation->print(printer, op);
}

// Whether the group at `at` is printed; the attribute in it counts as used in any case.
static bool prints_group(const tsr_op *op, const char *at, uint32_t *used) {
  const tsr_attr_info *field = field_of_group(op->info, at);
  if (!field) return false;
  *used |= UINT32_C(1) << (field - op->info->attrs);
  const tsr_attr *attr = tsr_op_attr(op, field->name);
  return attr && !tsr_op_attr_is_default(op, field->name, attr);
}

// The end of text that is printed as it is.
static const char *literal_end(const char *at) {
  while (*at && *at != '%' && *at != '$' && *at != '@' && *at != '&' && *at != '~' && *at != '?' &&
         *at != ')')
    at++;
  return at;
}

static void print_format(tsr_op_printer *printer, const tsr_op *op, const char *format) {
  uint32_t used = 0;
  int operand = 0;
  const char *close = NULL;
  for (const char *at = format; *at;) {
    const char *piece = at, *end = name_end(at + 1);
    switch (*at++) {
      case '%':
        if (*at == '*') {
          at++;
          tsr_print_operands(printer, op, operand, op->operand_count - operand);
        } else {
          tsr_print_operand(printer, tsr_op_operand(op, operand++));
        }
        break;
      case '$':
        print_named_field(printer, op, at, end, &used), at = end;
        break;
      case '@':
        print_notation(printer, op, at, end, &used), at = end;
        break;
      case '&':
        tsr_print_attr_dict(printer, op, used, true, "");
        break;
      case '~':
        tsr_op_notation_find(at, (size_t)(end - at))->print(printer, op), at = end;
        break;
      case '?':
        close = prints_group(op, piece, &used) ? group_end(piece) : NULL;
        at = close ? piece + 2 : group_end(piece) + 1;
        break;
      default:
        if (piece == close) break;
        at = literal_end(at);
        tsr_text_add_bytes(printer->out, piece, (size_t)(at - piece));
        break;
    }
  }
}

static bool fits_format(const tsr_op *op, const char *format) {
  const char *types = strchr(format, '~');
  if (types) {
    const tsr_op_notation *notation =
        tsr_op_notation_find(types + 1, (size_t)(name_end(types + 1) - types) - 1);
    if (notation->fits && !notation->fits(op)) return false;
  }
  for (const char *at = strchr(format, '@'); at; at = strchr(at + 1, '@')) {
    const tsr_op_notation *notation =
        tsr_op_notation_find(at + 1, (size_t)(name_end(at + 1) - at) - 1);
    if (notation->fits && !notation->fits(op)) return false;
  }
  return true;
}

// ---- the table of forms ----

#define FORMAT(form, text) [TSR_TEXT_##form] = {.format = text},
#define FUNCTIONS(form, name, fits_) \
  [TSR_TEXT_##                       \
      form] = {.read = tsr_read_##name##_form, .print = tsr_print_##name##_form, .fits = fits_},
static const tsr_op_form forms[TSR_TEXT_FORM_COUNT] = {
#include "syntax/op_formats.def"
};
#undef FORMAT
#undef FUNCTIONS

static const tsr_op_form *form_of(tsr_text_form form) {
  return forms[form].format || forms[form].read ? &forms[form] : NULL;
}

tsr_status tsr_op_form_read(tsr_op_reader *reader, tsr_draft *draft) {
  const tsr_op_form *form = form_of(draft->info->form);
  if (!form)
    return tsr_reader_fail(reader->in, draft->at, SYNTAX,
                           "op \"%s\" has no short form; write \"%s\"(...) : (...) -> ...",
                           draft->name, draft->name);
  return form->format ? read_format(reader, draft, form->format) : form->read(reader, draft);
}

// Whether an op has the counts and the inherent attributes that its row asks for. Ops are printed
// before they are verified, too.
static bool fits_row(const tsr_op *op) {
  const tsr_op_info *info = op->info;
  if (!tsr_op_count_fits(info->operands, op->operand_count) ||
      !tsr_op_count_fits(info->results, op->result_count) ||
      !tsr_op_count_fits(info->regions, op->region_count))
    return false;
  for (int i = 0; i < info->attr_count; i++) {
    const tsr_attr *attr = tsr_op_attr(op, info->attrs[i].name);
    if (attr ? !tsr_attr_has_form(attr, info->attrs[i].form, info->attrs[i].id)
             : info->attrs[i].required)
      return false;
  }
  return true;
}

static bool fits_form(const tsr_op *op, const tsr_op_form *form) {
  if (!fits_row(op)) return false;
  if (form->format) return fits_format(op, form->format);
  return !form->fits || form->fits(op);
}

static void print_name(tsr_op_printer *printer, const tsr_op *op) {
  const size_t prefix = strlen(printer->dialect);
  const bool strip = prefix && !strncmp(op->name, printer->dialect, prefix);
  tsr_text_add(printer->out, op->name + (strip ? prefix : 0));
}

bool tsr_op_form_print(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_op_form *form = form_of(op->info->form);
  if (!form || !fits_form(op, form)) return false;
  print_name(printer, op);
  if (form->format)
    print_format(printer, op, form->format);
  else
    form->print(printer, op);
  return true;
}
