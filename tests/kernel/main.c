#include "support/suites.h"

#define SUITES(X) \
  X(check_values) \
  X(copies)       \
  X(fft)          \
  X(gemm)         \
  X(gemm_calls)   \
  X(random_bits)  \
  X(triangles)

MAIN_OF(SUITES)
