#include "golden/golden.h"

const golden_function golden_eformer_functions[] = {{NULL, NULL, {NULL}}};
