#include "support/cuts.h"

#include <string.h>

#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

// ---- the oracle: which of m elements stage index i takes, one by one ----

static bool part_takes(const tsr_part *part, int64_t shards, int64_t i, int64_t element) {
  const int64_t grains = (part->size + part->grain - 1) / part->grain;
  const int64_t pieces = shards / part->copies;
  const int64_t grains_each = (grains + pieces - 1) / pieces;
  return element / part->grain / grains_each == i / part->copies;
}

static bool stage_takes(const tsr_bound_stage *stage, int64_t m, int64_t i, int64_t element) {
  if (stage->kind == TSR_STAGE_EVEN)
    return element / ((m + stage->shards - 1) / stage->shards) == i;
  if (stage->kind == TSR_STAGE_CYCLIC) return element / stage->cut->block % stage->shards == i;
  int which = 0;
  if (stage->kind == TSR_STAGE_SIZES) {
    while (element >= stage->cut->sizes[which]) element -= stage->cut->sizes[which++];
    return which == i;
  }
  while (element >= stage->cut->parts[which].size) element -= stage->cut->parts[which++].size;
  return part_takes(&stage->cut->parts[which], stage->shards, i, element);
}

int64_t test_cut_elements(const tsr_cut *cut, int64_t index, int64_t *out_elements) {
  int64_t count = cut->size, below = cut->shards;
  for (int64_t e = 0; e < count; e++) out_elements[e] = e;
  for (int s = 0; s < cut->stage_count; s++) {
    below /= cut->stages[s].shards;
    const int64_t i = index / below % cut->stages[s].shards, m = count;
    count = 0;
    for (int64_t e = 0; e < m; e++)
      if (stage_takes(&cut->stages[s], m, i, e)) out_elements[count++] = out_elements[e];
  }
  return count;
}

// ---- random cuts ----

// `count` sizes that add up to `total`.
static void random_sum(test_random *random, int64_t total, int64_t count, int64_t *out_sizes) {
  for (int i = 0; i < count; i++) out_sizes[i] = 0;
  for (int64_t left = total; left > 0;) {
    const int64_t some = test_random_range(random, 1, left);
    out_sizes[test_random_range(random, 0, count - 1)] += some;
    left -= some;
  }
}

static int64_t random_divisor(test_random *random, int64_t n) {
  int64_t divisor = test_random_range(random, 1, n);
  while (n % divisor != 0) divisor--;
  return divisor;
}

static void fill_stage(test_random *random, tsr_stage_kind kind, int64_t m, int64_t shards,
                       tsr_stage *out_stage, int64_t *out_sizes, tsr_part *out_parts) {
  *out_stage = (tsr_stage){.kind = kind};
  if (kind == TSR_STAGE_CYCLIC) out_stage->block = test_random_range(random, 1, 5);
  if (kind == TSR_STAGE_SIZES) {
    out_stage->count = (int)shards;
    out_stage->sizes = out_sizes;
    random_sum(random, m, (int)shards, out_sizes);
  }
  if (kind == TSR_STAGE_PARTS) {
    int64_t sizes[MAX_PARTS];
    out_stage->count = (int)test_random_range(random, 1, MAX_PARTS);
    out_stage->parts = out_parts;
    random_sum(random, m, out_stage->count, sizes);
    for (int p = 0; p < out_stage->count; p++)
      out_parts[p] = (tsr_part){.name = "",
                                .size = sizes[p],
                                .grain = test_random_range(random, 1, 4),
                                .copies = random_divisor(random, shards)};
  }
}

// Explicit sizes and parts need equal shards before them.
static bool shards_are_equal(const tsr_cut *cut, int64_t *out_length) {
  int64_t elements[512];
  *out_length = test_cut_elements(cut, 0, elements);
  for (int64_t i = 1; i < cut->shards; i++)
    if (test_cut_elements(cut, i, elements) != *out_length) return false;
  return true;
}

void test_make_cut(test_random *random, int64_t size, const int64_t *shards, int stage_count,
                   test_cut *out_cut) {
  static const tsr_stage_kind choices[] = {TSR_STAGE_EVEN, TSR_STAGE_CYCLIC, TSR_STAGE_SIZES,
                                           TSR_STAGE_PARTS};
  memset(out_cut, 0, sizeof *out_cut);
  tsr_cut *cut = &out_cut->cut;
  *cut = (tsr_cut){.size = size, .shards = 1, .stages = out_cut->stages};
  for (int s = 0; s < stage_count; s++) {
    int64_t m = 0;
    const int64_t kinds = shards_are_equal(cut, &m) ? 3 : 1;
    const tsr_stage_kind kind = choices[test_random_range(random, 0, kinds)];
    fill_stage(random, kind, m, shards[s], &out_cut->written[s], out_cut->sizes[s],
               out_cut->parts[s]);
    out_cut->stages[s] =
        (tsr_bound_stage){.kind = kind, .shards = shards[s], .cut = &out_cut->written[s]};
    cut->stage_count++;
    cut->shards *= shards[s];
  }
}

void test_random_cut(test_random *random, int64_t max_size, test_cut *out_cut) {
  int64_t shards[MAX_STAGES];
  for (int s = 0; s < MAX_STAGES; s++) shards[s] = test_random_range(random, 1, 5);
  const int64_t size = test_random_range(random, 0, max_size);
  test_make_cut(random, size, shards, (int)test_random_range(random, 0, MAX_STAGES), out_cut);
}
