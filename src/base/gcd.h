// The greatest common divisor.
#ifndef TESSERA_BASE_GCD_H
#define TESSERA_BASE_GCD_H

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

#endif
