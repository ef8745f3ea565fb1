// The bytes that the collectives of a program of one device move.
//
// Of one device: twice the operand of an all-reduce, the result of an all-gather without its
// operand, the operand of a reduce-scatter without its result, the operand of others. Loops count
// by their steps; every branch counts.
#ifndef TESSERA_COMBINE_MOVED_BYTES_H
#define TESSERA_COMBINE_MOVED_BYTES_H

#include "ir/ir.h"

typedef enum tsr_moved_kind {
  TSR_MOVED_ALL_GATHER,
  TSR_MOVED_ALL_REDUCE,
  TSR_MOVED_REDUCE_SCATTER,
  TSR_MOVED_ALL_TO_ALL,
  TSR_MOVED_PERMUTE,
  TSR_MOVED_BROADCAST,
  TSR_MOVED_KIND_COUNT
} tsr_moved_kind;
const char *tsr_moved_kind_name(tsr_moved_kind kind);  // "all-gather"

typedef struct tsr_moved_bytes {
  struct {
    int64_t ops;    // as they stand in the program
    int64_t times;  // runs of them
    int64_t bytes;  // of all runs
  } kinds[TSR_MOVED_KIND_COUNT];
  int64_t bytes;
  int64_t unknown_loops;  // with collectives, whose steps are not known: counted once
} tsr_moved_bytes;

// Counts from the entry on. Functions that reach themselves are refused.
TSR_MUST_USE tsr_status tsr_moved_bytes_count(tsr_ir *ir, tsr_moved_bytes *out_moved);

// The bytes of one run of an op; 0 if it is no collective of StableHLO.
int64_t tsr_moved_bytes_of(const tsr_op *op);

#endif
