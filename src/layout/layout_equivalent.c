// Whether two layouts put the same elements at the same offsets of the same devices.
//
// Two maps from elements to offsets are equal if the set on which they agree has as many elements
// as each. Where progressions or boxes meet, both maps are linear: they agree on all of it, or the
// layouts differ. So no element is visited, and the notation of either side does not matter.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "layout/grid.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

// ---- matching positions ----

typedef struct located {
  int64_t device;
  int64_t position;
} located;

static int by_device(const void *left, const void *right) {
  const int64_t a = ((const located *)left)->device, b = ((const located *)right)->device;
  return (a > b) - (a < b);
}

static void locate(const tsr_layout *layout, int64_t devices, located *out) {
  for (int64_t p = 0; p < devices; p++) out[p] = (located){tsr_layout_device_at(layout, p), p};
  qsort(out, (size_t)devices, sizeof *out, by_device);
}

// `out[p]` is b's position of the device at a's position p; `*out_same` is false if the devices
// differ.
static tsr_status match_positions(const tsr_layout *a, const tsr_layout *b, int64_t devices,
                                  int64_t *out, bool *out_same) {
  located *in_a = malloc(2 * sizeof *in_a * (size_t)devices);
  if (!in_a) return tsr_fail(NO_MEMORY, "the devices of two layouts");
  located *in_b = in_a + devices;
  locate(a, devices, in_a);
  locate(b, devices, in_b);
  *out_same = true;
  for (int64_t i = 0; i < devices && *out_same; i++) {
    *out_same = in_a[i].device == in_b[i].device;
    out[in_a[i].position] = in_b[i].position;
  }
  free(in_a);
  return NULL;
}

// ---- two grids: dimension by dimension ----

static bool same_runs(const tsr_run_list *a, const tsr_run_list *b) {
  for (int i = 0; i < a->count; i++)
    if (memcmp(&a->items[i], &b->items[i], offsetof(tsr_run, owned)) != 0) return false;
  return true;
}

// Both shards list indices in ascending order without gaps between places, so equal indices mean
// equal places. The first difference ends the search.
static bool runs_agree(const tsr_run_list *a, const tsr_run_list *b) {
  if (a->count == b->count && same_runs(a, b)) return true;
  int64_t left = tsr_run_list_elements(a);
  if (left != tsr_run_list_elements(b)) return false;
  for (int i = 0; i < a->count; i++)
    for (int j = 0; j < b->count; j++) {
      tsr_meeting meeting = tsr_meeting_of(&a->items[i], &b->items[j]);
      for (tsr_overlap o; tsr_meeting_next(&meeting, &o); left -= o.length * o.count)
        if (o.a != o.b) return false;
    }
  return left == 0;
}

static tsr_status cuts_agree(const tsr_cut *a, int64_t i, const tsr_cut *b, int64_t j,
                             bool *out_agree) {
  tsr_run_list in_a = TSR_RUN_LIST_EMPTY, in_b = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(a, i, &in_a);
  if (!status) status = tsr_cut_runs(b, j, &in_b);
  if (!status) *out_agree = runs_agree(&in_a, &in_b);
  tsr_run_list_deinit(&in_a);
  tsr_run_list_deinit(&in_b);
  return status;
}

// A dimension of both grids. `known[i]` is a shard index of b that agrees with i of a, or -1; it
// nearly always repeats.
typedef struct dim_pair {
  tsr_cut a, b;
  int64_t *known;
} dim_pair;

static tsr_status indices_agree(dim_pair *pair, int64_t i, int64_t j, bool *out_agree) {
  *out_agree = true;
  if (pair->known[i] == j) return NULL;
  TSR_TRY(cuts_agree(&pair->a, i, &pair->b, j, out_agree));
  if (*out_agree) pair->known[i] = j;
  return NULL;
}

static tsr_status positions_agree(dim_pair *pairs, const tsr_layout *a, int64_t p,
                                  const tsr_layout *b, int64_t q, bool *out_agree) {
  int64_t in_a[TSR_MAX_RANK], in_b[TSR_MAX_RANK];
  bool a_empty = false, b_empty = false;
  for (int d = 0; d < a->rank; d++) {
    in_a[d] = tsr_grid_index(a, d, p);
    in_b[d] = tsr_grid_index(b, d, q);
    a_empty = a_empty || tsr_cut_length(&pairs[d].a, in_a[d]) == 0;
    b_empty = b_empty || tsr_cut_length(&pairs[d].b, in_b[d]) == 0;
  }
  *out_agree = a_empty == b_empty;
  if (a_empty || b_empty) return NULL;
  for (int d = 0; d < a->rank && *out_agree; d++)
    TSR_TRY(indices_agree(&pairs[d], in_a[d], in_b[d], out_agree));
  return NULL;
}

static tsr_status grids_agree(const tsr_layout *a, const tsr_layout *b, const int64_t *matched,
                              bool *out_agree) {
  dim_pair pairs[TSR_MAX_RANK];
  int64_t total = 0;
  for (int d = 0; d < a->rank; d++) {
    pairs[d] = (dim_pair){tsr_layout_cut(a, d), tsr_layout_cut(b, d), NULL};
    total += pairs[d].a.shards;
  }
  int64_t *known = malloc(sizeof *known * ((size_t)total + 1));
  if (!known) return tsr_fail(NO_MEMORY, "%lld shards", (long long)total);
  for (int64_t i = 0; i < total; i++) known[i] = -1;
  for (int64_t d = 0, start = 0; d < a->rank; start += pairs[d++].a.shards)
    pairs[d].known = known + start;
  tsr_status status = NULL;
  *out_agree = true;
  for (int64_t p = 0; p < tsr_layout_device_count(a) && *out_agree && !status; p++)
    status = positions_agree(pairs, a, p, b, matched[p], out_agree);
  free(known);
  return status;
}

// ---- any two kinds: piece by piece ----

typedef struct piece_list {
  tsr_piece *items;
  int64_t count, capacity;
} piece_list;

static int by_start(const void *left, const void *right) {
  const int64_t a = ((const tsr_piece *)left)->ranges[0].lo;
  const int64_t b = ((const tsr_piece *)right)->ranges[0].lo;
  return (a > b) - (a < b);
}

static tsr_status add_piece(piece_list *list, const tsr_piece *piece) {
  tsr_piece *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "%lld pieces", (long long)list->count);
  list->items = items;
  list->items[list->count++] = *piece;
  return NULL;
}

static tsr_status collect(const tsr_layout *layout, int64_t shard, piece_list *list) {
  tsr_pieces pieces;
  TSR_TRY(tsr_pieces_init_packed(&pieces, layout, shard));
  tsr_status status = NULL;
  tsr_piece piece = {.offset = 0};
  while (!status && tsr_pieces_next(&pieces, &piece)) status = add_piece(list, &piece);
  tsr_pieces_deinit(&pieces);
  if (!status && layout->rank > 0)
    qsort(list->items, (size_t)list->count, sizeof *list->items, by_start);
  return status;
}

// Number of elements that two pieces share; -1 if they put one at different offsets.
static int64_t shared(const tsr_piece *a, const tsr_piece *b, int rank) {
  int64_t elements = 1, a_at = a->offset, b_at = b->offset;
  bool parallel = true;
  for (int d = 0; d < rank; d++) {
    const int64_t lo = a->ranges[d].lo > b->ranges[d].lo ? a->ranges[d].lo : b->ranges[d].lo;
    const int64_t hi = a->ranges[d].hi < b->ranges[d].hi ? a->ranges[d].hi : b->ranges[d].hi;
    if (lo >= hi) return 0;
    elements *= hi - lo;
    a_at += (lo - a->ranges[d].lo) * a->strides[d];
    b_at += (lo - b->ranges[d].lo) * b->strides[d];
    parallel = parallel && (hi - lo == 1 || a->strides[d] == b->strides[d]);
  }
  return a_at == b_at && parallel ? elements : -1;
}

static bool pieces_agree(const piece_list *a, const piece_list *b, int rank, int64_t elements) {
  for (int64_t i = 0; i < a->count; i++)
    for (int64_t j = 0; j < b->count; j++) {
      if (rank > 0 && b->items[j].ranges[0].lo >= a->items[i].ranges[0].hi) break;
      const int64_t found = shared(&a->items[i], &b->items[j], rank);
      if (found < 0) return false;
      elements -= found;
    }
  return elements == 0;
}

static tsr_status shards_agree(const tsr_layout *a, int64_t s, const tsr_layout *b, int64_t t,
                               bool *out_agree) {
  const int64_t elements = tsr_layout_shard_elements(a, s);
  *out_agree = elements == tsr_layout_shard_elements(b, t);
  if (!*out_agree || elements == 0) return NULL;
  piece_list in_a = {NULL, 0, 0}, in_b = {NULL, 0, 0};
  tsr_status status = collect(a, s, &in_a);
  if (!status) status = collect(b, t, &in_b);
  if (!status) *out_agree = pieces_agree(&in_a, &in_b, a->rank, elements);
  free(in_a.items);
  free(in_b.items);
  return status;
}

static tsr_status any_agree(const tsr_layout *a, const tsr_layout *b, const int64_t *matched,
                            bool *out_agree) {
  const int64_t shards = tsr_layout_shard_count(a), devices = tsr_layout_device_count(a);
  int64_t *known = malloc(sizeof *known * (size_t)shards);
  if (!known) return tsr_fail(NO_MEMORY, "%lld shards", (long long)shards);
  for (int64_t s = 0; s < shards; s++) known[s] = -1;
  tsr_status status = NULL;
  *out_agree = true;
  for (int64_t p = 0; p < devices && *out_agree && !status; p++) {
    const int64_t s = tsr_layout_shard(a, p), t = tsr_layout_shard(b, matched[p]);
    if (known[s] == t) continue;
    status = shards_agree(a, s, b, t, out_agree);
    known[s] = t;
  }
  free(known);
  return status;
}

tsr_status tsr_layout_equivalent(const tsr_layout *a, const tsr_layout *b, bool *out_equivalent) {
  const int64_t devices = tsr_layout_device_count(a);
  bool same = a->rank == b->rank && devices == tsr_layout_device_count(b);
  for (int d = 0; same && d < a->rank; d++) same = a->dims[d] == b->dims[d];
  if (!same) {
    *out_equivalent = false;
    return NULL;
  }
  TSR_TRY(tsr_layout_check_listed(devices, "devices"));
  int64_t *matched = malloc(sizeof *matched * (size_t)devices);
  if (!matched) return tsr_fail(NO_MEMORY, "%lld devices", (long long)devices);
  tsr_status status = match_positions(a, b, devices, matched, &same);
  if (!status && same)
    status =
        a->table || b->table ? any_agree(a, b, matched, &same) : grids_agree(a, b, matched, &same);
  free(matched);
  if (!status) *out_equivalent = same;
  return status;
}
