#include "support/suites.h"

#define SUITES(X) \
  X(check_values) \
  X(copies)       \
  X(random_bits)

MAIN_OF(SUITES)
