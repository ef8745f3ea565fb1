// Batch normalisation, linear algebra, Fourier transforms and random numbers.
#include "verify/op_checks.h"

// ---- batch normalisation

// Vectors have an element for each feature. Each operand has its constraint; NULL = it has the
// shape of the first operand.
typedef struct batch_norm {
  const char *whole;  // constraint on operands with the shape of the first
  const char *vectors[5];
} batch_norm;

static tsr_status check_batch_norm(const tsr_op *op, const batch_norm *norm) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const int64_t feature = tsr_op_int(op, "feature_index", 0);
  TSR_ASK(feature >= 0 && feature < operand->rank, op, "C1",
          "feature_index is %lld, expected 0 to %d for %s", (long long)feature, operand->rank - 1,
          SHOW_TYPE(operand));
  const tsr_attr *epsilon = tsr_op_attr(op, "epsilon");
  TSR_ASK(tsr_is_float_of(epsilon->type, TSR_FLOAT_F32), op, "", "epsilon is %s, expected an f32",
          SHOW_ATTR(epsilon));
  TSR_TRY(tsr_check_one_element(op, "C2", false));
  int64_t size = operand->dims[feature];
  for (int i = 1; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    if (norm->vectors[i])
      TSR_ASK(tsr_sizes_match(type->dims[0], size), op, norm->vectors[i],
              "operand %d is %s, expected %s elements as dimension %lld of %s", i, SHOW_TYPE(type),
              SHOW_INT(size), (long long)feature, SHOW_TYPE(operand));
    else
      TSR_ASK(tsr_dims_match(type, operand), op, norm->whole,
              "operands 0 and %d are %s and %s, expected one shape", i, SHOW_TYPE(operand),
              SHOW_TYPE(type));
    if (norm->vectors[i] && tsr_is_dynamic(size)) size = type->dims[0];
  }
  return NULL;
}

tsr_status tsr_verify_batch_norm_grad(tsr_ir *ir, const tsr_op *op) {
  static const batch_norm norm = {"C3", {NULL, "C5", "C4", "C4", NULL}};
  (void)ir;
  return check_batch_norm(op, &norm);
}

tsr_status tsr_verify_batch_norm_inference(tsr_ir *ir, const tsr_op *op) {
  static const batch_norm norm = {NULL, {NULL, "C3", "C4", "C5", "C6"}};
  (void)ir;
  return check_batch_norm(op, &norm);
}

tsr_status tsr_verify_batch_norm_training(tsr_ir *ir, const tsr_op *op) {
  static const batch_norm norm = {NULL, {NULL, "C3", "C4", NULL, NULL}};
  (void)ir;
  return check_batch_norm(op, &norm);
}

// The type of the operand, and two vectors of features.
tsr_status tsr_infer_batch_norm(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const int feature = (int)tsr_op_int(op, "feature_index", 0);
  const int64_t bound = tsr_type_bound(operand, feature);
  const tsr_type *vector =
      tsr_type_bounded(ir, operand->element, 1, &operand->dims[feature], &bound);
  TSR_TRY(tsr_results_add(out, operand));
  TSR_TRY(tsr_results_add(out, vector));
  return tsr_results_add(out, vector);
}

// ---- linear algebra

tsr_status tsr_verify_cholesky(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *a = tsr_operand_type(op, 0);
  TSR_ASK(a->rank >= 2, op, "C2", "a is %s, expected rank 2 or more", SHOW_TYPE(a));
  TSR_ASK(tsr_sizes_match(a->dims[a->rank - 2], a->dims[a->rank - 1]), op, "C3",
          "a is %s, expected square matrices in the last two dimensions", SHOW_TYPE(a));
  return tsr_check_one_element(op, "C1", false);
}

tsr_status tsr_verify_triangular_solve(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *a = tsr_operand_type(op, 0), *b = tsr_operand_type(op, 1);
  TSR_TRY(tsr_check_one_element(op, "C1", false));
  TSR_ASK(a->rank >= 2 && a->rank == b->rank, op, "C2",
          "a and b are %s and %s, expected one rank of 2 or more", SHOW_TYPE(a), SHOW_TYPE(b));
  TSR_ASK(tsr_sizes_match(a->dims[a->rank - 2], a->dims[a->rank - 1]), op, "C3",
          "a is %s, expected square matrices in the last two dimensions", SHOW_TYPE(a));
  const int shared = b->rank - (tsr_op_flag(op, "left_side") ? 2 : 1);
  TSR_ASK(tsr_sizes_match(a->dims[a->rank - 1], b->dims[shared]), op, "C3",
          "a and b are %s and %s, expected dimension %d of b as large as a", SHOW_TYPE(a),
          SHOW_TYPE(b), shared);
  for (int i = 0; i < a->rank - 2; i++)
    TSR_ASK(tsr_sizes_match(a->dims[i], b->dims[i]), op, "C3",
            "a and b are %s and %s, expected the same size of dimension %d", SHOW_TYPE(a),
            SHOW_TYPE(b), i);
  TSR_ASK(tsr_op_int(op, "transpose_a", 0) != TSR_TRANSPOSE_INVALID, op, "I6",
          "transpose_a is TRANSPOSE_INVALID, expected NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  return NULL;
}

// ---- Fourier transforms

static tsr_status check_fft_elements(const tsr_op *op, int64_t kind) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const bool complex_input = operand->element->kind == TSR_TYPE_COMPLEX;
  const bool real_input =
      tsr_is_float_of(operand, TSR_FLOAT_F32) || tsr_is_float_of(operand, TSR_FLOAT_F64);
  TSR_ASK(kind == TSR_FFT_TYPE_RFFT ? real_input : complex_input, op, "C2",
          "operand is %s, expected %s elements", SHOW_TYPE(operand),
          kind == TSR_FFT_TYPE_RFFT ? "f32 or f64" : "complex");
  return NULL;
}

// The last dimension of the complex side of a real transform.
static int64_t half_size(int64_t size) { return size ? size / 2 + 1 : 0; }

tsr_status tsr_verify_fft(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *lengths = tsr_op_attr(op, "fft_length");
  const int64_t kind = tsr_op_int(op, "fft_type", 0), count = tsr_attr_int_count(lengths);
  TSR_ASK(count >= 1 && count <= 3, op, "C3", "fft_length is %s, expected 1 to 3 lengths",
          SHOW_INTS(lengths));
  TSR_TRY(check_fft_elements(op, kind));
  TSR_ASK(count <= operand->rank, op, "C1", "fft_length is %s, expected at most length %d for %s",
          SHOW_INTS(lengths), operand->rank, SHOW_TYPE(operand));
  if (kind != TSR_FFT_TYPE_RFFT && kind != TSR_FFT_TYPE_IRFFT) return NULL;
  TSR_ASK(tsr_ints_at_least(lengths, 0), op, "C4",
          "fft_length is %s, expected lengths of 0 or more", SHOW_INTS(lengths));
  const int64_t *dims = operand->dims + operand->rank - count;
  for (int64_t i = 0; i < count; i++) {
    const bool half = i == count - 1 && kind == TSR_FFT_TYPE_IRFFT;
    const int64_t length = tsr_attr_int_at(lengths, i), wanted = half ? half_size(length) : length;
    // A last length of 0 goes with a size of 0 or 1: the inverse takes both.
    if (half && !length && dims[i] == 1) continue;
    TSR_ASK(tsr_sizes_match(dims[i], wanted), op, half ? "C5" : "C4",
            "operand is %s, expected %lld as the size of dimension %lld for fft_length %s",
            SHOW_TYPE(operand), (long long)wanted, (long long)(operand->rank - count + i),
            SHOW_INTS(lengths));
  }
  return NULL;
}

tsr_status tsr_infer_fft(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *operand = tsr_operand_type(op, 0), *element = operand->element;
  const tsr_attr *lengths = tsr_op_attr(op, "fft_length");
  const int64_t kind = tsr_op_int(op, "fft_type", 0);
  const int64_t length = tsr_attr_int_at(lengths, tsr_attr_int_count(lengths) - 1);
  if (kind != TSR_FFT_TYPE_RFFT && kind != TSR_FFT_TYPE_IRFFT) return tsr_results_add(out, operand);
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  tsr_type_bounds(operand, bounds);
  for (int i = 0; i < operand->rank; i++) dims[i] = operand->dims[i];
  const int last = operand->rank - 1;
  bounds[last] = TSR_DYNAMIC;
  if (kind == TSR_FFT_TYPE_IRFFT)
    dims[last] = length;
  else if (length)
    dims[last] = half_size(length);
  element = kind == TSR_FFT_TYPE_IRFFT ? element->element : tsr_type_complex(ir, element);
  TSR_NEED(element);
  return tsr_results_add(out, tsr_type_bounded(ir, element, operand->rank, dims, bounds));
}

// ---- random numbers

tsr_status tsr_verify_rng(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *a = tsr_operand_type(op, 0), *b = tsr_operand_type(op, 1);
  TSR_ASK(tsr_same_element(a, b), op, "C1", "a and b are %s and %s, expected one element type",
          SHOW_TYPE(a), SHOW_TYPE(b));
  const bool normal = tsr_op_int(op, "rng_distribution", 0) == TSR_RNG_DISTRIBUTION_NORMAL;
  TSR_ASK(!normal || a->element->kind == TSR_TYPE_FLOAT, op, "C2",
          "a is %s, expected floats for the distribution NORMAL", SHOW_TYPE(a));
  const tsr_type *shape = tsr_operand_type(op, 2);
  TSR_ASK(shape->dims[0] <= TSR_RANK_LIMIT, op, "C3", "shape is %s, expected at most %d sizes",
          SHOW_TYPE(shape), TSR_RANK_LIMIT);
  const tsr_attr *sizes = tsr_constant_of(tsr_op_operand(op, 2));
  for (int64_t i = 0; sizes && i < shape->dims[0]; i++)
    TSR_ASK(tsr_dense_int(sizes, i) >= 0, op, "C3",
            "size %lld of shape is %lld, expected 0 or more", (long long)i,
            (long long)tsr_dense_int(sizes, i));
  return NULL;
}

tsr_status tsr_infer_rng(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_attr *sizes = tsr_constant_of(tsr_op_operand(op, 2));
  const int rank = (int)tsr_operand_type(op, 2)->dims[0];
  int64_t dims[TSR_RANK_LIMIT];
  for (int i = 0; i < rank; i++) dims[i] = sizes ? tsr_dense_int(sizes, i) : TSR_DYNAMIC;
  return tsr_results_add(out,
                         tsr_type_tensor(ir, tsr_operand_type(op, 0)->element, rank, dims, NULL));
}

tsr_status tsr_verify_rng_bit_generator(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *before = tsr_operand_type(op, 0), *after = op->results[0].type;
  TSR_ASK(tsr_dims_match(before, after), op, "C1",
          "initial_state and output_state are %s and %s, expected one shape", SHOW_TYPE(before),
          SHOW_TYPE(after));
  return NULL;
}
