#include "support/suites.h"

#define SUITES(X) \
  X(sized_given)  \
  X(sized_filled)

MAIN_OF(SUITES)
