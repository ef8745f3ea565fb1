// Two operations do all the work: `align_to` cuts a piece so that it does not cross the ends of
// rows of a given length, and `restrict` keeps those of its elements that lie in a range. Both may
// turn one piece into several. They work from a list and put unfinished pieces back into it, so no
// input makes them recurse.
#include "map/map_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "element/shape_internal.h"

enum { MOST_PIECES = 1 << 16, MOST_STEPS = 1 << 16 };

// ---- lists ----

void tsr_map_pieces_deinit(tsr_map_pieces *pieces) {
  free(pieces->items);
  *pieces = (tsr_map_pieces)TSR_MAP_PIECES_EMPTY;
}

// The analyser does not see that the list is another one afterwards.
static void replace(tsr_map_pieces *pieces, const tsr_map_pieces *others) {
  tsr_map_piece *old = pieces->items;
  pieces->items = others->items;
  pieces->count = others->count;
  pieces->capacity = others->capacity;
  free(old);
}

tsr_status tsr_map_pieces_add(tsr_map_pieces *pieces, const tsr_map_piece *piece) {
  if (pieces->count == MOST_PIECES)
    return tsr_fail(TOO_LARGE, "a tensor in more than %d pieces", MOST_PIECES);
  tsr_map_piece *items =
      tsr_grow(pieces->items, pieces->count, &pieces->capacity, sizeof *pieces->items);
  if (!items) return tsr_fail(NO_MEMORY, "pieces of a tensor");
  pieces->items = items;
  pieces->items[pieces->count++] = *piece;
  return NULL;
}

tsr_status tsr_map_pieces_whole(tsr_map_pieces *pieces, int64_t source, int64_t elements) {
  tsr_map_piece piece = {.source = source, .loop_count = elements > 1};
  if (elements == 0) return NULL;
  piece.loops[0] = (tsr_copy_loop){elements, source >= 0, 1};
  return tsr_map_pieces_add(pieces, &piece);
}

// ---- one piece ----

int64_t tsr_map_piece_elements(const tsr_map_piece *piece) {
  int64_t elements = 1;
  for (int i = 0; i < piece->loop_count; i++) elements *= piece->loops[i].count;
  return elements;
}

// The span of the loops from `first` on.
static int64_t span_from(const tsr_map_piece *piece, int first) {
  int64_t span = 0;
  for (int i = first; i < piece->loop_count; i++)
    span += (piece->loops[i].count - 1) * piece->loops[i].to;
  return span;
}

int64_t tsr_map_piece_span(const tsr_map_piece *piece) { return span_from(piece, 0); }

static void remove_loop(tsr_map_piece *piece, int loop) {
  piece->loop_count--;
  memmove(piece->loops + loop, piece->loops + loop + 1,
          sizeof *piece->loops * (size_t)(piece->loop_count - loop));
}

void tsr_map_piece_simplify(tsr_map_piece *piece) {
  for (int i = piece->loop_count - 1; i > 0; i--) {
    const tsr_copy_loop *inner = &piece->loops[i], *outer = &piece->loops[i - 1];
    if (outer->from != inner->count * inner->from || outer->to != inner->count * inner->to)
      continue;
    piece->loops[i].count *= outer->count;
    remove_loop(piece, i - 1);
  }
}

static void sort_loops(tsr_map_piece *piece) {
  for (int i = 1; i < piece->loop_count; i++) {
    const tsr_copy_loop loop = piece->loops[i];
    int at = i;
    for (; at > 0 && piece->loops[at - 1].to < loop.to; at--)
      piece->loops[at] = piece->loops[at - 1];
    piece->loops[at] = loop;
  }
}

void tsr_map_piece_swap(tsr_map_piece *piece) {
  const int64_t from = piece->from;
  piece->from = piece->to;
  piece->to = from;
  for (int i = 0; i < piece->loop_count; i++) {
    const tsr_copy_loop loop = piece->loops[i];
    piece->loops[i] = (tsr_copy_loop){loop.count, loop.to, loop.from};
  }
  sort_loops(piece);
}

// `turns` turns of a loop from turn `first` on, `step` turns apart.
static tsr_map_piece take_turns(const tsr_map_piece *piece, int loop, int64_t first, int64_t turns,
                                int64_t step) {
  tsr_map_piece taken = *piece;
  tsr_copy_loop *taken_loop = &taken.loops[loop];
  taken.from += first * taken_loop->from;
  taken.to += first * taken_loop->to;
  *taken_loop = (tsr_copy_loop){turns, step * taken_loop->from, step * taken_loop->to};
  if (turns == 1) remove_loop(&taken, loop);
  return taken;
}

tsr_map_piece tsr_map_piece_turns(const tsr_map_piece *piece, int loop, int64_t first,
                                  int64_t turns) {
  return take_turns(piece, loop, first, turns, 1);
}

// The first loop whose steps are smaller than `row`.
static int first_inside(const tsr_map_piece *piece, int64_t row) {
  int loop = 0;
  while (loop < piece->loop_count && piece->loops[loop].to >= row) loop++;
  return loop;
}

// ---- rows ----

// Unfinished and finished pieces.
typedef struct worklist {
  tsr_map_pieces todo, *done;
} worklist;

static tsr_status put_back(worklist *work, const tsr_map_piece *piece) {
  if (work->done->count + work->todo.count >= MOST_PIECES)
    return tsr_fail(TOO_LARGE, "a tensor in more than %d pieces", MOST_PIECES);
  return tsr_map_pieces_add(&work->todo, piece);
}

// A loop over rows whose step is not whole rows; every few turns it is.
static tsr_status part_by_period(worklist *work, const tsr_map_piece *piece, int loop,
                                 int64_t row) {
  const tsr_copy_loop *parted = &piece->loops[loop];
  const int64_t period = row / tsr_gcd(row, parted->to);
  const int64_t most = period < parted->count ? period : parted->count;
  for (int64_t turn = 0; turn < most; turn++) {
    const tsr_map_piece taken =
        take_turns(piece, loop, turn, (parted->count - turn - 1) / period + 1, period);
    TSR_TRY(put_back(work, &taken));
  }
  return NULL;
}

// A loop whose steps divide a row and that starts at one: whole rows, then the rest.
static tsr_status part_by_rows(worklist *work, const tsr_map_piece *piece, int loop, int64_t row) {
  const tsr_copy_loop parted = piece->loops[loop];
  const int64_t turns = row / parted.to, rows = parted.count / turns;
  if (parted.count % turns) {
    const tsr_map_piece rest = take_turns(piece, loop, rows * turns, parted.count % turns, 1);
    TSR_TRY(put_back(work, &rest));
  }
  tsr_map_piece whole = take_turns(piece, loop, 0, rows * turns, 1);
  if (rows > 1 && turns > 1) {
    if (whole.loop_count == TSR_MAP_MOST_LOOPS)
      return tsr_fail(TOO_LARGE, "more than %d loops in a tensor's pieces", TSR_MAP_MOST_LOOPS);
    memmove(whole.loops + loop + 1, whole.loops + loop,
            sizeof *whole.loops * (size_t)(whole.loop_count - loop));
    whole.loop_count++;
    whole.loops[loop] = (tsr_copy_loop){rows, turns * parted.from, row};
    whole.loops[loop + 1].count = turns;
  }
  return put_back(work, &whole);
}

// A piece that crosses the end of its first row.
static tsr_status part_at_end(worklist *work, const tsr_map_piece *piece, int loop, int64_t row) {
  const tsr_copy_loop *parted = &piece->loops[loop];
  const int64_t place = piece->to % row, inside = span_from(piece, loop + 1);
  if (row % parted->to == 0 && place == 0 && inside < parted->to &&
      parted->count * parted->to > row)
    return part_by_rows(work, piece, loop, row);
  const int64_t left = row - 1 - place - inside;
  int64_t turns = left < 0 ? 0 : left / parted->to + 1;
  if (turns == 0) turns = 1;  // one turn crosses the end; an inner loop is cut
  const tsr_map_piece head = take_turns(piece, loop, 0, turns, 1);
  TSR_TRY(put_back(work, &head));
  if (turns == parted->count) return NULL;
  const tsr_map_piece rest = take_turns(piece, loop, turns, parted->count - turns, 1);
  return put_back(work, &rest);
}

static tsr_status align_step(worklist *work, const tsr_map_piece *piece, int64_t row) {
  const int inside = first_inside(piece, row);
  for (int i = 0; i < inside; i++)
    if (piece->loops[i].to % row) return part_by_period(work, piece, i, row);
  if (piece->to % row + span_from(piece, inside) < row)
    return tsr_map_pieces_add(work->done, piece);
  return part_at_end(work, piece, inside, row);
}

// The same elements, with loops that step from row to row or stay within one.
static tsr_status align_to(const tsr_map_piece *piece, int64_t row, tsr_map_pieces *out) {
  worklist work = {TSR_MAP_PIECES_EMPTY, out};
  tsr_status status = tsr_map_pieces_add(&work.todo, piece);
  while (!status && work.todo.count > 0) {
    const tsr_map_piece next = work.todo.items[--work.todo.count];
    status = align_step(&work, &next, row);
  }
  tsr_map_pieces_deinit(&work.todo);
  return status;
}

static tsr_status align_all(tsr_map_pieces *pieces, int64_t row) {
  tsr_map_pieces aligned = TSR_MAP_PIECES_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < pieces->count && !status; i++)
    status = align_to(&pieces->items[i], row, &aligned);
  replace(pieces, &aligned);
  return status;
}

static tsr_status align_to_shape(tsr_map_pieces *pieces, const tsr_shape *shape) {
  int64_t strides[TSR_MAX_RANK];
  tsr_shape_strides(shape, strides);
  for (int d = 0; d + 1 < shape->rank; d++)
    if (shape->dims[d] > 1 && strides[d] > 1) TSR_TRY(align_all(pieces, strides[d]));
  return NULL;
}

tsr_status tsr_map_piece_align(const tsr_map_piece *piece, const tsr_shape *shape,
                               tsr_map_pieces *out) {
  tsr_map_pieces pieces = TSR_MAP_PIECES_EMPTY;
  tsr_status status = tsr_map_pieces_add(&pieces, piece);
  if (!status) status = align_to_shape(&pieces, shape);
  for (int64_t i = 0; i < pieces.count && !status; i++)
    status = tsr_map_pieces_add(out, &pieces.items[i]);
  tsr_map_pieces_deinit(&pieces);
  return status;
}

int tsr_map_piece_dim(const tsr_shape *shape, const int64_t *strides, int64_t step) {
  int dim = 0;
  while (dim + 1 < shape->rank && (shape->dims[dim] == 1 || strides[dim] > step)) dim++;
  return dim;
}

// ---- ranges ----

// The elements of a piece at positions in [first, end). Positions start at `place` and count the
// loops from `loop` on.
static tsr_status restrict_step(worklist *work, const tsr_map_piece *piece, int loop, int64_t place,
                                int64_t first, int64_t end) {
  const int64_t last = place + span_from(piece, loop);
  if (place >= end || last < first) return NULL;
  if (place >= first && last < end) return tsr_map_pieces_add(work->done, piece);
  const tsr_copy_loop *cut = &piece->loops[loop];
  const int64_t inside = span_from(piece, loop + 1);
  int64_t begin = place >= first ? 0 : (first - place - 1) / cut->to + 1;
  int64_t stop = place + inside < end ? (end - 1 - place - inside) / cut->to + 1 : 0;
  if (begin > cut->count) begin = cut->count;
  if (stop > cut->count) stop = cut->count;
  if (begin < stop) {
    const tsr_map_piece whole = take_turns(piece, loop, begin, stop - begin, 1);
    TSR_TRY(tsr_map_pieces_add(work->done, &whole));
  }
  // Turns that lie in the range partly: at most one before and one after.
  const int64_t before = begin - 1;
  if (before >= 0) {
    const tsr_map_piece turn = take_turns(piece, loop, before, 1, 1);
    TSR_TRY(put_back(work, &turn));
  }
  if (stop < cut->count && stop != before) {
    const tsr_map_piece turn = take_turns(piece, loop, stop, 1, 1);
    TSR_TRY(put_back(work, &turn));
  }
  return NULL;
}

// With `row`, positions count within each row; with 0, over all loops.
static tsr_status restrict_rows(const tsr_map_piece *piece, int64_t row, int64_t first, int64_t end,
                                tsr_map_pieces *out) {
  worklist work = {TSR_MAP_PIECES_EMPTY, out};
  tsr_status status = tsr_map_pieces_add(&work.todo, piece);
  while (!status && work.todo.count > 0) {
    const tsr_map_piece next = work.todo.items[--work.todo.count];
    const int loop = row ? first_inside(&next, row) : 0;
    const int64_t place = row ? next.to % row : next.to;
    status = restrict_step(&work, &next, loop, place, first, end);
  }
  tsr_map_pieces_deinit(&work.todo);
  return status;
}

tsr_status tsr_map_piece_restrict(const tsr_map_piece *piece, int64_t first, int64_t end,
                                  tsr_map_pieces *out) {
  return restrict_rows(piece, 0, first, end, out);
}

// ---- operations ----

// The new place or step of an aligned one when dimensions are permuted.
static int64_t turned_step(const tsr_shape *shape, const int64_t *strides, const int64_t *turned,
                           int64_t step) {
  const int dim = tsr_map_piece_dim(shape, strides, step);
  return step / strides[dim] * turned[dim];
}

static int64_t turned_place(const tsr_shape *shape, const int64_t *strides, const int64_t *turned,
                            int64_t place) {
  int64_t result = 0;
  for (int d = 0; d < shape->rank; d++) result += place / strides[d] % shape->dims[d] * turned[d];
  return result;
}

tsr_status tsr_map_pieces_transpose(tsr_map_pieces *pieces, const tsr_shape *shape,
                                    const int *order) {
  tsr_shape result = {.rank = shape->rank};
  int64_t strides[TSR_MAX_RANK], result_strides[TSR_MAX_RANK], turned[TSR_MAX_RANK];
  for (int i = 0; i < shape->rank; i++) result.dims[i] = shape->dims[order[i]];
  tsr_shape_strides(shape, strides);
  tsr_shape_strides(&result, result_strides);
  for (int i = 0; i < shape->rank; i++) turned[order[i]] = result_strides[i];
  TSR_TRY(align_to_shape(pieces, shape));
  for (int64_t i = 0; i < pieces->count; i++) {
    tsr_map_piece *piece = &pieces->items[i];
    piece->to = turned_place(shape, strides, turned, piece->to);
    for (int l = 0; l < piece->loop_count; l++)
      piece->loops[l].to = turned_step(shape, strides, turned, piece->loops[l].to);
    sort_loops(piece);
    tsr_map_piece_simplify(piece);
  }
  return NULL;
}

// Rows of another length: place p of row r becomes place p + shift of row r.
static void change_rows(tsr_map_piece *piece, int64_t row, int64_t new_row, int64_t shift) {
  piece->to = piece->to / row * new_row + piece->to % row + shift;
  for (int l = 0; l < piece->loop_count && piece->loops[l].to >= row; l++)
    piece->loops[l].to = piece->loops[l].to / row * new_row;
  tsr_map_piece_simplify(piece);
}

static int64_t stride_of(const tsr_shape *shape, int dim) {
  int64_t stride = 1;
  for (int d = dim + 1; d < shape->rank; d++) stride *= shape->dims[d];
  return stride;
}

tsr_status tsr_map_pieces_place(tsr_map_pieces *pieces, const tsr_shape *shape, int dim,
                                int64_t size, int64_t at) {
  const int64_t stride = stride_of(shape, dim), row = shape->dims[dim] * stride;
  if (pieces->count == 0) return NULL;
  TSR_TRY(align_all(pieces, row));
  for (int64_t i = 0; i < pieces->count; i++)
    change_rows(&pieces->items[i], row, size * stride, at * stride);
  return NULL;
}

tsr_status tsr_map_pieces_slice(tsr_map_pieces *pieces, const tsr_shape *shape, int dim,
                                int64_t first, int64_t end) {
  const int64_t stride = stride_of(shape, dim), row = shape->dims[dim] * stride;
  tsr_map_pieces kept = TSR_MAP_PIECES_EMPTY;
  if (pieces->count == 0) return NULL;
  TSR_TRY(align_all(pieces, row));
  tsr_status status = NULL;
  for (int64_t i = 0; i < pieces->count && !status; i++)
    status = restrict_rows(&pieces->items[i], row, first * stride, end * stride, &kept);
  for (int64_t i = 0; i < kept.count; i++)
    change_rows(&kept.items[i], row, (end - first) * stride, -first * stride);
  replace(pieces, &kept);
  return status;
}

// ---- overlap ----

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static tsr_map_piece first_turn(const tsr_map_piece *piece) {
  return take_turns(piece, 0, 0, 1, 1);
}

static bool meet(const tsr_map_piece *a, const tsr_map_piece *b, int *steps);

// For two loops of one step only their distance in turns matters: two numbers at most.
static bool meet_side_by_side(const tsr_map_piece *a, const tsr_map_piece *b, int *steps) {
  const int64_t step = a->loops[0].to;
  tsr_map_piece in_a = first_turn(a), in_b = first_turn(b);
  const int64_t start = in_a.to, apart = b->to - a->to;
  int64_t begin = floor_div(apart - tsr_map_piece_span(&in_a) - 1, step) + 1;
  int64_t last = floor_div(apart + tsr_map_piece_span(&in_b), step);
  if (begin <= -b->loops[0].count) begin = 1 - b->loops[0].count;
  if (last >= a->loops[0].count) last = a->loops[0].count - 1;
  for (int64_t turns = begin; turns <= last; turns++) {
    in_a.to = start + turns * step;
    if (meet(&in_a, &in_b, steps)) return true;
  }
  return false;
}

static bool meet(const tsr_map_piece *a, const tsr_map_piece *b, int *steps) {
  if (++*steps > MOST_STEPS) return true;
  const int64_t span_a = tsr_map_piece_span(a), span_b = tsr_map_piece_span(b);
  if (a->to + span_a < b->to || b->to + span_b < a->to) return false;
  if (a->loop_count == 0 && b->loop_count == 0) return true;
  if (a->loop_count == 0 || (b->loop_count > 0 && b->loops[0].to > a->loops[0].to))
    return meet(b, a, steps);
  if (b->loop_count > 0 && b->loops[0].to == a->loops[0].to) return meet_side_by_side(a, b, steps);
  // Only the turns that reach what `b` spans.
  const int64_t step = a->loops[0].to, apart = b->to - a->to;
  int64_t begin = floor_div(apart - span_from(a, 1) - 1, step) + 1;
  int64_t last = floor_div(apart + span_b, step);
  if (begin < 0) begin = 0;
  if (last >= a->loops[0].count) last = a->loops[0].count - 1;
  for (int64_t i = begin; i <= last; i++) {
    const tsr_map_piece turn = take_turns(a, 0, i, 1, 1);
    if (meet(&turn, b, steps)) return true;
  }
  return false;
}

bool tsr_map_pieces_meet(const tsr_map_piece *a, const tsr_map_piece *b) {
  int steps = 0;
  return meet(a, b, &steps);
}
