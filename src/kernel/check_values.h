// Expectations of a program about its own values: check.expect_eq and its relatives.
#ifndef TESSERA_KERNEL_CHECK_VALUES_H
#define TESSERA_KERNEL_CHECK_VALUES_H

#include <stdbool.h>

#include "tessera/dtype.h"
#include "tile/kernel_call.h"

typedef enum tsr_check_rule {
  TSR_CHECK_EQUAL,   // as numbers: NaN differs from itself, -0 equals 0
  TSR_CHECK_ALMOST,  // equal, both NaN, or finite and at most `tolerance` apart
  TSR_CHECK_CLOSE    // between `least_ulp` and `most_ulp` numbers of the type apart; NaNs are equal
} tsr_check_rule;

typedef struct tsr_check_values {
  tsr_check_rule rule;
  tsr_dtype dtype;
  int rank;
  const int64_t *dims;
  int64_t count;
  double tolerance;
  uint64_t least_ulp, most_ulp;
  const char *title;     // of the op, for messages
  int64_t result_count;  // 0: a difference is a failure; else it is output 0, one bool or `count`
} tsr_check_values;

// Input 0 is the value found, input 1 the value expected. A tsr_kernel_fn.
tsr_status tsr_check_values_run(const void *description, const tsr_kernel_call *call);

#endif
