// Copies simplified and split into ranges; tessera/engine/kernels.h defines a copy.
#ifndef TESSERA_ELEMENT_COPY_INTERNAL_H
#define TESSERA_ELEMENT_COPY_INTERNAL_H

#include <stdint.h>

#include "tessera/engine/kernels.h"

// The same elements with the fewest loops: drops loops of one iteration, joins loops that continue
// their inner loop, and moves contiguous loops into `length`.
void tsr_copy_simplify(tsr_copy *copy);

// How copies write.
typedef enum tsr_copy_stores {
  TSR_STORES_CACHED,
  TSR_STORES_STREAMED,  // past the caches, for targets larger than these
} tsr_copy_stores;
// Copies elements `begin` to before `end`, counted in the order of the loops: for sharing a copy
// among workers, and for messages of bounded size. Workers that share a target must not write to
// the same byte: split elements narrower than a byte at multiples of 8, and give copies whose runs
// do not start and end on bytes to one worker. Offsets may be negative if no element of the range
// is before the start of a buffer.
void tsr_copy_run_range(const tsr_copy *copy, int64_t begin, int64_t end, int bits,
                        const void *source, void *target, tsr_copy_stores stores);

#endif
