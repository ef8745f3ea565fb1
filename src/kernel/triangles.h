// Triangular matrices: systems solved, and the Cholesky factor of a positive definite matrix. Both
// take batches of row-major matrices of f32, f64, c64 or c128.
#ifndef TESSERA_KERNEL_TRIANGLES_H
#define TESSERA_KERNEL_TRIANGLES_H

#include <stdbool.h>

#include "kernel/blas/blas_module.h"
#include "tile/kernel_call.h"

typedef enum tsr_transposed { TSR_AS_IT_IS, TSR_TRANSPOSED, TSR_ADJOINT } tsr_transposed;

// op(A) X = B, or X op(A) = B, for X in the place of B. The other triangle of A is not read.
typedef struct tsr_triangular_solve {
  tsr_dtype dtype;
  const tsr_blas *blas;           // NULL = own code
  int64_t batches, size, others;  // A is size x size; B has `others` columns, or rows on the right
  bool left, lower, unit;
  tsr_transposed transposed;
} tsr_triangular_solve;

// Inputs are A and B; the output may be the memory of B. A tsr_kernel_fn.
tsr_status tsr_triangular_solve_run(const void *description, const tsr_kernel_call *call);

// L with L L^H = A, or U with U^H U = A; the other triangle is zeros. A matrix that is not positive
// definite gives NaNs only.
typedef struct tsr_cholesky {
  tsr_dtype dtype;
  const tsr_blas *blas;
  int64_t batches, size;
  bool lower;
  // The other triangle may hold anything, and output 1 is an i32 for each matrix: 0, or 1 if it is
  // not positive definite.
  bool reports;
} tsr_cholesky;

// The output may be the memory of the input. A tsr_kernel_fn.
tsr_status tsr_cholesky_run(const void *description, const tsr_kernel_call *call);

#endif
