// Copy: a box of elements that goes from one buffer to another, whatever their strides.
//
// The common coin of everything that moves bytes: a copy plan makes copies, an engine carries them
// out between devices, a checkpoint between files. Offsets count elements, so that one plan serves
// every dtype; the width of an element is told when a copy is done.
#ifndef TESSERA_COPY_H
#define TESSERA_COPY_H

#include "tessera/shape.h"

TSR_BEGIN_DECLS

// One loop around a copy: `count` turns, each `from` elements further in the source and `to`
// further in the target.
typedef struct tsr_copy_loop {
  int64_t count, from, to;
} tsr_copy_loop;

// `length` elements side by side on both sides, inside `loop_count` loops, outermost first: element
// (i, j, ..., e) goes from place `from + i * loops[0].from + j * loops[1].from + ... + e` of the
// source's buffer to `to + i * loops[0].to + ... + e` of the target's. Only `loop_count` loops are
// set. An empty copy has length 0.
typedef struct tsr_copy {
  int64_t source, target;  // devices by id, or positions, or shards: whoever made it says which
  int64_t from, to, length;
  int loop_count;
  tsr_copy_loop loops[TSR_MAX_RANK];
} tsr_copy;

TSR_API int64_t tsr_copy_elements(const tsr_copy *copy);
// Drops loops of one turn, joins loops that continue the one inside them, and takes into `length`
// what is contiguous on both sides: the same elements by the fewest loops.
TSR_API void tsr_copy_simplify(tsr_copy *copy);
// Does it, with `bits` per element. The buffers hold whole elements, sub-byte ones packed with the
// first in the lowest bits, and do not overlap.
TSR_API void tsr_copy_run(const tsr_copy *copy, int bits, const void *source, void *target);

// Counted in the order of the loops, elements `begin` to before `end` of it: for sharing one copy
// among workers, and for messages of bounded size. Workers that write to one buffer must not write
// to one byte: when elements are narrower than that, cut at multiples of 8 elements, and give
// copies whose runs do not start and end on bytes of the target to one worker. Offsets may be
// negative as long as no element of the part lies before the start of a buffer.
typedef enum tsr_copy_stores {
  TSR_STORES_CACHED,
  TSR_STORES_STREAMED,  // past the caches: for targets larger than these
} tsr_copy_stores;
TSR_API void tsr_copy_run_part(const tsr_copy *copy, int64_t begin, int64_t end, int bits,
                               const void *source, void *target, tsr_copy_stores stores);
// Makes the elements of the target (of the source) lie side by side in the order of the loops, from
// element `at` on: a copy into (out of) a message.
TSR_API void tsr_copy_pack(tsr_copy *copy, int64_t at);
TSR_API void tsr_copy_unpack(tsr_copy *copy, int64_t at);

TSR_END_DECLS

#endif
