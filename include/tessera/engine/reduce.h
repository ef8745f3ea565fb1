// Reduction kernels: N blocks of elements reduced to one, along a fixed tree.
//
// Floating-point sums depend on their order, so the number of members alone fixes it. Members are
// paired with their neighbours, then the results, and so on; a member without a right neighbour
// waits for the next round:
//
//    0   1   2   3   4   5   6          ((0+1)+(2+3)) + ((4+5)+6)
//    └─┬─┘   └─┬─┘   └─┬─┘   │
//      └───┬───┘       └──┬──┘
//          └──────┬───────┘
//
// So N members are split after the largest power of two below N, recursively. A *node* of the tree
// is a range of members that starts at a multiple of a power of two and has that many members, or
// as many as are left. A rank with all members of a node can reduce it alone and send its value, a
// *partial*: the result is bitwise the same. Any range of members is at most 2 log2 N nodes.
//
// Floats narrower than 32 bits are accumulated as f32, integers narrower than a byte as i8 and u8,
// other types as themselves; partials have that type. The result is rounded once.
//
// For authors of engines (tessera/engine/transport.h). These functions check nothing. Buffers need
// no alignment, and may be NULL if `count` is 0. An output may be one of the inputs at the same
// offset, but must not overlap them otherwise.
#ifndef TESSERA_ENGINE_REDUCE_H
#define TESSERA_ENGINE_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/reduction.h"

TSR_BEGIN_DECLS

// What is reduced, and how. `op` is allowed for `dtype`.
typedef struct tsr_reducer {
  tsr_dtype dtype;
  tsr_reduction op;
  int64_t members;  // of the whole tree, 1 or more
} tsr_reducer;

// The type of partials: the type in which elements of `dtype` are accumulated. TSR_DTYPE_NONE for
// an invalid dtype.
TSR_API tsr_dtype tsr_reduce_partial_dtype(tsr_dtype dtype);

// Reduces elements `from` to before `from + count` of all members' `in` to those of `out` from `to`
// on. Stays in the first cache whatever `count` is.
TSR_API TSR_NONNULL_AT(1, 2) void tsr_reduce(const tsr_reducer *reducer, const void *const *in,
                                             int64_t from, int64_t count, void *out, int64_t to);

// ---- partials ----

// Members `first` to before `last`.
typedef struct tsr_reduce_node {
  int64_t first, last;
} tsr_reduce_node;

#define TSR_REDUCE_MAX_NODES 128
// The fewest nodes of a tree of `members` that cover members `first` to `last` - 1, in order.
// Returns their number.
TSR_API TSR_NONNULL int64_t tsr_reduce_nodes(int64_t members, int64_t first, int64_t last,
                                             tsr_reduce_node out_nodes[TSR_REDUCE_MAX_NODES]);

// One value of the tree: a member (last = first + 1), or the partial of a node.
typedef struct tsr_reduce_term {
  tsr_reduce_node node;
  bool partial;      // its elements are partials
  const void *data;  // elements from `from` on are read
  int64_t from;
} tsr_reduce_term;

// Reduces terms whose nodes, in order, make up one node: the whole tree, or the one whose partial
// is wanted. With `partial`, `out` gets partials; otherwise elements of the reducer's dtype,
// rounded, which is for whole trees only.
TSR_API TSR_NONNULL_AT(1, 2) void tsr_reduce_terms(const tsr_reducer *reducer,
                                                   const tsr_reduce_term *terms, int64_t term_count,
                                                   int64_t count, bool partial, void *out,
                                                   int64_t to);

TSR_END_DECLS

#endif
