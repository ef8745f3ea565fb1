// Products of groups of rows, or of groups of the depth, whose sizes are known when they run.
#ifndef TESSERA_KERNEL_RAGGED_DOT_H
#define TESSERA_KERNEL_RAGGED_DOT_H

#include "kernel/gemm.h"

// Inputs: left, right, sizes of the groups. Groups follow each other along one dim; what lies after
// the last group counts for nothing.
typedef struct tsr_ragged_dot {
  tsr_gemm gemm;          // rows or depth are those besides the dim of the groups; by panels only
  bool depth;             // groups of the depth, each with a result; otherwise groups of rows
  int64_t size;           // of the dim
  int64_t left_stride;    // of the dim
  int64_t right_stride;   // of the dim; of groups of rows, from group to group
  int64_t result_stride;  // of the dim; of groups of the depth, from group to group
  int64_t groups;
  tsr_dtype size_type;  // of the sizes
  // Sizes are rows of `groups` numbers: that of product i is i / products_each; 0 = one row for
  // all.
  int64_t products_each;
  int64_t result_bytes;
} tsr_ragged_dot;

tsr_status tsr_ragged_dot_run(const void *description, const tsr_kernel_call *call);

#endif
