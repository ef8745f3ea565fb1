// Integer arithmetic: divisors, the smaller of two, and results that stop at 2^63 - 1.
#ifndef TESSERA_BASE_ARITHMETIC_H
#define TESSERA_BASE_ARITHMETIC_H

#include <stdint.h>

// Of two numbers of 0 or more, at least one of them positive.
static inline int64_t tsr_gcd(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static inline int64_t tsr_least(int64_t a, int64_t b) { return a < b ? a : b; }

// Of numbers of 0 or more: INT64_MAX where the result is larger.
static inline int64_t tsr_saturated_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t tsr_saturated_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

#endif
