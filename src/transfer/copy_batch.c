// A batch: the copies of many plans that touch the devices of one rank, cut into rounds.
//
// All ranks must cut alike without talking. So the new buffers of a device are thought of as lying
// one after the other, each as long as the longest of its kind, and a round is a stretch of
// `max_bytes` of that. Where an element goes tells its round, and no device gets more than that in
// one.
#include <stdlib.h>

#include "base/grow.h"
#include "base/sized.h"
#include "element/copy_internal.h"
#include "element/dtype_internal.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "transfer/copy_list.h"
#include "transfer/transfer.h"
#include "transfer/transfer_internal.h"

enum { MOST_ROUNDS = 1 << 20 };
#define MOST_BYTES (INT64_MAX / 16)  // of a device's buffers, so that their bits can be counted

// A copy of the list, and where it belongs.
typedef struct entry {
  int64_t round;
  int64_t item;
  int64_t copy;
} entry;

struct tsr_copy_batch {
  int64_t rounds;
  int64_t item_count;
  tsr_copy_list list;
  entry *entries;  // owned: by round, item and the order of copies
  int64_t entry_count, entry_capacity;
  tsr_copy *open;   // owned: the copies of the round that was opened
  int64_t *starts;  // owned: of each item in `open`, and one past the last
};

// One plan of the batch while its copies are collected.
typedef struct member {
  const tsr_copy_plan *plan;
  int64_t number;
  int bits;
  int64_t base;  // where its buffers begin, in bytes
} member;

typedef struct collecting {
  tsr_copy_batch *batch;
  int64_t first, end;  // devices of this rank
  int64_t max_bytes;   // 0 = one round
} collecting;

// ---- rounds ----

static tsr_status add_entry(tsr_copy_batch *batch, const member *it, int64_t round,
                            const tsr_copy *copy) {
  entry *entries =
      tsr_grow(batch->entries, batch->entry_count, &batch->entry_capacity, sizeof *entries);
  if (!entries) return tsr_fail(NO_MEMORY, "%lld copies", (long long)batch->entry_count);
  batch->entries = entries;
  entries[batch->entry_count++] = (entry){round, it->number, batch->list.count};
  return tsr_copy_list_add(&batch->list, copy);
}

// The first element of an item that is of this round, or of a later one.
static int64_t first_of_round(const collecting *c, const member *it, int64_t round) {
  const int64_t bytes = round * c->max_bytes - it->base;
  if (bytes <= 0) return 0;
  const int64_t bits = bytes * 8;
  return bits / it->bits + (bits % it->bits != 0);
}

static int64_t round_of(const collecting *c, const member *it, int64_t element) {
  return (it->base + element * it->bits / 8) / c->max_bytes;
}

// How far a copy reaches in the target from the loop at `level` on.
static int64_t extent(const tsr_copy *copy, int level) {
  int64_t places = copy->length;
  for (int i = level; i < copy->loop_count; i++)
    places += (copy->loops[i].count - 1) * copy->loops[i].to;
  return places;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

typedef struct window {
  const collecting *collecting;
  const member *item;
  int64_t round, lo, hi;  // places
} window;

// The loops from `level` on, of which the first makes `count` turns; or only a run of `length`.
static tsr_status add_part(const window *w, const tsr_copy *copy, int level, int64_t count,
                           int64_t from, int64_t to) {
  tsr_copy part = *copy;
  part.from = from;
  part.to = to;
  part.loop_count = copy->loop_count - level;
  for (int i = 0; i < part.loop_count; i++) part.loops[i] = copy->loops[level + i];
  if (part.loop_count > 0 && count > 0) part.loops[0].count = count;
  tsr_copy_simplify(&part);
  return add_entry(w->collecting->batch, w->item, w->round, &part);
}

static tsr_status clip_run(const window *w, const tsr_copy *copy, int64_t from, int64_t to) {
  const int64_t lo = to > w->lo ? to : w->lo;
  const int64_t end = to + copy->length, hi = end < w->hi ? end : w->hi;
  tsr_copy part = *copy;
  part.length = hi - lo;
  return add_part(w, &part, copy->loop_count, 0, from + (lo - to), lo);
}

// The part of a copy that lies in the window: turns of the outer loop that lie in it wholly stay
// together, and those that cross its ends are looked into.
static tsr_status clip(const window *w, const tsr_copy *copy, int level, int64_t from, int64_t to) {
  const int64_t reach = extent(copy, level);
  if (to >= w->hi || to + reach <= w->lo) return NULL;
  if (to >= w->lo && to + reach <= w->hi) return add_part(w, copy, level, 0, from, to);
  if (level == copy->loop_count) return clip_run(w, copy, from, to);
  const tsr_copy_loop *loop = &copy->loops[level];
  const int64_t inner = extent(copy, level + 1), last = loop->count - 1;
  int64_t start = floor_div(w->lo - to + loop->to - 1, loop->to);
  int64_t end = floor_div(w->hi - inner - to, loop->to) + 1;  // one past the last turn inside
  if (start < 0) start = 0;
  if (end > last + 1) end = last + 1;
  int64_t turn = floor_div(w->lo - to - inner, loop->to) + 1;  // the first that reaches in
  for (turn = turn < 0 ? 0 : turn; turn <= last && to + turn * loop->to < w->hi; turn++) {
    const int64_t at = from + turn * loop->from, place = to + turn * loop->to;
    if (turn >= start && turn < end) {
      TSR_TRY(add_part(w, copy, level, end - turn, at, place));
      turn = end - 1;
    } else {
      TSR_TRY(clip(w, copy, level + 1, at, place));
    }
  }
  return NULL;
}

static tsr_status add_copy(const collecting *c, const member *it, const tsr_copy *copy) {
  if (c->max_bytes == 0) return add_entry(c->batch, it, 0, copy);
  const int64_t last = round_of(c, it, copy->to + extent(copy, 0) - 1);
  for (int64_t round = round_of(c, it, copy->to); round <= last; round++) {
    const window w = {.collecting = c,
                      .item = it,
                      .round = round,
                      .lo = first_of_round(c, it, round),
                      .hi = first_of_round(c, it, round + 1)};
    TSR_TRY(clip(&w, copy, 0, copy->from, copy->to));
  }
  return NULL;
}

// ---- collecting ----

static bool is_mine(const collecting *c, int64_t device) {
  return device >= c->first && device < c->end;
}

// Copies between two devices of this rank come with their target only.
static tsr_status collect_from(const collecting *c, const member *it, tsr_copies *copies,
                               bool into) {
  tsr_status status = NULL;
  for (tsr_copy copy; !status && tsr_copies_next(copies, &copy);)
    if (into || !is_mine(c, copy.target)) status = add_copy(c, it, &copy);
  tsr_copies_deinit(copies);
  return status;
}

static tsr_status collect_device(const collecting *c, const member *it, int64_t device) {
  const int64_t target = tsr_layout_device_find(it->plan->to, device);
  const int64_t source = tsr_layout_device_find(it->plan->from, device);
  tsr_copies copies;
  if (target >= 0) {
    TSR_TRY(tsr_copies_init_into(&copies, it->plan, target));
    TSR_TRY(collect_from(c, it, &copies, true));
  }
  if (source >= 0) {
    TSR_TRY(tsr_copies_init_out_of(&copies, it->plan, source));
    TSR_TRY(collect_from(c, it, &copies, false));
  }
  return NULL;
}

static tsr_status collect_all(const collecting *c, const member *it) {
  for (int64_t p = 0; p < tsr_layout_device_count(it->plan->to); p++) {
    tsr_copies copies;
    TSR_TRY(tsr_copies_init_into(&copies, it->plan, p));
    TSR_TRY(collect_from(c, it, &copies, true));
  }
  return NULL;
}

static tsr_status collect(const collecting *c, const member *it) {
  if (c->end == INT64_MAX) return collect_all(c, it);
  for (int64_t device = c->first; device < c->end; device++) TSR_TRY(collect_device(c, it, device));
  return NULL;
}

// ---- making ----

static tsr_status check_options(const tsr_copy_batch_options *options) {
  if (options->first_device < 0 || options->end_device < options->first_device)
    return tsr_fail(BAD_ARGUMENT, "devices from %lld to %lld", (long long)options->first_device,
                    (long long)options->end_device);
  if (options->max_bytes < 0)
    return tsr_fail(BAD_ARGUMENT, "rounds of %lld bytes", (long long)options->max_bytes);
  return NULL;
}

// Where the buffers of the next item begin.
static tsr_status find_end(const member *it, tsr_dtype dtype, int64_t *out_end) {
  int64_t bytes = 0;
  TSR_TRY(tsr_dtype_bytes(dtype, tsr_largest_buffer(it->plan->to), &bytes));
  if (!__builtin_add_overflow(it->base, bytes, out_end) && *out_end <= MOST_BYTES) return NULL;
  return tsr_fail(TOO_LARGE, "the buffers of a batch take more than 2^59 bytes on a device");
}

static tsr_status collect_items(collecting *c, const tsr_copy_batch_item *items, int64_t count) {
  int64_t end = 0;
  for (int64_t i = 0; i < count; i++) {
    const tsr_dtype_info *info = tsr_dtype_info_of(items[i].dtype);
    if (!info)
      return tsr_fail(BAD_ARGUMENT, "item %lld: element type %d does not exist", (long long)i,
                      (int)items[i].dtype);
    const member it = {.plan = items[i].plan, .number = i, .bits = info->bits, .base = end};
    TSR_TRY_NOTE(find_end(&it, items[i].dtype, &end), "item %lld", (long long)i);
    if (c->max_bytes > 0 && end / c->max_bytes >= MOST_ROUNDS)
      return tsr_fail(BAD_ARGUMENT, "rounds of %lld bytes would be more than %d",
                      (long long)c->max_bytes, MOST_ROUNDS);
    TSR_TRY_NOTE(collect(c, &it), "item %lld", (long long)i);
  }
  if (c->max_bytes > 0) c->batch->rounds = end / c->max_bytes + (end % c->max_bytes != 0);
  if (c->batch->rounds == 0) c->batch->rounds = 1;
  return NULL;
}

static int by_round(const void *left, const void *right, void *context) {
  const entry *a = left, *b = right;
  const tsr_copy_list *list = context;
  if (a->round != b->round) return a->round < b->round ? -1 : 1;
  if (a->item != b->item) return a->item < b->item ? -1 : 1;
  return tsr_copy_order(&list->heads[a->copy], &list->heads[b->copy]);
}

tsr_status tsr_copy_batch_create(const tsr_copy_batch_item *items, int64_t item_count,
                                 const tsr_copy_batch_options *given, tsr_copy_batch **out_batch) {
  tsr_copy_batch_options read;
  const tsr_copy_batch_options *const options = &read;
  TSR_TRY(tsr_sized_read(tsr_copy_batch_options, given, &read));
  TSR_TRY(check_options(options));
  if (item_count < 0) return tsr_fail(BAD_ARGUMENT, "%lld items of a batch", (long long)item_count);
  tsr_copy_batch *batch = calloc(1, sizeof *batch);
  if (!batch) return tsr_fail(NO_MEMORY, "a batch of copies");
  batch->item_count = item_count;
  batch->rounds = 1;
  collecting c = {.batch = batch, .end = INT64_MAX};
  if (options->end_device > 0) {
    c.first = options->first_device;
    c.end = options->end_device;
  }
  c.max_bytes = options->max_bytes < MOST_BYTES ? options->max_bytes : MOST_BYTES;
  tsr_status status = collect_items(&c, items, item_count);
  if (status) {
    tsr_copy_batch_destroy(batch);
    return status;
  }
  if (batch->entry_count > 1)
    qsort_r(batch->entries, (size_t)batch->entry_count, sizeof *batch->entries, by_round,
            &batch->list);
  *out_batch = batch;
  return NULL;
}

void tsr_copy_batch_destroy(tsr_copy_batch *batch) {
  if (!batch) return;
  tsr_copy_list_deinit(&batch->list);
  free(batch->entries);
  free(batch->open);
  free(batch->starts);
  free(batch);
}

// ---- reading ----

int64_t tsr_copy_batch_round_count(const tsr_copy_batch *batch) { return batch->rounds; }

// The first entry of a round or of a later one.
static int64_t first_entry(const tsr_copy_batch *batch, int64_t round) {
  int64_t low = 0, high = batch->entry_count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (batch->entries[middle].round < round)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

tsr_status tsr_copy_batch_open(tsr_copy_batch *batch, int64_t round) {
  if (round < 0 || round >= batch->rounds)
    return tsr_fail(INDEX_OUT_OF_RANGE, "round %lld of a batch that has %lld", (long long)round,
                    (long long)batch->rounds);
  const int64_t first = first_entry(batch, round), count = first_entry(batch, round + 1) - first;
  tsr_copy *open = realloc(batch->open, sizeof *open * ((size_t)count + 1));
  if (open) batch->open = open;
  if (!batch->starts)
    batch->starts = malloc(sizeof *batch->starts * ((size_t)batch->item_count + 1));
  if (!open || !batch->starts)
    return tsr_fail(NO_MEMORY, "%lld copies of a round", (long long)count);
  int64_t item = 0;
  for (int64_t i = 0; i < count; i++) {
    const entry *e = &batch->entries[first + i];
    while (item <= e->item) batch->starts[item++] = i;
    tsr_copy_list_get(&batch->list, e->copy, &open[i]);
  }
  while (item <= batch->item_count) batch->starts[item++] = count;
  return NULL;
}

const tsr_copy *tsr_copy_batch_copies(const tsr_copy_batch *batch, int64_t item,
                                      int64_t *out_count) {
  if (item < 0 || item >= batch->item_count) return NULL;
  *out_count = batch->starts ? batch->starts[item + 1] - batch->starts[item] : 0;
  return batch->starts ? batch->open + batch->starts[item] : NULL;
}
