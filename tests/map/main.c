#include "support/suites.h"

// One line a suite, so that suites added side by side merge.
#define SUITES(X) \
  X(text)         \
  X(either)       \
  X(apart)        \
  X(apply)

MAIN_OF(SUITES)
