// A grid cuts each dimension on its own, so what a device's old and new shard share is a product
// over the dimensions, and of each dimension only pairs of cuts matter, not devices. A pair's
// common length is worked out once and kept, as long as the table of pairs stays small.
#include "plan/moved.h"

#include <stdlib.h>

#include "layout/layout.h"

enum {
  MOST_DEVICES = 1 << 24,
  MOST_PAIRS = 1 << 20  // kept for one dimension
};

typedef struct dimension {
  tsr_cut from, to;
  int64_t *shared;  // owned: by cut of `to`, then of `from`; -1 = not known yet. NULL = not kept
} dimension;

typedef struct comparison {
  const tsr_layout *from, *to;  // `from` may be NULL
  int rank;
  dimension dims[TSR_MAX_RANK];
} comparison;

// ---- two cuts of one dimension ----

static int64_t share_ranges(const dimension *dim, int64_t from, int64_t to) {
  const tsr_range a = tsr_cut_range(&dim->from, from), b = tsr_cut_range(&dim->to, to);
  const int64_t lo = a.lo > b.lo ? a.lo : b.lo, hi = a.hi < b.hi ? a.hi : b.hi;
  return hi > lo ? hi - lo : 0;
}

static int64_t share_lists(const tsr_run_list *a, const tsr_run_list *b) {
  int64_t shared = 0;
  for (int i = 0; i < a->count; i++)
    for (int j = 0; j < b->count; j++) {
      tsr_meeting meeting = tsr_meeting_of(&a->items[i], &b->items[j]);
      for (tsr_overlap overlap; tsr_meeting_next(&meeting, &overlap);)
        shared += overlap.length * overlap.count;
    }
  return shared;
}

static tsr_status share_runs(const dimension *dim, int64_t from, int64_t to, int64_t *out_shared) {
  tsr_run_list a = TSR_RUN_LIST_EMPTY, b = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(&dim->from, from, &a);
  if (!status) status = tsr_cut_runs(&dim->to, to, &b);
  if (!status) *out_shared = share_lists(&a, &b);
  tsr_run_list_deinit(&a);
  tsr_run_list_deinit(&b);
  return status;
}

static tsr_status share(dimension *dim, int64_t from, int64_t to, int64_t *out_shared) {
  if (tsr_cut_is_plain(&dim->from) && tsr_cut_is_plain(&dim->to)) {
    *out_shared = share_ranges(dim, from, to);
    return NULL;
  }
  if (!dim->shared) return share_runs(dim, from, to, out_shared);
  int64_t *known = &dim->shared[to * dim->from.shards + from];
  if (*known < 0) TSR_TRY(share_runs(dim, from, to, known));
  *out_shared = *known;
  return NULL;
}

// ---- devices ----

static int64_t old_position(const comparison *work, int64_t position) {
  if (!work->from) return -1;
  const tsr_mesh *from = tsr_layout_mesh(work->from), *to = tsr_layout_mesh(work->to);
  const int64_t id = tsr_mesh_is_abstract(to) ? position : tsr_mesh_device(to, position);
  if (!tsr_mesh_is_abstract(from))
    return id <= INT32_MAX ? tsr_mesh_find_device(from, (int32_t)id) : -1;
  return id < tsr_mesh_device_count(from) ? id : -1;
}

static tsr_status kept_elements(comparison *work, int64_t position, int64_t old,
                                int64_t *out_kept) {
  int64_t from[TSR_MAX_RANK] = {0}, to[TSR_MAX_RANK] = {0}, shared = 0;
  tsr_layout_shard_coords(work->from, tsr_layout_shard(work->from, old), from);
  tsr_layout_shard_coords(work->to, tsr_layout_shard(work->to, position), to);
  *out_kept = 1;
  for (int d = 0; d < work->rank; d++) {
    TSR_TRY(share(&work->dims[d], from[d], to[d], &shared));
    *out_kept *= shared;
  }
  return NULL;
}

int64_t tsr_saturated_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static tsr_status count_moved(comparison *work, int64_t *out_elements) {
  int64_t moved = 0;
  for (int64_t p = 0; p < tsr_layout_device_count(work->to); p++) {
    const int64_t old = old_position(work, p);
    int64_t kept = 0;
    if (old >= 0) TSR_TRY(kept_elements(work, p, old, &kept));
    const int64_t all = tsr_layout_shard_elements(work->to, tsr_layout_shard(work->to, p));
    moved = tsr_saturated_add(moved, all - kept);
  }
  *out_elements = moved;
  return NULL;
}

static tsr_status keep_pairs(dimension *dim) {
  if (tsr_cut_is_plain(&dim->from) && tsr_cut_is_plain(&dim->to)) return NULL;
  if (dim->from.shards > MOST_PAIRS / dim->to.shards) return NULL;
  const size_t count = (size_t)(dim->from.shards * dim->to.shards);
  dim->shared = malloc(sizeof *dim->shared * count);
  if (!dim->shared) return tsr_fail(NO_MEMORY, "%zu pairs of cuts", count);
  for (size_t i = 0; i < count; i++) dim->shared[i] = -1;
  return NULL;
}

tsr_status tsr_layout_moved(const tsr_layout *from, const tsr_layout *to, int64_t *out_elements) {
  comparison work = {.from = from, .to = to, .rank = tsr_layout_rank(to)};
  const int64_t devices = tsr_layout_device_count(to);
  tsr_status status = NULL;
  if (devices > MOST_DEVICES)
    return tsr_fail(TOO_LARGE, "a mesh of %lld devices cannot be compared; at most %d can",
                    (long long)devices, MOST_DEVICES);
  for (int d = 0; from && d < work.rank && !status; d++) {
    work.dims[d] = (dimension){.from = tsr_layout_cut(from, d), .to = tsr_layout_cut(to, d)};
    status = keep_pairs(&work.dims[d]);
  }
  if (!status) status = count_moved(&work, out_elements);
  for (int d = 0; d < work.rank; d++) free(work.dims[d].shared);
  return status;
}
