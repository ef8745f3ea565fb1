// A header of any bytes is read or refused; what is read fits, and can be written again.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "element/shape_internal.h"
#include "file/npy_internal.h"
#include "tessera/shape.h"
#include "tessera/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_npy npy;
  tsr_status status = tsr_npy_parse((const char *)data, size, &npy);
  if (!status) {
    int64_t count = 0;
    assert(!tsr_shape_count(&npy.shape, &count));
    assert(npy.begin <= (int64_t)size && npy.end - npy.begin == count * npy.width);
    int64_t strides[TSR_MAX_RANK];
    tsr_npy_strides(&npy, strides);
    if (npy.dtype) {
      char *bytes = NULL;
      size_t length = 0;
      tsr_npy again;
      assert(!tsr_npy_header(npy.dtype, &npy.shape, npy.fortran, &bytes, &length));
      assert(!tsr_npy_parse(bytes, length, &again));
      assert(again.dtype == npy.dtype && tsr_shape_equal(&again.shape, &npy.shape));
      free(bytes);
    }
  }
  tsr_status_free(status);
  return 0;
}
