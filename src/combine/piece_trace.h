// Where the elements of a value come from along one dim: pieces of values that other devices hold.
//
// Gathers, permutes, slices, concatenations and pads only move elements. Followed back from a
// value, they list its ranges for each device: the value, the device that holds it, the range.
#ifndef TESSERA_COMBINE_PIECE_TRACE_H
#define TESSERA_COMBINE_PIECE_TRACE_H

#include "combine/device_ops.h"

typedef struct tsr_traced_piece {
  tsr_value *leaf;          // NULL = padding
  int64_t device;           // whose leaf it is
  int64_t target;           // whose value it belongs to
  int64_t from, at, count;  // in the leaf, in the value
} tsr_traced_piece;

typedef struct tsr_piece_trace {
  tsr_ir *ir;
  tsr_arena *scratch;
  int dim;
  int64_t devices;
  const tsr_ir_block *block;  // ops elsewhere are not followed: they run more or less often
  tsr_traced_piece
      *pieces;  // of all devices, one device after another, in order; freed by the caller
  int64_t count, capacity;
  tsr_value *padding;  // a scalar; NULL = zeros
  tsr_op_list ops;     // that were followed, without repetition
} tsr_piece_trace;

// Traces the result of an op that moves elements along `dim`. False in `out_traced` if it is not
// known for all devices, or is made of too many pieces. What a device has itself is not taken from
// another one. tsr_piece_trace_deinit frees it in any case.
TSR_MUST_USE tsr_status tsr_piece_trace_make(tsr_ir *ir, tsr_arena *scratch, const tsr_op *op,
                                             int dim, int64_t devices, tsr_piece_trace *out_trace,
                                             bool *out_traced);
void tsr_piece_trace_deinit(tsr_piece_trace *trace);

// The only dim along which an op moves elements; -1 if it is another op or moves along several.
int tsr_moved_dim(const tsr_op *op);

#endif
