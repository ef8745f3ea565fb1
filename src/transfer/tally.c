// Counts of elements, copies and givers between two grids, as products over dimensions, cached by
// cut (tally.h).
#include "transfer/tally.h"

#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "layout/grid.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

enum { MOST_DEVICES = 1 << 24 };

void tsr_tally_init(tsr_tally *tally, const tsr_layout *from, const tsr_layout *to) {
  tally->rank = to->rank;
  for (int d = 0; d < tally->rank; d++)
    tally->dims[d] = (tsr_tally_dim){.meets = tsr_meets_of(from, to, d)};
}

void tsr_tally_deinit(tsr_tally *tally) {
  for (int d = 0; d < tally->rank; d++) {
    tsr_meets_deinit(&tally->dims[d].meets);
    tsr_triples_deinit(&tally->dims[d].known);
    free(tally->dims[d].all);
  }
}

// ---- one dimension ----

static bool are_plain(const tsr_meets *meets) {
  return tsr_cut_is_plain(&meets->target) && tsr_cut_is_plain(&meets->source);
}

static tsr_status take_one(tsr_tally_dim *dim, int64_t target, int64_t source, int64_t own,
                           tsr_taken *out_taken) {
  const tsr_overlaps *overlaps = NULL;
  if (are_plain(&dim->meets)) {
    const tsr_range a = tsr_cut_range(&dim->meets.target, target);
    const tsr_range b = tsr_cut_range(&dim->meets.source, source);
    const int64_t lo = a.lo > b.lo ? a.lo : b.lo, hi = a.hi < b.hi ? a.hi : b.hi;
    *out_taken = lo < hi ? (tsr_taken){hi - lo, 1, 1} : (tsr_taken){0, 0, 0};
    return NULL;
  }
  TSR_TRY(tsr_meets_find(&dim->meets, target, source, own, &overlaps));
  *out_taken = (tsr_taken){tsr_overlaps_elements(overlaps), overlaps->count, overlaps->count > 0};
  return NULL;
}

// Two plain cuts: each owner gives one range.
static void take_ranges(const tsr_meets *meets, int64_t target, tsr_taken *out_taken) {
  const tsr_range range = tsr_cut_range(&meets->target, target);
  *out_taken = (tsr_taken){range.hi - range.lo, 0, 0};
  for (int64_t at = range.lo, length = 0; at < range.hi; at += length, out_taken->givers++)
    (void)tsr_cut_owner(&meets->source, at, &length);
  out_taken->copies = out_taken->givers;
}

static tsr_status take_all(tsr_tally_dim *dim, int64_t target, int64_t own, tsr_taken *out_taken) {
  const tsr_meets *meets = &dim->meets;
  *out_taken = (tsr_taken){0, 0, 0};
  if (are_plain(meets)) {
    take_ranges(meets, target, out_taken);
    return NULL;
  }
  tsr_numbers givers = TSR_NUMBERS_EMPTY;
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(&meets->target, target, &runs);
  if (!status) status = tsr_reach_cuts(&runs, &meets->source, false, own, &givers);
  for (int64_t i = 0; i < givers.count && !status; i++) {
    tsr_overlaps overlaps = TSR_OVERLAPS_EMPTY;
    status = tsr_meets_work_out(meets, target, givers.items[i], own, &overlaps);
    out_taken->elements += tsr_overlaps_elements(&overlaps);
    out_taken->copies += overlaps.count;
    out_taken->givers += overlaps.count > 0;
    tsr_overlaps_deinit(&overlaps);
  }
  tsr_run_list_deinit(&runs);
  tsr_numbers_deinit(&givers);
  return status;
}

static tsr_status know_all(tsr_tally_dim *dim, int64_t target, int64_t own, tsr_taken *out_taken) {
  int64_t *index = NULL;
  if (!dim->meets.copies) own = -1;
  TSR_TRY(tsr_triples_find(&dim->known, target, own, 0, &index));
  if (*index < 0) {
    tsr_taken *all = tsr_grow(dim->all, dim->count, &dim->capacity, sizeof *all);
    if (!all) return tsr_fail(NO_MEMORY, "%lld cuts of a copy plan", (long long)dim->count);
    dim->all = all;
    TSR_TRY(take_all(dim, target, own, &all[dim->count]));
    *index = dim->count++;
  }
  *out_taken = dim->all[*index];
  return NULL;
}

// ---- all dimensions ----

static void multiply(tsr_taken *taken, const tsr_taken *dim) {
  taken->elements *= dim->elements;  // of one shard, hence below 2^62
  taken->copies = tsr_saturated_multiply(taken->copies, dim->copies);
  taken->givers = tsr_saturated_multiply(taken->givers, dim->givers);
}

tsr_status tsr_tally_one(tsr_tally *tally, const int64_t *target, const int64_t *source,
                         const int64_t *own, tsr_taken *out_taken) {
  *out_taken = (tsr_taken){1, 1, 1};
  for (int d = 0; d < tally->rank && out_taken->elements > 0; d++) {
    tsr_taken dim;
    TSR_TRY(take_one(&tally->dims[d], target[d], source[d], own ? own[d] : -1, &dim));
    multiply(out_taken, &dim);
  }
  return NULL;
}

tsr_status tsr_tally_all(tsr_tally *tally, const int64_t *target, const int64_t *own,
                         tsr_taken *out_taken) {
  *out_taken = (tsr_taken){1, 1, 1};
  for (int d = 0; d < tally->rank; d++) {
    tsr_taken dim;
    TSR_TRY(know_all(&tally->dims[d], target[d], own ? own[d] : -1, &dim));
    multiply(out_taken, &dim);
  }
  return NULL;
}

// ---- lower bound ----

static tsr_status held_by(tsr_tally *tally, const tsr_layout *from, int64_t own,
                          const int64_t *target, int64_t *out_elements) {
  int64_t coords[TSR_MAX_RANK];
  tsr_taken taken;
  tsr_layout_shard_coords(from, tsr_layout_shard(from, own), coords);
  TSR_TRY(tsr_tally_one(tally, target, coords, coords, &taken));
  *out_elements = taken.elements;
  return NULL;
}

static tsr_status count_lacking(tsr_tally *tally, const tsr_layout *from, const tsr_layout *to,
                                int64_t *out_elements) {
  tsr_grid_walk walk;
  tsr_grid_walk_init(&walk, to);
  *out_elements = 0;
  for (int64_t p = 0; p < tsr_layout_device_count(to); p++, tsr_grid_walk_step(&walk)) {
    const int64_t own = from ? tsr_layout_device_find(from, tsr_layout_device_at(to, p)) : -1;
    int64_t held = 0, all = 1;
    if (own >= 0) TSR_TRY(held_by(tally, from, own, walk.coords, &held));
    for (int d = 0; d < to->rank; d++) {
      const tsr_cut cut = tsr_layout_cut(to, d);
      all *= tsr_cut_length(&cut, walk.coords[d]);
    }
    *out_elements = tsr_saturated_add(*out_elements, all - held);
  }
  return NULL;
}

tsr_status tsr_lacking_elements(const tsr_layout *from, const tsr_layout *to,
                                int64_t *out_elements) {
  const int64_t devices = tsr_layout_device_count(to);
  if (devices > MOST_DEVICES)
    return tsr_fail(TOO_LARGE, "a mesh of %lld devices is too large to compare, wanted at most %d",
                    (long long)devices, MOST_DEVICES);
  tsr_tally tally;
  int64_t elements = 0;
  tsr_tally_init(&tally, from ? from : to, to);
  tsr_status status = count_lacking(&tally, from, to, &elements);
  tsr_tally_deinit(&tally);
  if (!status) *out_elements = elements;
  return status;
}
