// Attributes, by their first token.
//
// Those of stablehlo, chlo and sdy become enums and records; those of other dialects, and builtin
// ones that nothing here looks into (affine_map and the like), keep their text.
#include <assert.h>
#include <string.h>

#include "base/cursor.h"
#include "base/text_internal.h"
#include "syntax/float_literal.h"
#include "syntax/reader_parts.h"
#include "syntax/syntax.h"

static tsr_status give(const tsr_attr *attr, const tsr_attr **out_attr) {
  TSR_NEED(attr);
  *out_attr = attr;
  return NULL;
}

tsr_status tsr_keep_opaque(tsr_reader *reader, const char *start, const tsr_attr **out_attr) {
  return give(tsr_attr_opaque(reader->ir, start, (size_t)(reader->last_end - start)), out_attr);
}

tsr_status tsr_attr_list_add(tsr_reader *reader, tsr_attr_list *list, const tsr_attr *attr) {
  const tsr_attr **items =
      tsr_arena_grow(&reader->ir->arena, list->items, list->count, sizeof *list->items);
  TSR_NEED(items);
  list->items = items;
  items[list->count++] = attr;
  return NULL;
}

tsr_status tsr_read_colon_type(tsr_reader *reader, const tsr_type *given,
                               const tsr_type **out_type) {
  if (given) {
    *out_type = given;
    return NULL;
  }
  TSR_TRY(tsr_expect_sign(reader, ":"));
  return tsr_read_type(reader, out_type);
}

// ---- numbers ----

// As MLIR does: without a sign both 255 and -128 are i8.
tsr_status tsr_check_integer(const tsr_reader *reader, const char *at, const tsr_type *type,
                             bool negative, uint64_t magnitude, uint64_t *out_bits) {
  const int width = type->kind == TSR_TYPE_INDEX ? 64 : type->width < 64 ? type->width : 64;
  const tsr_sign sign = type->kind == TSR_TYPE_INDEX ? TSR_SIGNLESS : type->sign;
  const uint64_t half = UINT64_C(1) << (width - 1), all = half - 1 + half;
  const bool wide = type->kind == TSR_TYPE_INTEGER && type->width > 64;
  const uint64_t most = negative ? half : sign == TSR_SIGNED || wide ? half - 1 : all;
  if (magnitude > most || (negative && sign == TSR_UNSIGNED))
    return tsr_reader_fail(reader, at, OVERFLOW, "%s%llu is beyond %s%.0d", negative ? "-" : "",
                           (unsigned long long)magnitude,
                           type->kind == TSR_TYPE_INDEX ? "index"
                           : sign == TSR_SIGNED         ? "si"
                           : sign == TSR_UNSIGNED       ? "ui"
                                                        : "i",
                           type->kind == TSR_TYPE_INDEX ? 0 : type->width);
  *out_bits = negative ? 0 - magnitude : magnitude;
  return NULL;
}

static tsr_status read_float(tsr_reader *reader, const tsr_token *token, bool negative,
                             const tsr_type *type, const tsr_attr **out_attr) {
  const bool hex = tsr_token_length(token) > 2 && token->start[1] == 'x';
  uint64_t bits = 0;
  if (!tsr_float_is_known(type->format))
    return tsr_reader_fail(reader, token->start, UNSUPPORTED, "numbers of %s are not supported",
                           tsr_float_name(type->format));
  if (token->kind == TSR_TOKEN_FLOAT) {
    bits = tsr_float_round(type->format, token->start, tsr_token_length(token), negative);
  } else if (!hex || negative) {
    return tsr_reader_fail(reader, token->start, SYNTAX,
                           "%.*s is not a number of %s, expected one such as 1.0 or its bits 0x0",
                           (int)tsr_token_length(token), token->start,
                           tsr_float_name(type->format));
  } else if (!tsr_token_magnitude(token, &bits) ||
             (tsr_type_bits(type) < 64 && bits >> tsr_type_bits(type))) {
    return tsr_reader_fail(reader, token->start, OVERFLOW, "%.*s has more than %d bits",
                           (int)tsr_token_length(token), token->start, tsr_type_bits(type));
  }
  return give(tsr_attr_float(reader->ir, type, bits), out_attr);
}

static tsr_status read_integer(tsr_reader *reader, const tsr_token *token, bool negative,
                               const tsr_type *type, const tsr_attr **out_attr) {
  uint64_t magnitude = 0, bits = 0;
  if (token->kind == TSR_TOKEN_FLOAT)
    return tsr_reader_fail(reader, token->start, SYNTAX, "%.*s is not an integer",
                           (int)tsr_token_length(token), token->start);
  if (!tsr_token_magnitude(token, &magnitude))
    return tsr_reader_fail(reader, token->start, OVERFLOW, "%.*s is beyond 64 bits",
                           (int)tsr_token_length(token), token->start);
  TSR_TRY(tsr_check_integer(reader, token->start, type, negative, magnitude, &bits));
  return give(tsr_attr_integer(reader->ir, type, (int64_t)bits), out_attr);
}

static tsr_status read_number(tsr_reader *reader, const tsr_type *type, const tsr_attr **out_attr) {
  const bool negative = tsr_take_sign(reader, "-");
  const tsr_token token = reader->token;
  if (token.kind != TSR_TOKEN_INTEGER && token.kind != TSR_TOKEN_FLOAT)
    return tsr_reader_expected(reader, negative ? "a number" : "an attribute");
  tsr_next(reader);
  if (!type && tsr_take_sign(reader, ":")) {
    TSR_TRY(tsr_read_type(reader, &type));
  } else if (!type) {
    type = token.kind == TSR_TOKEN_FLOAT ? tsr_type_float(reader->ir, TSR_FLOAT_F64)
                                         : tsr_type_integer(reader->ir, 64, TSR_SIGNLESS);
    TSR_NEED(type);
  }
  if (type->kind == TSR_TYPE_FLOAT) return read_float(reader, &token, negative, type, out_attr);
  if (type->kind == TSR_TYPE_INTEGER || type->kind == TSR_TYPE_INDEX)
    return read_integer(reader, &token, negative, type, out_attr);
  return tsr_reader_fail(reader, token.start, SYNTAX,
                         "the type of %.*s is not an integer, index or float",
                         (int)tsr_token_length(&token), token.start);
}

// ---- strings and symbols ----

static tsr_status read_string_attr(tsr_reader *reader, const tsr_type *type,
                                   const tsr_attr **out_attr) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_read_string(reader, "a string", &bytes, &length));
  const tsr_type *own = NULL;
  if (!type && tsr_take_sign(reader, ":")) TSR_TRY(tsr_read_type(reader, &own));
  if (own && own->kind == TSR_TYPE_NONE) own = NULL;
  return give(own ? tsr_attr_typed_string(reader->ir, own, bytes, length)
                  : tsr_attr_string(reader->ir, bytes, length),
              out_attr);
}

static tsr_status read_flat_symbol(tsr_reader *reader, const tsr_attr **out_attr) {
  const char *name = NULL;
  TSR_TRY(tsr_read_symbol_name(reader, &name));
  return give(tsr_attr_symbol(reader->ir, name, strlen(name)), out_attr);
}

static tsr_status read_symbol(tsr_reader *reader, const tsr_attr **out_attr) {
  const tsr_attr *root = NULL;
  TSR_TRY(read_flat_symbol(reader, &root));
  tsr_attr_list nested = {NULL, 0};
  while (tsr_take_sign(reader, "::")) {
    const tsr_attr *name = NULL;
    TSR_TRY(read_flat_symbol(reader, &name));
    TSR_TRY(tsr_attr_list_add(reader, &nested, name));
  }
  return give(nested.count ? tsr_attr_nested_symbol(reader->ir, root->bytes, root->length,
                                                    nested.items, nested.count)
                           : root,
              out_attr);
}

// ---- arrays and dictionaries ----

static tsr_status add_attr(tsr_reader *reader, void *context) {
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_read_attr(reader, NULL, &attr));
  return tsr_attr_list_add(reader, context, attr);
}

tsr_status tsr_read_array(tsr_reader *reader, const tsr_attr **out_array) {
  tsr_attr_list list = {NULL, 0};
  TSR_TRY(tsr_read_list(reader, "[", "]", add_attr, &list));
  return give(tsr_attr_array(reader->ir, list.items, list.count), out_array);
}

static tsr_status read_entry_name(tsr_reader *reader, const char **out_name) {
  if (!tsr_at_kind(reader, TSR_TOKEN_STRING))
    return tsr_read_word(reader, "the name of an attribute", out_name);
  const char *place = reader->token.start, *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_read_string(reader, "a name", &bytes, &length));
  if (!length || memchr(bytes, '\0', length))
    return tsr_reader_fail(reader, place, SYNTAX, "the name of an attribute is %s",
                           length ? "not a text: it has a zero byte" : "empty");
  *out_name = tsr_ir_name(reader->ir, bytes, length);
  TSR_NEED(*out_name);
  return NULL;
}

tsr_status tsr_read_named_attr(tsr_reader *reader, tsr_named_attr *out_entry) {
  TSR_TRY(read_entry_name(reader, &out_entry->name));
  if (tsr_take_sign(reader, "=")) return tsr_read_attr(reader, NULL, &out_entry->attr);
  out_entry->attr = tsr_attr_unit(reader->ir);
  return NULL;
}

typedef struct entry_list {
  tsr_named_attr *entries;
  int64_t count;
} entry_list;

static tsr_status add_entry(tsr_reader *reader, void *context) {
  entry_list *list = context;
  tsr_named_attr *entries =
      tsr_arena_grow(&reader->ir->arena, list->entries, list->count, sizeof *entries);
  TSR_NEED(entries);
  list->entries = entries;
  return tsr_read_named_attr(reader, &entries[list->count++]);
}

tsr_status tsr_read_attr_dict(tsr_reader *reader, const tsr_attr **out_dict) {
  const char *start = reader->token.start;
  entry_list list = {NULL, 0};
  TSR_TRY(tsr_read_list(reader, "{", "}", add_entry, &list));
  const tsr_attr *dict = tsr_attr_dict(reader->ir, list.entries, list.count);
  TSR_NEED(dict);
  for (int64_t i = 1; i < dict->count; i++)
    if (dict->entries[i].name == dict->entries[i - 1].name)
      return tsr_reader_fail(reader, start, SYNTAX, "attribute \"%s\" is given twice",
                             dict->entries[i].name);
  *out_dict = dict;
  return NULL;
}

// ---- words ----

static tsr_status read_unit(tsr_reader *reader, const tsr_type *type, const tsr_attr **out_attr) {
  (void)type;
  tsr_next(reader);
  return give(tsr_attr_unit(reader->ir), out_attr);
}

static tsr_status read_bool_attr(tsr_reader *reader, const tsr_type *type,
                                 const tsr_attr **out_attr) {
  const char *place = reader->token.start;
  bool value = false;
  TSR_TRY(tsr_read_bool(reader, &value));
  if (type && (type->kind != TSR_TYPE_INTEGER || type->width != 1))
    return tsr_reader_fail(reader, place, SYNTAX, "%s is a number of i1 only",
                           value ? "true" : "false");
  return give(tsr_attr_bool(reader->ir, value), out_attr);
}

static tsr_status read_array_word(tsr_reader *reader, const tsr_type *type,
                                  const tsr_attr **out_attr) {
  (void)type;
  return tsr_read_dense_array(reader, out_attr);
}

static tsr_status read_location_word(tsr_reader *reader, const tsr_type *type,
                                     const tsr_attr **out_attr) {
  (void)type;
  return tsr_read_location(reader, out_attr);
}

// affine_map<...>, distinct[0]<...>: brackets as many as there are.
static tsr_status read_brackets(tsr_reader *reader, const tsr_type *type,
                                const tsr_attr **out_attr) {
  (void)type;
  const char *start = reader->token.start;
  tsr_next(reader);
  if (tsr_at_sign(reader, "[")) TSR_TRY(tsr_skip_brackets(reader));
  if (!tsr_at_sign(reader, "<")) return tsr_expect_sign(reader, "<");
  TSR_TRY(tsr_skip_brackets(reader));
  return tsr_keep_opaque(reader, start, out_attr);
}

static tsr_status read_sparse(tsr_reader *reader, const tsr_type *type, const tsr_attr **out_attr) {
  const char *start = reader->token.start;
  const tsr_type *own = NULL;
  TSR_TRY(read_brackets(reader, type, out_attr));
  TSR_TRY(tsr_read_colon_type(reader, type, &own));
  return tsr_keep_opaque(reader, start, out_attr);
}

static const struct {
  const char *word;
  tsr_status (*read)(tsr_reader *reader, const tsr_type *type, const tsr_attr **out_attr);
} words[] = {
    {"dense", tsr_read_dense},     {"true", read_bool_attr},
    {"false", read_bool_attr},     {"array", read_array_word},
    {"unit", read_unit},           {"dense_resource", tsr_read_resource},
    {"loc", read_location_word},   {"sparse", read_sparse},
    {"affine_map", read_brackets}, {"affine_set", read_brackets},
    {"distinct", read_brackets},   {"strided", read_brackets},
};

static tsr_status read_type_attr(tsr_reader *reader, const tsr_attr **out_attr) {
  const tsr_type *type = NULL;
  TSR_TRY(tsr_read_type(reader, &type));
  return give(tsr_attr_type(reader->ir, type), out_attr);
}

static tsr_status read_word_attr(tsr_reader *reader, const tsr_type *type,
                                 const tsr_attr **out_attr) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tsr_token_is(&reader->token, words[i].word)) return words[i].read(reader, type, out_attr);
  const char *place = reader->token.start;
  tsr_status status = read_type_attr(reader, out_attr);
  if (!status || reader->token.start != place || tsr_status_cause(status) == TSR_CAUSE_NO_MEMORY)
    return status;
  tsr_status_free(status);
  return tsr_reader_expected(reader, "an attribute");
}

// ---- attributes of dialects ----

static tsr_status fail_unknown(tsr_reader *reader, const char *at, const tsr_dialect_name *name) {
  return tsr_reader_fail(reader, at, SYNTAX, "%.*s has no attribute \"%.*s\"",
                         (int)name->dialect_length, name->dialect, (int)name->rest_length,
                         name->rest);
}

// One case of an enum: a word, in angle brackets for the mode of result_accuracy.
static tsr_status read_enum_body(tsr_reader *reader, tsr_enum_id id, const tsr_attr **out_attr) {
  const bool angles = id == TSR_ENUM_ACCURACY_MODE;
  if (angles) TSR_TRY(tsr_expect_sign(reader, "<"));
  TSR_TRY(tsr_read_enum(reader, id, out_attr));
  return angles ? tsr_expect_sign(reader, ">") : NULL;
}

// What follows the name of an attribute of stablehlo, chlo or sdy.
static tsr_status read_own_body(tsr_reader *reader, const char *at, const tsr_dialect_name *name,
                                const tsr_attr **out_attr) {
  char dialect[16];
  memcpy(dialect, name->dialect, name->dialect_length);
  dialect[name->dialect_length] = '\0';
  const int family = tsr_enum_find(dialect, name->rest, name->rest_length);
  if (family >= 0) return read_enum_body(reader, (tsr_enum_id)family, out_attr);
  int record = tsr_record_find(dialect, name->rest, name->rest_length);
  if (record < 0 && !strcmp(dialect, "stablehlo") &&
      tsr_word_is(name->rest, name->rest_length, "type_extensions"))
    record = TSR_RECORD_BOUNDS;
  if (record < 0) return fail_unknown(reader, at, name);
  const bool wrapped = record == TSR_RECORD_CONV || record == TSR_RECORD_SDY_SHARDINGS;
  if (wrapped) TSR_TRY(tsr_expect_sign(reader, "<"));
  TSR_TRY(tsr_read_record_body(reader, (tsr_record_id)record, out_attr));
  return wrapped ? tsr_expect_sign(reader, ">") : NULL;
}

// #dialect.name<...> or #dialect<name...>.
static tsr_status read_own_dialect(tsr_reader *reader, const tsr_attr **out_attr) {
  const char *at = reader->token.start;
  tsr_dialect_name name = tsr_token_dialect(&reader->token);
  tsr_next(reader);
  if (name.rest_length) return read_own_body(reader, at, &name, out_attr);
  TSR_TRY(tsr_expect_sign(reader, "<"));
  if (!tsr_at_kind(reader, TSR_TOKEN_WORD))
    return tsr_reader_expected(reader, "the name of an attribute");
  name.rest = reader->token.start;
  name.rest_length = tsr_token_length(&reader->token);
  tsr_next(reader);
  TSR_TRY(read_own_body(reader, at, &name, out_attr));
  return tsr_expect_sign(reader, ">");
}

// Attributes that Shardy writes for debugging.
static bool is_kept(const tsr_reader *reader, const tsr_dialect_name *name) {
  static const char *const kept[] = {"propagation_edges", "edge_value_ref", "propagation_one_step",
                                     "axis_to_propagation_details"};
  if (!tsr_dialect_is(name, "sdy")) return false;
  tsr_token word = {TSR_TOKEN_WORD, name->rest, name->rest + name->rest_length};
  if (!name->rest_length && reader->token.end < reader->end) {
    tsr_reader ahead = *reader;
    tsr_next(&ahead);
    word = tsr_peek_next(&ahead);
  }
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    const size_t length = strlen(kept[i]);
    if (tsr_token_length(&word) >= length && !memcmp(word.start, kept[i], length)) return true;
  }
  return false;
}

static tsr_status read_dialect_attr(tsr_reader *reader, const tsr_type *type,
                                    const tsr_attr **out_attr) {
  const tsr_dialect_name name = tsr_token_dialect(&reader->token);
  const bool own = tsr_dialect_is(&name, "stablehlo") || tsr_dialect_is(&name, "chlo") ||
                   tsr_dialect_is(&name, "sdy");
  if (own && !is_kept(reader, &name)) return read_own_dialect(reader, out_attr);
  const char *text = NULL;
  size_t length = 0;
  TSR_TRY(tsr_read_dialect_text(reader, &text, &length));
  if (type || !tsr_at_sign(reader, ":"))
    return give(tsr_attr_opaque(reader->ir, text, length), out_attr);
  tsr_next(reader);
  const tsr_type *own_type = NULL;
  TSR_TRY(tsr_read_type(reader, &own_type));
  tsr_text_clear(&reader->scratch);
  tsr_text_add_bytes(&reader->scratch, text, length);
  tsr_text_add(&reader->scratch, " : ");
  tsr_type_print(own_type, &reader->scratch);
  TSR_TRY(tsr_text_check(&reader->scratch));
  return give(tsr_attr_opaque(reader->ir, reader->scratch.data, reader->scratch.length), out_attr);
}

static tsr_status read_hash(tsr_reader *reader, const tsr_type *type, const tsr_attr **out_attr) {
  const bool dotted = memchr(reader->token.start, '.', tsr_token_length(&reader->token));
  return dotted || tsr_reader_angle_follows(reader) ? read_dialect_attr(reader, type, out_attr)
                                                    : tsr_read_attr_alias(reader, out_attr);
}

// ---- all attributes ----

static tsr_status read_any(tsr_reader *reader, const tsr_type *type, const tsr_attr **out_attr) {
  switch (reader->token.kind) {
    case TSR_TOKEN_INTEGER:
    case TSR_TOKEN_FLOAT:
      return read_number(reader, type, out_attr);
    case TSR_TOKEN_STRING:
      return read_string_attr(reader, type, out_attr);
    case TSR_TOKEN_SYMBOL:
      return read_symbol(reader, out_attr);
    case TSR_TOKEN_HASH:
      return read_hash(reader, type, out_attr);
    case TSR_TOKEN_BANG:
      return read_type_attr(reader, out_attr);
    case TSR_TOKEN_WORD:
      return read_word_attr(reader, type, out_attr);
    default:
      if (tsr_at_sign(reader, "[")) return tsr_read_array(reader, out_attr);
      if (tsr_at_sign(reader, "{")) return tsr_read_attr_dict(reader, out_attr);
      if (tsr_at_sign(reader, "(")) return read_type_attr(reader, out_attr);
      if (tsr_at_sign(reader, "-")) return read_number(reader, type, out_attr);
      return tsr_reader_expected(reader, "an attribute");
  }
}

tsr_status tsr_read_attr(tsr_reader *reader, const tsr_type *type, const tsr_attr **out_attr) {
  const char *start = reader->token.start;
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_reader_enter(reader));
  TSR_TRY(read_any(reader, type, &attr));
  assert(attr);
  tsr_reader_leave(reader);
  if (attr->weight > TSR_MOST_WEIGHT)
    return tsr_reader_fail(reader, start, TOO_LARGE, "an attribute made of more than %d attributes",
                           TSR_MOST_WEIGHT);
  *out_attr = attr;
  return NULL;
}
