// Loops over vectors: what an instruction of a tile program calls.
#ifndef TESSERA_TILE_TILE_LOOPS_H
#define TESSERA_TILE_TILE_LOOPS_H

#include "tile/tile.h"

// Computes `count` elements of `out` from as many of each operand. All are elements of the carrier:
// f32 (for narrower floats too), f64, an integer of 8 to 64 bits, bool, c64 or c128. `out` may be
// an operand, but overlaps none otherwise. Nothing need be aligned, and any count is fine.
typedef void tsr_tile_loop(void *out, const void *const *in, int64_t count);

// The functions that need more than one instruction of the processor for each step: exponential,
// power, erf, complex functions and so on. NULL = there is none for this carrier. Operands and
// results have the carrier as their type, except that `abs` of a complex number is a float.
tsr_tile_loop *tsr_tile_math_loop(tsr_tile_op op, tsr_dtype carrier);

#endif
