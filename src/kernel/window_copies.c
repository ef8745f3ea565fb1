// Windows read and written at places computed by the program. In place, only the window is touched:
// so a loop that fills a tensor row by row takes time linear in its size.
#include "kernel/window_copies.h"

#include "kernel/index_starts.h"

// Bytes from the start of the tensor to the window.
static int64_t window_offset(const tsr_window_copy *w, const char *const *inputs) {
  int64_t offset = 0;
  for (int i = 0; i < w->start_count; i++) {
    const tsr_window_start *start = &w->starts[i];
    const int64_t at = tsr_index_read(start->dtype, inputs[start->input]);
    offset += (at < 0 ? 0 : at > start->most ? start->most : at) * start->stride;
  }
  return offset * w->window.element_bytes;
}

tsr_status tsr_window_read(const void *description, const tsr_kernel_call *call) {
  const tsr_window_copy *w = description;
  if (!w->window.tasks) return NULL;
  const char *source = call->inputs[0] + window_offset(w, call->inputs);
  return tsr_copies_apply(&w->window, &source, call->outputs[0], call->pool);
}

tsr_status tsr_window_write(const void *description, const tsr_kernel_call *call) {
  const tsr_window_copy *w = description;
  char *target = call->outputs[0];
  if (call->inputs[0] != target)
    TSR_TRY(tsr_copies_apply(&w->whole, call->inputs, target, call->pool));
  if (!w->window.tasks || call->inputs[1] == target) return NULL;
  return tsr_copies_apply(&w->window, call->inputs, target + window_offset(w, call->inputs),
                          call->pool);
}
