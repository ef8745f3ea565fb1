// Types: builtin ones by their word, those of dialects by their name after "!".
//
// Dimensions such as 4x?x8xf32 are not made of MLIR's tokens, so they are read by character up to
// the element type. Types that nothing here computes with keep their text.
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/cursor.h"
#include "syntax/reader_parts.h"
#include "tessera/engine/hash.h"

enum { MOST_BITS = 16777215, MOST_STORAGE_BITS = 32 };

static tsr_status give(const tsr_type *type, const tsr_type **out_type) {
  TSR_NEED(type);
  *out_type = type;
  return NULL;
}

static tsr_status read_plain(tsr_reader *reader, const tsr_type **out_type);

// ---- text kept as it is ----

static char closing(char open) {
  return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : open == '<' ? '>' : '\0';
}

// Whether the token opens or closes a bracket. Signs such as "->" do not, and "{-#" does; ">=" and
// "<=" are comparisons where no "<" is open.
static bool is_bracket(const tsr_reader *reader, char closer) {
  const tsr_token *token = &reader->token;
  if (token->kind != TSR_TOKEN_SIGN || (token->end - token->start > 1 && *token->start != '{'))
    return false;
  const bool angle = *token->start == '<' || (*token->start == '>' && closer != '>');
  if (angle && token->end < reader->end && *token->end == '=') return false;
  return closing(*token->start) || strchr(")]}>", *token->start);
}

tsr_status tsr_skip_brackets(tsr_reader *reader) {
  char closers[TSR_READER_DEPTH];
  int depth = 0;
  const char *start = reader->token.start;
  do {
    const tsr_token *token = &reader->token;
    if (token->kind == TSR_TOKEN_END || (token->kind == TSR_TOKEN_WRONG && *token->start == '"'))
      return tsr_reader_fail(reader, start, SYNTAX, "\"%c\" is not closed", *start);
    if (is_bracket(reader, depth ? closers[depth - 1] : '>')) {
      const char c = *token->start;
      if (!closing(c) && c != closers[depth - 1])
        return tsr_reader_expected(reader, (char[]){'"', closers[depth - 1], '"', '\0'});
      if (closing(c) && depth == TSR_READER_DEPTH)
        return tsr_reader_fail(reader, token->start, TOO_LARGE, "nested deeper than %d levels",
                               TSR_READER_DEPTH);
      if (closing(c))
        closers[depth++] = closing(c);
      else
        depth--;
    }
    tsr_next(reader);
  } while (depth);
  const char *zero = memchr(start, '\0', (size_t)(reader->last_end - start));
  return zero ? tsr_reader_fail(reader, zero, SYNTAX, "the text has a zero byte") : NULL;
}

bool tsr_reader_angle_follows(const tsr_reader *reader) {
  return reader->token.end < reader->end && *reader->token.end == '<';
}

tsr_dialect_name tsr_token_dialect(const tsr_token *token) {
  const char *name = token->start + 1;
  const size_t length = tsr_token_length(token) - 1;
  const char *dot = memchr(name, '.', length);
  if (!dot) return (tsr_dialect_name){name, token->end, length, 0};
  return (tsr_dialect_name){name, dot + 1, (size_t)(dot - name), (size_t)(token->end - dot - 1)};
}

bool tsr_dialect_is(const tsr_dialect_name *name, const char *dialect) {
  return tsr_word_is(name->dialect, name->dialect_length, dialect);
}

// MLIR writes a body that is a name, or a name and one pair of angle brackets, behind a dot.
static bool is_dotted_body(tsr_reader *reader, const char *start, const char *end) {
  tsr_reader body = *reader;
  body.end = end;
  tsr_reader_seek(&body, start);
  if (!tsr_at_kind(&body, TSR_TOKEN_WORD) || body.token.start != start) return false;
  const bool angle = tsr_reader_angle_follows(&body);
  tsr_next(&body);
  tsr_status status = angle ? tsr_skip_brackets(&body) : NULL;
  const bool dotted = !status && body.last_end == end;
  tsr_status_free(status);
  return dotted;
}

tsr_status tsr_read_dialect_text(tsr_reader *reader, const char **out_text, size_t *out_length) {
  const tsr_token name = reader->token;
  const bool angle = tsr_reader_angle_follows(reader);
  const bool dotted = memchr(name.start, '.', tsr_token_length(&name));
  tsr_next(reader);
  if (angle) TSR_TRY(tsr_skip_brackets(reader));
  *out_text = name.start;
  *out_length = (size_t)(reader->last_end - name.start);
  if (dotted || !angle || !is_dotted_body(reader, name.end + 1, reader->last_end - 1)) return NULL;
  char *text = tsr_arena_copy(&reader->ir->arena, name.start, --*out_length);
  TSR_NEED(text);
  text[name.end - name.start] = '.';
  *out_text = text;
  return NULL;
}

// Keeps the text from `start` to the last token as a type.
static tsr_status keep_text(tsr_reader *reader, const char *start, const tsr_type **out_type) {
  return give(tsr_type_opaque(reader->ir, start, (size_t)(reader->last_end - start)), out_type);
}

// From the current token on, with the "<...>" directly behind it.
static tsr_status read_opaque(tsr_reader *reader, const tsr_type **out_type) {
  const char *start = reader->token.start;
  const bool angle = tsr_reader_angle_follows(reader);
  tsr_next(reader);
  if (angle) TSR_TRY(tsr_skip_brackets(reader));
  return keep_text(reader, start, out_type);
}

// ---- dimensions ----

static const char *skip_spaces(const tsr_reader *reader, const char *at) {
  while (at < reader->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
  return at;
}

static bool is_digit_at(const tsr_reader *reader, const char *at) {
  return at < reader->end && *at >= '0' && *at <= '9';
}

// A number or "?"; moves `*at` behind it.
static tsr_status read_dim(const tsr_reader *reader, const char **at, int64_t *out_dim) {
  if (**at == '?') {
    ++*at;
    *out_dim = TSR_DYNAMIC;
    return NULL;
  }
  const char *start = *at;
  int64_t dim = 0;
  for (; is_digit_at(reader, *at); ++*at)
    if (__builtin_mul_overflow(dim, (int64_t)10, &dim) ||
        __builtin_add_overflow(dim, **at - '0', &dim))
      return tsr_reader_fail(reader, start, OVERFLOW, "a dimension is beyond 64 bits");
  *out_dim = dim;
  return NULL;
}

tsr_status tsr_read_dims(tsr_reader *reader, bool element_follows, const int64_t **out_dims,
                         int *out_rank) {
  const char *at = reader->token.start;
  int64_t *dims = NULL;
  int rank = 0;
  while (is_digit_at(reader, at) || (at < reader->end && *at == '?')) {
    if (rank == INT16_MAX)
      return tsr_reader_fail(reader, at, TOO_LARGE, "more than %d dimensions", INT16_MAX);
    dims = tsr_arena_grow(&reader->ir->arena, dims, rank, sizeof *dims);
    TSR_NEED(dims);
    TSR_TRY(read_dim(reader, &at, &dims[rank++]));
    const char *end = at;
    at = skip_spaces(reader, at);
    const bool more = at < reader->end && *at == 'x';
    if (!more && element_follows) {
      tsr_reader_seek(reader, at);
      return tsr_reader_expected(reader, "\"x\" after a dimension");
    }
    if (!more) {
      at = end;
      break;
    }
    at = skip_spaces(reader, at + 1);
  }
  tsr_reader_seek(reader, at);
  *out_dims = dims;
  *out_rank = rank;
  return NULL;
}

// ---- tensors and the like ----

// Of builtin types tensors hold numbers only; MLIR leaves those of dialects to the dialects.
static bool may_be_element(const tsr_type *type) {
  switch (type->kind) {
    case TSR_TYPE_TENSOR:
    case TSR_TYPE_UNRANKED:
    case TSR_TYPE_BUFFER:
    case TSR_TYPE_TUPLE:
    case TSR_TYPE_FUNCTION:
    case TSR_TYPE_NONE:
      return false;
    default:
      return true;
  }
}

static tsr_status read_element(tsr_reader *reader, const tsr_type **out_type) {
  const char *start = reader->token.start;
  TSR_TRY(read_plain(reader, out_type));
  if (may_be_element(*out_type)) return NULL;
  return tsr_reader_fail(reader, start, SYNTAX, "%.*s is not a type of elements",
                         (int)(reader->last_end - start), start);
}

// Whether "*x" comes next; steps to the element type behind it.
static bool take_unranked(tsr_reader *reader) {
  if (!tsr_at_sign(reader, "*")) return false;
  const char *at = skip_spaces(reader, reader->token.end);
  if (at == reader->end || *at != 'x') return false;
  tsr_reader_seek(reader, at + 1);
  return true;
}

// One bound for every dimension, and "?" for those of known size.
static tsr_status check_bounds(const tsr_reader *reader, const tsr_attr *encoding,
                               const int64_t *dims, int rank) {
  if (!encoding || encoding->kind != TSR_ATTR_RECORD || encoding->id != TSR_RECORD_BOUNDS)
    return NULL;
  const tsr_attr *bounds = tsr_attr_field(encoding, TSR_BOUNDS_SIZES);
  const int64_t count = tsr_attr_int_count(bounds);
  const char *at = reader->last_end - 1;
  if (count != rank)
    return tsr_reader_fail(reader, at, CONSTRAINT,
                           "the tensor has %lld bounds, expected one for each of %d dimensions",
                           (long long)count, rank);
  for (int i = 0; i < rank; i++)
    if (dims[i] != TSR_DYNAMIC && tsr_attr_int_at(bounds, i) != TSR_DYNAMIC)
      return tsr_reader_fail(reader, at, CONSTRAINT,
                             "dimension %d of known size %lld has bound %lld, expected \"?\"", i,
                             (long long)dims[i], (long long)tsr_attr_int_at(bounds, i));
  return NULL;
}

static tsr_status read_tensor(tsr_reader *reader, const tsr_type **out_type) {
  tsr_next(reader);
  TSR_TRY(tsr_expect_sign(reader, "<"));
  const tsr_type *element = NULL;
  if (take_unranked(reader)) {
    TSR_TRY(read_element(reader, &element));
    TSR_TRY(tsr_expect_sign(reader, ">"));
    return give(tsr_type_unranked(reader->ir, element), out_type);
  }
  const int64_t *dims = NULL;
  const tsr_attr *encoding = NULL;
  int rank = 0;
  TSR_TRY(tsr_read_dims(reader, true, &dims, &rank));
  TSR_TRY(read_element(reader, &element));
  if (tsr_take_sign(reader, ",")) TSR_TRY(tsr_read_attr(reader, NULL, &encoding));
  TSR_TRY(check_bounds(reader, encoding, dims, rank));
  TSR_TRY(tsr_expect_sign(reader, ">"));
  return give(tsr_type_tensor(reader->ir, element, rank, dims, encoding), out_type);
}

static tsr_status read_buffer(tsr_reader *reader, const tsr_type **out_type) {
  const tsr_token word = reader->token, next = tsr_peek_next(reader);
  tsr_next(reader);
  TSR_TRY(tsr_expect_sign(reader, "<"));
  if (tsr_at_sign(reader, "*")) {
    tsr_reader_seek(reader, word.start);
    return read_opaque(reader, out_type);
  }
  const int64_t *dims = NULL;
  const tsr_type *element = NULL;
  int rank = 0;
  TSR_TRY(tsr_read_dims(reader, true, &dims, &rank));
  TSR_TRY(read_plain(reader, &element));
  const char *rest = NULL;
  if (tsr_at_sign(reader, ",")) {
    const char *start = skip_spaces(reader, reader->token.end);
    tsr_reader_seek(reader, next.start);
    TSR_TRY(tsr_skip_brackets(reader));
    const char *end = reader->last_end - 1;
    if (end < start) end = start;
    rest = tsr_arena_copy(&reader->ir->arena, start, (size_t)(end - start));
    TSR_NEED(rest);
  } else {
    TSR_TRY(tsr_expect_sign(reader, ">"));
  }
  return give(tsr_type_buffer(reader->ir, element, rank, dims, rest), out_type);
}

static tsr_status read_complex(tsr_reader *reader, const tsr_type **out_type) {
  tsr_next(reader);
  TSR_TRY(tsr_expect_sign(reader, "<"));
  const char *start = reader->token.start;
  const tsr_type *element = NULL;
  TSR_TRY(read_plain(reader, &element));
  if (element->kind != TSR_TYPE_FLOAT && element->kind != TSR_TYPE_INTEGER)
    return tsr_reader_fail(reader, start, SYNTAX,
                           "%.*s is not a type of complex numbers, expected an integer or float",
                           (int)(reader->last_end - start), start);
  TSR_TRY(tsr_expect_sign(reader, ">"));
  return give(tsr_type_complex(reader->ir, element), out_type);
}

// ---- lists of types ----

// Most lists are short and end as part of a type that is known already, so the first types stand in
// the list itself. A list must not be copied.
enum { FEW_TYPES = 8 };
typedef struct type_list {
  const tsr_type **types;
  int count;
  const tsr_type *few[FEW_TYPES];
} type_list;

static void start_list(type_list *list) {
  list->types = list->few;
  list->count = 0;
}

static tsr_status add_type(tsr_reader *reader, void *context) {
  type_list *list = context;
  if (list->count == INT32_MAX / 2)
    return tsr_reader_fail(reader, reader->token.start, TOO_LARGE, "too many types");
  if (list->count >= FEW_TYPES) {  // a power of two, as the arena's lists want it
    const tsr_type **types =
        tsr_arena_grow(&reader->ir->arena, list->types, list->count, sizeof *list->types);
    TSR_NEED(types);
    list->types = types;
  }
  return tsr_read_type(reader, &list->types[list->count++]);
}

// The types of a list, in the program's memory.
static tsr_status keep_types(tsr_reader *reader, const type_list *list,
                             const tsr_type *const **out_types, int *out_count) {
  const tsr_type **types = list->types;
  if (types == list->few) {
    types = tsr_ir_alloc(reader->ir, (size_t)list->count * sizeof *types);
    TSR_NEED(types);
    memcpy(types, list->few, (size_t)list->count * sizeof *types);
  }
  *out_types = types;
  *out_count = list->count;
  return NULL;
}

tsr_status tsr_read_types(tsr_reader *reader, const tsr_type *const **out_types, int *out_count) {
  type_list list;
  start_list(&list);
  do {
    TSR_TRY(add_type(reader, &list));
  } while (tsr_take_sign(reader, ","));
  return keep_types(reader, &list, out_types, out_count);
}

static tsr_status read_types_between(tsr_reader *reader, const char *open, const char *close,
                                     type_list *out_list) {
  start_list(out_list);
  return tsr_read_list(reader, open, close, add_type, out_list);
}

tsr_status tsr_read_type_list(tsr_reader *reader, const tsr_type *const **out_types,
                              int *out_count) {
  type_list list;
  TSR_TRY(read_types_between(reader, "(", ")", &list));
  return keep_types(reader, &list, out_types, out_count);
}

tsr_status tsr_read_function_type(tsr_reader *reader, const tsr_type **out_type) {
  type_list inputs, results;
  TSR_TRY(read_types_between(reader, "(", ")", &inputs));
  TSR_TRY(tsr_expect_sign(reader, "->"));
  if (tsr_at_sign(reader, "(")) {
    TSR_TRY(read_types_between(reader, "(", ")", &results));
  } else {
    start_list(&results);
    TSR_TRY(read_plain(reader, &results.types[results.count++]));
  }
  return give(
      tsr_type_function(reader->ir, inputs.types, inputs.count, results.types, results.count),
      out_type);
}

static tsr_status read_group(tsr_reader *reader, tsr_type_kind kind, const tsr_type **out_type) {
  type_list list;
  tsr_next(reader);
  const char *start = reader->token.start;
  TSR_TRY(read_types_between(reader, "<", ">", &list));
  if (kind == TSR_TYPE_FUTURE && !list.count)
    return tsr_reader_fail(reader, start, SYNTAX, "a future holds no type, expected at least one");
  for (int i = 0; kind == TSR_TYPE_FUTURE && i < list.count; i++)
    if (list.types[i]->kind != TSR_TYPE_TENSOR)
      return tsr_reader_fail(reader, start, CONSTRAINT,
                             "type %d of a future is not a tensor of known rank", i);
  return give(tsr_type_tuple(reader->ir, kind, list.types, list.count), out_type);
}

static tsr_status read_tuple(tsr_reader *reader, const tsr_type **out_type) {
  return read_group(reader, TSR_TYPE_TUPLE, out_type);
}

static tsr_status read_simple(tsr_reader *reader, tsr_type_kind kind, const tsr_type **out_type) {
  tsr_next(reader);
  return give(tsr_type_simple(reader->ir, kind), out_type);
}

static tsr_status read_index(tsr_reader *reader, const tsr_type **out_type) {
  return read_simple(reader, TSR_TYPE_INDEX, out_type);
}

static tsr_status read_none(tsr_reader *reader, const tsr_type **out_type) {
  return read_simple(reader, TSR_TYPE_NONE, out_type);
}

// ---- quantised types ----

// i8, si8, ui8 or u8: the bits, 0 for another word.
static int storage_bits(const tsr_token *token, bool *out_signed) {
  const char *at = token->start;
  *out_signed = *at != 'u';
  if (*at == 'u' || *at == 's') at++;
  if (at < token->end && *at == 'i') at++;
  if (at == token->start || at == token->end || *at == '0') return 0;
  int bits = 0;
  for (; at < token->end; at++) {
    if (*at < '0' || *at > '9' || bits > MOST_STORAGE_BITS) return 0;
    bits = bits * 10 + (*at - '0');
  }
  return bits <= MOST_STORAGE_BITS ? bits : 0;
}

static tsr_status read_storage(tsr_reader *reader, tsr_quant *quant) {
  const int bits =
      tsr_at_kind(reader, TSR_TOKEN_WORD) ? storage_bits(&reader->token, &quant->is_signed) : 0;
  if (!bits) return tsr_reader_expected(reader, "a storage type of at most 32 bits such as i8");
  const bool marked = *reader->token.start == 's';  // si8 is a storage type that no op accepts
  tsr_next(reader);
  quant->storage = tsr_type_integer(reader->ir, bits, marked ? TSR_SIGNED : TSR_SIGNLESS);
  TSR_NEED(quant->storage);
  const int64_t range = INT64_C(1) << bits;
  quant->storage_min = quant->is_signed ? -range / 2 : 0;
  quant->storage_max = quant->storage_min + range - 1;
  if (!tsr_take_sign(reader, "<")) return NULL;
  const char *start = reader->token.start;
  const int64_t least = quant->storage_min, most = quant->storage_max;
  TSR_TRY(tsr_read_int(reader, "the storage minimum", &quant->storage_min));
  TSR_TRY(tsr_expect_sign(reader, ":"));
  TSR_TRY(tsr_read_int(reader, "the storage maximum", &quant->storage_max));
  if (quant->storage_min < least || quant->storage_max > most)
    return tsr_reader_fail(reader, start, SYNTAX,
                           "storage range %lld:%lld is beyond %lld:%lld of its type",
                           (long long)quant->storage_min, (long long)quant->storage_max,
                           (long long)least, (long long)most);
  return tsr_expect_sign(reader, ">");
}

typedef struct scale_list {
  tsr_quant_scale *scales;
  int count;
} scale_list;

static tsr_status add_scale(tsr_reader *reader, void *context) {
  scale_list *list = context;
  if (list->count == INT32_MAX / 2)
    return tsr_reader_fail(reader, reader->token.start, TOO_LARGE, "too many scales");
  tsr_quant_scale *scales =
      tsr_arena_grow(&reader->ir->arena, list->scales, list->count, sizeof *scales);
  TSR_NEED(scales);
  list->scales = scales;
  tsr_quant_scale *scale = &scales[list->count++];
  *scale = (tsr_quant_scale){0, 0};
  if (!tsr_at_kind(reader, TSR_TOKEN_FLOAT) && !tsr_at_kind(reader, TSR_TOKEN_INTEGER))
    return tsr_reader_expected(reader, "a scale such as 0.5");
  const tsr_type *f64 = tsr_type_float(reader->ir, TSR_FLOAT_F64);
  TSR_NEED(f64);
  const tsr_attr *value = NULL;
  TSR_TRY(tsr_read_attr(reader, f64, &value));
  memcpy(&scale->scale, &value->bits, sizeof scale->scale);
  return tsr_take_sign(reader, ":") ? tsr_read_int(reader, "a zero point", &scale->zero_point)
                                    : NULL;
}

// !quant.uniform<storage<min:max>:expressed:axis, {scale:zero, ...}>
static tsr_status read_quant(tsr_reader *reader, const tsr_type **out_type) {
  const char *start = reader->token.start;
  tsr_quant quant = {.axis = -1};
  tsr_next(reader);
  TSR_TRY(tsr_expect_sign(reader, "<"));
  TSR_TRY(read_storage(reader, &quant));
  TSR_TRY(tsr_expect_sign(reader, ":"));
  const char *expressed = reader->token.start;
  TSR_TRY(read_plain(reader, &quant.expressed));
  assert(quant.expressed);
  if (quant.expressed->kind != TSR_TYPE_FLOAT)
    return tsr_reader_fail(reader, expressed, SYNTAX, "expressed type %.*s is not a float",
                           (int)(reader->last_end - expressed), expressed);
  scale_list list = {NULL, 0};
  if (tsr_take_sign(reader, ":")) {
    if (tsr_at_sign(reader, "{")) {  // blocks of several axes
      tsr_reader_seek(reader, start);
      return read_opaque(reader, out_type);
    }
    const char *place = reader->token.start;
    int64_t axis = 0;
    TSR_TRY(tsr_read_int(reader, "an axis", &axis));
    if (axis < 0 || axis > INT16_MAX)
      return tsr_reader_fail(reader, place, SYNTAX, "axis %lld is not from 0 to %d",
                             (long long)axis, INT16_MAX);
    quant.axis = (int)axis;
    TSR_TRY(tsr_expect_sign(reader, ","));
    TSR_TRY(tsr_read_list(reader, "{", "}", add_scale, &list));
  } else {
    TSR_TRY(tsr_expect_sign(reader, ","));
    TSR_TRY(add_scale(reader, &list));
  }
  quant.scales = list.scales;
  quant.scale_count = list.count;
  TSR_TRY(tsr_expect_sign(reader, ">"));
  return give(tsr_type_quant(reader->ir, &quant), out_type);
}

// ---- all types ----

typedef tsr_status read_type_fn(tsr_reader *reader, const tsr_type **out_type);

static tsr_status read_token(tsr_reader *reader, const tsr_type **out_type) {
  return read_simple(reader, TSR_TYPE_TOKEN, out_type);
}

static tsr_status read_witness(tsr_reader *reader, const tsr_type **out_type) {
  return read_simple(reader, TSR_TYPE_WITNESS, out_type);
}

static tsr_status read_future(tsr_reader *reader, const tsr_type **out_type) {
  return read_group(reader, TSR_TYPE_FUTURE, out_type);
}

static const struct {
  const char *name;
  read_type_fn *read;
} by_word[] = {
    {"tensor", read_tensor},
    {"index", read_index},
    {"complex", read_complex},
    {"tuple", read_tuple},
    {"none", read_none},
    {"memref", read_buffer},
    {"vector", read_opaque},
    {"!quant.uniform", read_quant},
    {"!stablehlo.token", read_token},
    {"!shape.witness", read_witness},
    {"!stablehlo.future", read_future},
};

// i32, si8 or ui4; NULL leaves the token.
static tsr_status read_integer(tsr_reader *reader, const tsr_type **out_type) {
  const tsr_token *token = &reader->token;
  const char *at = token->start;
  const tsr_sign sign = *at == 's' ? TSR_SIGNED : *at == 'u' ? TSR_UNSIGNED : TSR_SIGNLESS;
  if (sign != TSR_SIGNLESS) at++;
  if (at == token->end || *at++ != 'i' || at == token->end) return NULL;
  int width = 0;
  for (; at < token->end; at++) {
    if (*at < '0' || *at > '9') return NULL;
    if (width <= MOST_BITS) width = width * 10 + (*at - '0');
  }
  if (width > MOST_BITS || width == 0)
    return tsr_reader_fail(reader, token->start, SYNTAX, "%.*s has not from 1 to %d bits",
                           (int)tsr_token_length(token), token->start, MOST_BITS);
  tsr_next(reader);
  return give(tsr_type_integer(reader->ir, width, sign), out_type);
}

static tsr_status read_word_type(tsr_reader *reader, const tsr_type **out_type) {
  TSR_TRY(read_integer(reader, out_type));
  if (*out_type) return NULL;
  const tsr_token *token = &reader->token;
  const int format = tsr_float_find(token->start, tsr_token_length(token));
  if (format < 0) return tsr_reader_expected(reader, "a type");
  tsr_next(reader);
  return give(tsr_type_float(reader->ir, (tsr_float)format), out_type);
}

static tsr_status read_bang(tsr_reader *reader, const tsr_type **out_type) {
  const tsr_dialect_name name = tsr_token_dialect(&reader->token);
  if (!name.rest_length && !tsr_reader_angle_follows(reader))
    return tsr_read_type_alias(reader, out_type);
  if (tsr_dialect_is(&name, "stablehlo"))
    return tsr_reader_fail(reader, reader->token.start, SYNTAX,
                           "stablehlo has no type \"%.*s\", expected token or future",
                           (int)name.rest_length, name.rest);
  const char *text = NULL;
  size_t length = 0;
  TSR_TRY(tsr_read_dialect_text(reader, &text, &length));
  return give(tsr_type_opaque(reader->ir, text, length), out_type);
}

static tsr_status read_named(tsr_reader *reader, const tsr_type **out_type) {
  for (size_t i = 0; i < sizeof by_word / sizeof *by_word; i++)
    if (tsr_token_is(&reader->token, by_word[i].name)) return by_word[i].read(reader, out_type);
  return tsr_at_kind(reader, TSR_TOKEN_WORD) ? read_word_type(reader, out_type)
                                             : read_bang(reader, out_type);
}

// ---- types read before ----

// The end of a tensor type that has nothing but dimensions and a plain element type; NULL for
// others, which are read each time.
static const char *plain_tensor_end(const tsr_reader *reader) {
  if (!tsr_at_word(reader, "tensor") || reader->at == reader->end || *reader->at != '<')
    return NULL;
  const char *at = reader->at + 1;
  while (at < reader->end && (isalnum((unsigned char)*at) || *at == '?')) at++;
  return at < reader->end && *at == '>' ? at + 1 : NULL;
}

static tsr_known_type *known_slot(tsr_reader *reader, const char *text, size_t length) {
  return &reader->known_types[tsr_hash64(text, length, 0) % TSR_KNOWN_TYPES];
}

static tsr_status read_plain_once(tsr_reader *reader, const tsr_type **out_type) {
  if (!tsr_at_kind(reader, TSR_TOKEN_WORD) && !tsr_at_kind(reader, TSR_TOKEN_BANG))
    return tsr_reader_expected(reader, "a type");
  const char *start = reader->token.start;
  const tsr_type *type = NULL;
  TSR_TRY(tsr_reader_enter(reader));
  TSR_TRY(read_named(reader, &type));
  tsr_reader_leave(reader);
  if (type->weight > TSR_MOST_WEIGHT)
    return tsr_reader_fail(reader, start, TOO_LARGE, "a type made of more than %d types",
                           TSR_MOST_WEIGHT);
  *out_type = type;
  return NULL;
}

// Any type but a function.
static tsr_status read_plain(tsr_reader *reader, const tsr_type **out_type) {
  const char *start = reader->token.start, *end = plain_tensor_end(reader);
  if (!end) return read_plain_once(reader, out_type);
  const size_t length = (size_t)(end - start);
  tsr_known_type *known = known_slot(reader, start, length);
  if (known->text && known->length == length && !memcmp(known->text, start, length)) {
    tsr_reader_seek(reader, end);
    *out_type = known->type;
    return NULL;
  }
  TSR_TRY(read_plain_once(reader, out_type));
  *known = (tsr_known_type){start, length, *out_type};
  return NULL;
}

tsr_status tsr_read_type(tsr_reader *reader, const tsr_type **out_type) {
  if (!tsr_at_sign(reader, "(")) return read_plain(reader, out_type);
  const tsr_type *type = NULL;
  TSR_TRY(tsr_reader_enter(reader));
  TSR_TRY(tsr_read_function_type(reader, &type));
  tsr_reader_leave(reader);
  *out_type = type;
  return NULL;
}
