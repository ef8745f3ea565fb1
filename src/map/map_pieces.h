// Pieces: where each element of a tensor comes from, by nested loops.
//
// A tensor made by rearranging others is a list of pieces. A piece reads elements of one source
// with some steps and writes them to places of the row-major result with other steps. A whole
// tensor is one piece. Joining, cutting and transposing split loops, change their steps and reorder
// them. Reshaping changes nothing, since places count elements of the row-major tensor.
//
// Sorted by their steps in the result, the loops of a piece are *nested*: each step is larger than
// the span of the loops inside it. So places grow in the order of the loops. The same holds for
// places in the source.
#ifndef TESSERA_MAP_MAP_PIECES_H
#define TESSERA_MAP_MAP_PIECES_H

#include "tessera/api.h"
#include "tessera/engine/kernels.h"
#include "tessera/shape.h"
#include "tessera/status.h"

enum { TSR_MAP_MOST_LOOPS = 24 };

typedef struct tsr_map_piece {
  int64_t source;    // a tensor of the source, or -1 - i: constant i, whose steps are 0
  int64_t from, to;  // the first element's place in the source and in the result
  int loop_count;
  tsr_copy_loop loops[TSR_MAP_MOST_LOOPS];  // of 2 turns or more, by `to`, the largest first
} tsr_map_piece;

typedef struct tsr_map_pieces {
  int64_t count, capacity;
  tsr_map_piece *items;  // owned
} tsr_map_pieces;
#define TSR_MAP_PIECES_EMPTY \
  { 0, 0, NULL }
void tsr_map_pieces_deinit(tsr_map_pieces *pieces);

// Fails with too_large beyond what any sensible map needs.
TSR_MUST_USE tsr_status tsr_map_pieces_add(tsr_map_pieces *pieces, const tsr_map_piece *piece);
// Adds a whole tensor; nothing if it has no elements.
TSR_MUST_USE tsr_status tsr_map_pieces_whole(tsr_map_pieces *pieces, int64_t source,
                                             int64_t elements);

int64_t tsr_map_piece_elements(const tsr_map_piece *piece);
// The distance from its first place in the result to its last.
int64_t tsr_map_piece_span(const tsr_map_piece *piece);
// Joins loops that continue each other.
void tsr_map_piece_simplify(tsr_map_piece *piece);
// `turns` turns of one of its loops, from turn `first` on.
tsr_map_piece tsr_map_piece_turns(const tsr_map_piece *piece, int loop, int64_t first,
                                  int64_t turns);
// The inverse: exchanges result and source.
void tsr_map_piece_swap(tsr_map_piece *piece);
// Whether two pieces may share a place of the result. Exact unless that would take too long; then
// true.
bool tsr_map_pieces_meet(const tsr_map_piece *a, const tsr_map_piece *b);

// Adds the elements of a piece at places in [first, end) to `out`.
TSR_MUST_USE tsr_status tsr_map_piece_restrict(const tsr_map_piece *piece, int64_t first,
                                               int64_t end, tsr_map_pieces *out);
// Adds the same elements to `out`, with each loop within one dimension of `shape`.
TSR_MUST_USE tsr_status tsr_map_piece_align(const tsr_map_piece *piece, const tsr_shape *shape,
                                            tsr_map_pieces *out);
// The dimension that a step or place of an aligned piece belongs to.
int tsr_map_piece_dim(const tsr_shape *shape, const int64_t *strides, int64_t step);

// Operations on a tensor of this shape; `pieces` becomes the result. Dimension `i` of a transposed
// tensor is dimension order[i].
TSR_MUST_USE tsr_status tsr_map_pieces_transpose(tsr_map_pieces *pieces, const tsr_shape *shape,
                                                 const int *order);
// Keeps [first, end) of a dimension.
TSR_MUST_USE tsr_status tsr_map_pieces_slice(tsr_map_pieces *pieces, const tsr_shape *shape,
                                             int dim, int64_t first, int64_t end);
// Places a tensor at `at` along a dimension of a tensor that is `size` long there.
TSR_MUST_USE tsr_status tsr_map_pieces_place(tsr_map_pieces *pieces, const tsr_shape *shape,
                                             int dim, int64_t size, int64_t at);

#endif
