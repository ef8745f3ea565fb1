// Casts that count overflow: finite numbers that become infinite, NaN, or the largest finite
// number.
#ifndef TESSERA_VIEW_OVERFLOW_H
#define TESSERA_VIEW_OVERFLOW_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/status.h"

// Starts at zero.
typedef struct tsr_overflow {
  int64_t count;  // elements so far
  int64_t first;  // index of the first one in its call
  double value;   // of that element
} tsr_overflow;

// tsr_convert that adds overflowing elements to `overflow`.
TSR_MUST_USE tsr_status tsr_convert_checked(tsr_dtype from, const void *source, tsr_dtype to,
                                            void *target, int64_t count, tsr_overflow *overflow);
// The failure for it; `place` is the index of the first element in its tensor, -1 = unknown.
TSR_MUST_USE tsr_status tsr_overflow_fail(const tsr_overflow *overflow, int64_t place,
                                          tsr_dtype to);

#endif
