// Ops that have one kernel each: triangular systems, Cholesky factors, Fourier transforms, random
// bits and numbers. Matrices of 16-bit elements are computed in f32.
#include "kernel/fft.h"
#include "kernel/random_bits.h"
#include "kernel/triangles.h"
#include "lower/lowering.h"

// ---- in f32 ----

static tsr_op *converted(tsr_lowering *lowering, tsr_op *place, tsr_value *value, tsr_dtype dtype) {
  const tsr_type *type = tsr_type_shaped(lowering->ir, dtype, value->type->rank, value->type->dims);
  if (!type) return NULL;
  tsr_op *op = tsr_op_create(lowering->ir, &(tsr_op_parts){.id = TSR_OP_CONVERT,
                                                           .operand_count = 1,
                                                           .operands = &value,
                                                           .result_count = 1,
                                                           .result_types = &type,
                                                           .location = place->location});
  if (op) tsr_op_insert_before(place, op);
  return op;
}

// An op with one result of narrow floats: its operands converted, the op in f32, and back.
static tsr_status lower_in_f32(tsr_lowering *lowering, tsr_op *op) {
  tsr_value *operands[2] = {NULL};
  for (int i = 0; i < op->operand_count; i++) {
    tsr_op *convert = converted(lowering, op, tsr_op_operand(op, i), TSR_F32);
    TSR_NEED(convert);
    TSR_TRY(tsr_lower_made(lowering, convert));
    operands[i] = tsr_op_result(convert, 0);
  }
  tsr_value *result = tsr_op_result(op, 0);
  const tsr_type *type =
      tsr_type_shaped(lowering->ir, TSR_F32, result->type->rank, result->type->dims);
  TSR_NEED(type);
  tsr_op *wide = tsr_op_create(lowering->ir, &(tsr_op_parts){.id = op->info->id,
                                                             .operand_count = op->operand_count,
                                                             .operands = operands,
                                                             .result_count = 1,
                                                             .result_types = &type,
                                                             .attr_count = op->attr_count,
                                                             .attrs = op->attrs,
                                                             .location = op->location});
  TSR_NEED(wide);
  tsr_op_insert_before(op, wide);
  TSR_TRY(tsr_lower_made(lowering, wide));
  tsr_op *back = converted(lowering, op, tsr_op_result(wide, 0), result->type->dtype);
  TSR_NEED(back);
  TSR_TRY(tsr_lower_made(lowering, back));
  return tsr_slot_view(lowering, result, tsr_op_result(back, 0), 0);
}

// ---- matrices ----

static int64_t batches_of(const tsr_type *type) {
  int64_t batches = 1;
  for (int i = 0; i < type->rank - 2; i++) batches *= type->dims[i];
  return batches;
}

// Whether the op is computed in f32; fails for types without kernels, and for sizes that BLAS
// cannot count.
static tsr_status check_matrix(tsr_lowering *lowering, const tsr_op *op, const tsr_type *type,
                               bool *out_narrow) {
  *out_narrow = type->dtype == TSR_F16 || type->dtype == TSR_BF16;
  if (!tsr_type_runs(type) || (!*out_narrow && tsr_blas_type(type->dtype) < 0))
    return tsr_fail(UNSUPPORTED, "%s: its elements must be f16, bf16, f32, f64 or complex",
                    tsr_op_title(lowering, op));
  for (int i = type->rank - 2; i < type->rank; i++)
    if (type->dims[i] > INT32_MAX)
      return tsr_fail(TOO_LARGE, "%s: a dimension of %lld, at most %d", tsr_op_title(lowering, op),
                      (long long)type->dims[i], INT32_MAX);
  return NULL;
}

tsr_status tsr_lower_triangular_solve(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *a = tsr_operand_type(op, 0), *b = tsr_operand_type(op, 1);
  bool narrow = false;
  TSR_TRY(check_matrix(lowering, op, b, &narrow));
  if (narrow) return lower_in_f32(lowering, op);
  tsr_triangular_solve solve = {.dtype = b->dtype,
                                .blas = tsr_blas_load(),
                                .batches = batches_of(b),
                                .size = a->dims[a->rank - 1],
                                .left = tsr_op_flag(op, "left_side"),
                                .lower = tsr_op_flag(op, "lower"),
                                .unit = tsr_op_flag(op, "unit_diagonal")};
  solve.others = b->dims[b->rank - (solve.left ? 1 : 2)];
  const int64_t transposed = tsr_op_int(op, "transpose_a", TSR_TRANSPOSE_NO);
  if (transposed == TSR_TRANSPOSE_YES) solve.transposed = TSR_TRANSPOSED;
  if (transposed == TSR_TRANSPOSE_ADJOINT) solve.transposed = TSR_ADJOINT;
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_triangular_solve_run, &solve, sizeof solve, &step));
  step->overwrites[0] = TSR_INPUT(1);
  step->flops = solve.batches * solve.size * solve.size * solve.others;
  return NULL;
}

tsr_status tsr_lower_cholesky(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0);
  bool narrow = false;
  TSR_TRY(check_matrix(lowering, op, type, &narrow));
  if (narrow) return lower_in_f32(lowering, op);
  const tsr_cholesky cholesky = {.dtype = type->dtype,
                                 .blas = tsr_blas_load(),
                                 .batches = batches_of(type),
                                 .size = type->dims[type->rank - 1],
                                 .lower = tsr_op_flag(op, "lower")};
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_cholesky_run, &cholesky, sizeof cholesky, &step));
  step->overwrites[0] = TSR_INPUT(0);
  step->flops = cholesky.batches * cholesky.size * cholesky.size * cholesky.size / 3;
  return NULL;
}

// ---- transforms ----

static const tsr_fft_kind kinds[] = {
    [TSR_FFT_TYPE_FFT] = TSR_FFT,
    [TSR_FFT_TYPE_IFFT] = TSR_IFFT,
    [TSR_FFT_TYPE_RFFT] = TSR_RFFT,
    [TSR_FFT_TYPE_IRFFT] = TSR_IRFFT,
};

tsr_status tsr_lower_fft(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *in = tsr_operand_type(op, 0), *out = tsr_op_result(op, 0)->type;
  const tsr_attr *lengths = tsr_op_attr(op, "fft_length");
  const int dims = (int)tsr_attr_int_count(lengths);
  const tsr_fft_kind kind = kinds[tsr_op_int(op, "fft_type", TSR_FFT_TYPE_FFT)];
  const tsr_type *spectrum = kind == TSR_RFFT ? out : in;
  if (!tsr_type_runs(in) || !tsr_type_runs(out) || dims < 1 || dims > TSR_FFT_DIMS ||
      (spectrum->dtype != TSR_C64 && spectrum->dtype != TSR_C128))
    return tsr_fail(UNSUPPORTED, "%s: its operand must be complex, f32 or f64, of 1 to %d lengths",
                    tsr_op_title(lowering, op), TSR_FFT_DIMS);
  int64_t batches = 1, sizes[TSR_FFT_DIMS] = {0};
  for (int i = 0; i < in->rank - dims; i++) batches *= in->dims[i];
  for (int i = 0; i < dims; i++) sizes[i] = tsr_attr_int_at(lengths, i);
  tsr_fft *fft = NULL;
  TSR_TRY_NOTE(tsr_fft_plan(&lowering->schedule->arena, kind, spectrum->dtype == TSR_C64, batches,
                            dims, sizes, &fft),
               "%s", tsr_op_title(lowering, op));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_fft_run, NULL, 0, &step));
  step->description = fft;
  step->scratch_bytes = tsr_fft_scratch_bytes(fft);
  step->temp_bytes = tsr_fft_temp_bytes(fft);
  step->flops = tsr_fft_flops(fft);
  return NULL;
}

// ---- random bits and numbers ----

tsr_status tsr_lower_rng_bit_generator(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *state = tsr_operand_type(op, 0), *type = tsr_op_result(op, 1)->type;
  const bool philox = tsr_op_int(op, "rng_algorithm", 0) != TSR_RNG_ALGORITHM_THREE_FRY;
  const int64_t words = tsr_type_element_count(state);
  if (state->dtype != TSR_U64 || words < 2 || words > (philox ? 3 : 2))
    return tsr_fail(UNSUPPORTED, "%s: its state must be tensor<2xui64>%s",
                    tsr_op_title(lowering, op), philox ? " or tensor<3xui64>" : "");
  const tsr_dtype_info *info = tsr_dtype_info_of(type->dtype);
  if (!tsr_type_runs(type) || info->kind == TSR_CLASS_BOOL || info->kind == TSR_CLASS_COMPLEX)
    return tsr_fail(UNSUPPORTED, "%s: its elements must be integers or floats",
                    tsr_op_title(lowering, op));
  tsr_random_bits bits = {.philox = philox,
                          .state_words = (int)words,
                          .bytes = (info->bits + 7) / 8,
                          .mask = info->bits >= 32 ? UINT32_MAX : (1u << info->bits) - 1,
                          .count = tsr_type_element_count(type)};
  if (info->sub_byte && info->kind == TSR_CLASS_SIGNED) bits.sign = 1u << (info->bits - 1);
  tsr_random_bits_split(&bits, type->rank, type->dims);
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_random_bits_run, &bits, sizeof bits, &step));
  step->flops = bits.count;
  return NULL;
}

// Ops have keys by their place in the schedule, so that each has numbers of its own.
tsr_status tsr_lower_rng(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *type = tsr_op_result(op, 0)->type;
  if (!tsr_type_runs(type) || tsr_dtype_info_of(type->dtype)->kind == TSR_CLASS_COMPLEX)
    return tsr_fail(UNSUPPORTED, "%s: its elements must be integers or floats",
                    tsr_op_title(lowering, op));
  tsr_random_numbers numbers = {
      .normal = tsr_op_int(op, "rng_distribution", 1) == TSR_RNG_DISTRIBUTION_NORMAL,
      .dtype = type->dtype,
      .count = tsr_type_element_count(type),
      .key = (uint64_t)lowering->schedule->slot_count,
      .runs = tsr_lower_alloc(lowering, lowering->lanes, sizeof *numbers.runs)};
  TSR_NEED(numbers.runs);
  tsr_schedule_step *step = NULL;
  tsr_value *inputs[] = {tsr_op_operand(op, 0), tsr_op_operand(op, 1)};
  return tsr_lower_kernel_on(lowering, op, inputs, 2, tsr_random_numbers_run, &numbers,
                             sizeof numbers, &step);
}
