#include "support/suites.h"

#define SUITES(X)    \
  X(builder)         \
  X(builder_ops)     \
  X(builder_control) \
  X(einsum)          \
  X(builder_layers)  \
  X(builder_wrong)

MAIN_OF(SUITES)
