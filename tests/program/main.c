#include "support/suites.h"

#define SUITES(X)   \
  X(program_open)   \
  X(program_values) \
  X(program_corpus) \
  X(single_ops)

MAIN_OF(SUITES)
