// Convolutions of each channel by itself, with channels side by side in memory.
#ifndef TESSERA_KERNEL_CONV_DEPTHWISE_H
#define TESSERA_KERNEL_CONV_DEPTHWISE_H

#include "kernel/gemm.h"

// Inputs: the tensor and the weights. Channels are neighbours in both and in the result, whose
// other dims are those of `rows`, (batch, positions).
typedef struct tsr_depthwise {
  tsr_gemm_window window;  // its channels are all of them
  int64_t weight_start, weight_strides[TSR_MAX_RANK];
  tsr_gemm_walk rows;  // of the result
  // Set by tsr_depthwise_plan.
  const tsr_gemm_kernels *kernels;
  int64_t places;  // in the window
  int64_t task_rows, tasks;
  int64_t scratch_bytes, flops;
} tsr_depthwise;

// `type` is TSR_GEMM_F32 and so on: that of all elements.
void tsr_depthwise_plan(tsr_depthwise *depthwise, int type);
tsr_status tsr_depthwise_run(const void *description, const tsr_kernel_call *call);

#endif
