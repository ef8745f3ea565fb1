#include "support/suites.h"

#define SUITES(X) \
  X(indices) X(values) X(enums) X(counts) X(lists) X(nothing) X(outputs) X(examples) X(threads)
MAIN_OF(SUITES)
