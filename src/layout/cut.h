// A cut: how one dimension is divided. Each stage divides what the previous one left.
//
// Pure arithmetic on one dimension; no mesh, no policy, nothing stored. The digits of a shard's
// index are its indices in the stages, last stage fastest.
#ifndef TESSERA_LAYOUT_CUT_H
#define TESSERA_LAYOUT_CUT_H

#include "layout/index_run.h"
#include "tessera/engine/sharding.h"

typedef struct tsr_cut {
  int64_t size;
  int64_t shards;  // product over the stages
  int stage_count;
  const tsr_bound_stage *stages;
} tsr_cut;

// The cut of a dimension of `size` elements.
tsr_cut tsr_cut_of(const tsr_sharding *sharding, int dim, int64_t size);

// Why a cut does not fit its dimension.
typedef enum tsr_misfit_kind {
  TSR_FITS,
  TSR_MISFIT_REMAINDER,    // `unit` does not divide `size`
  TSR_MISFIT_SIZES_COUNT,  // `size` explicit sizes for `unit` shards
  TSR_MISFIT_SUM,          // explicit sizes or parts add up to `unit`, not to `size`
  TSR_MISFIT_UNEQUAL,      // the stages before leave shards of `size` and of `unit`
  TSR_MISFIT_COPIES,       // `size` shards cannot hold part `part` in `unit` copies each
  TSR_MISFIT_VALUE         // a size, grain, block or number of copies out of bounds
} tsr_misfit_kind;
typedef struct tsr_misfit {
  tsr_misfit_kind kind;
  int stage, part;
  int64_t size, unit;
} tsr_misfit;

// Whether the cut is valid for its size and, with `evenly`, whether all chunks are equal (except
// for explicit sizes). All functions below need a valid cut.
tsr_misfit tsr_cut_fit(const tsr_cut *cut, bool evenly);
int64_t tsr_cut_length(const tsr_cut *cut, int64_t index);  // how many elements a shard has
int64_t tsr_cut_longest(const tsr_cut *cut);
// Whether every shard is one range: even and explicit sizes only.
bool tsr_cut_is_plain(const tsr_cut *cut);
tsr_range tsr_cut_range(const tsr_cut *cut, int64_t index);      // of a plain cut
void tsr_cut_ranges(const tsr_cut *cut, tsr_range *out_ranges);  // of all its shards in turn
// Whether some element may be in several shards: parts with copies.
bool tsr_cut_has_copies(const tsr_cut *cut);
// The shard that owns an element, and how many elements from it on it owns contiguously.
int64_t tsr_cut_owner(const tsr_cut *cut, int64_t element, int64_t *out_length);
// The runs of a shard, in the order of its elements, added to an empty list.
TSR_MUST_USE tsr_status tsr_cut_runs(const tsr_cut *cut, int64_t index, tsr_run_list *list);

#endif
