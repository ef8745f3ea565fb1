// In which order a reduction goes through its input: the space of its tile program.
//
// Programs are fastest where the innermost dim of the space is the innermost one in memory. If that
// dim is reduced, all reduced dims make a row (tsr_tile_reduce), inside the kept ones. If it is
// kept, the kept dims after the last reduced one make a row, and rows are added up (tsr_tile_fold):
// the other kept dims are batch dims, and the reduced dims are between. Reductions alone and fused
// ones take the same order, so that both give the same bits.
#ifndef TESSERA_LOWER_REDUCE_SPACE_H
#define TESSERA_LOWER_REDUCE_SPACE_H

#include "ir/ir.h"
#include "tile/tile.h"

enum { TSR_REDUCE_ORDER_RANK = 32 };

// The dims of the input, each once, in the order of the space: first `batch`, then those between,
// then `row`.
typedef struct tsr_reduce_order {
  int rank;
  int dims[TSR_REDUCE_ORDER_RANK];
  int batch, row;
  bool folds;  // rows are added up; otherwise each row is reduced
} tsr_reduce_order;

// The order for an input with `dims` sizes, of which `reduced` says the reduced ones. False if
// there are too many dims.
bool tsr_reduce_order_of(int rank, const int64_t *dims, const bool *reduced,
                         tsr_reduce_order *out_order);

// The space of a reduction with nothing fused: dims of size 1 left out, neighbours joined. Strides,
// one for each dim of the space, are those of the row-major input and of the row-major result (0
// for reduced dims).
typedef struct tsr_reduce_space {
  tsr_tile_space space;
  bool folds;
  int64_t strides[TSR_TILE_RANK], result_strides[TSR_TILE_RANK];
} tsr_reduce_space;

// False if the space would have more than TSR_TILE_RANK dims.
bool tsr_reduce_space_of(int rank, const int64_t *dims, const bool *reduced,
                         tsr_reduce_space *out_space);

// The reduced dims of a stablehlo.reduce, as flags of its inputs' dims; false if they do not fit.
bool tsr_reduced_dims(const tsr_op *op, bool *out_reduced);

#endif
