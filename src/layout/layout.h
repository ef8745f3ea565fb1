// What the files of this room share about layouts.
#ifndef TESSERA_LAYOUT_LAYOUT_H
#define TESSERA_LAYOUT_LAYOUT_H

#include <stdatomic.h>

#include "layout/cut.h"
#include "layout/layout_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"

// The shards of a layout that was given as boxes or flat ranges. One block.
typedef struct tsr_box_table {
  int64_t shard_count;
  tsr_range *ranges;  // of boxes, `rank` each; of flat shards, one each
  bool *owned;        // no lower shard has the same box or range
  int64_t *first;     // boxes: index of a shard's first box, and one past the last shard's
  int64_t *offsets;   // boxes: where each lies in its shard
} tsr_box_table;

// A grid stores its sizes at true rank and refers to the sharding for the rest: a plan has 100,000.
struct tsr_layout {
  atomic_int refs;
  uint8_t kind, policy, rank;     // tsr_layout_kind, tsr_policy
  const tsr_sharding *sharding;   // grids
  const tsr_sharding *requested;  // grids: as given; the same unless TRIM changed it
  const tsr_mesh *mesh;           // may be NULL; a grid's is its sharding's
  const tsr_box_table *table;     // other kinds; owned
  int64_t dims[];
};

// A layout with one reference, its sizes set and the rest zero; NULL when memory is out.
tsr_layout *tsr_layout_alloc(const tsr_shape *shape, tsr_layout_kind kind);

// tsr_layout_from_text under any policy.
TSR_MUST_USE tsr_status tsr_layout_from_spec_text(const tsr_mesh *mesh, const char *text,
                                                  const tsr_shape *shape, tsr_policy policy,
                                                  tsr_layout **out_layout);

// The cut of a dimension of a grid.
tsr_cut tsr_layout_cut(const tsr_layout *layout, int dim);
// The one range that each of a dimension's shards holds, in turn; fails where one holds several.
TSR_MUST_USE tsr_status tsr_layout_dim_ranges(const tsr_layout *layout, int dim,
                                              tsr_range *out_ranges);
// Pieces as they would lie in a buffer without padding.
TSR_MUST_USE tsr_status tsr_pieces_init_packed(tsr_pieces *pieces, const tsr_layout *layout,
                                               int64_t shard);
// Which term of a sum a position holds over the unreduced axes of its layout, and how many there
// are: 0 of 1 without.
int64_t tsr_layout_term(const tsr_layout *layout, int64_t position);
int64_t tsr_layout_term_count(const tsr_layout *layout);
// The position that holds the first of the terms of which this one holds one.
int64_t tsr_layout_first_term(const tsr_layout *layout, int64_t position);
// The process that drives a position; 0 without a mesh.
int64_t tsr_layout_process(const tsr_layout *layout, int64_t position);
// The smallest box around all that these shards hold, and whether they fill it; sorts the list.
TSR_MUST_USE tsr_status tsr_layout_hull(const tsr_layout *layout, int64_t *shards, int64_t count,
                                        tsr_range *out_ranges, bool *out_filled);
// Shrinks a box that the shards do not fill to one element that none of them holds.
TSR_MUST_USE tsr_status tsr_layout_find_hole(const tsr_layout *layout, const int64_t *shards,
                                             int64_t count, tsr_range *hull);
// Fails unless `shard` is one of the layout's, or `dim` one of the tensor's.
TSR_MUST_USE tsr_status tsr_policy_check(tsr_policy policy);
TSR_MUST_USE tsr_status tsr_layout_check_dim(const tsr_layout *layout, int dim);
TSR_MUST_USE tsr_status tsr_layout_check_shard(const tsr_layout *layout, int64_t shard);
// Fails where devices or shards would be listed one by one and are too many: an abstract mesh may
// have 2^62 of them.
TSR_MUST_USE tsr_status tsr_layout_check_listed(int64_t count, const char *what);

// ---- layouts as values (layout_digest.c) ----

// The same sizes, policy, mesh (devices in their order) and spec, or the same boxes or ranges: what
// ranks of one collective must have in common. tsr_layout_equivalent looks at what is held instead.
bool tsr_layout_same(const tsr_layout *a, const tsr_layout *b);
// Of layouts that are the same, the same 128 bits. Meshes and specs have theirs ready.
tsr_hash128 tsr_layout_digest(const tsr_layout *layout);
// `(8, 16) over {x=2,y=4} as x, _`: also the policy, unless it is to refuse.
void tsr_layout_describe(const tsr_layout *layout, tsr_text *out);

// The boxes of a flat range, in the order of its elements, at most 2 * rank - 1 of them: the
// largest one that starts at `*at` and ends by `end`, where it starts; moves `*at` on. False at the
// end.
bool tsr_flat_next(const tsr_layout *layout, int64_t *at, int64_t end, tsr_range *out_box);

#endif
