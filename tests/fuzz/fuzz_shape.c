// A text that is a shape prints to one that is the same shape; its sizes never overflow.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "element/shape_internal.h"
#include "tessera/shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  tsr_shape shape, again;
  tsr_status status = tsr_shape_parse(text, &shape);
  free(text);
  if (status) {
    tsr_status_free(status);
    return 0;
  }
  tsr_text printed = TSR_TEXT_EMPTY;
  tsr_shape_print(&shape, &printed);
  status = tsr_shape_parse(tsr_text_string(&printed), &again);
  assert(!status && tsr_shape_equal(&shape, &again));
  tsr_text_deinit(&printed);
  int64_t count = -1, bytes = -1;
  status = tsr_shape_count(&shape, &count);
  assert(!status && count >= 0 && count <= INT64_C(1) << 62);
  tsr_status_free(tsr_shape_bytes(&shape, TSR_F64, &bytes));
  assert(bytes == -1 || bytes == count * 8);
  return 0;
}
