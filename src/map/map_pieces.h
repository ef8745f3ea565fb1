// Pieces: where each element of a tensor comes from, by nested loops.
//
// A tensor made of others by rearrangement is a list of pieces. Each piece says: these elements of
// this source, taken with these steps, go to those places of the row-major result, with those
// steps. A whole tensor is one piece; joining, cutting and turning only split loops, give them
// other steps and put them in another order. Reshaping does nothing at all, since places are
// counted in the row-major tensor. No expression, however deep, leaves anything else behind.
//
// What makes the arithmetic work: sorted by their steps in the result, the loops are *nested*, that
// is, each step is larger than all that the loops inside it span together. So the places of a
// piece grow in the order of its loops. The same holds for its places in the source.
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
// All of a tensor of so many elements; nothing if it has none.
TSR_MUST_USE tsr_status tsr_map_pieces_whole(tsr_map_pieces *pieces, int64_t source,
                                             int64_t elements);

int64_t tsr_map_piece_elements(const tsr_map_piece *piece);
// From its first place in the result to its last.
int64_t tsr_map_piece_span(const tsr_map_piece *piece);
// Joins loops where one goes on where the other ends.
void tsr_map_piece_simplify(tsr_map_piece *piece);
// `turns` turns of one of its loops, from turn `first` on.
tsr_map_piece tsr_map_piece_turns(const tsr_map_piece *piece, int loop, int64_t first,
                                  int64_t turns);
// The same elements the other way: from the result to the source.
void tsr_map_piece_swap(tsr_map_piece *piece);
// Whether both pieces hold one place of the result. True as well when it would take too long to
// find out.
bool tsr_map_pieces_meet(const tsr_map_piece *a, const tsr_map_piece *b);

// Adds to `out` the elements of a piece whose places are in [first, end).
TSR_MUST_USE tsr_status tsr_map_piece_restrict(const tsr_map_piece *piece, int64_t first,
                                               int64_t end, tsr_map_pieces *out);
// Adds to `out` the same elements so that each loop stays within one dimension of `shape`.
TSR_MUST_USE tsr_status tsr_map_piece_align(const tsr_map_piece *piece, const tsr_shape *shape,
                                            tsr_map_pieces *out);
// Of a loop or a place of an aligned piece: its dimension, and how far it goes along it.
int tsr_map_piece_dim(const tsr_shape *shape, const int64_t *strides, int64_t step);

// The operations, on all elements of a tensor of this shape; `pieces` becomes the result.
// Each dimension `i` of the result is dimension order[i].
TSR_MUST_USE tsr_status tsr_map_pieces_transpose(tsr_map_pieces *pieces, const tsr_shape *shape,
                                                 const int *order);
// Keeps [first, end) of a dimension.
TSR_MUST_USE tsr_status tsr_map_pieces_slice(tsr_map_pieces *pieces, const tsr_shape *shape,
                                             int dim, int64_t first, int64_t end);
// Moves a tensor into one that is `size` long in a dimension, to start there at `at`.
TSR_MUST_USE tsr_status tsr_map_pieces_place(tsr_map_pieces *pieces, const tsr_shape *shape,
                                             int dim, int64_t size, int64_t at);

#endif
