// LAPACK on batches of matrices.
//
// Memory is row-major, LAPACK reads columns. So a matrix is transposed to scratch memory, changed
// there, and transposed back; what the program already keeps in columns is changed in place.
#include "kernel/lapack_calls.h"

#include <math.h>
#include <string.h>

#include "base/arithmetic.h"

// The memory of one call: matrices as LAPACK sees them.
typedef struct lapack_memory {
  bool query;  // only the size of the workspaces is asked for
  void *in[TSR_LAPACK_INPUTS], *out[TSR_LAPACK_OUTPUTS];
  void *work, *real_work, *extra;  // `extra`: two real matrices of eigenvectors
  int *int_work;
  int info;  // of routines that have no output for it
} lapack_memory;

typedef void lapack_fn(const tsr_lapack_call *call, lapack_memory *memory);

static bool is_complex(const tsr_lapack_call *call) {
  return call->type == TSR_BLAS_C64 || call->type == TSR_BLAS_C128;
}
static bool is_single(const tsr_lapack_call *call) {
  return call->type == TSR_BLAS_F32 || call->type == TSR_BLAS_C64;
}
static int64_t number_bytes(const tsr_lapack_call *call) {
  return (is_single(call) ? 4 : 8) * (is_complex(call) ? 2 : 1);
}

// ---- the routines ----

// Sizes of an operand, and the length of the workspace: -1 asks for it.
#define SIZES(matrix)                                                              \
  const int m = (int)(matrix).rows, n = (int)(matrix).columns, ld = m > 0 ? m : 1; \
  const int lwork = memory->query ? -1 : (int)call->work;                          \
  (void)n, (void)ld, (void)lwork

static void run_getrf(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  if (!memory->query)
    call->blas->getrf(&m, &n, memory->out[0], &ld, memory->out[1], memory->out[2]);
}

static void run_geqrf(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  call->blas->geqrf(&m, &n, memory->out[0], &ld, memory->out[1], memory->work, &lwork,
                    &memory->info);
}

static void run_geqp3(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  if (is_complex(call))
    call->blas->geqp3_complex(&m, &n, memory->out[0], &ld, memory->out[1], memory->out[2],
                              memory->work, &lwork, memory->real_work, &memory->info);
  else
    call->blas->geqp3(&m, &n, memory->out[0], &ld, memory->out[1], memory->out[2], memory->work,
                      &lwork, &memory->info);
}

static void run_orgqr(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  const int k = (int)call->inputs[1].rows;
  call->blas->orgqr(&m, &n, &k, memory->out[0], &ld, memory->in[1], memory->work, &lwork,
                    &memory->info);
}

static void run_ormqr(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[2]);
  const int k = (int)call->inputs[1].rows;
  const int lda = (int)(call->inputs[0].rows > 0 ? call->inputs[0].rows : 1);
  const char *trans = !call->options.transpose ? "N" : is_complex(call) ? "C" : "T";
  call->blas->ormqr(call->options.left ? "L" : "R", trans, &m, &n, &k, memory->in[0], &lda,
                    memory->in[1], memory->out[0], &ld, memory->work, &lwork, &memory->info, 1, 1);
}

static void run_gehrd(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  call->blas->gehrd(&n, &call->options.low, &call->options.high, memory->out[0], &ld,
                    memory->out[1], memory->work, &lwork, memory->out[2]);
}

static void run_sytrd(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  call->blas->sytrd(&call->options.uplo, &n, memory->out[0], &ld, memory->out[1], memory->out[2],
                    memory->out[3], memory->work, &lwork, memory->out[4], 1);
}

// The first element of the lower diagonal, which JAX has as padding, is not LAPACK's.
static void run_gtsv(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[3]);
  if (memory->query) return;
  call->blas->gtsv(&m, &n, (char *)memory->out[0] + number_bytes(call), memory->out[1],
                   memory->out[2], memory->out[3], &ld, memory->out[4]);
}

static void run_syevd(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  const int lrwork = memory->query ? -1 : (int)call->real_work;
  const int liwork = memory->query ? -1 : (int)call->int_work;
  if (is_complex(call))
    call->blas->heevd(&call->options.mode, &call->options.uplo, &n, memory->out[0], &ld,
                      memory->out[1], memory->work, &lwork, memory->real_work, &lrwork,
                      memory->int_work, &liwork, memory->out[2], 1, 1);
  else
    call->blas->syevd(&call->options.mode, &call->options.uplo, &n, memory->out[0], &ld,
                      memory->out[1], memory->work, &lwork, memory->int_work, &liwork,
                      memory->out[2], 1, 1);
}

// Leading dimensions of U and V^H, which are not read without vectors.
#define VECTOR_SIZES                                                            \
  const int ldu = (int)(call->outputs[2].rows > 0 ? call->outputs[2].rows : 1); \
  const int ldv = (int)(call->outputs[3].rows > 0 ? call->outputs[3].rows : 1)

static void run_gesdd(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  VECTOR_SIZES;
  if (is_complex(call))
    call->blas->gesdd_complex(&call->options.mode, &m, &n, memory->out[0], &ld, memory->out[1],
                              memory->out[2], &ldu, memory->out[3], &ldv, memory->work, &lwork,
                              memory->real_work, memory->int_work, memory->out[4], 1);
  else
    call->blas->gesdd(&call->options.mode, &m, &n, memory->out[0], &ld, memory->out[1],
                      memory->out[2], &ldu, memory->out[3], &ldv, memory->work, &lwork,
                      memory->int_work, memory->out[4], 1);
}

static void run_gesvd(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  VECTOR_SIZES;
  const char *mode = &call->options.mode;
  if (is_complex(call))
    call->blas->gesvd_complex(mode, mode, &m, &n, memory->out[0], &ld, memory->out[1],
                              memory->out[2], &ldu, memory->out[3], &ldv, memory->work, &lwork,
                              memory->real_work, memory->out[4], 1, 1);
  else
    call->blas->gesvd(mode, mode, &m, &n, memory->out[0], &ld, memory->out[1], memory->out[2], &ldu,
                      memory->out[3], &ldv, memory->work, &lwork, memory->out[4], 1, 1);
}

static bool is_finite(const tsr_lapack_call *call, const void *matrix, int64_t count) {
  const int64_t reals = count * (is_complex(call) ? 2 : 1);
  const float *single = matrix;
  const double *wide = matrix;
  for (int64_t i = 0; i < reals; i++)
    if (is_single(call) ? !isfinite(single[i]) : !isfinite(wide[i])) return false;
  return true;
}

// Eigenvectors of real matrices: a pair of conjugate ones is two columns, the real and the
// imaginary parts.
#define UNPACK(real)                                                                       \
  static void unpack_##real(int n, const real *imaginary, const real *packed, real *out) { \
    for (int j = 0; j < n; j++) {                                                          \
      const bool pair = imaginary[j] != 0 && j + 1 < n;                                    \
      for (int i = 0; i < n; i++) {                                                        \
        const real re = packed[(int64_t)j * n + i];                                        \
        const real im = pair ? packed[(int64_t)(j + 1) * n + i] : 0;                       \
        real *at = out + ((int64_t)j * n + i) * 2;                                         \
        at[0] = re, at[1] = im;                                                            \
        if (pair) at[2 * n] = re, at[2 * n + 1] = -im;                                     \
      }                                                                                    \
      j += pair;                                                                           \
    }                                                                                      \
  }
UNPACK(float)
UNPACK(double)

static void unpack(const tsr_lapack_call *call, int n, const void *imaginary, const void *packed,
                   void *out) {
  if (is_single(call))
    unpack_float(n, imaginary, packed, out);
  else
    unpack_double(n, imaginary, packed, out);
}

// Values that are not finite would make LAPACK loop; it reports them as a bad argument.
enum { NOT_FINITE = -4 };

static void run_geev_real(const tsr_lapack_call *call, lapack_memory *memory, int n, int lwork) {
  const tsr_lapack_options *options = &call->options;
  const int ld = n > 0 ? n : 1;
  const int64_t bytes = (int64_t)n * n * number_bytes(call);
  char *left = memory->extra;
  // A query has no matrices.
  char *right = memory->query ? left : left + bytes, *a = memory->query ? left : right + bytes;
  if (!memory->query) memcpy(a, memory->in[0], (size_t)bytes);
  call->blas->geev(&options->left_vectors, &options->right_vectors, &n, a, &ld, memory->out[0],
                   memory->out[1], left, &ld, right, &ld, memory->work, &lwork, memory->out[4], 1,
                   1);
  if (memory->query) return;
  if (options->left_vectors == 'V') unpack(call, n, memory->out[1], left, memory->out[2]);
  if (options->right_vectors == 'V') unpack(call, n, memory->out[1], right, memory->out[3]);
}

static void run_geev(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  const tsr_lapack_options *options = &call->options;
  int *info = memory->out[is_complex(call) ? 3 : 4];
  if (!memory->query && !is_finite(call, memory->in[0], (int64_t)n * n)) {
    *info = NOT_FINITE;
    return;
  }
  if (!is_complex(call)) {
    run_geev_real(call, memory, n, lwork);
    return;
  }
  if (!memory->query)
    memcpy(memory->extra, memory->in[0], (size_t)((int64_t)n * n * number_bytes(call)));
  call->blas->geev_complex(&options->left_vectors, &options->right_vectors, &n, memory->extra, &ld,
                           memory->out[0], memory->out[1], &ld, memory->out[2], &ld, memory->work,
                           &lwork, memory->real_work, info, 1, 1);
}

static void run_gees(const tsr_lapack_call *call, lapack_memory *memory) {
  SIZES(call->inputs[0]);
  if (is_complex(call))
    call->blas->gees_complex(&call->options.mode, "N", NULL, &n, memory->out[0], &ld,
                             memory->out[3], memory->out[2], memory->out[1], &ld, memory->work,
                             &lwork, memory->real_work, NULL, memory->out[4], 1, 1);
  else
    call->blas->gees(&call->options.mode, "N", NULL, &n, memory->out[0], &ld, memory->out[4],
                     memory->out[2], memory->out[3], memory->out[1], &ld, memory->work, &lwork,
                     NULL, memory->out[5], 1, 1);
}

// ---- their table ----

// One letter for each operand and result: M a matrix, V a vector, I a number of i32, J a vector of
// i32, R a vector of the real type, C a matrix of the complex type. `sources`: the operand that a
// result starts as, or '-'.
typedef struct lapack_routine {
  lapack_fn *run;
  const char *inputs, *outputs, *complex_outputs;
  const char *sources;
} lapack_routine;

static const lapack_routine routines[TSR_LAPACK_COUNT] = {
    [TSR_LAPACK_GETRF] = {run_getrf, "M", "MJI", "MJI", "0--"},
    [TSR_LAPACK_GEQRF] = {run_geqrf, "M", "MV", "MV", "0-"},
    [TSR_LAPACK_GEQP3] = {run_geqp3, "MJ", "MJV", "MJV", "01-"},
    [TSR_LAPACK_ORGQR] = {run_orgqr, "MV", "M", "M", "0"},
    [TSR_LAPACK_ORMQR] = {run_ormqr, "MVM", "M", "M", "2"},
    [TSR_LAPACK_GEHRD] = {run_gehrd, "M", "MVI", "MVI", "0--"},
    [TSR_LAPACK_SYTRD] = {run_sytrd, "M", "MRRVI", "MRRVI", "0----"},
    [TSR_LAPACK_GTSV] = {run_gtsv, "VVVM", "VVVMI", "VVVMI", "0123-"},
    [TSR_LAPACK_SYEVD] = {run_syevd, "M", "MRI", "MRI", "0--"},
    [TSR_LAPACK_GESDD] = {run_gesdd, "M", "MRMMI", "MRMMI", "0----"},
    [TSR_LAPACK_GESVD] = {run_gesvd, "M", "MRMMI", "MRMMI", "0----"},
    [TSR_LAPACK_GEEV] = {run_geev, "M", "RRCCI", "VMMI", "-----"},
    [TSR_LAPACK_GEES] = {run_gees, "M", "MMRRII", "MMVII", "0-----"},
};

static const char *outputs_of(const tsr_lapack_call *call) {
  const lapack_routine *routine = &routines[call->id];
  return is_complex(call) ? routine->complex_outputs : routine->outputs;
}

static bool fits(const tsr_lapack_call *call, const tsr_lapack_matrix *matrix, char letter) {
  const int64_t real = is_single(call) ? 4 : 8;
  const bool is_matrix = letter == 'M' || letter == 'C', is_number = letter == 'I';
  const int64_t bytes = letter == 'I' || letter == 'J' ? 4
                        : letter == 'R'                ? real
                        : letter == 'C'                ? 2 * real
                                                       : number_bytes(call);
  return matrix->bytes == bytes && (is_matrix || matrix->columns == 1) &&
         (!is_number || matrix->rows == 1);
}

static tsr_status check_operands(const tsr_lapack_call *call) {
  const lapack_routine *routine = &routines[call->id];
  const char *outputs = outputs_of(call);
  bool good = call->input_count == (int)strlen(routine->inputs) &&
              call->output_count == (int)strlen(outputs);
  for (int i = 0; i < call->input_count && good; i++)
    good = fits(call, &call->inputs[i], routine->inputs[i]);
  for (int i = 0; i < call->output_count && good; i++)
    good = fits(call, &call->outputs[i], outputs[i]);
  if (good) return NULL;
  return tsr_fail(CONSTRAINT, "operands and results are not those of the LAPACK routine");
}

static bool is_one_of(char letter, const char *letters) {
  return letter && strchr(letters, letter);
}

// LAPACK prints a message to the terminal for letters that it does not know.
static tsr_status check_options(const tsr_lapack_call *call) {
  const tsr_lapack_options *o = &call->options;
  const bool svd = call->id == TSR_LAPACK_GESDD || call->id == TSR_LAPACK_GESVD;
  const bool eigen = call->id == TSR_LAPACK_SYEVD || call->id == TSR_LAPACK_GEES;
  const bool triangle = call->id == TSR_LAPACK_SYEVD || call->id == TSR_LAPACK_SYTRD;
  const bool vectors = call->id == TSR_LAPACK_GEEV;
  if ((svd && !is_one_of(o->mode, "ASN")) || (eigen && !is_one_of(o->mode, "VN")) ||
      (triangle && !is_one_of(o->uplo, "LU")) || (vectors && !is_one_of(o->left_vectors, "VN")) ||
      (vectors && !is_one_of(o->right_vectors, "VN")))
    return tsr_fail(CONSTRAINT, "options are not those of the LAPACK routine");
  return NULL;
}

// Sizes that LAPACK takes from one operand and finds in others.
static tsr_status check_sizes(const tsr_lapack_call *call) {
  const tsr_lapack_matrix *in = call->inputs, *out = call->outputs;
  const int64_t m = in[0].rows, n = in[0].columns, least = tsr_least(m, n);
  const tsr_lapack_options *o = &call->options;
  const bool square = m == n, full = o->mode == 'A';
  bool good = true;
  switch (call->id) {
    case TSR_LAPACK_GETRF:
    case TSR_LAPACK_GEQRF:
      good = out[0].rows == m && out[0].columns == n && out[1].rows == least;
      break;
    case TSR_LAPACK_GEQP3:
      good = out[0].rows == m && out[0].columns == n && in[1].rows == n && out[1].rows == n &&
             out[2].rows == least;
      break;
    case TSR_LAPACK_ORGQR:
      good = out[0].rows == m && out[0].columns == n && n <= m && in[1].rows <= n;
      break;
    case TSR_LAPACK_ORMQR:
      good = out[0].rows == in[2].rows && out[0].columns == in[2].columns && in[1].rows <= n &&
             m == (o->left ? in[2].rows : in[2].columns) && in[1].rows <= m;
      break;
    case TSR_LAPACK_GEHRD:
      good = square && out[0].rows == n && out[0].columns == n && out[1].rows == n - 1 &&
             o->low >= 1 && o->high <= n && o->low <= o->high;
      break;
    case TSR_LAPACK_SYTRD:
      good = square && out[0].rows == n && out[0].columns == n && out[1].rows == n &&
             out[2].rows == n - 1 && out[3].rows == n - 1;
      break;
    case TSR_LAPACK_GTSV:
      good = in[1].rows == m && in[2].rows == m && in[3].rows == m && out[0].rows == m &&
             out[1].rows == m && out[2].rows == m && out[3].rows == m &&
             out[3].columns == in[3].columns;
      break;
    case TSR_LAPACK_SYEVD:
      good = square && out[0].rows == n && out[0].columns == n && out[1].rows == n;
      break;
    case TSR_LAPACK_GESDD:
    case TSR_LAPACK_GESVD:
      good = out[0].rows == m && out[0].columns == n && out[1].rows == least &&
             (o->mode == 'N' || (out[2].rows == m && out[2].columns == (full ? m : least) &&
                                 out[3].rows == (full ? n : least) && out[3].columns == n));
      break;
    case TSR_LAPACK_GEEV: {
      const tsr_lapack_matrix *left = &out[is_complex(call) ? 1 : 2], *right = left + 1;
      good = square && out[0].rows == n && (is_complex(call) || out[1].rows == n) &&
             left->rows == n && left->columns == n && right->rows == n && right->columns == n;
      break;
    }
    case TSR_LAPACK_GEES:
      good = square && out[0].rows == n && out[0].columns == n && out[1].rows == n &&
             out[1].columns == n && out[2].rows == n && (is_complex(call) || out[3].rows == n);
      break;
    case TSR_LAPACK_COUNT:
      break;
  }
  if (good) return NULL;
  return tsr_fail(CONSTRAINT, "shapes of operands and results are not those of the LAPACK routine");
}

// ---- memory ----

enum { ALIGNMENT = 64 };

static int64_t rounded(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static int64_t matrix_bytes(const tsr_lapack_matrix *matrix) {
  return matrix->rows * matrix->columns * matrix->bytes;
}

static bool is_turned(const tsr_lapack_matrix *matrix) {
  return matrix->turned && matrix->rows > 1 && matrix->columns > 1;
}

static int source_of(const tsr_lapack_call *call, int output) {
  const char letter = routines[call->id].sources[output];
  return letter == '-' ? -1 : letter - '0';
}

static bool is_source(const tsr_lapack_call *call, int input) {
  for (int i = 0; i < call->output_count; i++)
    if (source_of(call, i) == input) return true;
  return false;
}

// Takes memory from scratch; without a base it only counts.
static void *take(char *base, int64_t *used, int64_t bytes) {
  void *memory = base ? base + *used : NULL;
  *used += rounded(bytes);
  return memory;
}

// `extra` is what geev needs: copies of the matrix and of real vectors.
static int64_t extra_bytes(const tsr_lapack_call *call) {
  if (call->id != TSR_LAPACK_GEEV) return 0;
  return matrix_bytes(&call->inputs[0]) * (is_complex(call) ? 1 : 3);
}

static int64_t place_memory(const tsr_lapack_call *call, char *scratch, lapack_memory *memory) {
  int64_t used = 0;
  for (int i = 0; i < call->input_count; i++)
    if (is_turned(&call->inputs[i]) && !is_source(call, i))
      memory->in[i] = take(scratch, &used, matrix_bytes(&call->inputs[i]));
  for (int i = 0; i < call->output_count; i++)
    if (is_turned(&call->outputs[i]))
      memory->out[i] = take(scratch, &used, matrix_bytes(&call->outputs[i]));
  memory->work = take(scratch, &used, call->work * number_bytes(call));
  memory->real_work = take(scratch, &used, call->real_work * (is_single(call) ? 4 : 8));
  memory->int_work = take(scratch, &used, call->int_work * (int64_t)sizeof(int));
  memory->extra = take(scratch, &used, extra_bytes(call));
  return used;
}

// `rows` x `columns`, row-major, to its transpose.
static void transpose(int64_t rows, int64_t columns, int64_t bytes, const char *in, char *out) {
  enum { TILE = 16 };
  for (int64_t i0 = 0; i0 < rows; i0 += TILE)
    for (int64_t j0 = 0; j0 < columns; j0 += TILE)
      for (int64_t i = i0; i < tsr_least(i0 + TILE, rows); i++)
        for (int64_t j = j0; j < tsr_least(j0 + TILE, columns); j++) {
          const char *from = in + (i * columns + j) * bytes;
          char *to = out + (j * rows + i) * bytes;
          if (bytes == 4)
            memcpy(to, from, 4);
          else if (bytes == 8)
            memcpy(to, from, 8);
          else
            memcpy(to, from, 16);
        }
}

// A matrix in memory as LAPACK sees it.
static void bring(const tsr_lapack_matrix *matrix, const char *in, void *out) {
  if (is_turned(matrix))
    transpose(matrix->rows, matrix->columns, matrix->bytes, in, out);
  else if (in != out && matrix_bytes(matrix))
    memcpy(out, in, (size_t)matrix_bytes(matrix));
}

static bool is_empty(const tsr_lapack_call *call) {
  return call->inputs[0].rows == 0 || call->inputs[0].columns == 0;
}

typedef struct lapack_run {
  const tsr_lapack_call *call;
  const tsr_kernel_call *memory;
} lapack_run;

static tsr_status run_one(void *context, int64_t index, int worker) {
  const lapack_run *run = context;
  const tsr_lapack_call *call = run->call;
  lapack_memory memory = {0};
  place_memory(call, tsr_kernel_scratch(run->memory, worker), &memory);
  for (int i = 0; i < call->input_count; i++) {
    const char *in = run->memory->inputs[i] + index * matrix_bytes(&call->inputs[i]);
    if (memory.in[i])
      bring(&call->inputs[i], in, memory.in[i]);
    else
      memory.in[i] = (void *)(uintptr_t)in;
  }
  for (int i = 0; i < call->output_count; i++) {
    const int64_t bytes = matrix_bytes(&call->outputs[i]);
    if (!memory.out[i]) memory.out[i] = run->memory->outputs[i] + index * bytes;
    if (source_of(call, i) >= 0)
      bring(&call->inputs[source_of(call, i)], memory.in[source_of(call, i)], memory.out[i]);
    else if (bytes)
      memset(memory.out[i], 0, (size_t)bytes);
  }
  if (!is_empty(call)) routines[call->id].run(call, &memory);
  for (int i = 0; i < call->output_count; i++) {
    const tsr_lapack_matrix *out = &call->outputs[i];
    if (is_turned(out))
      transpose(out->columns, out->rows, out->bytes, memory.out[i],
                run->memory->outputs[i] + index * matrix_bytes(out));
  }
  return NULL;
}

tsr_status tsr_lapack_run(const void *description, const tsr_kernel_call *call) {
  lapack_run run = {description, call};
  const tsr_lapack_matrix *matrix = &run.call->inputs[0];
  const int64_t cost = matrix->rows * matrix->columns * tsr_least(matrix->rows, matrix->columns);
  const bool worth = run.call->batches * cost > 1 << 16;
  return tsr_pool_run(worth ? call->pool : NULL, run.call->batches, run_one, &run);
}

// ---- workspaces ----

// Workspaces that have no query, as LAPACK's documentation gives them.
static void fixed_work(tsr_lapack_call *call) {
  const int64_t m = call->inputs[0].rows, n = call->inputs[0].columns;
  const int64_t least = tsr_least(m, n), most = m > n ? m : n;
  const bool vectors = call->options.mode != 'N';
  if (call->id == TSR_LAPACK_GESDD) call->int_work = 8 * least;
  if (!is_complex(call)) return;
  if (call->id == TSR_LAPACK_GESDD) {
    const int64_t with = 5 * least * least + 5 * least;
    const int64_t other = 2 * most * least + 2 * least * least + least;
    call->real_work = vectors ? (with > other ? with : other) : 7 * least;
  }
  if (call->id == TSR_LAPACK_GESVD) call->real_work = 5 * least;
  if (call->id == TSR_LAPACK_GEQP3 || call->id == TSR_LAPACK_GEEV) call->real_work = 2 * n;
  if (call->id == TSR_LAPACK_GEES) call->real_work = n;
}

// The size that a query left in the first element. In f32 it may have been rounded down.
static int64_t asked_size(const tsr_lapack_call *call, const void *answer) {
  float single = 0;
  double wide = 0;
  memcpy(&single, answer, sizeof single);
  memcpy(&wide, answer, sizeof wide);
  return is_single(call) ? (int64_t)ceilf(single * (1 + 0x1p-22F)) : (int64_t)wide;
}

tsr_status tsr_lapack_plan(tsr_lapack_call *call) {
  TSR_TRY(check_operands(call));
  TSR_TRY(check_options(call));
  TSR_TRY(check_sizes(call));
  call->work = call->real_work = call->int_work = 1;
  fixed_work(call);
  if (!is_empty(call)) {
    // A query reads no matrices; infos are written.
    double answers[3][2] = {{1}, {1}, {1}};
    double infos[TSR_LAPACK_OUTPUTS][2] = {{0}};
    lapack_memory memory = {.query = true, .work = answers[0], .real_work = answers[1]};
    int int_answer = (int)call->int_work;
    memory.int_work = &int_answer;
    memory.extra = answers[2];
    for (int i = 0; i < call->output_count; i++) memory.out[i] = infos[i];
    for (int i = 0; i < call->input_count; i++) memory.in[i] = answers[2];
    routines[call->id].run(call, &memory);
    call->work = asked_size(call, answers[0]);
    if (call->id == TSR_LAPACK_SYEVD) {
      call->int_work = int_answer;
      if (is_complex(call)) call->real_work = asked_size(call, answers[1]);
    }
  }
  if (call->work < 1) call->work = 1;
  if (call->work > INT32_MAX || call->real_work > INT32_MAX)
    return tsr_fail(TOO_LARGE, "the LAPACK routine needs a workspace of %lld numbers",
                    (long long)call->work);
  lapack_memory memory = {0};
  call->scratch_bytes = place_memory(call, NULL, &memory);
  return NULL;
}
