// The elements of constants: dense<...>, array<...>, dense_resource<...>.
//
// The type stands behind the elements, so their end is found first; then they are read straight
// into the program's memory. Most of the bytes of a large program pass through here: a payload in
// hexadecimal digits is decoded by a table, and a list of numbers by loops without tokens.
#include <string.h>

#include "base/cursor.h"
#include "syntax/float_literal.h"
#include "syntax/reader_parts.h"

// ---- where the elements stand ----

typedef struct literal {
  const char *start, *end;  // between "<" and ">"
  bool text;                // one string in quotes
  bool texts;               // strings somewhere
} literal;

// Finds the ">" of the "<" at the current token and steps behind it.
static tsr_status find_literal(tsr_reader *reader, literal *out) {
  if (!tsr_at_sign(reader, "<")) return tsr_expect_sign(reader, "<");
  const char *open = reader->token.start;
  *out = (literal){.start = reader->token.end};
  const tsr_token first = tsr_peek_next(reader);
  out->text = first.kind == TSR_TOKEN_STRING;
  if (out->text) {
    tsr_next(reader);
    tsr_next(reader);
    out->end = reader->token.start;
    return tsr_expect_sign(reader, ">");
  }
  out->end = memchr(out->start, '>', (size_t)(reader->end - out->start));
  if (out->end && memchr(out->start, '"', (size_t)(out->end - out->start))) {
    TSR_TRY(tsr_skip_brackets(reader));
    out->end = reader->last_end - 1;
    out->texts = true;
    return NULL;
  }
  if (!out->end) return tsr_reader_fail(reader, open, SYNTAX, "\"<\" is not closed");
  tsr_reader_seek(reader, out->end + 1);
  reader->last_end = out->end + 1;
  return NULL;
}

// ---- hexadecimal payloads ----

enum { HEX_BLOCK = 256 };  // bytes made at a time

// Plain loops over blocks, which compilers vectorise. False if a character is not a digit.
static bool decode_block(const unsigned char *text, unsigned char *bytes, size_t length) {
  unsigned char values[2 * HEX_BLOCK], wrong = 0;
  for (size_t i = 0; i < 2 * length; i++) {
    const unsigned char digit = (unsigned char)(text[i] - '0');
    const unsigned char letter = (unsigned char)((text[i] | 32) - 'a');
    wrong |= digit > 9 && letter > 5;
    values[i] = digit <= 9 ? digit : (unsigned char)(letter + 10);
  }
  for (size_t i = 0; i < length; i++)
    bytes[i] = (unsigned char)(values[2 * i] << 4 | values[2 * i + 1]);
  return !wrong;
}

static bool decode_hex(const char *text, char *bytes, size_t length) {
  bool valid = true;
  for (size_t i = 0; i < length && valid; i += HEX_BLOCK) {
    const size_t left = length - i;
    valid = decode_block((const unsigned char *)text + 2 * i, (unsigned char *)bytes + i,
                         left < HEX_BLOCK ? left : HEX_BLOCK);
  }
  return valid;
}

// Elements that do not fill their bytes have zeros above; a bool is 0 or 1.
static void clean_bits(const tsr_type *element, char *bytes, size_t length) {
  const int bits = tsr_type_bits(element);
  if (element->kind == TSR_TYPE_COMPLEX || bits >= 64 || bits % 8 == 0) return;
  const size_t size = tsr_type_element_bytes(element);
  const char mask = (char)(0xff >> (8 - bits % 8));
  for (size_t i = size - 1; i < length; i += size)
    bytes[i] = bits == 1 ? (char)(bytes[i] != 0) : (char)(bytes[i] & mask);
}

static tsr_status read_hex(tsr_reader *reader, const char *at, const char *end,
                           const tsr_type *type, const tsr_attr **out_attr) {
  const tsr_type *element = type->element;
  const size_t size = tsr_type_element_bytes(element), length = (size_t)(end - at) / 2;
  const int64_t count = tsr_type_element_count(type);
  const bool whole = (size_t)(end - at) % 2 == 0 && length % size == 0;
  const uint64_t elements = length / size;
  if (!whole || (elements != (uint64_t)count && (elements != 1 || !count)))
    return tsr_reader_fail(reader, at, SYNTAX,
                           "the constant has %zu hexadecimal digits, expected %zu for each of its "
                           "%lld elements, or for one",
                           (size_t)(end - at), 2 * size, (long long)count);
  char *bytes = tsr_ir_alloc(reader->ir, length);
  TSR_NEED(bytes);
  if (!decode_hex(at, bytes, length)) {
    while (tsr_hex_digit(*at) >= 0) at++;
    return tsr_reader_fail(reader, at, SYNTAX, "expected a hexadecimal digit, found \"%c\"", *at);
  }
  clean_bits(element, bytes, length);
  *out_attr = tsr_attr_dense(reader->ir, type, bytes, length);
  TSR_NEED(*out_attr);
  return NULL;
}

// ---- lists of numbers ----

typedef struct scanner {
  tsr_reader *reader;
  const char *at, *end;
  const tsr_type *type;    // of the elements
  const tsr_type *number;  // the same; of the parts of complex ones
  size_t size;             // bytes of a number
  char *bytes;             // where the next one goes
  uint64_t most[2], mask;  // of integers: the largest, the least without its sign, their bits
} scanner;

// The next character that is no blank or comment; '\0' at the end.
static char peek(scanner *s) {
  for (; s->at < s->end; s->at++) {
    if (*s->at == ' ' || (*s->at >= '\t' && *s->at <= '\r')) continue;
    if (*s->at != '/' || s->end - s->at < 2 || s->at[1] != '/') return *s->at;
    const char *line = memchr(s->at, '\n', (size_t)(s->end - s->at));
    s->at = line ? line : s->end - 1;
  }
  return '\0';
}

static tsr_status expected_here(scanner *s, const char *what) {
  peek(s);
  tsr_reader_seek(s->reader, s->at);
  return tsr_reader_expected(s->reader, what);
}

static tsr_status expect(scanner *s, char c) {
  if (peek(s) == c) {
    s->at++;
    return NULL;
  }
  return expected_here(s, (char[]){'"', c, '"', '\0'});
}

static void store(scanner *s, uint64_t bits) {
  char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (char)(bits >> (8 * i));
  switch (s->size) {
    case 1:
      memcpy(s->bytes, bytes, 1);
      break;
    case 2:
      memcpy(s->bytes, bytes, 2);
      break;
    case 4:
      memcpy(s->bytes, bytes, 4);
      break;
    default:
      memcpy(s->bytes, bytes, s->size);
  }
  s->bytes += s->size;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The end of the literal at the scanner, which begins with a digit.
static tsr_token number_token(scanner *s) {
  tsr_token token = {TSR_TOKEN_INTEGER, s->at, s->at};
  const char *at = s->at;
  if (s->end - at > 2 && at[0] == '0' && at[1] == 'x') {
    for (at += 2; at < s->end && tsr_hex_digit(*at) >= 0;) at++;
  } else {
    while (at < s->end && is_digit(*at)) at++;
    if (at < s->end && *at == '.') {
      token.kind = TSR_TOKEN_FLOAT;
      for (at++; at < s->end && is_digit(*at);) at++;
      if (at < s->end && (*at == 'e' || *at == 'E')) {
        const char *digits = at + 1;
        if (digits < s->end && (*digits == '+' || *digits == '-')) digits++;
        if (digits < s->end && is_digit(*digits))
          for (at = digits; at < s->end && is_digit(*at);) at++;
      }
    }
  }
  s->at = token.end = at;
  return token;
}

static tsr_status read_integer(scanner *s, const tsr_token *token, bool negative) {
  uint64_t magnitude = 0, bits = 0;
  if (token->kind == TSR_TOKEN_FLOAT)
    return tsr_reader_fail(s->reader, token->start, SYNTAX, "%.*s is not an integer",
                           (int)tsr_token_length(token), token->start);
  if (!tsr_token_magnitude(token, &magnitude))
    return tsr_reader_fail(s->reader, token->start, OVERFLOW, "%.*s is beyond 64 bits",
                           (int)tsr_token_length(token), token->start);
  TSR_TRY(tsr_check_integer(s->reader, token->start, s->number, negative, magnitude, &bits));
  store(s, bits);
  if (s->number->kind == TSR_TYPE_INTEGER) clean_bits(s->number, s->bytes - s->size, s->size);
  return NULL;
}

static tsr_status read_float(scanner *s, const tsr_token *token, bool negative) {
  const tsr_float format = s->number->format;
  uint64_t bits = 0;
  if (token->kind == TSR_TOKEN_FLOAT) {
    store(s, tsr_float_round(format, token->start, tsr_token_length(token), negative));
    return NULL;
  }
  const bool hex = tsr_token_length(token) > 2 && token->start[1] == 'x';
  if (!hex || negative)
    return tsr_reader_fail(s->reader, token->start, SYNTAX,
                           "%.*s is not a number of %s, expected one such as 1.0 or its bits 0x0",
                           (int)tsr_token_length(token), token->start, tsr_float_name(format));
  if (!tsr_token_magnitude(token, &bits) ||
      (tsr_float_bits(format) < 64 && bits >> tsr_float_bits(format)))
    return tsr_reader_fail(s->reader, token->start, OVERFLOW, "%.*s has more than %d bits",
                           (int)tsr_token_length(token), token->start, tsr_float_bits(format));
  store(s, bits);
  return NULL;
}

static bool take_literal(scanner *s, const char *word) {
  const size_t length = strlen(word);
  if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0) return false;
  s->at += length;
  return true;
}

// A decimal number of at most 19 digits as digits * 10^power; false for other literals. Moves `*at`
// behind it.
typedef struct short_number {
  uint64_t digits;
  int64_t power;
  bool fraction;
} short_number;

enum { SHORT_DIGITS = 19 };

static bool read_short(const char **at, const char *end, short_number *out) {
  const char *c = *at;
  uint64_t digits = 0;
  const char *start = c;
  for (; c < end && is_digit(*c); c++) digits = digits * 10 + (uint64_t)(*c - '0');
  int64_t count = c - start, power = 0;
  const bool fraction = c < end && *c == '.';
  if (fraction) {
    start = ++c;
    for (; c < end && is_digit(*c); c++) digits = digits * 10 + (uint64_t)(*c - '0');
    power = start - c;
    count -= power;
  }
  if (count > SHORT_DIGITS || (c < end && *c == 'x')) return false;
  if (fraction && end - c > 3 && (*c == 'e' || *c == 'E') && (c[1] == '+' || c[1] == '-') &&
      is_digit(c[2])) {
    int64_t exponent = 0;
    const bool below = c[1] == '-';
    for (c += 2; c < end && is_digit(*c) && exponent < 1000; c++)
      exponent = exponent * 10 + (*c - '0');
    power += below ? -exponent : exponent;
  }
  if (c < end && (*c == 'e' || *c == 'E' || is_digit(*c))) return false;
  *out = (short_number){digits, power, fraction};
  *at = c;
  return true;
}

// Reads a usual number; false leaves the others, and all that fail, to the slower way.
static bool read_quickly(scanner *s, bool negative) {
  short_number number;
  uint64_t bits = 0;
  const char *at = s->at;
  if (!read_short(&at, s->end, &number)) return false;
  if (s->number->kind == TSR_TYPE_FLOAT) {
    if (!number.fraction ||
        !tsr_float_round_quickly(s->number->format, number.digits, number.power, negative, &bits))
      return false;
  } else {
    if (number.fraction || number.digits > s->most[negative]) return false;
    bits = (negative ? 0 - number.digits : number.digits) & s->mask;
  }
  s->at = at;
  store(s, bits);
  return true;
}

static tsr_status read_one_number(scanner *s) {
  const bool negative = peek(s) == '-';
  if (negative) s->at++;
  const char first = negative ? peek(s) : s->at < s->end ? *s->at : '\0';
  if (is_digit(first)) {
    if (read_quickly(s, negative)) return NULL;
    const tsr_token token = number_token(s);
    return s->number->kind == TSR_TYPE_FLOAT ? read_float(s, &token, negative)
                                             : read_integer(s, &token, negative);
  }
  if (!negative && s->number->kind == TSR_TYPE_INTEGER && s->number->width == 1) {
    const bool yes = take_literal(s, "true");
    if (yes || take_literal(s, "false")) {
      store(s, yes);
      return NULL;
    }
  }
  return expected_here(s, "a number");
}

static tsr_status read_element(scanner *s) {
  if (s->type == s->number) return read_one_number(s);
  TSR_TRY(expect(s, '('));
  TSR_TRY(read_one_number(s));
  TSR_TRY(expect(s, ','));
  TSR_TRY(read_one_number(s));
  return expect(s, ')');
}

// The nested lists of the dimensions from `dim` on.
static tsr_status read_level(scanner *s, const tsr_type *type, int dim) {
  if (dim == type->rank) return read_element(s);
  TSR_TRY(expect(s, '['));
  const char *start = s->at - 1;
  const int64_t wanted = type->dims[dim];
  int64_t count = 0;
  bool more = peek(s) != ']';
  for (; more && count < wanted; count++) {
    TSR_TRY(read_level(s, type, dim + 1));
    more = peek(s) == ',';
    if (more) s->at++;
  }
  if (!wanted && !more && dim + 1 < type->rank)
    return tsr_reader_fail(s->reader, start, SYNTAX,
                           "an empty list leaves dimension %d open, expected dense<>", dim + 1);
  if (count < wanted && peek(s) != ']') return expected_here(s, "\",\" or \"]\"");
  if (count == wanted && !more) return expect(s, ']');
  return tsr_reader_fail(s->reader, start, SYNTAX,
                         "a list has %s than %lld elements, the size of dimension %d",
                         count < wanted ? "fewer" : "more", (long long)wanted, dim);
}

static tsr_status check_elements(const tsr_reader *reader, const char *at,
                                 const tsr_type *element) {
  const tsr_type *number = element->kind == TSR_TYPE_COMPLEX ? element->element : element;
  if (number->kind == TSR_TYPE_INTEGER && number->width > 64)
    return tsr_reader_fail(reader, at, UNSUPPORTED,
                           "constants of integers of %d bits are not supported, 64 are the most",
                           number->width);
  const bool integer = number->kind == TSR_TYPE_INTEGER || number->kind == TSR_TYPE_INDEX;
  if (integer || (number->kind == TSR_TYPE_FLOAT && tsr_float_is_known(number->format)))
    return NULL;
  if (number->kind == TSR_TYPE_FLOAT)
    return tsr_reader_fail(reader, at, UNSUPPORTED, "numbers of %s are not supported",
                           tsr_float_name(number->format));
  return tsr_reader_fail(reader, at, SYNTAX,
                         "constants have elements of integer, index, float or complex types only");
}

static scanner make_scanner(tsr_reader *reader, const char *at, const char *end,
                            const tsr_type *element) {
  const tsr_type *number = element->kind == TSR_TYPE_COMPLEX ? element->element : element;
  scanner s = {reader, at, end, element, number, tsr_type_element_bytes(number), NULL, {0}, 0};
  if (number->kind == TSR_TYPE_FLOAT) return s;
  const int width = number->kind == TSR_TYPE_INDEX ? 64 : number->width;
  const tsr_sign sign = number->kind == TSR_TYPE_INDEX ? TSR_SIGNLESS : number->sign;
  s.mask = UINT64_MAX >> (64 - width);
  s.most[0] = sign == TSR_SIGNED ? s.mask >> 1 : s.mask;
  s.most[1] = sign == TSR_UNSIGNED ? 0 : (s.mask >> 1) + 1;
  return s;
}

static tsr_status read_numbers(tsr_reader *reader, const literal *text, const tsr_type *type,
                               const tsr_attr **out_attr) {
  scanner s = make_scanner(reader, text->start, text->end, type->element);
  const size_t size = tsr_type_element_bytes(type->element);
  const bool list = peek(&s) == '[';
  const int64_t count = list ? tsr_type_element_count(type) : peek(&s) ? 1 : 0;
  // Every element takes a character and a comma, but for the last.
  if (count > (text->end - text->start) / 2 + 1)
    return tsr_reader_fail(reader, s.at, SYNTAX,
                           "the constant has fewer than the %lld elements of its type",
                           (long long)count);
  if (type->rank > TSR_READER_DEPTH)
    return tsr_reader_fail(reader, s.at, UNSUPPORTED, "constants of more than %d dimensions",
                           TSR_READER_DEPTH);
  char *bytes = tsr_ir_alloc(reader->ir, (size_t)count * size);
  TSR_NEED(bytes);
  s.bytes = bytes;
  if (list) TSR_TRY(read_level(&s, type, 0));
  if (!list && count) TSR_TRY(read_element(&s));
  if (!list && !count && tsr_type_element_count(type))
    return tsr_reader_fail(reader, text->start, SYNTAX, "the constant has no elements");
  if (peek(&s)) return expected_here(&s, "\">\"");
  *out_attr = tsr_attr_dense(reader->ir, type, bytes, (size_t)count * size);
  TSR_NEED(*out_attr);
  return NULL;
}

// ---- dense ----

static tsr_status read_elements(tsr_reader *reader, const literal *text, const tsr_type *type,
                                const tsr_attr **out_attr) {
  TSR_TRY(check_elements(reader, text->start, type->element));
  const char *behind = reader->last_end;
  tsr_status status;
  if (text->text) {
    const char *at = memchr(text->start, '"', (size_t)(text->end - text->start)), *end = text->end;
    while (end[-1] != '"') end--;
    if (end - at < 4 || memcmp(at + 1, "0x", 2) != 0)
      return tsr_reader_fail(reader, at, SYNTAX,
                             "expected \"0x\" and hexadecimal digits in the string of a constant");
    status = read_hex(reader, at + 3, end - 1, type, out_attr);
  } else {
    status = read_numbers(reader, text, type, out_attr);
  }
  if (!status) tsr_reader_seek(reader, behind), reader->last_end = behind;
  return status;
}

tsr_status tsr_read_dense(tsr_reader *reader, const tsr_type *type, const tsr_attr **out_attr) {
  const char *start = reader->token.start;
  literal text = {0};
  tsr_next(reader);
  TSR_TRY(find_literal(reader, &text));
  const tsr_type *shaped = NULL;
  TSR_TRY(tsr_read_colon_type(reader, type, &shaped));
  // Vectors, and strings of another dialect.
  if (shaped->kind == TSR_TYPE_OPAQUE || tsr_type_element(shaped)->kind == TSR_TYPE_OPAQUE)
    return tsr_keep_opaque(reader, start, out_attr);
  if (shaped->kind != TSR_TYPE_TENSOR || tsr_type_element_count(shaped) < 0)
    return tsr_reader_fail(reader, start, SYNTAX,
                           "the type of a constant is not a tensor of known size");
  if (text.texts)
    return tsr_reader_fail(reader, text.start, SYNTAX, "a constant of numbers has strings");
  return read_elements(reader, &text, shaped, out_attr);
}

// ---- array and dense_resource ----

tsr_status tsr_read_dense_array(tsr_reader *reader, const tsr_attr **out_attr) {
  tsr_next(reader);
  TSR_TRY(tsr_expect_sign(reader, "<"));
  const char *place = reader->token.start;
  const tsr_type *element = NULL;
  TSR_TRY(tsr_read_type(reader, &element));
  const bool integer =
      element->kind == TSR_TYPE_INTEGER && (element->width == 1 || element->width % 8 == 0);
  if (!integer && element->kind != TSR_TYPE_FLOAT)
    return tsr_reader_fail(reader, place, SYNTAX,
                           "an array has elements of whole bytes, integers or floats");
  TSR_TRY(check_elements(reader, place, element));
  char *bytes = NULL;
  int64_t count = 0;
  if (tsr_take_sign(reader, ":")) {
    scanner s = make_scanner(reader, reader->token.start, reader->end, element);
    do {
      bytes = tsr_arena_grow(&reader->ir->arena, bytes, count, s.size);
      TSR_NEED(bytes);
      s.bytes = bytes + (size_t)count++ * s.size;
      if (element->width == 1 && is_digit(peek(&s))) return expected_here(&s, "true or false");
      TSR_TRY(read_one_number(&s));
    } while (peek(&s) == ',' && s.at++);
    tsr_reader_seek(reader, s.at);
  }
  TSR_TRY(tsr_expect_sign(reader, ">"));
  *out_attr = tsr_attr_dense_array(reader->ir, element, bytes, count);
  TSR_NEED(*out_attr);
  return NULL;
}

tsr_status tsr_read_resource(tsr_reader *reader, const tsr_type *type, const tsr_attr **out_attr) {
  const char *key = NULL, *place = reader->token.start;
  size_t length = 0;
  tsr_next(reader);
  TSR_TRY(tsr_expect_sign(reader, "<"));
  if (tsr_at_kind(reader, TSR_TOKEN_STRING)) {
    TSR_TRY(tsr_read_string(reader, "the key of a resource", &key, &length));
  } else {
    TSR_TRY(tsr_read_word(reader, "the key of a resource", &key));
    length = strlen(key);
  }
  TSR_TRY(tsr_expect_sign(reader, ">"));
  const tsr_type *shaped = NULL;
  TSR_TRY(tsr_read_colon_type(reader, type, &shaped));
  if (!tsr_type_is_shaped(shaped) && shaped->kind != TSR_TYPE_OPAQUE)
    return tsr_reader_fail(reader, place, SYNTAX, "the type of a resource is not a tensor");
  *out_attr = tsr_attr_resource(reader->ir, shaped, key, length);
  TSR_NEED(*out_attr);
  return NULL;
}
