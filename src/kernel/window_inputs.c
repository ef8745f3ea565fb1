// Where windows of inputs start.
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

// The integers that say where windows start are not windows themselves.
void tsr_window_inputs_place(const tsr_window_input *windows, int count, const char **inputs) {
  for (int i = 0; i < count; i++) inputs[windows[i].input] += start_of(&windows[i], inputs);
}
