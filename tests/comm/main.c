#include "support/suites.h"

// One line a suite, so that suites added side by side merge.
#define SUITES(X) \
  X(agree)        \
  X(call)         \
  X(comm)         \
  X(reduce)

MAIN_OF(SUITES)
