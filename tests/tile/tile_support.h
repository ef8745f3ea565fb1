// Running tile programs in tests, and elements of any type.
#ifndef TESSERA_TESTS_TILE_SUPPORT_H
#define TESSERA_TESTS_TILE_SUPPORT_H

#include "simplify/scalar.h"
#include "support/test.h"
#include "tile/tile.h"

enum { TILE_ARGUMENTS = 8 };

// Finishes a program, runs it with `workers` threads, destroys it.
void tile_run(tsr_tile_program *program, int workers, const void *const *inputs,
              void *const *outputs);
// Runs a finished program.
void tile_run_finished(const tsr_tile_program *program, int workers, const void *const *inputs,
                       void *const *outputs);
int tile_bytes(tsr_dtype dtype);  // of an element in memory
// Elements as they are in memory: extremes and special numbers first, then any.
void tile_fill(tsr_dtype dtype, uint64_t seed, void *out, int64_t count);
// The type of an element as the evaluator of constants knows it.
tsr_scalar_type tile_scalar(tsr_dtype dtype);
// Equal numbers: NaNs are equal, and so are zeros of one sign.
bool tile_same(tsr_dtype dtype, const void *a, const void *b);

#endif
