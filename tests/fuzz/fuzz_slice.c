// A text that is a slice prints to one that is the same slice; its indices lie within the tensor.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "element/slice.h"
#include "tessera/shape.h"
#include "tessera/status.h"
#include "tessera/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const tsr_shape *shape = TSR_SHAPE(5, INT64_C(1) << 40, 0, 16);
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  tsr_slice slice, again;
  tsr_status status = tsr_slice_parse(text, shape, &slice);
  free(text);
  if (status) {
    tsr_status_free(status);
    return 0;
  }
  tsr_text printed = TSR_TEXT_EMPTY;
  tsr_slice_print(&slice, &printed);
  status = tsr_slice_parse(tsr_text_string(&printed), shape, &again);
  assert(!status && again.rank == slice.rank);
  for (int d = 0; d < slice.rank; d++) {
    const tsr_slice_dim *a = &slice.dims[d], *b = &again.dims[d];
    const int64_t last = a->start + (a->count - 1) * a->step;
    assert(a->start == b->start && a->step == b->step && a->count == b->count);
    assert(a->single == b->single && a->count >= 0 && a->count <= shape->dims[d]);
    assert(!a->count || (a->start >= 0 && a->start < shape->dims[d]));
    assert(!a->count || (last >= 0 && last < shape->dims[d]));
    (void)b, (void)last;
  }
  tsr_text_deinit(&printed);
  return 0;
}
