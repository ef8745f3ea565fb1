// Ops as strided copies: what lower_move.c and lower_index.c share.
#ifndef TESSERA_LOWER_COPY_PARTS_H
#define TESSERA_LOWER_COPY_PARTS_H

#include "kernel/strided_copies.h"
#include "lower/lowering.h"

// Bytes of an element in the memory of a run.
int tsr_element_bytes(const tsr_type *type);
// Refuses operands and results that do not run, or have more dimensions than copies have loops.
TSR_MUST_USE tsr_status tsr_check_ranks(tsr_lowering *lowering, const tsr_op *op);
// A copy over `dims`, with row-major strides of `from` and `to`, whose dims may be larger.
tsr_copy tsr_copy_over(const tsr_type *dims, const tsr_type *from, const tsr_type *to);
// A copy of all elements of a tensor.
tsr_copy tsr_copy_whole(const tsr_type *type);
// Whether the elements of a piece lie side by side in the whole tensor.
bool tsr_is_one_run(const tsr_type *whole, const tsr_type *piece);
// `part_count` copies in the schedule's memory; NULL without memory.
tsr_copy_part *tsr_copy_parts_create(tsr_lowering *lowering, int64_t part_count);
// A step that makes the result of an op out of copies from its operands. One copy of neighbouring
// elements needs none: the result is a view.
TSR_MUST_USE tsr_status tsr_lower_copies(tsr_lowering *lowering, tsr_op *op, tsr_copy_part *parts,
                                         int part_count);

#endif
