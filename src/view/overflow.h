// Casts that notice what does not fit: numbers that become infinite, NaN, or the largest there is.
#ifndef TESSERA_VIEW_OVERFLOW_H
#define TESSERA_VIEW_OVERFLOW_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/status.h"

// What did not fit, of all that was cast so far; all zero at first.
typedef struct tsr_overflow {
  int64_t count;
  int64_t first;  // of those cast together, the first that did not fit
  double value;   // of that one
} tsr_overflow;

// tsr_convert, and counts elements that were finite and are not any more, or that became the
// largest number of a type without infinities. Types that hold all numbers of the other are not
// looked at. `overflow->count` is added to; the others are set where it was 0.
TSR_MUST_USE tsr_status tsr_convert_checked(tsr_dtype from, const void *source, tsr_dtype to,
                                            void *target, int64_t count, tsr_overflow *overflow);
// The failure that says so; `place` is the element's in its tensor, -1 = it is not known.
TSR_MUST_USE tsr_status tsr_overflow_fail(const tsr_overflow *overflow, int64_t place,
                                          tsr_dtype to);

#endif
