// Cuts of one dimension: arithmetic from a shard index to its length, range and runs, and from an
// element to its shard. Each stage selects among the elements that the stage before left; runs of
// nested stages are composed where progressions meet (index_run.h).
#include "layout/cut.h"

#include <assert.h>

#include "base/arithmetic.h"
#include "layout/layout_internal.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

static int64_t ceil_div(int64_t n, int64_t k) { return n / k + (n % k != 0); }

tsr_cut tsr_cut_of(const tsr_sharding *sharding, int dim, int64_t size) {
  const tsr_sharding_dim *bound = tsr_sharding_dim_at(sharding, dim);
  return (tsr_cut){.size = size,
                   .shards = bound->shards,
                   .stage_count = bound->stage_count,
                   .stages = bound->stages};
}

// ---- one stage: the selection of shard i among m elements ----

static tsr_range even_range(int64_t m, int64_t shards, int64_t i) {
  const int64_t chunk = ceil_div(m, shards);
  return (tsr_range){tsr_least(i * chunk, m), tsr_least((i + 1) * chunk, m)};
}

static tsr_range sizes_range(const tsr_stage *cut, int64_t i) {
  int64_t lo = 0;
  for (int64_t j = 0; j < i; j++) lo += cut->sizes[j];
  return (tsr_range){lo, lo + cut->sizes[i]};
}

// The range of shard i in a fused part, from the part's start: an even range of its grains. The
// last grain may be short.
static tsr_range part_range(const tsr_part *part, int64_t shards, int64_t i) {
  const int64_t grains = ceil_div(part->size, part->grain);
  const tsr_range held = even_range(grains, shards / part->copies, i / part->copies);
  return (tsr_range){held.lo == grains ? part->size : held.lo * part->grain,
                     held.hi == grains ? part->size : held.hi * part->grain};
}

// Blocks dealt round robin: the number of whole blocks of shard i, and the length of the short last
// block if shard i has it.
static int64_t cyclic_blocks(int64_t m, int64_t block, int64_t shards, int64_t i,
                             int64_t *out_short) {
  const int64_t blocks = ceil_div(m, block);
  *out_short = 0;
  if (i >= blocks) return 0;
  const int64_t count = (blocks - 1 - i) / shards + 1;
  const int64_t rest = m % block;
  if (rest == 0 || (blocks - 1) % shards != i) return count;
  *out_short = rest;
  return count - 1;
}

static bool is_plain(const tsr_bound_stage *stage) {
  return stage->kind == TSR_STAGE_EVEN || stage->kind == TSR_STAGE_SIZES;
}

static tsr_range plain_range(const tsr_bound_stage *stage, int64_t m, int64_t i) {
  return stage->kind == TSR_STAGE_EVEN ? even_range(m, stage->shards, i)
                                       : sizes_range(stage->cut, i);
}

static int64_t stage_length(const tsr_bound_stage *stage, int64_t m, int64_t i) {
  switch (stage->kind) {
    case TSR_STAGE_EVEN: {
      const tsr_range range = even_range(m, stage->shards, i);
      return range.hi - range.lo;
    }
    case TSR_STAGE_SIZES:
      return stage->cut->sizes[i];
    case TSR_STAGE_CYCLIC: {
      int64_t rest = 0;
      const int64_t blocks = cyclic_blocks(m, stage->cut->block, stage->shards, i, &rest);
      return blocks * stage->cut->block + rest;
    }
    case TSR_STAGE_PARTS:
      break;
  }
  int64_t length = 0;
  for (int p = 0; p < stage->cut->count; p++) {
    const tsr_range range = part_range(&stage->cut->parts[p], stage->shards, i);
    length += range.hi - range.lo;
  }
  return length;
}

static tsr_status select_cyclic(const tsr_bound_stage *stage, int64_t m, int64_t i,
                                tsr_run_list *list) {
  const int64_t block = stage->cut->block;
  int64_t rest = 0;
  const int64_t blocks = cyclic_blocks(m, block, stage->shards, i, &rest);
  if (blocks > 0) {
    tsr_run run = tsr_run_block(i * block, 0, block, true);
    run.count = blocks;
    if (blocks > 1) run.step = block * stage->shards;
    TSR_TRY(tsr_run_list_add(list, run));
  }
  return tsr_run_list_add(list, tsr_run_block(m - rest, blocks * block, rest, true));
}

static tsr_status select_parts(const tsr_bound_stage *stage, int64_t i, tsr_run_list *list) {
  int64_t start = 0, local = 0;
  for (int p = 0; p < stage->cut->count; p++) {
    const tsr_part *part = &stage->cut->parts[p];
    const tsr_range range = part_range(part, stage->shards, i);
    const bool owned = i % part->copies == 0;
    TSR_TRY(
        tsr_run_list_add(list, tsr_run_block(start + range.lo, local, range.hi - range.lo, owned)));
    start += part->size;
    local += range.hi - range.lo;
  }
  return NULL;
}

static tsr_status select_stage(const tsr_bound_stage *stage, int64_t m, int64_t i,
                               tsr_run_list *list) {
  if (stage->kind == TSR_STAGE_CYCLIC) return select_cyclic(stage, m, i, list);
  if (stage->kind == TSR_STAGE_PARTS) return select_parts(stage, i, list);
  const tsr_range range = plain_range(stage, m, i);
  return tsr_run_list_add(list, tsr_run_block(range.lo, 0, range.hi - range.lo, true));
}

// ---- fitting ----

// The lengths that the stages so far can leave if they divide evenly: `values[i] / divisor`.
typedef struct lengths {
  const int64_t *values;
  int64_t count, divisor;
} lengths;

static tsr_misfit misfit(tsr_misfit_kind kind, int64_t size, int64_t unit) {
  return (tsr_misfit){.kind = kind, .size = size, .unit = unit};
}

// Explicit sizes and parts have a fixed sum, so all shards before them must have that length.
static tsr_misfit fit_sum(int64_t longest, int64_t shortest, int64_t sum) {
  if (longest != shortest) return misfit(TSR_MISFIT_UNEQUAL, longest, shortest);
  return misfit(sum == longest ? TSR_FITS : TSR_MISFIT_SUM, longest, sum);
}

static tsr_misfit fit_sizes(const tsr_bound_stage *stage, int64_t longest, int64_t shortest) {
  const tsr_stage *cut = stage->cut;
  if (cut->count != stage->shards) return misfit(TSR_MISFIT_SIZES_COUNT, cut->count, stage->shards);
  int64_t sum = 0;
  for (int i = 0; i < cut->count; i++)
    if (cut->sizes[i] < 0 || __builtin_add_overflow(sum, cut->sizes[i], &sum))
      return misfit(TSR_MISFIT_VALUE, cut->sizes[i], 0);
  return fit_sum(longest, shortest, sum);
}

static tsr_misfit fit_part(const tsr_part *part, int64_t shards, bool evenly) {
  if (part->size < 0 || part->grain < 1 || part->copies < 1)
    return misfit(TSR_MISFIT_VALUE, part->size, part->grain);
  if (shards % part->copies != 0) return misfit(TSR_MISFIT_COPIES, shards, part->copies);
  int64_t unit = 0;
  if (__builtin_mul_overflow(part->grain, shards / part->copies, &unit)) unit = INT64_MAX;
  const bool divides = part->size % unit == 0;
  return misfit(divides || !evenly ? TSR_FITS : TSR_MISFIT_REMAINDER, part->size, unit);
}

static tsr_misfit fit_parts(const tsr_bound_stage *stage, int64_t longest, int64_t shortest,
                            bool evenly) {
  int64_t sum = 0;
  for (int p = 0; p < stage->cut->count; p++) {
    const tsr_part *part = &stage->cut->parts[p];
    tsr_misfit found = fit_part(part, stage->shards, evenly);
    if (found.kind == TSR_FITS && __builtin_add_overflow(sum, part->size, &sum))
      found = misfit(TSR_MISFIT_VALUE, part->size, 0);
    found.part = p;
    if (found.kind != TSR_FITS) return found;
  }
  return fit_sum(longest, shortest, sum);
}

// Even and cyclic stages accept any size unless it must divide evenly.
static tsr_misfit fit_unit(const lengths *left, int64_t unit) {
  for (int64_t i = 0; i < left->count; i++) {
    const int64_t m = left->values[i] / left->divisor;
    if (m % unit != 0) return misfit(TSR_MISFIT_REMAINDER, m, unit);
  }
  return misfit(TSR_FITS, 0, unit);
}

static tsr_misfit fit_stage(const tsr_bound_stage *stage, const lengths *left, int64_t longest,
                            int64_t shortest, bool evenly) {
  int64_t unit = stage->shards;
  switch (stage->kind) {
    case TSR_STAGE_SIZES:
      return fit_sizes(stage, longest, shortest);
    case TSR_STAGE_PARTS:
      return fit_parts(stage, longest, shortest, evenly);
    case TSR_STAGE_CYCLIC:
      if (stage->cut->block < 1) return misfit(TSR_MISFIT_VALUE, stage->cut->block, 0);
      if (__builtin_mul_overflow(unit, stage->cut->block, &unit)) unit = INT64_MAX;
      break;
    case TSR_STAGE_EVEN:
      break;
  }
  return evenly ? fit_unit(left, unit) : misfit(TSR_FITS, 0, unit);
}

// Except for explicit sizes, shard 0 of a stage is the longest and the last one the shortest, and
// lengths grow with the dimension. So bounds carry over from stage to stage.
static void bound_lengths(const tsr_bound_stage *stage, int64_t *longest, int64_t *shortest) {
  if (stage->kind != TSR_STAGE_SIZES) {
    *longest = stage_length(stage, *longest, 0);
    *shortest = stage_length(stage, *shortest, stage->shards - 1);
    return;
  }
  *longest = *shortest = stage->cut->sizes[0];
  for (int i = 1; i < stage->cut->count; i++) {
    const int64_t size = stage->cut->sizes[i];
    if (size > *longest) *longest = size;
    if (size < *shortest) *shortest = size;
  }
}

tsr_misfit tsr_cut_fit(const tsr_cut *cut, bool evenly) {
  int64_t longest = cut->size, shortest = cut->size, after_parts = 0;
  lengths left = {&cut->size, 1, 1};
  for (int s = 0; s < cut->stage_count; s++) {
    const tsr_bound_stage *stage = &cut->stages[s];
    tsr_misfit found = fit_stage(stage, &left, longest, shortest, evenly);
    found.stage = s;
    if (found.kind != TSR_FITS) return found;
    bound_lengths(stage, &longest, &shortest);
    if (stage->kind == TSR_STAGE_SIZES) {
      left = (lengths){stage->cut->sizes, stage->cut->count, 1};
    } else if (stage->kind == TSR_STAGE_PARTS) {
      after_parts = longest;
      left = (lengths){&after_parts, 1, 1};
    } else {
      left.divisor *= stage->shards;
    }
  }
  return misfit(TSR_FITS, cut->size, 1);
}

// ---- the whole cut ----

bool tsr_cut_is_plain(const tsr_cut *cut) {
  for (int s = 0; s < cut->stage_count; s++)
    if (!is_plain(&cut->stages[s])) return false;
  return true;
}

// The shard's index in this stage: the major digit of what is left of its index.
static int64_t take_digit(const tsr_bound_stage *stage, int64_t *below, int64_t *index) {
  *below /= stage->shards;
  const int64_t digit = *index / *below;
  *index %= *below;
  return digit;
}

int64_t tsr_cut_length(const tsr_cut *cut, int64_t index) {
  assert(index >= 0 && index < cut->shards);
  int64_t length = cut->size, below = cut->shards;
  for (int s = 0; s < cut->stage_count; s++)
    length = stage_length(&cut->stages[s], length, take_digit(&cut->stages[s], &below, &index));
  return length;
}

int64_t tsr_cut_longest(const tsr_cut *cut) {
  int64_t longest = cut->size, shortest = cut->size;
  for (int s = 0; s < cut->stage_count; s++) bound_lengths(&cut->stages[s], &longest, &shortest);
  return longest;
}

tsr_range tsr_cut_range(const tsr_cut *cut, int64_t index) {
  assert(index >= 0 && index < cut->shards);
  tsr_range range = {0, cut->size};
  int64_t below = cut->shards;
  for (int s = 0; s < cut->stage_count; s++) {
    const tsr_bound_stage *stage = &cut->stages[s];
    const int64_t digit = take_digit(stage, &below, &index);
    const tsr_range held = plain_range(stage, range.hi - range.lo, digit);
    range = (tsr_range){range.lo + held.lo, range.lo + held.hi};
  }
  return range;
}

// Replaces each range by the `shards` ranges of a stage. Back to front, so that a range is read
// before its slot is overwritten.
static void divide_ranges(const tsr_bound_stage *stage, tsr_range *ranges, int64_t count) {
  for (int64_t r = count - 1; r >= 0; r--) {
    const tsr_range range = ranges[r];
    int64_t hi = range.hi;
    for (int64_t i = stage->shards - 1; i >= 0; i--) {
      const int64_t length = stage_length(stage, range.hi - range.lo, i);
      ranges[r * stage->shards + i] = (tsr_range){hi - length, hi};
      hi -= length;
    }
  }
}

void tsr_cut_ranges(const tsr_cut *cut, tsr_range *out_ranges) {
  int64_t count = 1;
  out_ranges[0] = (tsr_range){0, cut->size};
  for (int s = 0; s < cut->stage_count; s++) {
    divide_ranges(&cut->stages[s], out_ranges, count);
    count *= cut->stages[s].shards;
  }
}

// The elements that `selected` picks among those of `held`.
static tsr_status compose(const tsr_run_list *selected, const tsr_run_list *held,
                          tsr_run_list *out) {
  for (int h = 0; h < held->count; h++) {
    const tsr_run place = tsr_run_flip(&held->items[h]);
    for (int s = 0; s < selected->count; s++) {
      if (tsr_run_end(&place) <= selected->items[s].global) break;
      tsr_meeting meeting = tsr_meeting_of(&selected->items[s], &place);
      for (tsr_overlap o; tsr_meeting_next(&meeting, &o);)
        TSR_TRY(tsr_run_list_add(out, (tsr_run){.global = o.b,
                                                .local = o.a,
                                                .length = o.length,
                                                .count = o.count,
                                                .step = o.b_step,
                                                .local_step = o.a_step,
                                                .owned = selected->items[s].owned && place.owned}));
    }
  }
  tsr_run_list_tidy(out);
  return NULL;
}

// Replaces `held` by what the stage selects of it.
static tsr_status apply_stage(const tsr_bound_stage *stage, int64_t m, int64_t i,
                              tsr_run_list *held) {
  tsr_run_list selected = TSR_RUN_LIST_EMPTY, composed = TSR_RUN_LIST_EMPTY;
  tsr_status status = select_stage(stage, m, i, &selected);
  if (!status) status = compose(&selected, held, &composed);
  tsr_run_list_deinit(&selected);
  tsr_run_list_deinit(status ? &composed : held);
  if (!status) *held = composed;
  return status;
}

tsr_status tsr_cut_runs(const tsr_cut *cut, int64_t index, tsr_run_list *list) {
  assert(list->count == 0 && index >= 0 && index < cut->shards);
  if (tsr_cut_is_plain(cut)) {
    const tsr_range range = tsr_cut_range(cut, index);
    return tsr_run_list_add(list, tsr_run_block(range.lo, 0, range.hi - range.lo, true));
  }
  TSR_TRY(tsr_run_list_add(list, tsr_run_block(0, 0, cut->size, true)));
  int64_t length = cut->size, below = cut->shards;
  for (int s = 0; s < cut->stage_count; s++) {
    const tsr_bound_stage *stage = &cut->stages[s];
    const int64_t digit = take_digit(stage, &below, &index);
    TSR_TRY(apply_stage(stage, length, digit, list));
    length = stage_length(stage, length, digit);
  }
  return NULL;
}

// ---- from an element to its shard ----

bool tsr_cut_has_copies(const tsr_cut *cut) {
  for (int s = 0; s < cut->stage_count; s++) {
    const tsr_bound_stage *stage = &cut->stages[s];
    if (stage->kind != TSR_STAGE_PARTS) continue;
    for (int p = 0; p < stage->cut->count; p++)
      if (stage->cut->parts[p].copies > 1) return true;
  }
  return false;
}

// The shard of an element in a stage, its place in that shard, and the number of elements from it
// on that are contiguous.
typedef struct held_at {
  int64_t digit, place, length;
} held_at;

static held_at find_in_range(tsr_range range, int64_t digit, int64_t element) {
  return (held_at){digit, element - range.lo, range.hi - element};
}

static held_at find_in_sizes(const tsr_stage *cut, int64_t element) {
  int64_t digit = 0, lo = 0;
  while (element >= lo + cut->sizes[digit]) lo += cut->sizes[digit++];
  return find_in_range((tsr_range){lo, lo + cut->sizes[digit]}, digit, element);
}

static held_at find_in_cyclic(const tsr_bound_stage *stage, int64_t m, int64_t element) {
  const int64_t block = stage->cut->block, number = element / block, at = element % block;
  const int64_t length = tsr_least(block, m - number * block);
  return (held_at){number % stage->shards, number / stage->shards * block + at, length - at};
}

static held_at find_in_parts(const tsr_bound_stage *stage, int64_t element) {
  const tsr_part *part = stage->cut->parts;
  int64_t start = 0;
  while (element >= start + part->size) start += part++->size;
  const int64_t pieces = stage->shards / part->copies;
  const int64_t each = ceil_div(ceil_div(part->size, part->grain), pieces);
  const int64_t digit = (element - start) / part->grain / each * part->copies;
  held_at found = find_in_range(part_range(part, stage->shards, digit), digit, element - start);
  for (const tsr_part *before = stage->cut->parts; before < part; before++) {
    const tsr_range range = part_range(before, stage->shards, digit);
    found.place += range.hi - range.lo;
  }
  return found;
}

static held_at find_in_stage(const tsr_bound_stage *stage, int64_t m, int64_t element) {
  if (stage->kind == TSR_STAGE_SIZES) return find_in_sizes(stage->cut, element);
  if (stage->kind == TSR_STAGE_CYCLIC) return find_in_cyclic(stage, m, element);
  if (stage->kind == TSR_STAGE_PARTS) return find_in_parts(stage, element);
  assert(m > 0);  // since the element is one of them
  const int64_t digit = element / ceil_div(m, stage->shards);
  return find_in_range(even_range(m, stage->shards, digit), digit, element);
}

int64_t tsr_cut_owner(const tsr_cut *cut, int64_t element, int64_t *out_length) {
  assert(element >= 0 && element < cut->size);
  int64_t index = 0, m = cut->size, length = cut->size - element;
  for (int s = 0; s < cut->stage_count; s++) {
    const tsr_bound_stage *stage = &cut->stages[s];
    const held_at found = find_in_stage(stage, m, element);
    index = index * stage->shards + found.digit;
    length = tsr_least(length, found.length);
    m = stage_length(stage, m, found.digit);
    element = found.place;
  }
  *out_length = length;
  return index;
}
