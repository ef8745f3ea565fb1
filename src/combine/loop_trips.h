// How many steps a loop takes, where the program shows it.
#ifndef TESSERA_COMBINE_LOOP_TRIPS_H
#define TESSERA_COMBINE_LOOP_TRIPS_H

#include "ir/ir.h"

// The steps of a stablehlo.while; -1 = not known.
int64_t tsr_loop_trips(const tsr_op *loop);

#endif
