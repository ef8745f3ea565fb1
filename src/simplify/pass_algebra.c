// Identities that hold for every value of the operands: integers wrap, and floats keep their NaNs
// and signed zeros, so x + 0.0 stays (it changes -0.0) while x + -0.0 and x - 0.0 do not.
#include <math.h>
#include <string.h>

#include "simplify/evaluate.h"
#include "simplify/rewriter.h"
#include "simplify/scalar.h"

// ---- what operands are ----

typedef struct operand_kind {
  tsr_scalar_type type;
  bool integral;  // a bool or an integer
} operand_kind;

static bool kind_of(const tsr_op *op, operand_kind *out) {
  if (!tsr_op_is_plain(op) || !tsr_scalar_type_of(tsr_operand_type(op, 0), &out->type))
    return false;
  out->integral = out->type.kind != TSR_CLASS_FLOAT && out->type.kind != TSR_CLASS_COMPLEX;
  return true;
}

// The one number that all elements of an operand are.
static bool splat_of(const tsr_op *op, int index, tsr_scalar *out) {
  const tsr_value *value = tsr_op_operand(op, index);
  const tsr_attr *attr = tsr_value_constant(value);
  tsr_scalar_type type;
  if (!attr || !attr->splat || !tsr_op_is_plain(value->def)) return false;
  if (!tsr_scalar_type_of(attr->type, &type)) return false;
  *out = tsr_scalar_load(&type, attr->bytes);
  return true;
}

static bool is_integer(const tsr_op *op, int index, int64_t number) {
  tsr_scalar scalar;
  return splat_of(op, index, &scalar) && scalar.i == number;
}

static bool is_float(const tsr_op *op, int index, double number) {
  tsr_scalar scalar;
  return splat_of(op, index, &scalar) && scalar.f == number &&
         !signbit(scalar.f) == !signbit(number);
}

static bool is_one(const tsr_op *op, const operand_kind *kind, int index) {
  if (kind->type.kind == TSR_CLASS_COMPLEX) return false;
  return kind->integral ? is_integer(op, index, 1) : is_float(op, index, 1);
}

// All bits set: -1, the largest unsigned number, true.
static bool is_all_ones(const tsr_op *op, const operand_kind *kind, int index) {
  const int bits = kind->type.bits;
  const bool negative = kind->type.kind == TSR_CLASS_SIGNED;
  return is_integer(op, index, negative ? -1 : (int64_t)(UINT64_MAX >> (64 - bits)));
}

static bool same_operands(const tsr_op *op, int a, int b) {
  return tsr_op_operand(op, a) == tsr_op_operand(op, b);
}

static tsr_status give(tsr_rewriter *r, tsr_op *op, int index) {
  return tsr_rewriter_replace(r, op, tsr_op_operand(op, index));
}

// A splat of the result's type.
static tsr_status give_number(tsr_rewriter *r, tsr_op *op, int64_t number) {
  const tsr_type *type = op->results[0].type;
  tsr_scalar_type scalar, whole = {.dtype = TSR_I64, .kind = TSR_CLASS_SIGNED, .bits = 64};
  if (tsr_type_element_count(type) < 1 || !tsr_scalar_type_of(type, &scalar)) return NULL;
  char *bytes = tsr_ir_alloc(r->ir, TSR_SCALAR_BYTES);
  TSR_NEED(bytes);
  if (!tsr_scalar_convert(&whole, &scalar, (tsr_scalar){.i = number}, bytes)) return NULL;
  const size_t length = (size_t)scalar.bytes;
  return tsr_rewriter_exchange_constant(r, op, tsr_attr_dense(r->ir, type, bytes, length));
}

// ---- arithmetic ----

// Operand `index` can be left out of an addition.
static bool adds_nothing(const tsr_op *op, const operand_kind *kind, int index) {
  if (kind->type.kind == TSR_CLASS_COMPLEX) return false;
  return kind->integral ? is_integer(op, index, 0) : is_float(op, index, -0.0);
}

static tsr_status simplify_add(tsr_rewriter *r, tsr_op *op) {
  operand_kind kind;
  if (!kind_of(op, &kind)) return NULL;
  for (int i = 0; i < 2; i++)
    if (adds_nothing(op, &kind, i)) return give(r, op, 1 - i);
  return NULL;
}

static tsr_status simplify_subtract(tsr_rewriter *r, tsr_op *op) {
  operand_kind kind;
  if (!kind_of(op, &kind) || kind.type.kind == TSR_CLASS_COMPLEX) return NULL;
  if (kind.integral && same_operands(op, 0, 1)) return give_number(r, op, 0);
  const bool nothing = kind.integral ? is_integer(op, 1, 0) : is_float(op, 1, 0.0);
  return nothing ? give(r, op, 0) : NULL;
}

static tsr_status simplify_multiply(tsr_rewriter *r, tsr_op *op) {
  operand_kind kind;
  if (!kind_of(op, &kind)) return NULL;
  for (int i = 0; i < 2; i++) {
    if (is_one(op, &kind, i)) return give(r, op, 1 - i);
    if (kind.integral && is_integer(op, i, 0)) return give(r, op, i);
  }
  return NULL;
}

static tsr_status simplify_divide(tsr_rewriter *r, tsr_op *op) {
  operand_kind kind;
  return kind_of(op, &kind) && is_one(op, &kind, 1) ? give(r, op, 0) : NULL;
}

static tsr_status simplify_power(tsr_rewriter *r, tsr_op *op) {
  operand_kind kind;
  if (!kind_of(op, &kind) || kind.type.kind == TSR_CLASS_COMPLEX) return NULL;
  if (is_one(op, &kind, 1)) return give(r, op, 0);
  const bool zero =
      kind.integral ? is_integer(op, 1, 0) : is_float(op, 1, 0.0) || is_float(op, 1, -0.0);
  return zero ? give_number(r, op, 1) : NULL;
}

static tsr_status simplify_shift(tsr_rewriter *r, tsr_op *op) {
  return tsr_op_is_plain(op) && is_integer(op, 1, 0) ? give(r, op, 0) : NULL;
}

// ---- logic ----

static tsr_status simplify_and(tsr_rewriter *r, tsr_op *op) {
  operand_kind kind;
  if (!kind_of(op, &kind)) return NULL;
  if (same_operands(op, 0, 1)) return give(r, op, 0);
  for (int i = 0; i < 2; i++) {
    if (is_integer(op, i, 0)) return give(r, op, i);
    if (is_all_ones(op, &kind, i)) return give(r, op, 1 - i);
  }
  return NULL;
}

static tsr_status simplify_or(tsr_rewriter *r, tsr_op *op) {
  operand_kind kind;
  if (!kind_of(op, &kind)) return NULL;
  if (same_operands(op, 0, 1)) return give(r, op, 0);
  for (int i = 0; i < 2; i++) {
    if (is_integer(op, i, 0)) return give(r, op, 1 - i);
    if (is_all_ones(op, &kind, i)) return give(r, op, i);
  }
  return NULL;
}

static tsr_status simplify_xor(tsr_rewriter *r, tsr_op *op) {
  if (!tsr_op_is_plain(op)) return NULL;
  if (same_operands(op, 0, 1)) return give_number(r, op, 0);
  for (int i = 0; i < 2; i++)
    if (is_integer(op, i, 0)) return give(r, op, 1 - i);
  return NULL;
}

// negate, not: their own inverses.
static tsr_status simplify_inverse(tsr_rewriter *r, tsr_op *op) {
  const tsr_op *inner = tsr_operand_def(op, 0, op->info->id);
  if (!inner || !tsr_op_is_plain(op)) return NULL;
  return tsr_rewriter_replace(r, op, tsr_op_operand(inner, 0));
}

// Ops that change nothing the second time: abs, ceil, floor, roundings, sign, real of a float.
static tsr_status simplify_repeated(tsr_rewriter *r, tsr_op *op) {
  const tsr_op *inner = tsr_operand_def(op, 0, op->info->id);
  return inner && tsr_op_is_plain(op) ? give(r, op, 0) : NULL;
}

static tsr_status simplify_extreme(tsr_rewriter *r, tsr_op *op) {
  return tsr_op_is_plain(op) && same_operands(op, 0, 1) ? give(r, op, 0) : NULL;
}

// ---- compare, select ----

static tsr_status simplify_compare(tsr_rewriter *r, tsr_op *op) {
  operand_kind kind;
  if (!kind_of(op, &kind) || !kind.integral || !same_operands(op, 0, 1)) return NULL;
  const int64_t direction = tsr_op_int(op, "comparison_direction", TSR_DIRECTION_EQ);
  const bool truth = direction == TSR_DIRECTION_EQ || direction == TSR_DIRECTION_GE ||
                     direction == TSR_DIRECTION_LE;
  return give_number(r, op, truth);
}

static tsr_status simplify_select(tsr_rewriter *r, tsr_op *op) {
  tsr_scalar choice;
  if (!tsr_op_is_plain(op)) return NULL;
  if (splat_of(op, 0, &choice)) return give(r, op, choice.i ? 1 : 2);
  if (same_operands(op, 1, 2)) return give(r, op, 1);
  operand_kind kind;
  const tsr_type *type = op->results[0].type;
  if (tsr_operand_type(op, 0) == type && kind_of(op, &kind) && is_integer(op, 1, 1) &&
      is_integer(op, 2, 0))
    return give(r, op, 0);
  tsr_op *inner = tsr_operand_def(op, 0, TSR_OP_NOT);
  if (!inner) return NULL;
  tsr_value *first = tsr_op_operand(op, 1), *second = tsr_op_operand(op, 2);
  tsr_op_set_operand(op, 0, tsr_op_operand(inner, 0));
  tsr_op_set_operand(op, 1, second);
  tsr_op_set_operand(op, 2, first);
  TSR_TRY(tsr_rewriter_push(r, inner));  // it may be unused now
  return tsr_rewriter_changed(r, op);
}

// ---- converting, complex numbers, tuples ----

// Whether every number of `from` is one of `to`, so that converting there and back changes nothing.
static bool holds_all(const tsr_scalar_type *from, const tsr_scalar_type *to) {
  const bool whole = from->kind == TSR_CLASS_SIGNED || from->kind == TSR_CLASS_UNSIGNED;
  if (whole && to->kind == from->kind) return to->bits >= from->bits;
  if (from->kind == TSR_CLASS_UNSIGNED && to->kind == TSR_CLASS_SIGNED)
    return to->bits > from->bits;
  if (from->kind != TSR_CLASS_FLOAT || to->kind != TSR_CLASS_FLOAT) return false;
  const bool half = from->dtype == TSR_F16 || from->dtype == TSR_BF16;
  return (half && (to->dtype == TSR_F32 || to->dtype == TSR_F64)) ||
         (from->dtype == TSR_F32 && to->dtype == TSR_F64);
}

static tsr_status simplify_convert(tsr_rewriter *r, tsr_op *op) {
  if (!tsr_op_is_plain(op)) return NULL;
  if (tsr_operand_type(op, 0) == op->results[0].type) return give(r, op, 0);
  const tsr_op *inner = tsr_operand_def(op, 0, TSR_OP_CONVERT);
  if (!inner || tsr_operand_type(inner, 0) != op->results[0].type) return NULL;
  tsr_scalar_type narrow, wide;
  if (!tsr_scalar_type_of(op->results[0].type, &narrow)) return NULL;
  if (!tsr_scalar_type_of(tsr_operand_type(op, 0), &wide) || !holds_all(&narrow, &wide))
    return NULL;
  return tsr_rewriter_replace(r, op, tsr_op_operand(inner, 0));
}

static tsr_status simplify_component(tsr_rewriter *r, tsr_op *op) {
  const tsr_op *pair = tsr_operand_def(op, 0, TSR_OP_COMPLEX);
  if (!pair || !tsr_op_is_plain(op)) return NULL;
  return tsr_rewriter_replace(r, op, tsr_op_operand(pair, op->info->id == TSR_OP_REAL ? 0 : 1));
}

static tsr_status simplify_complex(tsr_rewriter *r, tsr_op *op) {
  const tsr_op *real = tsr_operand_def(op, 0, TSR_OP_REAL);
  const tsr_op *imag = tsr_operand_def(op, 1, TSR_OP_IMAG);
  if (!real || !imag || !tsr_op_is_plain(op)) return NULL;
  if (tsr_op_operand(real, 0) != tsr_op_operand(imag, 0)) return NULL;
  return tsr_rewriter_replace(r, op, tsr_op_operand(real, 0));
}

static tsr_status simplify_tuple_element(tsr_rewriter *r, tsr_op *op) {
  const tsr_op *tuple = tsr_operand_def(op, 0, TSR_OP_TUPLE);
  const int64_t index = tsr_op_int(op, "index", -1);
  if (!tuple || !tsr_op_is_plain(op) || index < 0 || index >= tuple->operand_count) return NULL;
  return tsr_rewriter_replace(r, op, tsr_op_operand(tuple, (int)index));
}

// A format at least as wide as the type's own keeps every number.
static tsr_status simplify_precision(tsr_rewriter *r, tsr_op *op) {
  static const struct {
    tsr_dtype dtype;
    int exponent, mantissa;
  } formats[] = {{TSR_F64, 11, 52}, {TSR_F32, 8, 23}, {TSR_F16, 5, 10}, {TSR_BF16, 8, 7}};
  operand_kind kind;
  if (!kind_of(op, &kind)) return NULL;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (formats[i].dtype == kind.type.dtype &&
        tsr_op_int(op, "exponent_bits", 0) >= formats[i].exponent &&
        tsr_op_int(op, "mantissa_bits", 0) >= formats[i].mantissa)
      return give(r, op, 0);
  return NULL;
}

// ---- windows ----

static bool all_equal(const tsr_attr *list, int64_t number) {
  const int64_t count = tsr_attr_int_count(list);
  for (int64_t i = 0; i < count; i++)
    if (tsr_attr_int_at(list, i) != number) return false;
  return true;
}

// A slice or dynamic slice of everything.
static tsr_status simplify_slice(tsr_rewriter *r, tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  if (!tsr_op_is_plain(op) || type != tsr_operand_type(op, 0) || !tsr_type_is_static(type))
    return NULL;
  return give(r, op, 0);
}

static tsr_status simplify_update(tsr_rewriter *r, tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  if (!tsr_op_is_plain(op) || type != tsr_operand_type(op, 1) || !tsr_type_is_static(type))
    return NULL;
  return give(r, op, 1);
}

static tsr_status simplify_pad(tsr_rewriter *r, tsr_op *op) {
  if (!tsr_op_is_plain(op) || !all_equal(tsr_op_attr(op, "edge_padding_low"), 0) ||
      !all_equal(tsr_op_attr(op, "edge_padding_high"), 0) ||
      !all_equal(tsr_op_attr(op, "interior_padding"), 0))
    return NULL;
  return give(r, op, 0);
}

static tsr_status simplify_concatenate(tsr_rewriter *r, tsr_op *op) {
  return tsr_op_is_plain(op) && op->operand_count == 1 ? give(r, op, 0) : NULL;
}

// A dynamic slice whose start is known is a slice.
static tsr_status simplify_dynamic_slice(tsr_rewriter *r, tsr_op *op) {
  enum { MOST = 16 };
  const tsr_type *from = tsr_operand_type(op, 0), *type = op->results[0].type;
  int64_t starts[MOST], limits[MOST], strides[MOST];
  if (!tsr_op_is_plain(op) || !tsr_type_is_static(from) || !tsr_type_is_static(type)) return NULL;
  if (type->rank > MOST || from->rank != type->rank || op->operand_count != 1 + type->rank)
    return NULL;
  for (int d = 0; d < type->rank; d++) {
    tsr_scalar start;
    const int64_t most = from->dims[d] - type->dims[d];
    tsr_scalar_type index;
    if (most < 0 || !splat_of(op, 1 + d, &start)) return NULL;
    if (!tsr_scalar_type_of(tsr_operand_type(op, 1 + d), &index)) return NULL;
    if (index.kind == TSR_CLASS_UNSIGNED && start.i < 0) start.i = INT64_MAX;
    starts[d] = start.i < 0 ? 0 : start.i > most ? most : start.i;
    limits[d] = starts[d] + type->dims[d];
    strides[d] = 1;
  }
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(r->ir, "limit_indices", 13), tsr_attr_ints(r->ir, limits, type->rank)},
      {tsr_ir_name(r->ir, "start_indices", 13), tsr_attr_ints(r->ir, starts, type->rank)},
      {tsr_ir_name(r->ir, "strides", 7), tsr_attr_ints(r->ir, strides, type->rank)}};
  for (int i = 0; i < 3; i++) {
    TSR_NEED(attrs[i].name);
    TSR_NEED(attrs[i].attr);
  }
  tsr_value *operand = tsr_op_operand(op, 0);
  return tsr_rewriter_exchange(r, op,
                               (tsr_op_parts){.id = TSR_OP_SLICE,
                                              .operand_count = 1,
                                              .operands = &operand,
                                              .attr_count = 3,
                                              .attrs = attrs});
}

static bool reverses_nothing(const tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  const tsr_attr *dims = tsr_op_attr(op, "dimensions");
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++) {
    const int64_t d = tsr_attr_int_at(dims, i);
    if (d < 0 || d >= type->rank || type->dims[d] > 1 || type->dims[d] == TSR_DYNAMIC) return false;
  }
  return true;
}

static tsr_status simplify_reverse(tsr_rewriter *r, tsr_op *op) {
  if (!tsr_op_is_plain(op)) return NULL;
  if (reverses_nothing(op)) return give(r, op, 0);
  const tsr_op *inner = tsr_operand_def(op, 0, TSR_OP_REVERSE);
  if (!inner || !tsr_attr_equal(tsr_op_attr(op, "dimensions"), tsr_op_attr(inner, "dimensions")))
    return NULL;
  return tsr_rewriter_replace(r, op, tsr_op_operand(inner, 0));
}

static const tsr_rewrite_rule algebra_table[] = {
    {TSR_OP_ADD, simplify_add},
    {TSR_OP_SUBTRACT, simplify_subtract},
    {TSR_OP_MULTIPLY, simplify_multiply},
    {TSR_OP_DIVIDE, simplify_divide},
    {TSR_OP_POWER, simplify_power},
    {TSR_OP_SHIFT_LEFT, simplify_shift},
    {TSR_OP_SHIFT_RIGHT_ARITHMETIC, simplify_shift},
    {TSR_OP_SHIFT_RIGHT_LOGICAL, simplify_shift},
    {TSR_OP_AND, simplify_and},
    {TSR_OP_OR, simplify_or},
    {TSR_OP_XOR, simplify_xor},
    {TSR_OP_NEGATE, simplify_inverse},
    {TSR_OP_NOT, simplify_inverse},
    {TSR_OP_ABS, simplify_repeated},
    {TSR_OP_CEIL, simplify_repeated},
    {TSR_OP_FLOOR, simplify_repeated},
    {TSR_OP_ROUND_NEAREST_AFZ, simplify_repeated},
    {TSR_OP_ROUND_NEAREST_EVEN, simplify_repeated},
    {TSR_OP_MAXIMUM, simplify_extreme},
    {TSR_OP_MINIMUM, simplify_extreme},
    {TSR_OP_COMPARE, simplify_compare},
    {TSR_OP_SELECT, simplify_select},
    {TSR_OP_CONVERT, simplify_convert},
    {TSR_OP_REAL, simplify_component},
    {TSR_OP_IMAG, simplify_component},
    {TSR_OP_COMPLEX, simplify_complex},
    {TSR_OP_GET_TUPLE_ELEMENT, simplify_tuple_element},
    {TSR_OP_REDUCE_PRECISION, simplify_precision},
    {TSR_OP_SLICE, simplify_slice},
    {TSR_OP_DYNAMIC_SLICE, simplify_slice},
    {TSR_OP_DYNAMIC_SLICE, simplify_dynamic_slice},
    {TSR_OP_DYNAMIC_UPDATE_SLICE, simplify_update},
    {TSR_OP_PAD, simplify_pad},
    {TSR_OP_CONCATENATE, simplify_concatenate},
    {TSR_OP_REVERSE, simplify_reverse},
};

tsr_rewrite_set tsr_algebra_rules(void) { return (tsr_rewrite_set)TSR_REWRITE_SET(algebra_table); }

tsr_status tsr_pass_algebra(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const tsr_rewrite_set set = tsr_algebra_rules();
  return tsr_rewrite(ir, options, &set, 1, changes);
}
