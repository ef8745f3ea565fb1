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

// The shards of a layout of boxes or flat ranges. One allocation.
typedef struct tsr_box_table {
  int64_t shard_count;
  tsr_range *ranges;  // of boxes, `rank` each; of flat shards, one each
  bool *owned;        // no lower shard has the same box or range
  int64_t *first;     // boxes: index of a shard's first box, and one past the last shard's
  int64_t *offsets;   // boxes: of each in its shard
} tsr_box_table;

// Small, since a plan has 100,000: sizes at true rank, and the sharding for the rest.
struct tsr_layout {
  atomic_int refs;
  uint8_t kind, policy, rank;     // tsr_layout_kind, tsr_policy
  const tsr_sharding *sharding;   // grids
  const tsr_sharding *requested;  // grids: as given; the same unless TRIM changed it
  const tsr_mesh *mesh;           // may be NULL; a grid's is its sharding's
  const tsr_box_table *table;     // other kinds; owned
  int64_t dims[];
};

// A layout with one reference, its sizes set and the rest zero; NULL if out of memory.
tsr_layout *tsr_layout_alloc(const tsr_shape *shape, tsr_layout_kind kind);

// tsr_layout_from_text under any policy.
TSR_MUST_USE tsr_status tsr_layout_from_spec_text(const tsr_mesh *mesh, const char *text,
                                                  const tsr_shape *shape, tsr_policy policy,
                                                  tsr_layout **out_layout);

// The cut of a dimension of a grid.
tsr_cut tsr_layout_cut(const tsr_layout *layout, int dim);
// The range of each shard of a dimension; fails if a shard has several.
TSR_MUST_USE tsr_status tsr_layout_dim_ranges(const tsr_layout *layout, int dim,
                                              tsr_range *out_ranges);
// The pieces of a shard in a buffer without padding.
TSR_MUST_USE tsr_status tsr_pieces_init_packed(tsr_pieces *pieces, const tsr_layout *layout,
                                               int64_t shard);
// The unreduced axes; none unless a grid.
const tsr_sub_axis *tsr_layout_unreduced(const tsr_layout *layout, int *out_count);
// The index of a position's partial result (term) over the unreduced axes, and the number of terms;
// 0 and 1 without such axes.
int64_t tsr_layout_term(const tsr_layout *layout, int64_t position);
int64_t tsr_layout_term_count(const tsr_layout *layout);
// The position of term 0 of the same sum.
int64_t tsr_layout_first_term(const tsr_layout *layout, int64_t position);
// The process of a position; 0 without a mesh.
int64_t tsr_layout_process(const tsr_layout *layout, int64_t position);
// The smallest box around these shards, and whether they fill it. Sorts the list.
TSR_MUST_USE tsr_status tsr_layout_hull(const tsr_layout *layout, int64_t *shards, int64_t count,
                                        tsr_range *out_ranges, bool *out_filled);
// Shrinks a box that the shards do not fill to one element that none of them holds.
TSR_MUST_USE tsr_status tsr_layout_find_hole(const tsr_layout *layout, const int64_t *shards,
                                             int64_t count, tsr_range *hull);
// Fail unless the policy, dimension or shard exists.
TSR_MUST_USE tsr_status tsr_policy_check(tsr_policy policy);
TSR_MUST_USE tsr_status tsr_layout_check_dim(const tsr_layout *layout, int dim);
TSR_MUST_USE tsr_status tsr_layout_check_shard(const tsr_layout *layout, int64_t shard);
// Fails if there are too many devices or shards to list: an abstract mesh may have 2^62.
TSR_MUST_USE tsr_status tsr_layout_check_listed(int64_t count, const char *what);

// ---- layouts as values (layout_digest.c) ----

// Same sizes, policy, mesh (with the order of devices) and spec, or same boxes or ranges: what
// ranks of a collective compare. tsr_layout_equivalent compares contents instead.
bool tsr_layout_same(const tsr_layout *a, const tsr_layout *b);
// Equal for layouts that are the same. Meshes and specs keep their digests.
tsr_hash128 tsr_layout_digest(const tsr_layout *layout);
// `(8, 16) over {x=2,y=4} as x, _`, and the policy unless it is error.
void tsr_layout_describe(const tsr_layout *layout, tsr_text *out);

// Iterates over the boxes of a flat range, at most 2 * rank - 1: the largest box that starts at
// `*at` and ends by `end`. Advances `*at`; false at the end.
bool tsr_flat_next(const tsr_layout *layout, int64_t *at, int64_t end, tsr_range *out_box);

#endif
