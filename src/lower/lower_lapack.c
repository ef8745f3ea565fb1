// Custom calls of LAPACK's routines, with the operands and options of jaxlib's calls. Systems with
// triangles and Cholesky factors have kernels of their own.
#include <string.h>

#include "base/arithmetic.h"
#include "kernel/lapack_calls.h"
#include "kernel/triangles.h"
#include "lower/custom_calls.h"

// The letters of the four types, in the order of tsr_blas_type.
static const char letters[] = "sdcz";
static const char prefix[] = "lapack_", suffix[] = "_ffi";

static const struct {
  const char *real, *complex;
} names[] = {
#define LAPACK(id, real, complex) {real, complex},
#include "kernel/lapack_calls.def"
#undef LAPACK
};

const char *tsr_call_lapack_name(int index) {
  static const char *const all[] = {
#define LAPACK(id, real, complex)                                            \
  "lapack_s" real "_ffi", "lapack_d" real "_ffi", "lapack_c" complex "_ffi", \
      "lapack_z" complex "_ffi",
#include "kernel/lapack_calls.def"
#undef LAPACK
      "lapack_spotrf_ffi", "lapack_dpotrf_ffi", "lapack_cpotrf_ffi", "lapack_zpotrf_ffi",
      "lapack_strsm_ffi",  "lapack_dtrsm_ffi",  "lapack_ctrsm_ffi",  "lapack_ztrsm_ffi"};
  return (size_t)index < sizeof all / sizeof *all ? all[index] : NULL;
}

bool tsr_call_is_lapack(const tsr_op *op) {
  const tsr_attr *target = tsr_op_attr(op, "call_target_name");
  for (int i = 0; target && tsr_call_lapack_name(i); i++)
    if (!strcmp(target->bytes, tsr_call_lapack_name(i))) return true;
  return false;
}

// ---- options ----

static int64_t config_int(const tsr_op *op, const char *name, int64_t otherwise) {
  const tsr_attr *attr = tsr_call_config(op, name);
  return attr && attr->kind == TSR_ATTR_INTEGER ? attr->integer : otherwise;
}

// Letters are written as numbers: 76 is 'L'.
static char config_letter(const tsr_op *op, const char *name, char otherwise) {
  const int64_t letter = config_int(op, name, otherwise);
  return letter > 0 && letter < 128 ? (char)letter : '\0';
}

static tsr_status expect_letter(tsr_lowering *lowering, const tsr_op *op, const char *name,
                                const char *possible, char *out_letter) {
  *out_letter = config_letter(op, name, possible[0]);
  if (*out_letter && strchr(possible, *out_letter)) return NULL;
  return tsr_fail(CONSTRAINT, "%s: %s is %d, expected one of \"%s\"", tsr_call_title(lowering, op),
                  name, (int)config_int(op, name, 0), possible);
}

// ---- shapes and layouts ----

// Whether a matrix is kept column by column: of the last two dims the first is the minor one.
static bool is_by_columns(const tsr_op *op, const char *layouts, int index, int rank) {
  const tsr_attr *list = tsr_op_attr(op, layouts);
  if (!list || list->kind != TSR_ATTR_ARRAY || index >= list->count) return false;
  const tsr_attr *layout = list->items[index];
  if (layout->kind != TSR_ATTR_DENSE || rank < 2 || tsr_type_element_count(layout->type) < 1)
    return false;
  int64_t minor = 0;
  memcpy(&minor, tsr_attr_element(layout, 0), sizeof minor);
  return tsr_type_element_bytes(tsr_type_element(layout->type)) == sizeof minor &&
         minor == rank - 2;
}

static tsr_status matrix_of(tsr_lowering *lowering, const tsr_op *op, const tsr_type *type,
                            int batch_dims, bool by_columns, tsr_lapack_matrix *out) {
  if (!tsr_type_runs(type) || type->rank < batch_dims || type->rank > batch_dims + 2)
    return tsr_fail(CONSTRAINT, "%s: its operands are not batches of matrices",
                    tsr_call_title(lowering, op));
  const int rank = type->rank - batch_dims;
  *out = (tsr_lapack_matrix){.rows = rank > 0 ? type->dims[batch_dims] : 1,
                             .columns = rank > 1 ? type->dims[batch_dims + 1] : 1,
                             .bytes = (int64_t)tsr_type_element_bytes(tsr_type_element(type)),
                             .turned = rank == 2 && by_columns};
  if (out->rows > INT32_MAX || out->columns > INT32_MAX)
    return tsr_fail(TOO_LARGE, "%s: a matrix of %lld x %lld", tsr_call_title(lowering, op),
                    (long long)out->rows, (long long)out->columns);
  return NULL;
}

static tsr_status check_batches(tsr_lowering *lowering, const tsr_op *op, const tsr_type *type,
                                const tsr_type *first, int batch_dims) {
  for (int i = 0; i < batch_dims; i++)
    if (type->dims[i] != first->dims[i])
      return tsr_fail(CONSTRAINT, "%s: batches of different sizes", tsr_call_title(lowering, op));
  return NULL;
}

static tsr_status fill_matrices(tsr_lowering *lowering, const tsr_op *op, int batch_dims,
                                tsr_lapack_call *call) {
  if (op->operand_count > TSR_LAPACK_INPUTS || op->result_count > TSR_LAPACK_OUTPUTS)
    return tsr_fail(CONSTRAINT, "%s: %d operands and %d results", tsr_call_title(lowering, op),
                    op->operand_count, op->result_count);
  const tsr_type *first = tsr_operand_type(op, 0);
  call->input_count = op->operand_count;
  call->output_count = op->result_count;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    TSR_TRY(matrix_of(lowering, op, type, batch_dims,
                      is_by_columns(op, "operand_layouts", i, type->rank), &call->inputs[i]));
    TSR_TRY(check_batches(lowering, op, type, first, batch_dims));
  }
  for (int i = 0; i < op->result_count; i++) {
    const tsr_type *type = op->results[i].type;
    TSR_TRY(matrix_of(lowering, op, type, batch_dims,
                      is_by_columns(op, "result_layouts", i, type->rank), &call->outputs[i]));
    TSR_TRY(check_batches(lowering, op, type, first, batch_dims));
  }
  call->batches = 1;
  for (int i = 0; i < batch_dims; i++) call->batches *= first->dims[i];
  return NULL;
}

// ---- kernels of our own ----

// Matrices in columns are the row-major ones of the program, read as they are.
static tsr_status check_layouts(tsr_lowering *lowering, const tsr_op *op,
                                const tsr_lapack_call *call, int matrices) {
  bool good = call->input_count == matrices;
  for (int i = 0; i < call->input_count && good; i++) good = call->inputs[i].turned;
  if (good && call->outputs[0].turned) return NULL;
  return tsr_fail(UNSUPPORTED, "%s: its matrices must be laid out by columns",
                  tsr_call_title(lowering, op));
}

static tsr_status lower_trsm(tsr_lowering *lowering, tsr_op *op, const tsr_lapack_call *call) {
  TSR_TRY(check_layouts(lowering, op, call, 2));
  char side = 0, uplo = 0, trans = 0, diag = 0;
  TSR_TRY(expect_letter(lowering, op, "side", "LR", &side));
  TSR_TRY(expect_letter(lowering, op, "uplo", "LU", &uplo));
  TSR_TRY(expect_letter(lowering, op, "trans_x", "NTC", &trans));
  TSR_TRY(expect_letter(lowering, op, "diag", "NU", &diag));
  const tsr_lapack_matrix *a = &call->inputs[0], *b = &call->inputs[1];
  const bool left = side == 'L';
  if (a->rows != a->columns || a->rows != (left ? b->rows : b->columns) ||
      tsr_operand_type(op, 1) != op->results[0].type ||
      tsr_operand_type(op, 0)->dtype != tsr_operand_type(op, 1)->dtype)
    return tsr_fail(CONSTRAINT, "%s: the shapes of its operands do not agree",
                    tsr_call_title(lowering, op));
  const tsr_triangular_solve solve = {.dtype = tsr_operand_type(op, 0)->dtype,
                                      .blas = tsr_blas_load(),
                                      .batches = call->batches,
                                      .size = a->rows,
                                      .others = left ? b->columns : b->rows,
                                      .left = left,
                                      .lower = uplo == 'L',
                                      .unit = diag == 'U',
                                      .transposed = trans == 'N'   ? TSR_AS_IT_IS
                                                    : trans == 'T' ? TSR_TRANSPOSED
                                                                   : TSR_ADJOINT};
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_triangular_solve_run, &solve, sizeof solve, &step));
  step->overwrites[0] = TSR_INPUT(1);
  step->flops = solve.batches * solve.size * solve.size * solve.others;
  return NULL;
}

static tsr_status lower_potrf(tsr_lowering *lowering, tsr_op *op, const tsr_lapack_call *call) {
  TSR_TRY(check_layouts(lowering, op, call, 1));
  char uplo = 0;
  TSR_TRY(expect_letter(lowering, op, "uplo", "LU", &uplo));
  const tsr_type *type = tsr_operand_type(op, 0);
  if (call->inputs[0].rows != call->inputs[0].columns || op->result_count != 2 ||
      op->results[0].type != type || op->results[1].type->dtype != TSR_I32 ||
      tsr_type_element_count(op->results[1].type) != call->batches)
    return tsr_fail(CONSTRAINT, "%s: operands and results are not those of the LAPACK routine",
                    tsr_call_title(lowering, op));
  const tsr_cholesky cholesky = {.dtype = type->dtype,
                                 .blas = tsr_blas_load(),
                                 .batches = call->batches,
                                 .size = call->inputs[0].rows,
                                 .lower = uplo == 'L',
                                 .reports = true};
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_cholesky_run, &cholesky, sizeof cholesky, &step));
  step->overwrites[0] = TSR_INPUT(0);
  step->flops = cholesky.batches * cholesky.size * cholesky.size * cholesky.size / 3;
  return NULL;
}

// ---- LAPACK ----

static tsr_status lower_routine(tsr_lowering *lowering, tsr_op *op, tsr_lapack_call *call) {
  const tsr_blas *blas = tsr_blas_load();
  if (!blas)
    return tsr_fail(UNSUPPORTED, "%s: it needs the module of BLAS and LAPACK, which is not there",
                    tsr_call_title(lowering, op));
  call->blas = &blas->of[call->type];
  call->options = (tsr_lapack_options){.uplo = config_letter(op, "uplo", 'L'),
                                       .mode = config_letter(op, "mode", 'V'),
                                       .left_vectors = config_letter(op, "compute_left", 'N'),
                                       .right_vectors = config_letter(op, "compute_right", 'V'),
                                       .left = config_int(op, "left", 1) != 0,
                                       .transpose = config_int(op, "transpose", 0) != 0,
                                       .low = (int)config_int(op, "low", 1),
                                       .high = (int)config_int(op, "high", 1)};
  tsr_status status = tsr_lapack_plan(call);
  if (status) return tsr_note(status, "%s", tsr_call_title(lowering, op));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_lapack_run, call, sizeof *call, &step));
  step->scratch_bytes = call->scratch_bytes;
  const tsr_lapack_matrix *a = &call->inputs[0];
  const int64_t least = tsr_least(a->rows, a->columns);
  step->flops = 4 * call->batches * a->rows * a->columns * least;  // about
  return NULL;
}

tsr_status tsr_call_lapack(tsr_lowering *lowering, tsr_op *op) {
  const char *target = tsr_op_attr(op, "call_target_name")->bytes + strlen(prefix);
  const size_t length = strlen(target) - strlen(suffix) - 1;
  tsr_lapack_call call = {.type = (int)(strchr(letters, target[0]) - letters)};
  const bool is_complex = call.type >= TSR_BLAS_C64;
  target++;
  for (int i = 0; i < TSR_LAPACK_COUNT; i++) {
    const char *name = is_complex ? names[i].complex : names[i].real;
    if (strlen(name) == length && !memcmp(name, target, length)) call.id = (tsr_lapack_id)i;
  }
  const bool is_gtsv = !memcmp(target, "gtsv", strlen("gtsv"));
  const int batch_dims = op->operand_count ? tsr_operand_type(op, 0)->rank - (is_gtsv ? 1 : 2) : -1;
  if (batch_dims < 0 || tsr_blas_type(tsr_operand_type(op, 0)->dtype) != call.type)
    return tsr_fail(CONSTRAINT, "%s: its operands are not batches of matrices of its type",
                    tsr_call_title(lowering, op));
  TSR_TRY(fill_matrices(lowering, op, batch_dims, &call));
  if (!memcmp(target, "trsm", strlen("trsm"))) return lower_trsm(lowering, op, &call);
  if (!memcmp(target, "potrf", strlen("potrf"))) return lower_potrf(lowering, op, &call);
  return lower_routine(lowering, op, &call);
}
