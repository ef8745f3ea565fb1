// Sums and products that stop at 2^63 - 1 instead of overflowing: for counts that are only shown.
#ifndef TESSERA_BASE_SATURATED_H
#define TESSERA_BASE_SATURATED_H

#include <stdint.h>

// Of numbers of 0 or more.
static inline int64_t tsr_saturated_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t tsr_saturated_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

#endif
