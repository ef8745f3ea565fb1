// Indices that a program computes, and where the windows of a gather or scatter start: a tensor of
// indices holds a vector for each window.
#ifndef TESSERA_KERNEL_INDEX_STARTS_H
#define TESSERA_KERNEL_INDEX_STARTS_H

#include <stdbool.h>

#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"
#include "tessera/shape.h"

// An integer as it is in the memory of a run. Numbers above the range of int64_t become its
// largest.
int64_t tsr_index_read(tsr_dtype dtype, const char *from);

// A dimension of the indices that counts windows. `index` and `operand` are strides in elements of
// the two tensors; that of the operand is 0 but for a batching dimension.
typedef struct tsr_start_dim {
  int64_t count, index, operand;
} tsr_start_dim;

// An entry of index vectors: `index` elements after the vector's start, along a dimension of the
// operand of `size` and `stride` in which the window has `window` elements.
typedef struct tsr_start_entry {
  int64_t index, stride, size, window;
} tsr_start_entry;

typedef struct tsr_index_starts {
  tsr_dtype dtype;
  bool clamped;   // windows are moved inside; else those not inside have no start
  int64_t count;  // windows, in row-major order of `dims`
  int dim_count, entry_count;
  tsr_start_dim dims[TSR_MAX_RANK];
  tsr_start_entry entries[TSR_MAX_RANK];
} tsr_index_starts;

// A dimension of the tensor of windows (the result of a gather, the updates of a scatter): what an
// iteration adds to the number of the window, and to the elements of the operand and of this
// tensor. `entry` is the entry of index vectors for this dimension of the window; -1 = none: it
// starts at 0, or the dimension counts windows.
typedef struct tsr_index_loop {
  int64_t count, windows, operand, element;
  int entry;
} tsr_index_loop;

// The tensor of windows in row-major order: `loops`, then `row` windows, `row_step` elements from
// one to the next, and the dimensions inside of all these, which are of the window.
typedef struct tsr_index_walk {
  tsr_index_starts starts;
  int loop_count, window_count;
  tsr_index_loop loops[TSR_MAX_RANK], window[TSR_MAX_RANK];
  int64_t row, row_step;
} tsr_index_walk;

enum { TSR_NO_START = -1 };

// Joins dimensions where neighbours continue each other.
void tsr_index_starts_simplify(tsr_index_starts *starts);
// The elements of the operand that windows `begin` to before `begin + count` start at, or
// TSR_NO_START.
void tsr_index_starts_read(const tsr_index_starts *starts, const char *indices, int64_t begin,
                           int64_t count, int64_t *out);
// Entry by entry, the numbers of window `at` as they are, and the element that its batching
// dimensions alone start at.
int64_t tsr_index_starts_vector(const tsr_index_starts *starts, const char *indices, int64_t at,
                                int64_t *out_vector);

// Dimensions of the window as a copy from the operand, or to it.
tsr_copy tsr_index_copy(const tsr_index_loop *loops, int count, bool to_operand);
// How often a window is visited: `row` times the iterations of `loops`.
int64_t tsr_index_units(const tsr_index_walk *walk);

#endif
