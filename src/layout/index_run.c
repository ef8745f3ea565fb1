// Runs and their meetings: where two progressions of blocks overlap, as a few progressions. The
// iterator picks the grouping with the fewest overlaps (index_run.h).
#include "layout/index_run.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "layout/layout_internal.h"

void tsr_run_list_deinit(tsr_run_list *list) {
  free(list->items);
  *list = (tsr_run_list)TSR_RUN_LIST_EMPTY;
}

tsr_run tsr_run_block(int64_t global, int64_t local, int64_t length, bool owned) {
  return (tsr_run){.global = global,
                   .local = local,
                   .length = length,
                   .count = 1,
                   .step = length,
                   .local_step = length,
                   .owned = owned};
}

int64_t tsr_run_end(const tsr_run *run) {
  return run->global + (run->count - 1) * run->step + run->length;
}

tsr_run tsr_run_flip(const tsr_run *run) {
  tsr_run flipped = *run;
  flipped.global = run->local;
  flipped.local = run->global;
  flipped.step = run->local_step;
  flipped.local_step = run->step;
  return flipped;
}

// Blocks that touch on both sides become one block.
static tsr_run flatten(tsr_run run) {
  const bool touch = run.step == run.length && run.local_step == run.length;
  if (run.count > 1 && !touch) return run;
  return tsr_run_block(run.global, run.local, run.length * run.count, run.owned);
}

// Appends `next` to `run` if each of its blocks starts where the same block of `run` ends.
static bool join(tsr_run *run, const tsr_run *next) {
  if (run->owned != next->owned || run->count != next->count) return false;
  if (run->global + run->length != next->global || run->local + run->length != next->local)
    return false;
  if (run->count > 1 && (run->step != next->step || run->local_step != next->local_step))
    return false;
  run->length += next->length;
  *run = flatten(*run);
  return true;
}

tsr_status tsr_run_list_add(tsr_run_list *list, tsr_run run) {
  if (run.length == 0 || run.count == 0) return NULL;
  run = flatten(run);
  if (list->count > 0 && join(&list->items[list->count - 1], &run)) return NULL;
  if (list->count == TSR_MAX_RUNS)
    return tsr_fail(TOO_LARGE, "the cut needs more than %d runs", TSR_MAX_RUNS);
  tsr_run *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "%d runs of a cut", list->count);
  list->items = items;
  list->items[list->count++] = run;
  return NULL;
}

static int by_local(const void *left, const void *right) {
  const int64_t a = ((const tsr_run *)left)->local, b = ((const tsr_run *)right)->local;
  return (a > b) - (a < b);
}

void tsr_run_list_tidy(tsr_run_list *list) {
  if (list->count < 2) return;
  qsort(list->items, (size_t)list->count, sizeof *list->items, by_local);
  int kept = 0;
  for (int i = 1; i < list->count; i++)
    if (!join(&list->items[kept], &list->items[i])) list->items[++kept] = list->items[i];
  list->count = kept + 1;
}

int64_t tsr_run_list_elements(const tsr_run_list *list) {
  int64_t elements = 0;
  for (int i = 0; i < list->count; i++) elements += list->items[i].length * list->items[i].count;
  return elements;
}

// ---- meetings ----

// The first block of `run` that ends after index `at`; may be past the last.
static int64_t first_after(const tsr_run *run, int64_t at) {
  const int64_t past = at - run->global - run->length;
  return past < 0 ? 0 : past / run->step + 1;
}

tsr_meeting tsr_meeting_of(const tsr_run *a, const tsr_run *b) {
  assert(a->length > 0 && a->count > 0 && b->length > 0 && b->count > 0);
  const int64_t divisor = tsr_gcd(a->step, b->step);
  tsr_meeting meeting = {.a = *a,
                         .b = *b,
                         .i = first_after(a, b->global),
                         .j = first_after(b, a->global),
                         .a_period = b->step / divisor,
                         .b_period = a->step / divisor};
  const uint64_t per_a = 3 * (uint64_t)a->count, per_b = 3 * (uint64_t)b->count;
  const uint64_t per_period = (uint64_t)meeting.a_period + (uint64_t)meeting.b_period;
  meeting.periodic = per_period < per_a && per_period < per_b;
  meeting.inside_a = per_a <= per_b;
  return meeting;
}

// Number of periods in which the pair (i, j) occurs.
static int64_t repetitions(const tsr_meeting *m) {
  const int64_t in_a = (m->a.count - 1 - m->i) / m->a_period;
  const int64_t in_b = (m->b.count - 1 - m->j) / m->b_period;
  return 1 + (in_a < in_b ? in_a : in_b);
}

// Number of blocks of `run`, from block `from` on, that end at or before `end`.
static int64_t blocks_below(const tsr_run *run, int64_t index, int64_t from, int64_t end) {
  const int64_t fit = (end - from - run->length) / run->step + 1, left = run->count - index;
  return fit < left ? fit : left;
}

// The overlap of blocks (i, j) at `a_at` and `b_at`, with the blocks grouped with it; advances.
static tsr_overlap take(tsr_meeting *m, int64_t a_at, int64_t b_at) {
  const tsr_run *a = &m->a, *b = &m->b;
  const int64_t a_end = a_at + a->length, b_end = b_at + b->length;
  const int64_t lo = a_at > b_at ? a_at : b_at, hi = a_end < b_end ? a_end : b_end;
  tsr_overlap overlap = {.global = lo,
                         .a = a->local + m->i * a->local_step + (lo - a_at),
                         .b = b->local + m->j * b->local_step + (lo - b_at),
                         .length = hi - lo,
                         .count = 1,
                         .step = hi - lo,
                         .a_step = hi - lo,
                         .b_step = hi - lo};
  int64_t a_taken = a_end <= b_end, b_taken = b_end <= a_end;
  if (m->periodic && (overlap.count = repetitions(m)) > 1) {
    overlap.step = m->a_period * a->step;
    overlap.a_step = m->a_period * a->local_step;
    overlap.b_step = m->b_period * b->local_step;
  } else if (!m->periodic && m->inside_a && a_at <= b_at && b_end <= a_end) {
    overlap.count = b_taken = blocks_below(b, m->j, b_at, a_end);
    overlap.step = overlap.a_step = b->step;
    overlap.b_step = b->local_step;
    a_taken = a_end <= b_at + (b_taken - 1) * b->step + b->length;
  } else if (!m->periodic && !m->inside_a && b_at <= a_at && a_end <= b_end) {
    overlap.count = a_taken = blocks_below(a, m->i, a_at, b_end);
    overlap.step = overlap.b_step = a->step;
    overlap.a_step = a->local_step;
    b_taken = b_end <= a_at + (a_taken - 1) * a->step + a->length;
  }
  m->i += a_taken;
  m->j += b_taken;
  return overlap;
}

bool tsr_meeting_next(tsr_meeting *m, tsr_overlap *out_overlap) {
  while (m->i < m->a.count && m->j < m->b.count) {
    // A pair with both indices a period on repeats an earlier pair, which counted it.
    if (m->periodic && m->i >= m->a_period && m->j >= m->b_period) return false;
    const int64_t a_at = m->a.global + m->i * m->a.step;
    const int64_t b_at = m->b.global + m->j * m->b.step;
    if (a_at + m->a.length <= b_at) {
      m->i = first_after(&m->a, b_at);
    } else if (b_at + m->b.length <= a_at) {
      m->j = first_after(&m->b, a_at);
    } else {
      *out_overlap = take(m, a_at, b_at);
      return true;
    }
  }
  return false;
}
