// Nothing here allocates, so that a message about sizes can be made in the call that raises it.
#include "mesh/dims.h"

#include <stdio.h>

#include "tessera/mesh.h"

const char *tsr_dims_text(const int64_t *dims, int rank, const char *separator,
                          char buffer[TSR_DIMS_TEXT]) {
  size_t length = 0;
  buffer[0] = '\0';
  for (int i = 0; i < rank && length < TSR_DIMS_TEXT; i++) {
    const int written = snprintf(buffer + length, TSR_DIMS_TEXT - length, "%s%lld",
                                 i ? separator : "", (long long)dims[i]);
    length += (size_t)written;
  }
  return buffer;
}

tsr_status tsr_rank_check(int rank) {
  if (rank >= 0 && rank <= TSR_MAX_AXES) return NULL;
  return tsr_fail(TOO_LARGE, "a mesh of %d axes; at most %d are possible", rank, TSR_MAX_AXES);
}

tsr_status tsr_dims_check(const int64_t *dims, int rank, const char *what) {
  char text[TSR_DIMS_TEXT];
  for (int i = 0; i < rank; i++)
    if (dims[i] < 1)
      return tsr_fail(BAD_AXIS_SIZE, "axis %d of %s (%s) has size %lld, wanted 1 or more", i, what,
                      tsr_dims_text(dims, rank, ", ", text), (long long)dims[i]);
  return NULL;
}

bool tsr_dims_product(const int64_t *dims, int rank, int64_t *out_product) {
  int64_t product = 1;
  for (int i = 0; i < rank; i++)
    if (__builtin_mul_overflow(product, dims[i], &product)) return false;
  *out_product = product;
  return true;
}
