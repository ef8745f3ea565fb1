// Random layouts of all kinds: grids, boxes, flat ranges; some hold elements twice.
#ifndef TESSERA_TESTS_TRANSFER_ANY_LAYOUT_H
#define TESSERA_TESTS_TRANSFER_ANY_LAYOUT_H

#include "support/layouts.h"

// Of the shape of `made`: its own grid, or another kind that has nothing to do with its cuts.
tsr_layout *test_layout_any(test_random *random, const test_layout *made);

#endif
