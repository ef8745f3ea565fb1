// The smaller of two numbers.
#ifndef TESSERA_BASE_LEAST_H
#define TESSERA_BASE_LEAST_H

#include <stdint.h>

static inline int64_t tsr_least(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
