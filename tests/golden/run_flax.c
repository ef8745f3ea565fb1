// flax: logical axis rules. They arrive with the rules room.
#include "golden/golden.h"

const golden_function golden_flax_functions[] = {{NULL, NULL, {NULL}}};
