#include "golden/golden.h"

const golden_function golden_t5x_functions[] = {{NULL, NULL, {NULL}}};
