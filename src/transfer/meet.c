// Overlaps of two cuts along one dimension, joined into as few progressions as possible and cached
// by pair of cuts. If elements have copies in the source, what the target's own device holds is
// taken from it.
#include "transfer/meet.h"

#include <stdlib.h>

#include "base/grow.h"
#include "layout/layout_internal.h"

// ---- lists ----

void tsr_overlaps_deinit(tsr_overlaps *list) {
  free(list->items);
  *list = (tsr_overlaps)TSR_OVERLAPS_EMPTY;
}

int64_t tsr_overlaps_elements(const tsr_overlaps *list) {
  int64_t elements = 0;
  for (int64_t i = 0; i < list->count; i++)
    elements += list->items[i].length * list->items[i].count;
  return elements;
}

static tsr_status add(tsr_overlaps *list, const tsr_overlap *overlap) {
  if (list->count >= TSR_MAX_RUNS)
    return tsr_fail(TOO_LARGE, "two cuts meet in more than %d runs", TSR_MAX_RUNS);
  if (list->count == list->capacity) {
    const int64_t capacity = list->capacity ? 2 * list->capacity : 1;  // most lists have one
    tsr_overlap *items = realloc(list->items, sizeof *items * (size_t)capacity);
    if (!items) return tsr_fail(NO_MEMORY, "%lld runs of a copy", (long long)capacity);
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = *overlap;
  return NULL;
}

static int by_place(const void *left, const void *right) {
  const int64_t a = ((const tsr_overlap *)left)->a, b = ((const tsr_overlap *)right)->a;
  return (a > b) - (a < b);
}

// Blocks that touch on both sides become one block.
static void flatten(tsr_overlap *o) {
  if (o->count > 1 && (o->a_step != o->length || o->b_step != o->length)) return;
  o->length *= o->count;
  o->count = 1;
  o->a_step = o->b_step = o->length;
}

// Extends `o` by `next` if each block of `next` starts where one of `o` ends.
static bool lengthen(tsr_overlap *o, const tsr_overlap *next) {
  if (o->count != next->count || o->a + o->length != next->a || o->b + o->length != next->b)
    return false;
  if (o->count > 1 && (o->a_step != next->a_step || o->b_step != next->b_step)) return false;
  o->length += next->length;
  flatten(o);
  return true;
}

// Appends `next` to the progression; two blocks of equal length always form one.
static bool append(tsr_overlap *o, const tsr_overlap *next) {
  if (next->count != 1 || o->length != next->length) return false;
  const int64_t a_step = next->a - o->a, b_step = next->b - o->b;
  if (o->count == 1) {
    o->a_step = a_step;
    o->b_step = b_step;
  } else if (a_step != o->a_step * o->count || b_step != o->b_step * o->count) {
    return false;
  }
  o->count++;
  return true;
}

// Both sides ascend, so neighbours in the target are neighbours in the source.
static void tidy(tsr_overlaps *list) {
  if (list->count < 2) return;
  qsort(list->items, (size_t)list->count, sizeof *list->items, by_place);
  int64_t kept = 0;
  for (int64_t i = 1; i < list->count; i++)
    if (!lengthen(&list->items[kept], &list->items[i])) list->items[++kept] = list->items[i];
  list->count = kept + 1;
  kept = 0;
  for (int64_t i = 1; i < list->count; i++)
    if (!append(&list->items[kept], &list->items[i])) list->items[++kept] = list->items[i];
  list->count = kept + 1;
}

static tsr_status meet(const tsr_run_list *target, const tsr_run_list *source, bool owned_only,
                       tsr_overlaps *list) {
  for (int i = 0; i < target->count; i++)
    for (int j = 0; j < source->count; j++) {
      if (owned_only && !source->items[j].owned) continue;
      tsr_meeting meeting = tsr_meeting_of(&target->items[i], &source->items[j]);
      for (tsr_overlap o; tsr_meeting_next(&meeting, &o);) TSR_TRY(add(list, &o));
    }
  tidy(list);
  return NULL;
}

tsr_status tsr_overlaps_of(const tsr_run_list *target, const tsr_run_list *source,
                           tsr_overlaps *list) {
  return meet(target, source, false, list);
}

// ---- elements outside a device's own cut ----

// Adds the blocks of `runs` inside `within` to `out`.
static tsr_status keep_within(const tsr_run_list *runs, const tsr_run *within, tsr_run_list *out) {
  if (within->length < 1 || within->count < 1) return NULL;
  for (int i = 0; i < runs->count; i++) {
    tsr_meeting meeting = tsr_meeting_of(&runs->items[i], within);
    for (tsr_overlap o; tsr_meeting_next(&meeting, &o);)
      TSR_TRY(tsr_run_list_add(out, (tsr_run){.global = o.global,
                                              .local = o.a,
                                              .length = o.length,
                                              .count = o.count,
                                              .step = o.step,
                                              .local_step = o.a_step,
                                              .owned = true}));
  }
  return NULL;
}

// Removes the blocks of `hole` from the runs of a dimension of `size` elements: what is left is
// before it, between its blocks, or after it.
static tsr_status take_out(const tsr_run *hole, int64_t size, tsr_run_list *runs) {
  const int64_t end = tsr_run_end(hole);
  const tsr_run before = tsr_run_block(0, 0, hole->global, true);
  const tsr_run after = tsr_run_block(end, 0, size - end, true);
  tsr_run between = *hole;
  between.global += hole->length;
  between.length = hole->step - hole->length;
  between.count--;
  tsr_run_list left = TSR_RUN_LIST_EMPTY;
  tsr_status status = keep_within(runs, &before, &left);
  if (!status) status = keep_within(runs, &between, &left);
  if (!status) status = keep_within(runs, &after, &left);
  tsr_run_list_deinit(status ? &left : runs);
  if (!status) *runs = left;
  return status;
}

// Elements that a cut does not own are owned by another cut.
static tsr_status take_out_own(const tsr_cut *cut, int64_t own, tsr_run_list *runs) {
  tsr_run_list held = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(cut, own, &held);
  for (int i = 0; i < held.count && !status; i++)
    if (!held.items[i].owned) status = take_out(&held.items[i], cut->size, runs);
  tsr_run_list_deinit(&held);
  return status;
}

static tsr_status copy_runs(const tsr_run_list *list, tsr_run_list *out) {
  for (int i = 0; i < list->count; i++) TSR_TRY(tsr_run_list_add(out, list->items[i]));
  return NULL;
}

static tsr_status meet_owner(const tsr_run_list *target, const tsr_cut *cut, int64_t own,
                             const tsr_run_list *source, tsr_overlaps *list) {
  if (own < 0) return meet(target, source, true, list);
  tsr_run_list rest = TSR_RUN_LIST_EMPTY;
  tsr_status status = copy_runs(target, &rest);
  if (!status) status = take_out_own(cut, own, &rest);
  if (!status) status = meet(&rest, source, true, list);
  tsr_run_list_deinit(&rest);
  return status;
}

tsr_status tsr_overlaps_with_cut(const tsr_run_list *target, const tsr_cut *source, int64_t index,
                                 int64_t own, tsr_overlaps *list) {
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(source, index, &runs);
  if (!status)
    status = own == index || !tsr_cut_has_copies(source)
                 ? meet(target, &runs, false, list)
                 : meet_owner(target, source, own, &runs, list);
  tsr_run_list_deinit(&runs);
  return status;
}

// ---- cache ----

enum { MOST_KEPT = 1 << 20 };

tsr_meets tsr_meets_of(const tsr_layout *from, const tsr_layout *to, int dim) {
  tsr_meets meets = {.target = tsr_layout_cut(to, dim), .source = tsr_layout_cut(from, dim)};
  meets.copies = tsr_cut_has_copies(&meets.source);
  return meets;
}

static void clear(tsr_meets *meets) {
  for (int64_t i = 0; i < meets->count; i++) tsr_overlaps_deinit(&meets->lists[i]);
  meets->count = 0;
  tsr_triples_deinit(&meets->known);
}

void tsr_meets_deinit(tsr_meets *meets) {
  clear(meets);
  free(meets->lists);
  meets->lists = NULL;
}

static tsr_status meet_ranges(tsr_range a, tsr_range b, tsr_overlaps *list) {
  const int64_t lo = a.lo > b.lo ? a.lo : b.lo, hi = a.hi < b.hi ? a.hi : b.hi;
  if (lo >= hi) return NULL;
  return add(list, &(tsr_overlap){.global = lo,
                                  .a = lo - a.lo,
                                  .b = lo - b.lo,
                                  .length = hi - lo,
                                  .count = 1,
                                  .step = hi - lo,
                                  .a_step = hi - lo,
                                  .b_step = hi - lo});
}

tsr_status tsr_meets_work_out(const tsr_meets *meets, int64_t target, int64_t source, int64_t own,
                              tsr_overlaps *list) {
  if (tsr_cut_is_plain(&meets->target) && tsr_cut_is_plain(&meets->source))
    return meet_ranges(tsr_cut_range(&meets->target, target), tsr_cut_range(&meets->source, source),
                       list);
  tsr_run_list runs = TSR_RUN_LIST_EMPTY;
  tsr_status status = tsr_cut_runs(&meets->target, target, &runs);
  // Ownership in the target does not matter.
  for (int i = 0; i < runs.count; i++) runs.items[i].owned = true;
  if (!status) tsr_run_list_tidy(&runs);
  if (!status) status = tsr_overlaps_with_cut(&runs, &meets->source, source, own, list);
  tsr_run_list_deinit(&runs);
  return status;
}

static tsr_status keep(tsr_meets *meets, int64_t target, int64_t source, int64_t own) {
  tsr_overlaps *lists = tsr_grow(meets->lists, meets->count, &meets->capacity, sizeof *lists);
  if (!lists) return tsr_fail(NO_MEMORY, "%lld pairs of cuts", (long long)meets->count);
  meets->lists = lists;
  lists[meets->count] = (tsr_overlaps)TSR_OVERLAPS_EMPTY;
  tsr_status status = tsr_meets_work_out(meets, target, source, own, &lists[meets->count]);
  if (status)
    tsr_overlaps_deinit(&lists[meets->count]);
  else
    meets->count++;
  return status;
}

tsr_status tsr_meets_find(tsr_meets *meets, int64_t target, int64_t source, int64_t own,
                          const tsr_overlaps **out_overlaps) {
  int64_t *index = NULL;
  if (!meets->copies) own = -1;
  if (meets->count == MOST_KEPT) clear(meets);
  TSR_TRY(tsr_triples_find(&meets->known, target, source, own, &index));
  if (*index < 0) {
    TSR_TRY(keep(meets, target, source, own));
    *index = meets->count - 1;
  }
  *out_overlaps = &meets->lists[*index];
  return NULL;
}
