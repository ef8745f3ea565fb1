// Notations that the formats of ops name: "~" for types, "@" for what is more than one attribute as
// it is.
#include <string.h>

#include "base/text_internal.h"
#include "syntax/op_forms.h"
#include "syntax/writer.h"

// ==== types ====

static void set_one_type(tsr_draft *draft, const tsr_type *type, int result_count) {
  draft->operand_type = type;
  draft->result_type = type;
  draft->result_count = result_count;
}

// ---- fn: (T, U) -> V ----

static tsr_status read_fn(tsr_op_reader *reader, tsr_draft *draft) {
  return tsr_draft_function_type(reader, draft);
}

// ---- same: T, or (T, U) -> V where they differ ----

static bool all_types_are(const tsr_op *op, const tsr_type *type) {
  for (int i = 0; i < op->operand_count; i++)
    if (tsr_operand_type(op, i) != type) return false;
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i].type != type) return false;
  return true;
}

static tsr_status read_same(tsr_op_reader *reader, tsr_draft *draft) {
  const tsr_type *type = NULL;
  TSR_TRY(tsr_read_type(reader->in, &type));
  if (type->kind == TSR_TYPE_FUNCTION)
    tsr_draft_types_of(draft, type);
  else
    set_one_type(draft, type, 1);
  return NULL;
}

static void print_same(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  if (all_types_are(op, type) && type->kind != TSR_TYPE_FUNCTION)
    tsr_print_type(printer, type);
  else
    tsr_print_functional_type(printer, op);
}

// ---- one: T for all operands and results ----

static tsr_status read_one(tsr_op_reader *reader, tsr_draft *draft) {
  const tsr_type *type = NULL;
  TSR_TRY(tsr_read_type(reader->in, &type));
  set_one_type(draft, type, draft->info->results);
  return NULL;
}

static void print_one(tsr_op_printer *printer, const tsr_op *op) {
  tsr_print_type(printer, tsr_operand_type(op, 0));
}

static bool fits_one(const tsr_op *op) { return all_types_are(op, tsr_operand_type(op, 0)); }

// ---- result: T of the result; there are no operands ----

static tsr_status read_result(tsr_op_reader *reader, tsr_draft *draft) {
  const tsr_type *type = NULL;
  TSR_TRY(tsr_read_type(reader->in, &type));
  set_one_type(draft, type, 1);
  return NULL;
}

static void print_result(tsr_op_printer *printer, const tsr_op *op) {
  tsr_print_type(printer, op->results[0].type);
}

// ---- select: P, T where both branches and the result have type T ----

static tsr_status read_select(tsr_op_reader *reader, tsr_draft *draft) {
  const tsr_type *types[3] = {NULL};
  TSR_TRY(tsr_read_type(reader->in, &types[0]));
  if (types[0]->kind == TSR_TYPE_FUNCTION) {
    tsr_draft_types_of(draft, types[0]);
    return NULL;
  }
  TSR_TRY(tsr_expect_sign(reader->in, ","));
  TSR_TRY(tsr_read_type(reader->in, &types[1]));
  types[2] = types[1];
  // A function type keeps the list for the life of the program.
  const tsr_type *function = tsr_type_function(reader->in->ir, types, 3, &types[1], 1);
  TSR_NEED(function);
  tsr_draft_types_of(draft, function);
  return NULL;
}

static void print_select(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  if (tsr_operand_type(op, 1) != type || tsr_operand_type(op, 2) != type) {
    tsr_print_functional_type(printer, op);
    return;
  }
  tsr_print_type(printer, tsr_operand_type(op, 0));
  tsr_text_add(printer->out, ", ");
  tsr_print_type(printer, type);
}

// ---- complex: T of the result, whose parts have the operands' type ----

static bool is_complex_tensor(const tsr_type *type) {
  return (type->kind == TSR_TYPE_TENSOR || type->kind == TSR_TYPE_UNRANKED) &&
         type->element->kind == TSR_TYPE_COMPLEX;
}

static tsr_status read_complex(tsr_op_reader *reader, tsr_draft *draft) {
  const char *at = reader->in->token.start;
  tsr_ir *ir = reader->in->ir;
  const tsr_type *type = NULL;
  TSR_TRY(tsr_read_type(reader->in, &type));
  if (type->kind == TSR_TYPE_FUNCTION) {
    tsr_draft_types_of(draft, type);
    return NULL;
  }
  if (!is_complex_tensor(type))
    return tsr_reader_fail(reader->in, at, SYNTAX, "expected a tensor of complex numbers");
  const tsr_type *element = type->element->element;
  draft->operand_type = type->kind == TSR_TYPE_TENSOR
                            ? tsr_type_tensor(ir, element, type->rank, type->dims, type->encoding)
                            : tsr_type_unranked(ir, element);
  TSR_NEED(draft->operand_type);
  draft->result_type = type;
  draft->result_count = 1;
  return NULL;
}

static bool is_part_type(const tsr_type *part, const tsr_type *whole) {
  return is_complex_tensor(whole) && part->kind == whole->kind &&
         part->element == whole->element->element && part->rank == whole->rank &&
         (!part->rank ||
          !memcmp(part->dims, whole->dims, (size_t)part->rank * sizeof *part->dims)) &&
         tsr_attr_equal(part->encoding, whole->encoding);
}

static void print_complex(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  if (is_part_type(tsr_operand_type(op, 0), type) && is_part_type(tsr_operand_type(op, 1), type))
    tsr_print_type(printer, type);
  else
    tsr_print_functional_type(printer, op);
}

// ---- arrow: T, U -> V, or T -> (V, W) ----

static tsr_status read_arrow(tsr_op_reader *reader, tsr_draft *draft) {
  TSR_TRY(tsr_read_types(reader->in, &draft->operand_types, &draft->operand_type_count));
  TSR_TRY(tsr_expect_sign(reader->in, "->"));
  if (tsr_at_sign(reader->in, "("))
    return tsr_read_type_list(reader->in, &draft->result_types, &draft->result_count);
  draft->result_count = 1;
  return tsr_read_type(reader->in, &draft->result_type);
}

static void print_arrow(tsr_op_printer *printer, const tsr_op *op) {
  tsr_print_operand_types(printer, op);
  tsr_text_add(printer->out, " -> ");
  tsr_print_result_types(printer, op);
}

// ---- tuple: that of the result, which has the operands' types ----

static tsr_status read_tuple(tsr_op_reader *reader, tsr_draft *draft) {
  const char *at = reader->in->token.start;
  const tsr_type *type = NULL;
  TSR_TRY(tsr_read_type(reader->in, &type));
  if (type->kind != TSR_TYPE_TUPLE)
    return tsr_reader_fail(reader->in, at, SYNTAX, "expected a tuple type");
  draft->operand_type = type;  // not used: there is a type for each operand
  draft->operand_types = type->count ? type->types : &draft->operand_type;
  draft->operand_type_count = type->count;
  draft->result_type = type;
  draft->result_count = 1;
  return NULL;
}

static bool fits_tuple(const tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  if (type->kind != TSR_TYPE_TUPLE || type->count != op->operand_count) return false;
  for (int i = 0; i < op->operand_count; i++)
    if (tsr_operand_type(op, i) != type->types[i]) return false;
  return true;
}

// ---- operands: T, U of an op without results ----

static tsr_status read_operand_types(tsr_op_reader *reader, tsr_draft *draft) {
  return tsr_read_types(reader->in, &draft->operand_types, &draft->operand_type_count);
}

// ==== attributes and regions ====

// Whether the text goes on with ", word".
static bool word_follows_comma(const tsr_reader *in, const char *word) {
  if (!tsr_at_sign(in, ",")) return false;
  const tsr_token token = tsr_peek_next(in);
  return token.kind == TSR_TOKEN_WORD && tsr_token_is(&token, word);
}

// ---- exponent_mantissa: e5m10 ----

// Digits up to `end` or a letter; -1 without any, or for a number that is too large.
static int64_t read_digits(const char **at, const char *end) {
  const char *start = *at;
  int64_t value = 0;
  while (*at < end && **at >= '0' && **at <= '9' && value <= INT32_MAX)
    value = 10 * value + (*(*at)++ - '0');
  return *at == start || value > INT32_MAX ? -1 : value;
}

static tsr_status read_exponent_mantissa(tsr_op_reader *reader, tsr_draft *draft) {
  tsr_reader *in = reader->in;
  const tsr_token token = in->token;
  const char *at = token.start + 1;
  const bool word = token.kind == TSR_TOKEN_WORD && *token.start == 'e';
  const int64_t exponent = word ? read_digits(&at, token.end) : -1;
  const bool letter = exponent >= 0 && at < token.end && *at++ == 'm';
  const int64_t mantissa = letter ? read_digits(&at, token.end) : -1;
  if (mantissa < 0 || at != token.end) return tsr_reader_expected(in, "a format such as e5m10");
  tsr_next(in);
  const tsr_type *i32 = tsr_type_integer(in->ir, 32, TSR_SIGNLESS);
  TSR_NEED(i32);
  TSR_TRY(tsr_draft_attr(reader, draft, "exponent_bits", tsr_attr_integer(in->ir, i32, exponent)));
  return tsr_draft_attr(reader, draft, "mantissa_bits", tsr_attr_integer(in->ir, i32, mantissa));
}

static void print_exponent_mantissa(tsr_op_printer *printer, const tsr_op *op) {
  tsr_text_add_char(printer->out, 'e');
  tsr_text_add_int(printer->out, tsr_op_int(op, "exponent_bits", 0));
  tsr_text_add_char(printer->out, 'm');
  tsr_text_add_int(printer->out, tsr_op_int(op, "mantissa_bits", 0));
}

static bool fits_exponent_mantissa(const tsr_op *op) {
  return tsr_op_int(op, "exponent_bits", -1) >= 0 && tsr_op_int(op, "mantissa_bits", -1) >= 0;
}

// ---- slice: [start:limit, start:limit:stride] ----

static const char *const slice_attrs[] = {"start_indices", "limit_indices", "strides"};

typedef struct slice_lists {
  int64_t *values[3];
  int64_t count;
} slice_lists;

static tsr_status read_range(tsr_reader *in, void *context) {
  slice_lists *lists = context;
  for (int i = 0; i < 3; i++) {
    int64_t *grown = tsr_arena_grow(&in->ir->arena, lists->values[i], lists->count, sizeof *grown);
    TSR_NEED(grown);
    lists->values[i] = grown;
  }
  TSR_TRY(tsr_read_int(in, "a start", &lists->values[0][lists->count]));
  TSR_TRY(tsr_expect_sign(in, ":"));
  TSR_TRY(tsr_read_int(in, "a limit", &lists->values[1][lists->count]));
  lists->values[2][lists->count] = 1;
  if (tsr_take_sign(in, ":"))
    TSR_TRY(tsr_read_int(in, "a stride", &lists->values[2][lists->count]));
  lists->count++;
  return NULL;
}

static tsr_status read_slice(tsr_op_reader *reader, tsr_draft *draft) {
  slice_lists lists = {.count = 0};
  TSR_TRY(tsr_read_list(reader->in, "[", "]", read_range, &lists));
  for (int i = 0; i < 3; i++)
    TSR_TRY(tsr_draft_attr(reader, draft, slice_attrs[i],
                           tsr_attr_ints(reader->in->ir, lists.values[i], lists.count)));
  return NULL;
}

static void print_slice(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_attr *lists[3];
  for (int i = 0; i < 3; i++) lists[i] = tsr_op_attr(op, slice_attrs[i]);
  tsr_text_add_char(printer->out, '[');
  for (int64_t i = 0; i < lists[0]->count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_text_add_int(printer->out, tsr_attr_int_at(lists[0], i));
    tsr_text_add_char(printer->out, ':');
    tsr_text_add_int(printer->out, tsr_attr_int_at(lists[1], i));
    const int64_t stride = tsr_attr_int_at(lists[2], i);
    if (stride == 1) continue;
    tsr_text_add_char(printer->out, ':');
    tsr_text_add_int(printer->out, stride);
  }
  tsr_text_add_char(printer->out, ']');
}

static bool fits_slice(const tsr_op *op) {
  const int64_t count = tsr_attr_int_count(tsr_op_attr(op, "start_indices"));
  return tsr_attr_int_count(tsr_op_attr(op, "limit_indices")) == count &&
         tsr_attr_int_count(tsr_op_attr(op, "strides")) == count;
}

// ---- precision, algorithm and dot: those of a dot product ----

static tsr_status read_precision(tsr_op_reader *reader, tsr_draft *draft) {
  if (!word_follows_comma(reader->in, "precision")) return NULL;
  tsr_next(reader->in);
  tsr_next(reader->in);
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_expect_sign(reader->in, "="));
  TSR_TRY(tsr_read_enum_list(reader->in, TSR_ENUM_PRECISION, &attr));
  return tsr_draft_attr(reader, draft, "precision_config", attr);
}

static void print_precision(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_attr *attr = tsr_op_attr(op, "precision_config");
  if (!attr) return;
  tsr_text_add(printer->out, ", precision = ");
  tsr_enum_list_print(attr, printer->out);
}

static tsr_status read_algorithm(tsr_op_reader *reader, tsr_draft *draft) {
  if (!word_follows_comma(reader->in, "algorithm")) return NULL;
  tsr_next(reader->in);
  tsr_next(reader->in);
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_expect_sign(reader->in, "="));
  TSR_TRY(tsr_read_record_body(reader->in, TSR_RECORD_DOT_ALGORITHM, &attr));
  return tsr_draft_attr(reader, draft, "algorithm", attr);
}

static void print_algorithm(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_attr *attr = tsr_op_attr(op, "algorithm");
  if (!attr) return;
  tsr_text_add(printer->out, ", algorithm = ");
  tsr_record_body_print(attr, printer->out);
}

// NAME = [0] x [0]
static tsr_status read_dim_pair(tsr_reader *in, const char *name, const tsr_attr **left,
                                const tsr_attr **right) {
  const int64_t *values = NULL;
  int64_t count = 0;
  TSR_TRY(tsr_expect_word(in, name));
  TSR_TRY(tsr_expect_sign(in, "="));
  TSR_TRY(tsr_read_int_list(in, &values, &count));
  TSR_NEED(*left = tsr_attr_ints(in->ir, values, count));
  TSR_TRY(tsr_expect_word(in, "x"));
  TSR_TRY(tsr_read_int_list(in, &values, &count));
  TSR_NEED(*right = tsr_attr_ints(in->ir, values, count));
  return NULL;
}

static tsr_status read_dot(tsr_op_reader *reader, tsr_draft *draft) {
  tsr_reader *in = reader->in;
  const tsr_attr *fields[4];
  TSR_NEED(fields[TSR_DOT_LHS_BATCHING] = tsr_attr_ints(in->ir, NULL, 0));
  fields[TSR_DOT_RHS_BATCHING] = fields[TSR_DOT_LHS_BATCHING];
  if (tsr_at_word(in, "batching_dims")) {
    TSR_TRY(read_dim_pair(in, "batching_dims", &fields[TSR_DOT_LHS_BATCHING],
                          &fields[TSR_DOT_RHS_BATCHING]));
    TSR_TRY(tsr_expect_sign(in, ","));
  }
  TSR_TRY(read_dim_pair(in, "contracting_dims", &fields[TSR_DOT_LHS_CONTRACTING],
                        &fields[TSR_DOT_RHS_CONTRACTING]));
  return tsr_draft_attr(reader, draft, "dot_dimension_numbers",
                        tsr_attr_record(in->ir, TSR_RECORD_DOT, fields));
}

static void print_dim_pair(tsr_op_printer *printer, const char *name, const tsr_attr *left,
                           const tsr_attr *right) {
  tsr_text_add(printer->out, name);
  tsr_text_add(printer->out, " = ");
  tsr_ints_print(left, printer->out);
  tsr_text_add(printer->out, " x ");
  tsr_ints_print(right, printer->out);
}

static void print_dot(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_attr *dims = tsr_op_attr(op, "dot_dimension_numbers");
  const tsr_attr *left = tsr_attr_field(dims, TSR_DOT_LHS_BATCHING);
  const tsr_attr *right = tsr_attr_field(dims, TSR_DOT_RHS_BATCHING);
  if (left->count || right->count) {
    print_dim_pair(printer, "batching_dims", left, right);
    tsr_text_add(printer->out, ", ");
  }
  print_dim_pair(printer, "contracting_dims", tsr_attr_field(dims, TSR_DOT_LHS_CONTRACTING),
                 tsr_attr_field(dims, TSR_DOT_RHS_CONTRACTING));
}

// ---- window of a convolution: stride = [1], pad = [[0, 1]], lhs_dilate, rhs_dilate, reverse ----

static const struct {
  const char *word, *attr;
} window_words[] = {{"stride", "window_strides"},
                    {"pad", "padding"},
                    {"lhs_dilate", "lhs_dilation"},
                    {"rhs_dilate", "rhs_dilation"},
                    {"reverse", "window_reversal"}};
enum { WINDOW_WORDS = 5, WINDOW_PAD = 1, WINDOW_REVERSE = 4 };

typedef struct pad_list {
  int64_t *values;
  int64_t count;
} pad_list;

static tsr_status read_pad_pair(tsr_reader *in, void *context) {
  pad_list *pads = context;
  const char *at = in->token.start;
  const int64_t *pair = NULL;
  int64_t count = 0;
  TSR_TRY(tsr_read_int_list(in, &pair, &count));
  if (count != 2)
    return tsr_reader_fail(in, at, SYNTAX, "a padding has %lld numbers, wanted 2",
                           (long long)count);
  for (int i = 0; i < 2; i++) {
    int64_t *values = tsr_arena_grow(&in->ir->arena, pads->values, pads->count, sizeof *values);
    TSR_NEED(values);
    values[pads->count++] = pair[i];
    pads->values = values;
  }
  return NULL;
}

static tsr_status read_pads(tsr_reader *in, const tsr_attr **out_attr) {
  pad_list pads = {NULL, 0};
  TSR_TRY(tsr_read_list(in, "[", "]", read_pad_pair, &pads));
  const tsr_type *i64 = tsr_type_integer(in->ir, 64, TSR_SIGNLESS);
  TSR_NEED(i64);
  const tsr_type *type =
      tsr_type_tensor(in->ir, i64, 2, (const int64_t[]){pads.count / 2, 2}, NULL);
  TSR_NEED(type);
  TSR_NEED(*out_attr = tsr_attr_dense(in->ir, type, pads.values ? (const void *)pads.values : "",
                                      (size_t)pads.count * sizeof *pads.values));
  return NULL;
}

typedef struct flag_list {
  bool *values;
  int64_t count;
} flag_list;

// true, false, or a number.
static tsr_status read_reversal(tsr_reader *in, void *context) {
  flag_list *flags = context;
  bool *values = tsr_arena_grow(&in->ir->arena, flags->values, flags->count, sizeof *values);
  TSR_NEED(values);
  flags->values = values;
  if (tsr_at_kind(in, TSR_TOKEN_WORD)) return tsr_read_bool(in, &values[flags->count++]);
  int64_t number = 0;
  TSR_TRY(tsr_read_int(in, "true or false", &number));
  values[flags->count++] = number != 0;
  return NULL;
}

static tsr_status read_window_attr(tsr_reader *in, int word, const tsr_attr **out_attr) {
  if (word == WINDOW_PAD) return read_pads(in, out_attr);
  if (word == WINDOW_REVERSE) {
    flag_list flags = {NULL, 0};
    TSR_TRY(tsr_read_list(in, "[", "]", read_reversal, &flags));
    TSR_NEED(*out_attr = tsr_attr_bools(in->ir, flags.values, flags.count));
    return NULL;
  }
  const int64_t *values = NULL;
  int64_t count = 0;
  TSR_TRY(tsr_read_int_list(in, &values, &count));
  TSR_NEED(*out_attr = tsr_attr_ints(in->ir, values, count));
  return NULL;
}

static tsr_status read_window(tsr_op_reader *reader, tsr_draft *draft) {
  tsr_reader *in = reader->in;
  unsigned seen = 0;
  while (tsr_at_kind(in, TSR_TOKEN_WORD)) {
    int word = 0;
    while (word < WINDOW_WORDS && !tsr_at_word(in, window_words[word].word)) word++;
    if (word == WINDOW_WORDS || seen >> word & 1)
      return tsr_reader_expected(in, "stride, pad, lhs_dilate, rhs_dilate or reverse, each once");
    seen |= 1u << word;
    tsr_next(in);
    const tsr_attr *attr = NULL;
    TSR_TRY(tsr_expect_sign(in, "="));
    TSR_TRY(read_window_attr(in, word, &attr));
    TSR_TRY(tsr_draft_attr(reader, draft, window_words[word].attr, attr));
    if (!tsr_take_sign(in, ",")) break;
  }
  return NULL;
}

static int64_t dense_int(const tsr_attr *dense, int64_t index) {
  int64_t value = 0;
  memcpy(&value, tsr_attr_element(dense, index), sizeof value);
  return value;
}

static void print_pads(tsr_op_printer *printer, const tsr_attr *pads) {
  tsr_text_add_char(printer->out, '[');
  for (int64_t i = 0; i < pads->type->dims[0]; i++) {
    tsr_text_add(printer->out, i ? ", [" : "[");
    tsr_text_add_int(printer->out, dense_int(pads, 2 * i));
    tsr_text_add(printer->out, ", ");
    tsr_text_add_int(printer->out, dense_int(pads, 2 * i + 1));
    tsr_text_add_char(printer->out, ']');
  }
  tsr_text_add_char(printer->out, ']');
}

static void print_reversal(tsr_op_printer *printer, const tsr_attr *flags) {
  tsr_text_add_char(printer->out, '[');
  for (int64_t i = 0; i < flags->count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_text_add(printer->out, flags->bytes[i] ? "true" : "false");
  }
  tsr_text_add_char(printer->out, ']');
}

static void print_window(tsr_op_printer *printer, const tsr_op *op) {
  bool any = false;
  for (int word = 0; word < WINDOW_WORDS; word++) {
    const tsr_attr *attr = tsr_op_attr(op, window_words[word].attr);
    if (!attr) continue;
    if (any) tsr_text_add(printer->out, ", ");
    any = true;
    tsr_text_add(printer->out, window_words[word].word);
    tsr_text_add(printer->out, " = ");
    if (word == WINDOW_PAD)
      print_pads(printer, attr);
    else if (word == WINDOW_REVERSE)
      print_reversal(printer, attr);
    else
      tsr_ints_print(attr, printer->out);
  }
}

static bool fits_window(const tsr_op *op) {
  const tsr_attr *pads = tsr_op_attr(op, "padding");
  return !pads || (pads->kind == TSR_ATTR_DENSE && pads->type->kind == TSR_TYPE_TENSOR &&
                   pads->type->rank == 2 && pads->type->dims[1] == 2 && pads->type->dims[0] >= 0);
}

// ---- target and symbol: @name for a string ----

static tsr_status read_symbol_string(tsr_op_reader *reader, tsr_draft *draft, const char *attr) {
  const char *name = NULL;
  TSR_TRY(tsr_read_symbol_name(reader->in, &name));
  return tsr_draft_attr(reader, draft, attr, tsr_attr_string(reader->in->ir, name, strlen(name)));
}

static void print_symbol_string(tsr_op_printer *printer, const tsr_op *op, const char *name) {
  const tsr_attr *attr = tsr_op_attr(op, name);
  tsr_symbol_print(attr->bytes, attr->length, printer->out);
}

static tsr_status read_target(tsr_op_reader *reader, tsr_draft *draft) {
  return read_symbol_string(reader, draft, "call_target_name");
}

static void print_target(tsr_op_printer *printer, const tsr_op *op) {
  print_symbol_string(printer, op, "call_target_name");
}

static tsr_status read_own_symbol(tsr_op_reader *reader, tsr_draft *draft) {
  return read_symbol_string(reader, draft, "sym_name");
}

static void print_own_symbol(tsr_op_printer *printer, const tsr_op *op) {
  print_symbol_string(printer, op, "sym_name");
}

// ---- body: (%x: T, %y: U) {...} ----

static tsr_status read_body_argument(tsr_reader *in, void *context) {
  (void)in;
  return tsr_read_argument(context, true);
}

static tsr_status read_body(tsr_op_reader *reader, tsr_draft *draft) {
  const int64_t first = reader->arguments.count;
  TSR_TRY(tsr_read_list(reader->in, "(", ")", read_body_argument, reader));
  return tsr_draft_region(reader, draft, first);
}

static void print_body(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_ir_block *block = op->regions[0].first;
  tsr_text_add_char(printer->out, '(');
  for (int i = 0; i < block->arg_count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_print_argument(printer, block->args[i]);
  }
  tsr_text_add(printer->out, ") ");
  tsr_print_region(printer, &op->regions[0], false);
}

static bool fits_body(const tsr_op *op) {
  return op->region_count == 1 && op->regions[0].block_count == 1;
}

// ---- regions of a composite: ({...}, {...}), or nothing ----

static void print_regions(tsr_op_printer *printer, const tsr_op *op) {
  for (int i = 0; i < op->region_count; i++) {
    tsr_text_add(printer->out, i ? ", " : " (");
    tsr_print_region(printer, &op->regions[i], true);
  }
  if (op->region_count) tsr_text_add_char(printer->out, ')');
}

// ---- direction of a propagation barrier: a word for a number ----

static tsr_status read_direction(tsr_op_reader *reader, tsr_draft *draft) {
  const tsr_attr *word = NULL;
  TSR_TRY(tsr_read_enum(reader->in, TSR_ENUM_SDY_DIRECTION, &word));
  const tsr_type *i32 = tsr_type_integer(reader->in->ir, 32, TSR_SIGNLESS);
  TSR_NEED(i32);
  return tsr_draft_attr(reader, draft, "allowed_direction",
                        tsr_attr_integer(reader->in->ir, i32, word->integer));
}

static void print_direction(tsr_op_printer *printer, const tsr_op *op) {
  tsr_text_add(printer->out,
               tsr_enum_name(TSR_ENUM_SDY_DIRECTION, tsr_op_int(op, "allowed_direction", 0)));
}

static bool fits_direction(const tsr_op *op) {
  return tsr_enum_name(TSR_ENUM_SDY_DIRECTION, tsr_op_int(op, "allowed_direction", -1));
}

// ---- constant: dense<...> : T, where T is also the type of the operand ----

static tsr_status read_constant(tsr_op_reader *reader, tsr_draft *draft) {
  const char *at = reader->in->token.start;
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_read_attr(reader->in, NULL, &attr));
  if (!tsr_attr_has_form(attr, TSR_FORM_DENSE, 0))
    return tsr_reader_fail(reader->in, at, SYNTAX, "expected a constant such as dense<0> : T");
  draft->operand_type = attr->type;
  return tsr_draft_attr(reader, draft, "value", attr);
}

static void print_constant(tsr_op_printer *printer, const tsr_op *op) {
  tsr_print_attr(printer, tsr_op_attr(op, "value"));
}

static bool fits_constant(const tsr_op *op) {
  return tsr_op_attr(op, "value")->type == tsr_operand_type(op, 0);
}

static const tsr_op_notation notations[] = {
    {"fn", read_fn, tsr_print_functional_type, NULL, {NULL}},
    {"same", read_same, print_same, NULL, {NULL}},
    {"one", read_one, print_one, fits_one, {NULL}},
    {"result", read_result, print_result, NULL, {NULL}},
    {"select", read_select, print_select, NULL, {NULL}},
    {"complex", read_complex, print_complex, NULL, {NULL}},
    {"arrow", read_arrow, print_arrow, NULL, {NULL}},
    {"tuple", read_tuple, print_result, fits_tuple, {NULL}},
    {"operands", read_operand_types, tsr_print_operand_types, NULL, {NULL}},
    {"precision", read_precision, print_precision, NULL, {"precision_config"}},
    {"dot", read_dot, print_dot, NULL, {"dot_dimension_numbers"}},
    {"algorithm", read_algorithm, print_algorithm, NULL, {"algorithm"}},
    {"slice", read_slice, print_slice, fits_slice, {"start_indices", "limit_indices", "strides"}},
    {"target", read_target, print_target, NULL, {"call_target_name"}},
    {"window",
     read_window,
     print_window,
     fits_window,
     {"window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"}},
    {"exponent_mantissa",
     read_exponent_mantissa,
     print_exponent_mantissa,
     fits_exponent_mantissa,
     {"exponent_bits", "mantissa_bits"}},
    {"symbol", read_own_symbol, print_own_symbol, NULL, {"sym_name"}},
    {"body", read_body, print_body, fits_body, {NULL}},
    {"regions", tsr_draft_regions, print_regions, NULL, {NULL}},
    {"direction", read_direction, print_direction, fits_direction, {"allowed_direction"}},
    {"constant", read_constant, print_constant, fits_constant, {"value"}},
};

const tsr_op_notation *tsr_op_notation_find(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof notations / sizeof *notations; i++)
    if (*notations[i].name == *name && !strncmp(notations[i].name, name, length) &&
        !notations[i].name[length])
      return &notations[i];
  return NULL;
}
