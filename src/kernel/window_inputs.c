// Windows of inputs: their addresses are computed, then the kernel runs.
#include "kernel/window_inputs.h"

#include "kernel/index_starts.h"

static int64_t start_of(const tsr_window_input *window, const char *const *inputs) {
  int64_t offset = 0;
  for (int i = 0; i < window->start_count; i++) {
    const tsr_window_start *start = &window->starts[i];
    const int64_t at = tsr_index_read(start->dtype, inputs[start->input]);
    offset += (at < 0 ? 0 : at > start->most ? start->most : at) * start->stride;
  }
  return offset;
}

tsr_status tsr_windowed_run(const void *description, const tsr_kernel_call *call) {
  const tsr_windowed_kernel *kernel = description;
  const char *inputs[TSR_WINDOW_INPUTS];
  for (int i = 0; i < kernel->input_count; i++) inputs[i] = call->inputs[i];
  for (int i = 0; i < kernel->window_count; i++)
    inputs[kernel->windows[i].input] += start_of(&kernel->windows[i], call->inputs);
  tsr_kernel_call moved = *call;
  moved.inputs = inputs;
  return kernel->run(kernel->description, &moved);
}

void tsr_windowed_destroy(void *description) {
  const tsr_windowed_kernel *kernel = description;
  if (kernel->destroy) kernel->destroy((void *)(uintptr_t)kernel->description);
}
