#include "support/suites.h"

#define SUITES(X) \
  X(indices) X(values) X(enums) X(counts) X(nothing) X(outputs) X(examples) X(threads)
MAIN_OF(SUITES)
