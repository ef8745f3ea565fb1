// Ops of unknown shapes, and of quantised values: shapes and paddings come as operands, which are
// looked at where they are constants.
#include "verify/region_checks.h"
#include "verify/shape_rules.h"

// ---- shapes as operands

// The number of elements of a shape operand; TSR_DYNAMIC if it is not known.
static int64_t shape_length(const tsr_op *op, int operand) {
  return tsr_operand_type(op, operand)->dims[0];
}

// A constant shape must be one that the result can have.
static tsr_status check_shape_operand(const tsr_op *op, int operand, const char *constraint) {
  const tsr_type *result = op->results[0].type;
  const tsr_attr *shape = tsr_constant_of(tsr_op_operand(op, operand));
  const int64_t length = shape_length(op, operand);
  TSR_ASK(tsr_sizes_match(length, result->rank), op, constraint,
          "operand %d has %lld sizes, expected %d as %s", operand, (long long)length, result->rank,
          SHOW_TYPE(result));
  for (int i = 0; shape && i < result->rank; i++) {
    const int64_t size = tsr_dense_int(shape, i), bound = tsr_type_bound(result, i);
    TSR_ASK(size >= 0 && tsr_sizes_match(size, result->dims[i]) &&
                (tsr_is_dynamic(bound) || size <= bound),
            op, constraint, "operand %d has the size %lld at %d, which %s cannot have", operand,
            (long long)size, i, SHOW_TYPE(result));
  }
  return NULL;
}

tsr_status tsr_verify_dynamic_iota(tsr_ir *ir, const tsr_op *op) {
  const int64_t dim = tsr_op_int(op, "iota_dimension", 0);
  const tsr_type *result = op->results[0].type;
  (void)ir;
  TSR_ASK(dim >= 0 && dim < result->rank, op, "C1",
          "iota_dimension is %lld, expected 0 or more and less than %d, the rank of %s",
          (long long)dim, result->rank, SHOW_TYPE(result));
  return check_shape_operand(op, 0, "C2");
}

// The result has the elements of the first operand, whose scales may differ.
static tsr_status check_kept_element(const tsr_op *op, const char *constraint) {
  const tsr_type *result = op->results[0].type, *operand = tsr_operand_type(op, 0);
  TSR_ASK(tsr_elements_match(operand, result), op, constraint,
          "result is %s, expected the elements of %s", SHOW_TYPE(result), SHOW_TYPE(operand));
  return NULL;
}

// ---- dynamic_reshape

static tsr_status check_reshape_count(const tsr_op *op) {
  const tsr_attr *shape = tsr_constant_of(tsr_op_operand(op, 1));
  const tsr_type *operand = tsr_operand_type(op, 0);
  const int64_t count = tsr_type_element_count(operand);
  int64_t product = 1;
  bool fits = true;
  if (!shape || count < 0) return NULL;
  for (int64_t i = 0; fits && i < shape_length(op, 1); i++)
    fits = !__builtin_mul_overflow(product, tsr_dense_int(shape, i), &product);
  TSR_ASK(fits && product == count, op, "C2",
          "%s has %lld elements, expected those of output_shape", SHOW_TYPE(operand),
          (long long)count);
  return NULL;
}

tsr_status tsr_verify_dynamic_reshape(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(check_kept_element(op, "C1"));
  TSR_TRY(tsr_check_reshape(op));
  TSR_TRY(check_shape_operand(op, 1, "C4"));
  return check_reshape_count(op);
}

// ---- dynamic_broadcast_in_dim

static tsr_status check_hints(const tsr_op *op) {
  const tsr_attr *expand = tsr_op_attr(op, "known_expanding_dimensions");
  const tsr_attr *keep = tsr_op_attr(op, "known_nonexpanding_dimensions");
  const int rank = tsr_operand_type(op, 0)->rank;
  TSR_ASK(tsr_ints_unique(expand) && tsr_ints_unique(keep) && tsr_ints_distinct(expand, keep), op,
          "C8", "known dimensions are %s and %s, expected each once", SHOW_INTS(expand),
          SHOW_INTS(keep));
  TSR_ASK(tsr_ints_within(expand, 0, rank), op, "C9",
          "known_expanding_dimensions is %s, expected 0 or more and less than %d",
          SHOW_INTS(expand), rank);
  TSR_ASK(tsr_ints_within(keep, 0, rank), op, "C10",
          "known_nonexpanding_dimensions is %s, expected 0 or more and less than %d",
          SHOW_INTS(keep), rank);
  return NULL;
}

static tsr_status check_spread_sizes(const tsr_op *op, const tsr_attr *map) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *shape = tsr_constant_of(tsr_op_operand(op, 1));
  if (!tsr_type_is_static(operand)) return NULL;  // as the peer has it
  for (int i = 0; shape && i < operand->rank; i++) {
    const int64_t size = tsr_dense_int(shape, tsr_attr_int_at(map, i));
    TSR_ASK(operand->dims[i] == 1 || operand->dims[i] == size, op, "C5",
            "dimension %d of %s is spread over the size %lld, expected the same size or 1", i,
            SHOW_TYPE(operand), (long long)size);
  }
  return NULL;
}

tsr_status tsr_verify_dynamic_broadcast_in_dim(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(check_kept_element(op, "C1"));
  TSR_TRY(tsr_check_broadcast(op));
  TSR_TRY(check_shape_operand(op, 1, "C7"));
  TSR_TRY(check_hints(op));
  return check_spread_sizes(op, tsr_op_attr(op, "broadcast_dimensions"));
}

// ---- dynamic_pad and real_dynamic_slice

enum { PAD_LOW = 2, PAD_HIGH = 3, PAD_INTERIOR = 4 };

static tsr_status check_list_operands(const tsr_op *op, int first, const char *constraint) {
  const tsr_type *operand = tsr_operand_type(op, 0), *list = tsr_operand_type(op, first);
  for (int i = first; i < op->operand_count; i++)
    TSR_ASK(tsr_operand_type(op, i) == list, op, constraint, "operand %d is %s, expected %s", i,
            SHOW_TYPE(tsr_operand_type(op, i)), SHOW_TYPE(list));
  TSR_ASK(tsr_sizes_match(list->dims[0], operand->rank), op, constraint,
          "operand %d is %s, expected a number for each of the %d dimensions of %s", first,
          SHOW_TYPE(list), operand->rank, SHOW_TYPE(operand));
  return NULL;
}

static tsr_status check_padded(const tsr_op *op) {
  const tsr_type *from = tsr_operand_type(op, 0), *to = op->results[0].type;
  const tsr_attr *low = tsr_constant_of(tsr_op_operand(op, PAD_LOW));
  const tsr_attr *high = tsr_constant_of(tsr_op_operand(op, PAD_HIGH));
  const tsr_attr *interior = tsr_constant_of(tsr_op_operand(op, PAD_INTERIOR));
  for (int i = 0; interior && i < from->rank; i++)
    TSR_ASK(tsr_dense_int(interior, i) >= 0, op, "C3",
            "interior_padding has %lld, expected 0 or more", (long long)tsr_dense_int(interior, i));
  if (!low || !high || !interior || !tsr_type_is_static(from) || !tsr_type_is_static(to))
    return NULL;
  for (int i = 0; i < from->rank; i++) {
    int64_t wanted = from->dims[i] > 0 ? from->dims[i] - 1 : 0;
    const bool fits = !__builtin_mul_overflow(wanted, tsr_dense_int(interior, i), &wanted) &&
                      !__builtin_add_overflow(wanted, from->dims[i], &wanted) &&
                      !__builtin_add_overflow(wanted, tsr_dense_int(low, i), &wanted) &&
                      !__builtin_add_overflow(wanted, tsr_dense_int(high, i), &wanted);
    TSR_ASK(fits && wanted == to->dims[i], op, "C4",
            "result is %s, expected the size %lld at dimension %d", SHOW_TYPE(to),
            (long long)wanted, i);
  }
  return NULL;
}

static tsr_status check_element(const tsr_op *op, int operand, const char *constraint) {
  const tsr_type *result = op->results[0].type, *type = tsr_operand_type(op, operand);
  TSR_ASK(tsr_same_element(type, result), op, constraint,
          "operand %d is %s, expected the elements of %s", operand, SHOW_TYPE(type),
          SHOW_TYPE(result));
  return NULL;
}

tsr_status tsr_verify_dynamic_pad(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(check_element(op, 0, "C1"));
  TSR_TRY(check_element(op, 1, "C1"));
  TSR_TRY(check_list_operands(op, PAD_LOW, "C2"));
  TSR_ASK(op->results[0].type->rank == tsr_operand_type(op, 0)->rank, op, "C4",
          "result is %s, expected the rank of %s", SHOW_TYPE(op->results[0].type),
          SHOW_TYPE(tsr_operand_type(op, 0)));
  return check_padded(op);
}

tsr_status tsr_verify_real_dynamic_slice(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(check_element(op, 0, ""));
  return check_list_operands(op, 1, "");
}

// ---- dynamic_gather and dynamic_conv: gather and convolution with an operand more

static tsr_status check_single(const tsr_op *op, const tsr_attr *sizes, const tsr_attr *dims,
                               const char *name) {
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++) {
    const int64_t dim = tsr_attr_int_at(dims, i);
    TSR_ASK(tsr_dense_int(sizes, dim) <= 1, op, "C8",
            "slice size of dimension %lld of %s is %lld, expected at most 1", (long long)dim, name,
            (long long)tsr_dense_int(sizes, dim));
  }
  return NULL;
}

tsr_status tsr_verify_dynamic_gather(tsr_ir *ir, const tsr_op *op) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const tsr_attr *sizes = tsr_constant_of(tsr_op_operand(op, 2));
  (void)ir;
  TSR_TRY(tsr_check_gather(op, numbers, shape_length(op, 2)));
  if (op->result_count) TSR_TRY(check_element(op, 0, "C14"));
  if (!sizes) return NULL;
  TSR_TRY(check_single(op, sizes, tsr_record_ints(numbers, TSR_GATHER_COLLAPSED_SLICE_DIMS),
                       "collapsed_slice_dims"));
  TSR_TRY(check_single(op, sizes, tsr_record_ints(numbers, TSR_GATHER_OPERAND_BATCHING_DIMS),
                       "operand_batching_dims"));
  for (int i = 0; i < operand->rank; i++) {
    const int64_t size = tsr_dense_int(sizes, i), whole = operand->dims[i];
    TSR_ASK(size >= 0 && (tsr_is_dynamic(whole) || size <= whole), op, "C12",
            "slice size of dimension %d is %lld, expected 0 to %s", i, (long long)size,
            SHOW_INT(whole));
  }
  return NULL;
}

tsr_status tsr_infer_dynamic_gather(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_attr *sizes = tsr_constant_of(tsr_op_operand(op, 2));
  int64_t slices[TSR_RANK_LIMIT];
  for (int i = 0; i < tsr_operand_type(op, 0)->rank; i++)
    slices[i] = sizes ? tsr_dense_int(sizes, i) : TSR_DYNAMIC;
  return tsr_infer_gathered(ir, op, tsr_op_attr(op, "dimension_numbers"), slices, out);
}

tsr_status tsr_verify_dynamic_conv(tsr_ir *ir, const tsr_op *op) {
  const tsr_type *padding = tsr_operand_type(op, 2), *lhs = tsr_operand_type(op, 0);
  (void)ir;
  TSR_ASK(padding->dims[0] == lhs->rank - 2 && padding->dims[1] == 2, op, "C4",
          "padding is %s, expected pairs for each of the %d spatial dimensions", SHOW_TYPE(padding),
          lhs->rank - 2);
  return tsr_check_convolution(op, tsr_constant_of(tsr_op_operand(op, 2)));
}

// The peer lets the result accumulate in another type.
tsr_status tsr_infer_dynamic_conv(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_attr *padding = tsr_constant_of(tsr_op_operand(op, 2));
  tsr_result_types inferred = {.ir = ir};
  if (!padding) return tsr_results_unknown(out);
  TSR_TRY(tsr_infer_convolved(ir, op, padding, &inferred));
  const tsr_type *type = inferred.types[0];
  if (!op->result_count) return tsr_results_add(out, type);
  return tsr_results_add(out,
                         tsr_type_with_element(ir, type, tsr_type_element(op->results[0].type)));
}

// ---- sizes as values

static tsr_status check_dimension(const tsr_op *op, const char *constraint) {
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  const tsr_type *type = tsr_operand_type(op, 0);
  TSR_ASK(dim >= 0 && dim < type->rank, op, constraint,
          "dimension is %lld, expected 0 or more and less than %d, the rank of %s", (long long)dim,
          type->rank, SHOW_TYPE(type));
  return NULL;
}

tsr_status tsr_verify_get_dimension_size(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return check_dimension(op, "C1");
}

tsr_status tsr_infer_get_dimension_size(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)op;
  return tsr_results_add(out, tsr_type_shaped(ir, TSR_I32, 0, NULL));
}

tsr_status tsr_verify_set_dimension_size(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return check_dimension(op, "");
}

// The size becomes unknown, with the size it had as its bound, unless it is set to that.
tsr_status tsr_infer_set_dimension_size(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const tsr_attr *size = tsr_constant_of(tsr_op_operand(op, 1));
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  tsr_type_bounds(type, bounds);
  for (int i = 0; i < type->rank; i++) dims[i] = type->dims[i];
  if (!tsr_is_dynamic(dims[dim])) bounds[dim] = dims[dim];
  dims[dim] = TSR_DYNAMIC;
  if (size && tsr_dense_int(size, 0) == bounds[dim]) {
    dims[dim] = bounds[dim];
    bounds[dim] = TSR_DYNAMIC;
  }
  return tsr_results_add(out, tsr_type_bounded(ir, type->element, type->rank, dims, bounds));
}

// ---- quantisation

tsr_status tsr_verify_uniform_quantize(tsr_ir *ir, const tsr_op *op) {
  const tsr_type *from = tsr_operand_type(op, 0), *to = op->results[0].type;
  (void)ir;
  TSR_ASK(tsr_shapes_match(from, to), op, "C1", "result is %s, expected the shape of %s",
          SHOW_TYPE(to), SHOW_TYPE(from));
  TSR_ASK(tsr_expressed(to) == tsr_expressed(from), op, "C2",
          "result is %s, expected to express %s", SHOW_TYPE(to), SHOW_TYPE(tsr_expressed(from)));
  return NULL;
}

tsr_status tsr_infer_uniform_dequantize(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *type = tsr_operand_type(op, 0);
  return tsr_results_add(out, tsr_type_with_element(ir, type, tsr_expressed(type)));
}
