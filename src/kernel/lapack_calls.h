// LAPACK routines on batches of matrices, with the operands and results of the custom calls that
// JAX makes on a CPU.
#ifndef TESSERA_KERNEL_LAPACK_CALLS_H
#define TESSERA_KERNEL_LAPACK_CALLS_H

#include <stdbool.h>

#include "kernel/blas/blas_module.h"
#include "tile/kernel_call.h"

#define LAPACK(id, ...) TSR_LAPACK_##id,
typedef enum tsr_lapack_id {
#include "kernel/lapack_calls.def"
  TSR_LAPACK_COUNT
} tsr_lapack_id;
#undef LAPACK

enum { TSR_LAPACK_INPUTS = 4, TSR_LAPACK_OUTPUTS = 6 };

// A matrix of a batch; a vector has one column, a number one element.
typedef struct tsr_lapack_matrix {
  int64_t rows, columns, bytes;  // bytes of an element
  bool turned;                   // LAPACK sees it column by column; in memory it is row-major
} tsr_lapack_matrix;

// What the routine is asked for, as far as it takes it.
typedef struct tsr_lapack_options {
  char uplo, mode, left_vectors, right_vectors;
  bool left, transpose;
  int low, high;
} tsr_lapack_options;

typedef struct tsr_lapack_call {
  tsr_lapack_id id;
  int type;  // TSR_BLAS_F32 and so on
  const tsr_blas_functions *blas;
  int64_t batches;
  int input_count, output_count;
  tsr_lapack_matrix inputs[TSR_LAPACK_INPUTS], outputs[TSR_LAPACK_OUTPUTS];
  tsr_lapack_options options;
  // Set by tsr_lapack_plan.
  int64_t work, real_work, int_work;  // elements of workspaces
  int64_t scratch_bytes;              // for each worker
} tsr_lapack_call;

// Asks the routine for the size of its workspaces. Fails if operands and results are not those of
// the routine.
TSR_MUST_USE tsr_status tsr_lapack_plan(tsr_lapack_call *call);
tsr_status tsr_lapack_run(const void *description, const tsr_kernel_call *call);  // a tsr_kernel_fn

#endif
