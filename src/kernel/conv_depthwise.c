// A convolution of each channel by itself: for each position of the window a sum of products of
// vectors of channels. The places of the window that are inside the input are listed first.
#include "kernel/conv_depthwise.h"

#include "base/arithmetic.h"

enum { TASK_FLOPS = 4000000 };  // some 200 microseconds

void tsr_depthwise_plan(tsr_depthwise *depthwise, int type) {
  const tsr_gemm_window *window = &depthwise->window;
  depthwise->places = 1;
  for (int d = 0; d < window->rank; d++) depthwise->places *= window->dims[d].kernel;
  depthwise->kernels = tsr_gemm_kernels_of(type, depthwise->places <= 32);
  const int64_t rows = depthwise->rows.count;
  const int64_t row_flops = tsr_saturated_multiply(2 * depthwise->places, window->channels);
  depthwise->flops = tsr_saturated_multiply(row_flops, rows);
  depthwise->task_rows = TASK_FLOPS / (row_flops + 100) + 1;
  depthwise->tasks = (rows + depthwise->task_rows - 1) / depthwise->task_rows;
  depthwise->scratch_bytes = 2 * depthwise->places * (int64_t)sizeof(void *);
}

typedef struct depthwise_run {
  const tsr_depthwise *depthwise;
  const tsr_kernel_call *call;
  int64_t corners[TSR_MAX_RANK];
  const char *input;  // of the batch
  const void **x, **y;
  int64_t count;  // of x and y
} depthwise_run;

// Lists the places of dims `dim` and on that are inside the input.
static void list_places(depthwise_run *run, int dim, int64_t place, int64_t weight) {
  const tsr_depthwise *depthwise = run->depthwise;
  const tsr_gemm_window *window = &depthwise->window;
  const int64_t size = depthwise->kernels->element_bytes;
  if (dim == window->rank) {
    run->x[run->count] = run->input + place * size;
    run->y[run->count++] = run->call->inputs[1] + weight * size;
    return;
  }
  const tsr_conv_dim *d = &window->dims[dim];
  for (int64_t at = 0; at < d->kernel; at++) {
    int64_t inside = place;
    if (tsr_conv_enter(d, run->corners[dim], at, &inside))
      list_places(run, dim + 1, inside, weight + at * depthwise->weight_strides[dim]);
  }
}

static void run_row(depthwise_run *run, int64_t row) {
  const tsr_depthwise *depthwise = run->depthwise;
  const tsr_gemm_window *window = &depthwise->window;
  const int64_t size = depthwise->kernels->element_bytes;
  int64_t index = row;
  for (int d = window->rank - 1; d >= 0; d--) {
    const tsr_conv_dim *dim = &window->dims[d];
    run->corners[d] = index % dim->output * dim->step - dim->pad_low;
    index /= dim->output;
  }
  run->input = run->call->inputs[0] + index * window->batch_stride * size;
  run->count = 0;
  list_places(run, 0, 0, depthwise->weight_start);
  depthwise->kernels->many_dots(
      run->x, run->y, run->count,
      run->call->outputs[0] + tsr_gemm_walk_place(&depthwise->rows, row) * size, window->channels);
}

static tsr_status run_rows(void *context, int64_t index, int worker) {
  depthwise_run run = *(const depthwise_run *)context;
  const tsr_depthwise *depthwise = run.depthwise;
  run.x = (const void **)(void *)tsr_kernel_scratch(run.call, worker);
  run.y = run.x + depthwise->places;
  const int64_t first = index * depthwise->task_rows;
  const int64_t end = tsr_least(depthwise->rows.count, first + depthwise->task_rows);
  for (int64_t row = first; row < end; row++) run_row(&run, row);
  return NULL;
}

tsr_status tsr_depthwise_run(const void *description, const tsr_kernel_call *call) {
  depthwise_run run = {.depthwise = description, .call = call};
  return tsr_pool_run(run.depthwise->tasks > 1 ? call->pool : NULL, run.depthwise->tasks, run_rows,
                      &run);
}
