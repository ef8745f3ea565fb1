// Where the largest or smallest element is: argmax and argmin along a dim.
#ifndef TESSERA_REDUCE_ARG_REDUCE_H
#define TESSERA_REDUCE_ARG_REDUCE_H

#include <stdbool.h>

#include "tessera/dtype.h"
#include "tile/kernel_call.h"

// The input is outer x length x inner, length at least 1. Outputs: the elements, and their indices
// along the middle dim, as integers of `index_bytes`; both outer x inner. Of equal elements the
// first is taken; the first NaN is taken before any number.
typedef struct tsr_arg_reduce {
  tsr_dtype dtype;
  bool smallest;
  int index_bytes;  // 4 or 8
  int64_t outer, length, inner;
} tsr_arg_reduce;

bool tsr_arg_reduces(tsr_dtype dtype);  // whether there is code for a type
tsr_status tsr_arg_reduce_run(const void *description, const tsr_kernel_call *call);

// ---- for arg_reduce*.c ----

enum { TSR_ARG_COLUMNS = 128 };
// The index of the element of one row.
typedef int64_t tsr_arg_row_fn(const void *row, int64_t length);
// The indices of up to TSR_ARG_COLUMNS columns, whose rows lie `stride` elements apart.
typedef void tsr_arg_columns_fn(const void *first, int64_t length, int64_t stride, int64_t count,
                                int32_t *out_indices);
typedef struct tsr_arg_code {
  tsr_dtype dtype;
  tsr_arg_row_fn *row[2];  // of the largest, of the smallest
  tsr_arg_columns_fn *columns[2];
} tsr_arg_code;
enum { TSR_ARG_TYPES = 8 };
extern const tsr_arg_code tsr_arg_plain[TSR_ARG_TYPES];
#if defined __x86_64__
extern const tsr_arg_code tsr_arg_avx2[TSR_ARG_TYPES];
#endif

#endif
