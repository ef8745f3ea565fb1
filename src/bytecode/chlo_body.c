// Builds the bodies of chlo_bodies.def: a reader of their expressions that makes ops at once.
#include "bytecode/chlo_body.h"

#include <assert.h>
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/decimal.h"
#include "element/convert_elements.h"

enum { MAX_NAMES = 16, MAX_ARGUMENTS = 32 };

typedef struct body_name {
  const char *name;
  size_t length;
  tsr_value *value;
} body_name;

typedef struct body_reader {
  const tsr_chlo_site *site;
  const char *at;
  body_name names[MAX_NAMES];
  int name_count;
} body_reader;

// An argument: a value, or a number that takes the type of the arguments beside it.
typedef struct body_term {
  tsr_value *value;
  double number;
  const char *word;  // a named number, or NULL
  size_t word_length;
} body_term;

tsr_value *tsr_chlo_build(const tsr_chlo_site *site, tsr_op_id id, const tsr_type *type,
                          tsr_value *const *operands, int operand_count,
                          const tsr_named_attr *attrs, int attr_count) {
  const tsr_op_parts parts = {.id = id,
                              .operand_count = operand_count,
                              .operands = operands,
                              .result_count = 1,
                              .result_types = &type,
                              .attr_count = attr_count,
                              .attrs = attrs,
                              .location = site->location};
  tsr_op *op = tsr_op_create(site->ir, &parts);
  if (!op) return NULL;
  if (site->before)
    tsr_op_insert_before(site->before, op);
  else
    tsr_op_append(site->block, op);
  return tsr_op_result(op, 0);
}

const tsr_type *tsr_chlo_retype(tsr_ir *ir, const tsr_type *type, const tsr_type *element) {
  return element ? tsr_type_tensor(ir, element, type->rank, type->dims, type->encoding) : NULL;
}

// ---- numbers ----

static double root_of_largest(tsr_dtype dtype) {
  return sqrt(dtype == TSR_F64 ? DBL_MAX : (double)FLT_MAX);
}

static double value_of(const body_term *term, const tsr_type *type) {
  if (!term->word) return term->number;
  double value = INFINITY;
  if (tsr_word_is(term->word, term->word_length, "largest_root"))
    value = root_of_largest(type->dtype);
  if (tsr_word_is(term->word, term->word_length, "sign_bit"))
    value = -ldexp(1, tsr_type_bits(tsr_type_element(type)) - 1);
  if (tsr_word_is(term->word, term->word_length, "nan")) value = NAN;
  return term->number < 0 ? -value : value;
}

// A constant whose elements all have one value.
static tsr_value *build_number(const tsr_chlo_site *site, const body_term *term,
                               const tsr_type *type) {
  const double value = value_of(term, type);
  const size_t size = tsr_type_element_bytes(tsr_type_element(type));
  char *bytes = tsr_ir_alloc(site->ir, 16);
  if (!bytes) return NULL;
  memset(bytes, 0, 16);
  if (tsr_type_element(type)->kind == TSR_TYPE_INTEGER) {
    const int64_t integer = (int64_t)value;
    memcpy(bytes, &integer, size);  // little-endian, as the elements
  } else {
    tsr_convert_run(TSR_F64, &value, 0, type->dtype, bytes, 0, 1);
  }
  const tsr_attr *dense = tsr_attr_dense(site->ir, type, bytes, size);
  const tsr_named_attr attr = {tsr_ir_name(site->ir, "value", 5), dense};
  if (!dense || !attr.name) return NULL;
  return tsr_chlo_build(site, TSR_OP_CONSTANT, type, NULL, 0, &attr, 1);
}

// ---- calls ----

static const tsr_type *bool_type(tsr_ir *ir, const tsr_type *type) {
  return tsr_chlo_retype(ir, type, tsr_type_integer(ir, 1, TSR_SIGNLESS));
}

static tsr_value *build_compare(const tsr_chlo_site *site, int direction, tsr_value **arguments) {
  tsr_ir *ir = site->ir;
  const tsr_type *type = arguments[0]->type, *result = bool_type(ir, type);
  const tsr_type *element = tsr_type_element(type);
  const int kind = element->kind == TSR_TYPE_FLOAT ? TSR_COMPARE_TYPE_FLOAT
                   : element->width == 1           ? TSR_COMPARE_TYPE_UNSIGNED
                                                   : TSR_COMPARE_TYPE_SIGNED;
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "compare_type", 12), tsr_attr_enum(ir, TSR_ENUM_COMPARE_TYPE, kind)},
      {tsr_ir_name(ir, "comparison_direction", 20),
       tsr_attr_enum(ir, TSR_ENUM_DIRECTION, direction)}};
  if (!result || !attrs[0].name || !attrs[0].attr || !attrs[1].name || !attrs[1].attr) return NULL;
  return tsr_chlo_build(site, TSR_OP_COMPARE, result, arguments, 2, attrs, 2);
}

static tsr_value *build_two(const tsr_chlo_site *site, tsr_op_id id, tsr_value *a, tsr_value *b) {
  if (!a || !b) return NULL;
  return tsr_chlo_build(site, id, a->type, (tsr_value *[]){a, b}, 2, NULL, 0);
}

static tsr_value *build_poly(const tsr_chlo_site *site, tsr_value **arguments, int count) {
  tsr_value *sum = arguments[1];
  for (int i = 2; i < count && sum; i++)
    sum = build_two(site, TSR_OP_ADD, build_two(site, TSR_OP_MULTIPLY, sum, arguments[0]),
                    arguments[i]);
  return sum;
}

static tsr_value *build_fractions(const tsr_chlo_site *site, bool squares, tsr_value **arguments,
                                  int count) {
  tsr_value *sum = NULL;
  for (int i = 1; i < count; i++) {
    tsr_value *place = build_number(site, &(body_term){.number = i}, arguments[0]->type);
    tsr_value *below = build_two(site, TSR_OP_ADD, arguments[0], place);
    if (squares) below = build_two(site, TSR_OP_MULTIPLY, below, below);
    tsr_value *fraction = build_two(site, TSR_OP_DIVIDE, arguments[i], below);
    sum = i == 1 ? fraction : build_two(site, TSR_OP_ADD, sum, fraction);
    if (!sum) return NULL;
  }
  return sum;
}

// The operand plus a number.
static tsr_value *build_shifted(const tsr_chlo_site *site, tsr_value *value, double number) {
  return build_two(site, TSR_OP_ADD, value,
                   build_number(site, &(body_term){.number = number}, value->type));
}

// Clenshaw: b = c + 2 u b' - b''.
static tsr_value *build_chebyshev(const tsr_chlo_site *site, tsr_value **arguments, int count) {
  tsr_value *u = arguments[0], *twice = build_two(site, TSR_OP_ADD, u, u);
  tsr_value *now = arguments[count - 1], *before = NULL;
  for (int i = count - 2; i > 0 && now; i--) {
    tsr_value *next = build_two(site, TSR_OP_ADD, arguments[i],
                                build_two(site, TSR_OP_MULTIPLY, i > 1 ? twice : u, now));
    if (before) next = build_two(site, TSR_OP_SUBTRACT, next, before);
    before = now;
    now = next;
  }
  return now;
}

static tsr_value *build_powers(const tsr_chlo_site *site, tsr_value **arguments) {
  tsr_value *sum = build_two(site, TSR_OP_POWER, arguments[0], arguments[1]);
  for (int i = 1; i < 9 && sum; i++)
    sum = build_two(
        site, TSR_OP_ADD, sum,
        build_two(site, TSR_OP_POWER, build_shifted(site, arguments[0], i), arguments[1]));
  return sum;
}

static tsr_value *build_rising(const tsr_chlo_site *site, tsr_value **arguments, int count) {
  tsr_value *x = arguments[0], *sum = NULL;
  tsr_value *one = build_number(site, &(body_term){.number = 1}, x->type);
  for (int i = count - 1; i >= 2 && one; i--) {
    tsr_value *inverse = build_two(site, TSR_OP_DIVIDE, one, arguments[i]);
    sum = sum ? build_two(site, TSR_OP_ADD, inverse, sum) : inverse;
    if (i == 2 || !sum) break;
    tsr_value *pair = build_two(site, TSR_OP_MULTIPLY, build_shifted(site, x, 2 * i - 5),
                                build_shifted(site, x, 2 * i - 4));
    pair = build_two(site, TSR_OP_MULTIPLY, pair, arguments[1]);
    sum = build_two(site, TSR_OP_MULTIPLY, pair, sum);
    if (!sum) return NULL;
  }
  return sum;
}

static tsr_value *build_low_bits(const tsr_chlo_site *site, tsr_value **arguments) {
  tsr_ir *ir = site->ir;
  const bool wide = arguments[0]->type->dtype == TSR_F64;
  const tsr_type *i32 = tsr_type_integer(ir, 32, TSR_SIGNLESS);
  if (!i32) return NULL;
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "exponent_bits", 13), tsr_attr_integer(ir, i32, wide ? 11 : 8)},
      {tsr_ir_name(ir, "mantissa_bits", 13), tsr_attr_integer(ir, i32, wide ? 25 : 11)}};
  if (!attrs[0].name || !attrs[0].attr || !attrs[1].name || !attrs[1].attr) return NULL;
  return tsr_chlo_build(site, TSR_OP_REDUCE_PRECISION, arguments[0]->type, arguments, 1, attrs, 2);
}

// The integer of the same bits, or the float: the type of the first operand of the body.
static tsr_value *build_cast(const body_reader *reader, bool to_bits, tsr_value **arguments) {
  const tsr_chlo_site *site = reader->site;
  const tsr_type *type = reader->names[0].value->type;
  if (to_bits)
    type = tsr_chlo_retype(
        site->ir, type,
        tsr_type_integer(site->ir, tsr_type_bits(tsr_type_element(type)), TSR_SIGNLESS));
  return type ? tsr_chlo_build(site, TSR_OP_BITCAST_CONVERT, type, arguments, 1, NULL, 0) : NULL;
}

static const char *const comparisons[] = {
    [TSR_DIRECTION_EQ] = "eq", [TSR_DIRECTION_NE] = "ne", [TSR_DIRECTION_GE] = "ge",
    [TSR_DIRECTION_GT] = "gt", [TSR_DIRECTION_LE] = "le", [TSR_DIRECTION_LT] = "lt"};

// real and imag give the elements of a complex type, complex is made of them.
static const tsr_type *result_type(tsr_ir *ir, tsr_op_id id, tsr_value **arguments) {
  const tsr_type *type = arguments[id == TSR_OP_SELECT]->type;
  if (id == TSR_OP_IS_FINITE) return bool_type(ir, type);
  if (id == TSR_OP_REAL || id == TSR_OP_IMAG)
    return tsr_chlo_retype(ir, type, tsr_type_element(type)->element);
  if (id == TSR_OP_COMPLEX)
    return tsr_chlo_retype(ir, type, tsr_type_complex(ir, tsr_type_element(type)));
  return type;
}

// The functions that are neither comparisons nor ops.
static tsr_value *build_special(const body_reader *reader, const char *name, size_t length,
                                tsr_value **arguments, int count) {
  const tsr_chlo_site *site = reader->site;
  if (tsr_word_is(name, length, "poly")) return build_poly(site, arguments, count);
  if (tsr_word_is(name, length, "fractions")) return build_fractions(site, false, arguments, count);
  if (tsr_word_is(name, length, "square_fractions"))
    return build_fractions(site, true, arguments, count);
  if (tsr_word_is(name, length, "chebyshev")) return build_chebyshev(site, arguments, count);
  if (tsr_word_is(name, length, "powers")) return build_powers(site, arguments);
  if (tsr_word_is(name, length, "rising")) return build_rising(site, arguments, count);
  if (tsr_word_is(name, length, "low_bits")) return build_low_bits(site, arguments);
  return build_cast(reader, tsr_word_is(name, length, "bits"), arguments);
}

static const char *const specials[] = {"poly",      "fractions", "square_fractions",
                                       "chebyshev", "powers",    "rising",
                                       "low_bits",  "bits",      "floating"};

// A StableHLO op, or a CHLO op whose body is built in place.
static tsr_value *build_op(const tsr_chlo_site *site, const char *name, size_t length,
                           tsr_value **arguments, int count) {
  char full[64] = "stablehlo.", chlo[64] = "chlo.";
  memcpy(full + strlen(full), name, length);
  memcpy(chlo + strlen(chlo), name, length);
  const tsr_op_info *info = tsr_op_find(full, strlen("stablehlo.") + length);
  if (info->id == TSR_OP_UNKNOWN) {
    tsr_value *value = NULL;
    const char *body = tsr_chlo_body_of(tsr_op_find(chlo, strlen("chlo.") + length)->id);
    tsr_status status = tsr_chlo_build_body(site, body, arguments, count, &value);
    const bool built = !status;
    tsr_status_free(status);  // only memory can be missing
    return built ? value : NULL;
  }
  assert(info->operands == count);
  const tsr_type *type = result_type(site->ir, info->id, arguments);
  return type ? tsr_chlo_build(site, info->id, type, arguments, count, NULL, 0) : NULL;
}

static tsr_value *build_call(const body_reader *reader, const char *name, size_t length,
                             tsr_value **arguments, int count) {
  for (int i = 0; i < (int)(sizeof comparisons / sizeof *comparisons); i++)
    if (tsr_word_is(name, length, comparisons[i])) return build_compare(reader->site, i, arguments);
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    if (tsr_word_is(name, length, specials[i]))
      return build_special(reader, name, length, arguments, count);
  return build_op(reader->site, name, length, arguments, count);
}

// ---- expressions ----

static char peek(body_reader *reader) {
  while (*reader->at == ' ') reader->at++;
  return *reader->at;
}

static const char *take_word(body_reader *reader, size_t *out_length) {
  peek(reader);
  const char *start = reader->at;
  while (isalnum((unsigned char)*reader->at) || *reader->at == '_') reader->at++;
  *out_length = (size_t)(reader->at - start);
  return start;
}

static tsr_status read_term(body_reader *reader, body_term *out_term);

static tsr_status read_arguments(body_reader *reader, body_term *terms, int *out_count) {
  int count = 0;
  for (reader->at++; peek(reader) != ')'; count++) {
    assert(count < MAX_ARGUMENTS);
    TSR_TRY(read_term(reader, &terms[count]));
    if (peek(reader) == ',') reader->at++;
  }
  reader->at++;
  *out_count = count;
  return NULL;
}

// Numbers get the type of a value beside them; a condition is no such value.
static tsr_status settle(const body_reader *reader, bool is_select, const body_term *terms,
                         int count, tsr_value **out_values) {
  const tsr_type *type = reader->names[0].value->type;
  for (int i = count; i-- > (is_select ? 1 : 0);)
    if (terms[i].value) type = terms[i].value->type;
  for (int i = 0; i < count; i++) {
    out_values[i] = terms[i].value ? terms[i].value : build_number(reader->site, &terms[i], type);
    TSR_NEED(out_values[i]);
  }
  return NULL;
}

static tsr_status read_call(body_reader *reader, const char *name, size_t length,
                            body_term *out_term) {
  body_term terms[MAX_ARGUMENTS] = {{0}};
  tsr_value *values[MAX_ARGUMENTS];
  int count = 0;
  TSR_TRY(read_arguments(reader, terms, &count));
  TSR_TRY(settle(reader, tsr_word_is(name, length, "select"), terms, count, values));
  out_term->value = build_call(reader, name, length, values, count);
  TSR_NEED(out_term->value);
  return NULL;
}

// A number of the table of bodies, in any locale.
static double take_number(body_reader *reader) {
  char number[64];
  double value = 0;
  const size_t length = strcspn(reader->at, ",) ;\n");
  assert(length < sizeof number);
  memcpy(number, reader->at, length);
  number[length] = '\0';
  const bool read = tsr_decimal_read(number, &value);
  assert(read);
  (void)read;
  reader->at += length;
  return value;
}

static tsr_status read_term(body_reader *reader, body_term *out_term) {
  *out_term = (body_term){.number = 1};
  const bool negative = peek(reader) == '-';
  if (isdigit((unsigned char)reader->at[negative])) {
    out_term->number = take_number(reader);
    return NULL;
  }
  reader->at += negative;
  size_t length = 0;
  const char *word = take_word(reader, &length);
  if (peek(reader) == '(') return read_call(reader, word, length, out_term);
  for (int i = 0; i < reader->name_count; i++)
    if (reader->names[i].length == length && !memcmp(reader->names[i].name, word, length)) {
      out_term->value = reader->names[i].value;
      return NULL;
    }
  *out_term = (body_term){.number = negative ? -1 : 1, .word = word, .word_length = length};
  return NULL;
}

static void add_name(body_reader *reader, const char *name, size_t length, tsr_value *value) {
  assert(reader->name_count < MAX_NAMES);
  reader->names[reader->name_count++] = (body_name){name, length, value};
}

tsr_status tsr_chlo_build_body(const tsr_chlo_site *site, const char *body,
                               tsr_value *const *operands, int operand_count,
                               tsr_value **out_value) {
  body_reader reader = {.site = site, .at = body};
  for (int i = 0; i < operand_count; i++) add_name(&reader, i ? "y" : "x", 1, operands[i]);
  for (;;) {
    const char *start = reader.at;
    size_t length = 0;
    const char *name = take_word(&reader, &length);
    const bool is_definition = peek(&reader) == '=';
    reader.at = is_definition ? reader.at + 1 : start;
    body_term term;
    TSR_TRY(read_term(&reader, &term));
    if (!is_definition) {
      *out_value = term.value;
      return NULL;
    }
    add_name(&reader, name, length, term.value);
    assert(peek(&reader) == ';');
    reader.at++;
  }
}
