// Each group is a product of its own, planned when its size is known.
#include "kernel/ragged_dot.h"

#include <string.h>

#include "base/arithmetic.h"

// The product of one group: elements `first` to before `end` of the dim.
static tsr_status run_group(const tsr_ragged_dot *ragged, const tsr_kernel_call *call,
                            int64_t batch, int64_t group, int64_t first, int64_t end) {
  tsr_gemm gemm = ragged->gemm;
  const int64_t count = end - first;
  gemm.left.start += tsr_gemm_walk_place(&gemm.left.batch, batch) + first * ragged->left_stride;
  gemm.right.start += tsr_gemm_walk_place(&gemm.right.batch, batch) +
                      (ragged->depth ? first : group) * ragged->right_stride;
  const int64_t place = tsr_gemm_walk_place(&gemm.result.batch, batch) +
                        (ragged->depth ? group : first) * ragged->result_stride;
  tsr_gemm_walk_init(&gemm.left.batch);
  tsr_gemm_walk_init(&gemm.right.batch);
  tsr_gemm_walk_init(&gemm.result.batch);
  if (ragged->depth) {
    tsr_gemm_walk_add(&gemm.left.depth, count, ragged->left_stride);
    tsr_gemm_walk_add(&gemm.right.depth, count, ragged->right_stride);
  } else {
    tsr_gemm_walk_add(&gemm.left.rows, count, ragged->left_stride);
    tsr_gemm_walk_add(&gemm.result.rows, count, ragged->result_stride);
  }
  TSR_TRY(tsr_gemm_plan(&gemm));
  tsr_kernel_call part = *call;
  char *output = call->outputs[0] + place * tsr_gemm_element_bytes(gemm.result.dtype);
  part.outputs = &output;
  // Without depth the sums are 0, as the result is already.
  return gemm.left.depth.count ? tsr_gemm_run(&gemm, &part) : NULL;
}

static int64_t size_at(const tsr_ragged_dot *ragged, const char *sizes, int64_t index) {
  int64_t size = 0;
  tsr_gemm_load(TSR_GEMM_I64, ragged->size_type,
                sizes + index * tsr_gemm_element_bytes(ragged->size_type), 1, 1, &size);
  return size < 0 ? 0 : size;
}

tsr_status tsr_ragged_dot_run(const void *description, const tsr_kernel_call *call) {
  const tsr_ragged_dot *ragged = description;
  memset(call->outputs[0], 0, (size_t)ragged->result_bytes);
  for (int64_t batch = 0; batch < ragged->gemm.left.batch.count; batch++) {
    const int64_t row = ragged->products_each ? batch / ragged->products_each : 0;
    int64_t first = 0;
    for (int64_t group = 0; group < ragged->groups; group++) {
      const int64_t size = size_at(ragged, call->inputs[2], row * ragged->groups + group);
      const int64_t end = first + tsr_least(size, ragged->size - first);
      if (end > first) TSR_TRY(run_group(ragged, call, batch, group, first, end));
      first = end;
    }
  }
  return NULL;
}
