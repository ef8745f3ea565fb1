// Iterator over the pieces of a shard.
//
// A piece of a grid is one block of a run in each dimension; the iterator counts through them like
// an odometer. Boxes are their own pieces. A flat range is walked box by box.
#include <stdlib.h>

#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

// The state of the odometer in one dimension.
typedef struct wheel {
  tsr_run_list runs;
  int run;        // of `runs`
  int64_t block;  // of that run
} wheel;

struct tsr_pieces_state {
  bool done;
  int64_t next;                   // boxes: index of the next; flat: the next element
  int64_t strides[TSR_MAX_RANK];  // grids
  wheel wheels[];                 // grids: one for each dimension
};

static tsr_status start_grid(struct tsr_pieces_state *state, const tsr_layout *layout,
                             int64_t shard, bool packed) {
  tsr_shape buffer;
  int64_t coords[TSR_MAX_RANK], stride = 1;
  if (packed)
    tsr_layout_shard_shape(layout, shard, &buffer);
  else
    tsr_layout_buffer_shape(layout, shard, &buffer);
  tsr_layout_shard_coords(layout, shard, coords);
  for (int d = layout->rank - 1; d >= 0; d--) {
    const tsr_cut cut = tsr_layout_cut(layout, d);
    TSR_TRY(tsr_cut_runs(&cut, coords[d], &state->wheels[d].runs));
    if (state->wheels[d].runs.count == 0) state->done = true;
    state->strides[d] = stride;
    stride *= buffer.dims[d];
  }
  return NULL;
}

static tsr_status start(tsr_pieces *pieces, const tsr_layout *layout, int64_t shard, bool packed) {
  tsr_pieces made = {.layout = layout, .shard = shard};
  TSR_TRY(tsr_layout_check_shard(layout, shard));
  const size_t wheels = layout->kind == TSR_LAYOUT_GRID ? layout->rank : 0;
  struct tsr_pieces_state *state = calloc(1, sizeof *state + wheels * sizeof(wheel));
  if (!state) return tsr_fail(NO_MEMORY, "the pieces of a shard");
  made.state = state;
  tsr_status status = NULL;
  if (layout->kind == TSR_LAYOUT_GRID)
    status = start_grid(state, layout, shard, packed);
  else
    state->next = layout->kind == TSR_LAYOUT_FLAT ? layout->table->ranges[shard].lo
                                                  : layout->table->first[shard];
  if (status)
    tsr_pieces_deinit(&made);
  else
    *pieces = made;
  return status;
}

tsr_status tsr_pieces_init(tsr_pieces *pieces, const tsr_layout *layout, int64_t shard) {
  return start(pieces, layout, shard, false);
}

tsr_status tsr_pieces_init_packed(tsr_pieces *pieces, const tsr_layout *layout, int64_t shard) {
  return start(pieces, layout, shard, true);
}

// Advances the last dimension that has another block, and resets those after it.
static void turn(struct tsr_pieces_state *state, int rank) {
  for (int d = rank - 1; d >= 0; d--) {
    wheel *w = &state->wheels[d];
    if (++w->block < w->runs.items[w->run].count) return;
    w->block = 0;
    if (++w->run < w->runs.count) return;
    w->run = 0;
  }
  state->done = true;
}

static bool next_of_grid(tsr_pieces *pieces, tsr_piece *out_piece) {
  struct tsr_pieces_state *state = pieces->state;
  if (state->done) return false;
  out_piece->offset = 0;
  out_piece->owned = true;
  for (int d = 0; d < pieces->layout->rank; d++) {
    const wheel *w = &state->wheels[d];
    const tsr_run *run = &w->runs.items[w->run];
    const int64_t lo = run->global + w->block * run->step;
    out_piece->ranges[d] = (tsr_range){lo, lo + run->length};
    out_piece->strides[d] = state->strides[d];
    out_piece->offset += (run->local + w->block * run->local_step) * state->strides[d];
    out_piece->owned = out_piece->owned && run->owned;
  }
  turn(state, pieces->layout->rank);
  return true;
}

// Row-major strides of the box itself.
static void pack_strides(int rank, tsr_piece *piece) {
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    piece->strides[d] = stride;
    stride *= piece->ranges[d].hi - piece->ranges[d].lo;
  }
}

static bool next_of_boxes(tsr_pieces *pieces, tsr_piece *out_piece) {
  const tsr_box_table *table = pieces->layout->table;
  const int rank = pieces->layout->rank;
  while (pieces->state->next < table->first[pieces->shard + 1]) {
    const int64_t box = pieces->state->next++;
    bool empty = false;
    for (int d = 0; d < rank; d++) {
      out_piece->ranges[d] = table->ranges[box * rank + d];
      empty = empty || out_piece->ranges[d].lo == out_piece->ranges[d].hi;
    }
    if (empty) continue;
    out_piece->offset = table->offsets[box];
    out_piece->owned = table->owned[box];
    pack_strides(rank, out_piece);
    return true;
  }
  return false;
}

static bool next_of_flat(tsr_pieces *pieces, tsr_piece *out_piece) {
  const tsr_box_table *table = pieces->layout->table;
  const tsr_range range = table->ranges[pieces->shard];
  out_piece->offset = pieces->state->next - range.lo;
  out_piece->owned = table->owned[pieces->shard];
  if (!tsr_flat_next(pieces->layout, &pieces->state->next, range.hi, out_piece->ranges))
    return false;
  pack_strides(pieces->layout->rank, out_piece);
  return true;
}

bool tsr_pieces_next(tsr_pieces *pieces, tsr_piece *out_piece) {
  switch (pieces->layout->kind) {
    case TSR_LAYOUT_GRID:
      return next_of_grid(pieces, out_piece);
    case TSR_LAYOUT_BOXES:
      return next_of_boxes(pieces, out_piece);
    default:
      return next_of_flat(pieces, out_piece);
  }
}

void tsr_pieces_deinit(tsr_pieces *pieces) {
  if (!pieces || !pieces->state) return;
  if (pieces->layout->kind == TSR_LAYOUT_GRID)
    for (int d = 0; d < pieces->layout->rank; d++)
      tsr_run_list_deinit(&pieces->state->wheels[d].runs);
  free(pieces->state);
  pieces->state = NULL;
}
