// Copies made simpler, cut in parts, and packed in messages; what a copy is,
// tessera/engine/kernels.h says.
#ifndef TESSERA_ELEMENT_COPY_INTERNAL_H
#define TESSERA_ELEMENT_COPY_INTERNAL_H

#include <stdint.h>

#include "tessera/engine/kernels.h"

// Drops loops of one turn, joins loops that continue the one inside them, and takes into `length`
// what is contiguous on both sides: the same elements by the fewest loops.
void tsr_copy_simplify(tsr_copy *copy);

// What tsr_copy_run_part writes through.
typedef enum tsr_copy_stores {
  TSR_STORES_CACHED,
  TSR_STORES_STREAMED,  // past the caches: for targets larger than these
} tsr_copy_stores;
// Does a part of a copy: counted in the order of the loops, elements `begin` to before `end` of it:
// for sharing one copy among workers, and for messages of bounded size. Workers that write to one
// buffer must not write to one byte: when elements are narrower than that, cut at multiples of 8
// elements, and give copies whose runs do not start and end on bytes of the target to one worker.
// Offsets may be negative as long as no element of the part lies before the start of a buffer.
void tsr_copy_run_part(const tsr_copy *copy, int64_t begin, int64_t end, int bits,
                       const void *source, void *target, tsr_copy_stores stores);
// Makes the elements of the target (of the source) lie side by side in the order of the loops, from
// element `at` on: a copy into (out of) a message.
void tsr_copy_pack(tsr_copy *copy, int64_t at);
void tsr_copy_unpack(tsr_copy *copy, int64_t at);

#endif
