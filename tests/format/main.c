#include "support/suites.h"

// One line a suite, so that suites added side by side merge.
#define SUITES(X) X(added_format)

MAIN_OF(SUITES)
