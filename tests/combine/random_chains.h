// Programs of random ops with random shardings, for passes that treat collectives.
#ifndef TESSERA_TESTS_COMBINE_RANDOM_CHAINS_H
#define TESSERA_TESTS_COMBINE_RANDOM_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text_internal.h"

// Writes the program of a seed; true if it computes with floats, otherwise with integers.
bool random_chain_write(uint64_t seed, tsr_text *out);

#endif
