#include "support/suites.h"

#define SUITES(X)  \
  X(trial_values)  \
  X(trial_compare) \
  X(trial_shards)  \
  X(trial_case)

MAIN_OF(SUITES)
