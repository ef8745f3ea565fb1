#include "support/suites.h"

#define SUITES(X) \
  X(op_table)     \
  X(ir_content)   \
  X(ir_changes)

MAIN_OF(SUITES)
