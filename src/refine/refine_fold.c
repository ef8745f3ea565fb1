// Arithmetic on sizes: small tensors of integers, computed where all operands are constants.
//
// What JAX does with symbolic dimensions is integer arithmetic on scalars, put together to shapes
// by reshape and concatenate. Values are held as 64-bit integers and cut to the width of their type
// at the end; unsigned ones are held by their bits.
#include <string.h>

#include "refine/refine_internal.h"

typedef struct int_values {
  int64_t items[TSR_FOLD_MOST];
  int64_t count;
} int_values;

bool tsr_has_unknown_size(const tsr_type *type) {
  if (type->kind == TSR_TYPE_TUPLE || type->kind == TSR_TYPE_FUTURE) {
    for (int i = 0; i < type->count; i++)
      if (tsr_has_unknown_size(type->types[i])) return true;
    return false;
  }
  return type->kind == TSR_TYPE_UNRANKED || (tsr_type_is_shaped(type) && !tsr_type_is_static(type));
}

static bool is_unsigned(const tsr_type *element) {
  return element->sign == TSR_UNSIGNED || element->width == 1;
}

// Tensors of integers with few elements.
static bool is_small(const tsr_type *type) {
  const int64_t count = tsr_type_element_count(type);
  return type->kind == TSR_TYPE_TENSOR && type->element->kind == TSR_TYPE_INTEGER && count >= 0 &&
         count <= TSR_FOLD_MOST && tsr_type_element_bytes(type->element);
}

static int64_t cut(const tsr_type *element, int64_t value) {
  const int unused = 64 - element->width;
  if (unused <= 0) return value;
  const uint64_t shifted = (uint64_t)value << unused;
  return is_unsigned(element) ? (int64_t)(shifted >> unused) : (int64_t)shifted >> unused;
}

static bool read_ints(const tsr_op *op, int operand, int_values *out) {
  const tsr_type *type = tsr_operand_type(op, operand);
  const tsr_attr *dense = is_small(type) ? tsr_constant_of(tsr_op_operand(op, operand)) : NULL;
  if (!dense) return false;
  out->count = tsr_type_element_count(type);
  for (int64_t i = 0; i < out->count; i++)
    out->items[i] = cut(type->element, tsr_dense_int(dense, i));
  return true;
}

tsr_status tsr_dense_of_ints(tsr_ir *ir, const tsr_type *type, const int64_t *values, int64_t count,
                             const tsr_attr **out_dense) {
  const size_t size = tsr_type_element_bytes(type->element);
  char *bytes = tsr_ir_alloc(ir, size * (size_t)count + 1);
  TSR_NEED(bytes);
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits = (uint64_t)values[i];
    if (type->element->width < 8) bits &= ((uint64_t)1 << type->element->width) - 1;
    for (size_t j = 0; j < size; j++) bytes[(size_t)i * size + j] = (char)(bits >> (8 * j));
  }
  *out_dense = tsr_attr_dense(ir, type, bytes, size * (size_t)count);
  TSR_NEED(*out_dense);
  return NULL;
}

// ---- elementwise

static int64_t wrap_multiply(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

// False where the result is undefined: division by zero.
static bool divide(bool is_unsigned_type, bool remainder, int64_t a, int64_t b, int64_t *out) {
  if (!b) return false;
  if (is_unsigned_type) {
    *out = (int64_t)(remainder ? (uint64_t)a % (uint64_t)b : (uint64_t)a / (uint64_t)b);
    return true;
  }
  if (b == -1)
    *out = remainder ? 0 : (int64_t)(0 - (uint64_t)a);
  else
    *out = remainder ? a % b : a / b;
  return true;
}

static bool less(bool is_unsigned_type, int64_t a, int64_t b) {
  return is_unsigned_type ? (uint64_t)a < (uint64_t)b : a < b;
}

static bool binary(tsr_op_id id, bool u, int64_t a, int64_t b, int64_t *out) {
  switch (id) {
    case TSR_OP_ADD:
      *out = (int64_t)((uint64_t)a + (uint64_t)b);
      return true;
    case TSR_OP_SUBTRACT:
      *out = (int64_t)((uint64_t)a - (uint64_t)b);
      return true;
    case TSR_OP_MULTIPLY:
      *out = wrap_multiply(a, b);
      return true;
    case TSR_OP_DIVIDE:
      return divide(u, false, a, b, out);
    case TSR_OP_REMAINDER:
      return divide(u, true, a, b, out);
    case TSR_OP_MAXIMUM:
      *out = less(u, a, b) ? b : a;
      return true;
    case TSR_OP_MINIMUM:
      *out = less(u, a, b) ? a : b;
      return true;
    case TSR_OP_AND:
      *out = a & b;
      return true;
    case TSR_OP_OR:
      *out = a | b;
      return true;
    case TSR_OP_XOR:
      *out = a ^ b;
      return true;
    default:
      return false;
  }
}

static bool unary(tsr_op_id id, bool u, int64_t a, int64_t *out) {
  switch (id) {
    case TSR_OP_NEGATE:
      *out = (int64_t)(0 - (uint64_t)a);
      return true;
    case TSR_OP_NOT:
      *out = ~a;
      return true;
    case TSR_OP_ABS:
      *out = !u && a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
      return true;
    case TSR_OP_SIGN:
      *out = u ? a != 0 : (a > 0) - (a < 0);
      return true;
    default:
      return false;
  }
}

static bool fold_unary(const tsr_op *op, int_values *out) {
  const bool u = is_unsigned(tsr_operand_type(op, 0)->element);
  int_values a;
  if (!read_ints(op, 0, &a)) return false;
  out->count = a.count;
  for (int64_t i = 0; i < a.count; i++)
    if (!unary(op->info->id, u, a.items[i], &out->items[i])) return false;
  return true;
}

// Additions of booleans are or, multiplications are and: what cutting to one bit does not give.
static tsr_op_id logical(tsr_op_id id, const tsr_type *element) {
  if (element->width != 1) return id;
  return id == TSR_OP_ADD ? TSR_OP_OR : id == TSR_OP_MULTIPLY ? TSR_OP_AND : id;
}

static bool fold_binary(const tsr_op *op, int_values *out) {
  const tsr_type *element = tsr_type_element(tsr_operand_type(op, 0));
  const tsr_op_id id = logical(op->info->id, element);
  int_values a, b;
  if (!read_ints(op, 0, &a) || !read_ints(op, 1, &b) || a.count != b.count) return false;
  out->count = a.count;
  for (int64_t i = 0; i < a.count; i++)
    if (!binary(id, is_unsigned(element), a.items[i], b.items[i], &out->items[i])) return false;
  return true;
}

static bool fold_compare(const tsr_op *op, int_values *out) {
  const bool u = is_unsigned(tsr_type_element(tsr_operand_type(op, 0)));
  const int64_t direction = tsr_op_int(op, "comparison_direction", 0);
  int_values a, b;
  if (!read_ints(op, 0, &a) || !read_ints(op, 1, &b) || a.count != b.count) return false;
  out->count = a.count;
  for (int64_t i = 0; i < a.count; i++) {
    const bool below = less(u, a.items[i], b.items[i]), above = less(u, b.items[i], a.items[i]);
    const bool holds[] = {
        [TSR_DIRECTION_EQ] = !below && !above, [TSR_DIRECTION_NE] = below || above,
        [TSR_DIRECTION_GE] = !below,           [TSR_DIRECTION_GT] = above,
        [TSR_DIRECTION_LE] = !above,           [TSR_DIRECTION_LT] = below};
    out->items[i] = holds[direction];
  }
  return true;
}

static bool fold_select(const tsr_op *op, int_values *out) {
  int_values pred, a, b;
  if (!read_ints(op, 0, &pred) || !read_ints(op, 1, &a) || !read_ints(op, 2, &b)) return false;
  out->count = a.count;
  for (int64_t i = 0; i < a.count; i++)
    out->items[i] = pred.items[pred.count == 1 ? 0 : i] ? a.items[i] : b.items[i];
  return true;
}

static bool fold_clamp(const tsr_op *op, int_values *out) {
  const bool u = is_unsigned(tsr_type_element(tsr_operand_type(op, 1)));
  int_values low, x, high;
  if (!read_ints(op, 0, &low) || !read_ints(op, 1, &x) || !read_ints(op, 2, &high)) return false;
  out->count = x.count;
  for (int64_t i = 0; i < x.count; i++) {
    const int64_t l = low.items[low.count == 1 ? 0 : i], h = high.items[high.count == 1 ? 0 : i];
    const int64_t raised = less(u, x.items[i], l) ? l : x.items[i];
    out->items[i] = less(u, h, raised) ? h : raised;
  }
  return true;
}

static bool fold_convert(const tsr_op *op, int_values *out) {
  if (!read_ints(op, 0, out)) return false;
  if (tsr_is_pred(op->results[0].type))
    for (int64_t i = 0; i < out->count; i++) out->items[i] = out->items[i] != 0;
  return true;
}

// ---- shapes

static bool fold_reshape(const tsr_op *op, int_values *out) { return read_ints(op, 0, out); }

static bool fold_dimension_size(const tsr_op *op, int_values *out) {
  const int64_t size = tsr_operand_type(op, 0)->dims[tsr_op_int(op, "dimension", 0)];
  out->items[0] = size;
  out->count = 1;
  return !tsr_is_dynamic(size);
}

// Along the first dimension elements follow each other as they do in memory.
static bool fold_concatenate(const tsr_op *op, int_values *out) {
  out->count = 0;
  if (tsr_op_int(op, "dimension", 0)) return false;
  for (int i = 0; i < op->operand_count; i++) {
    int_values list;
    if (!read_ints(op, i, &list)) return false;
    if (out->count + list.count > TSR_FOLD_MOST) return false;
    memcpy(out->items + out->count, list.items, sizeof *list.items * (size_t)list.count);
    out->count += list.count;
  }
  return true;
}

static bool fold_slice(const tsr_op *op, int_values *out) {
  int_values list;
  if (tsr_operand_type(op, 0)->rank != 1 || !read_ints(op, 0, &list)) return false;
  const int64_t start = tsr_attr_int_at(tsr_op_attr(op, "start_indices"), 0);
  const int64_t limit = tsr_attr_int_at(tsr_op_attr(op, "limit_indices"), 0);
  const int64_t stride = tsr_attr_int_at(tsr_op_attr(op, "strides"), 0);
  if (start < 0 || limit > list.count || stride < 1) return false;
  out->count = 0;
  for (int64_t i = start; i < limit; i += stride) out->items[out->count++] = list.items[i];
  return true;
}

// A scalar that fills a shape.
static bool fold_broadcast(const tsr_op *op, int_values *out) {
  int_values scalar;
  const int64_t count = tsr_type_element_count(op->results[0].type);
  if (!read_ints(op, 0, &scalar) || scalar.count != 1) return false;
  out->count = count;
  for (int64_t i = 0; i < count; i++) out->items[i] = scalar.items[0];
  return true;
}

static bool fold_iota(const tsr_op *op, int_values *out) {
  const tsr_type *type = op->results[0].type;
  if (type->rank != 1) return false;
  out->count = type->dims[0];
  for (int64_t i = 0; i < out->count; i++) out->items[i] = i;
  return true;
}

typedef bool fold_fn(const tsr_op *op, int_values *out);

static const struct {
  tsr_op_id id;
  fold_fn *fold;
} folds[] = {
    {TSR_OP_ABS, fold_unary},
    {TSR_OP_ADD, fold_binary},
    {TSR_OP_AND, fold_binary},
    {TSR_OP_BROADCAST_IN_DIM, fold_broadcast},
    {TSR_OP_CLAMP, fold_clamp},
    {TSR_OP_COMPARE, fold_compare},
    {TSR_OP_CONCATENATE, fold_concatenate},
    {TSR_OP_CONVERT, fold_convert},
    {TSR_OP_DIVIDE, fold_binary},
    {TSR_OP_GET_DIMENSION_SIZE, fold_dimension_size},
    {TSR_OP_IOTA, fold_iota},
    {TSR_OP_MAXIMUM, fold_binary},
    {TSR_OP_MINIMUM, fold_binary},
    {TSR_OP_MULTIPLY, fold_binary},
    {TSR_OP_NEGATE, fold_unary},
    {TSR_OP_NOT, fold_unary},
    {TSR_OP_OR, fold_binary},
    {TSR_OP_REMAINDER, fold_binary},
    {TSR_OP_RESHAPE, fold_reshape},
    {TSR_OP_SELECT, fold_select},
    {TSR_OP_SIGN, fold_unary},
    {TSR_OP_SLICE, fold_slice},
    {TSR_OP_SUBTRACT, fold_binary},
    {TSR_OP_XOR, fold_binary},
};

tsr_status tsr_fold_ints(tsr_ir *ir, const tsr_op *op, const tsr_attr **out_value) {
  *out_value = NULL;
  fold_fn *fold = NULL;
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
    if (folds[i].id == op->info->id) fold = folds[i].fold;
  if (!fold || op->result_count != 1 || !is_small(op->results[0].type)) return NULL;
  const tsr_type *type = op->results[0].type;
  int_values values;
  if (!fold(op, &values) || values.count != tsr_type_element_count(type)) return NULL;
  for (int64_t i = 0; i < values.count; i++) values.items[i] = cut(type->element, values.items[i]);
  return tsr_dense_of_ints(ir, type, values.items, values.count, out_value);
}

tsr_status tsr_insert_constant(tsr_ir *ir, tsr_op *place, const tsr_attr *value,
                               tsr_value **out_value) {
  const tsr_named_attr attr = {tsr_ir_name(ir, "value", 5), value};
  TSR_NEED(attr.name);
  const tsr_op_parts parts = {.id = TSR_OP_CONSTANT,
                              .result_count = 1,
                              .result_types = &value->type,
                              .attr_count = 1,
                              .attrs = &attr,
                              .location = place->location};
  tsr_op *op = tsr_op_create(ir, &parts);
  TSR_NEED(op);
  tsr_op_insert_before(place, op);
  *out_value = tsr_op_result(op, 0);
  return NULL;
}
