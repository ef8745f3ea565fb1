#include "support/suites.h"

#define SUITES(X) \
  X(op_table)     \
  X(ir_content)   \
  X(ir_changes)   \
  X(ir_equal)

MAIN_OF(SUITES)
