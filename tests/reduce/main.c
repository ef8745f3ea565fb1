#include "support/suites.h"

#define SUITES(X) \
  X(sort_lines)   \
  X(windows)

MAIN_OF(SUITES)
