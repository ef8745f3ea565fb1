#include "support/suites.h"

#define SUITES(X) X(indices) X(values) X(enums) X(nothing) X(examples) X(threads)
MAIN_OF(SUITES)
