// One dimension of a companion: the ratio of its elements to the weight's, and the weight's cut
// counted in the companion's elements.
#include "base/arithmetic.h"
#include "plan/companions.h"

enum { MOST_IN_WORDS = 64 };  // elements that fill whole words together

// ---- cuts in blocks ----

static tsr_status through_block(const tsr_companion_dim *b, int64_t size) {
  return tsr_fail(BAD_CUT,
                  "tensor \"%s\": \"%s\" is cut at %lld elements of dimension %d, through one of "
                  "the blocks of %lld that belong together; cut it in fewer shards, or not there",
                  b->scale->path, b->weight->path, (long long)size, b->of, (long long)b->unit);
}

// A size of the weight in elements of the companion.
static tsr_status in_blocks(const tsr_companion_dim *b, int64_t size, int64_t *out_size) {
  if (size % b->unit) return through_block(b, size);
  if (__builtin_mul_overflow(size / b->unit, b->step, out_size))
    return tsr_fail(OVERFLOW, "tensor \"%s\" is too large", b->scale->path);
  return NULL;
}

static tsr_status scale_sizes(const tsr_companion_dim *b, tsr_stage *stage) {
  int64_t *sizes = tsr_arena_zeros(b->arena, (size_t)stage->count, sizeof *sizes);
  if (!sizes) return tsr_fail(NO_MEMORY, "the sizes of a cut");
  for (int64_t i = 0; i < stage->count; i++) TSR_TRY(in_blocks(b, stage->sizes[i], &sizes[i]));
  stage->sizes = sizes;
  return NULL;
}

// A grain of whole blocks stays. Where it is smaller, the piece of one shard becomes the grain.
static tsr_status scale_parts(const tsr_companion_dim *b, int64_t shards, tsr_stage *stage) {
  tsr_part *parts = tsr_arena_zeros(b->arena, (size_t)stage->count, sizeof *parts);
  if (!parts) return tsr_fail(NO_MEMORY, "the parts of a cut");
  for (int64_t i = 0; i < stage->count; i++) {
    parts[i] = stage->parts[i];
    const int64_t pieces = parts[i].copies > 0 ? shards / parts[i].copies : shards;
    if (pieces < 1 || parts[i].size % pieces) return through_block(b, parts[i].size);
    int64_t piece = 0;
    TSR_TRY(in_blocks(b, parts[i].size / pieces, &piece));
    const bool finer = parts[i].grain > 1 && parts[i].grain % b->unit == 0;
    parts[i].grain = finer ? parts[i].grain / b->unit * b->step : piece;
    parts[i].size = piece * pieces;
  }
  stage->parts = parts;
  return NULL;
}

// `left` is the size that the stage divides; an even stage must divide it without a remainder.
static tsr_status scale_stage(const tsr_companion_dim *b, const tsr_bound_stage *bound,
                              int64_t *left, tsr_stage *stage) {
  int64_t ignored = 0;
  switch (stage->kind) {
    case TSR_STAGE_SIZES:
      return scale_sizes(b, stage);
    case TSR_STAGE_PARTS:
      return scale_parts(b, bound->shards, stage);
    case TSR_STAGE_CYCLIC:
      return in_blocks(b, stage->block, &stage->block);
    case TSR_STAGE_EVEN:
      if (*left % bound->shards) return through_block(b, *left / bound->shards);
      *left /= bound->shards;
      return in_blocks(b, *left, &ignored);
  }
  return NULL;
}

// Only an even stage leaves pieces of one size for the next stage.
static tsr_status check_order(const tsr_companion_dim *b, const tsr_sharding_dim *bound) {
  for (int i = 0; i + 1 < bound->stage_count; i++)
    if (bound->stages[i].kind != TSR_STAGE_EVEN)
      return tsr_fail(UNSUPPORTED,
                      "tensor \"%s\": \"%s\" is cut in stages that are not even in dimension %d, "
                      "which its scale cannot follow",
                      b->scale->path, b->weight->path, b->of);
  return NULL;
}

static tsr_status scale_stages(const tsr_companion_dim *b, const tsr_sharding_dim *bound,
                               tsr_spec_dim *dim) {
  tsr_stage *stages = tsr_arena_zeros(b->arena, (size_t)dim->stage_count, sizeof *stages);
  int64_t left = b->weight->dims[b->of];
  if (!stages) return tsr_fail(NO_MEMORY, "the stages of a cut");
  TSR_TRY(check_order(b, bound));
  for (int i = 0; i < dim->stage_count; i++) {
    stages[i] = dim->stages[i];
    TSR_TRY(scale_stage(b, &bound->stages[i], &left, &stages[i]));
  }
  dim->stages = stages;
  return NULL;
}

// ---- the size of a block ----

// The block size that divides `was` elements into `has` blocks, the last one possibly short; 0 =
// none. Of several the power of two is right: 192 elements with 2 scales are blocks of 128 and 64.
static int64_t block_size(int64_t was, int64_t has) {
  const int64_t least = (was + has - 1) / has, most = has > 1 ? (was - 1) / (has - 1) : was;
  int64_t power = 1;
  while (power < least && power <= INT64_MAX / 2) power *= 2;
  if (power >= least && power <= most) return power;
  return was % has ? 0 : was / has;
}

static tsr_status set_ratio(tsr_companion_dim *b) {
  const int64_t has = b->scale->dims[b->dim], was = b->weight->dims[b->of];
  const int64_t common = was > 0 && has > 0 ? tsr_gcd(was, has) : 1;
  b->step = 1;
  b->unit = 1;
  if (has == was || !has || !was) return NULL;
  if (has < was) b->unit = block_size(was, has);
  if (has > was) b->step = has % was ? 0 : has / was;
  if (b->unit && b->step) return NULL;
  // Three bits for each of 32 elements fill three words.
  b->unit = was / common;
  b->step = has / common;
  if (has < was && b->unit <= MOST_IN_WORDS) return NULL;
  return tsr_fail(BAD_CUT,
                  "tensor \"%s\": size %lld of dimension %d does not go with \"%s\"'s %lld: "
                  "neither is a multiple of the other",
                  b->scale->path, (long long)has, b->dim, b->weight->path, (long long)was);
}

tsr_status tsr_companion_dim_cut(tsr_companion_dim *b, const tsr_sharding_dim *bound,
                                 tsr_spec_dim *inout_dim) {
  // Axes of size 1 cut nothing, so blocks do not matter.
  if (bound->shards == 1 && b->scale->dims[b->dim] != b->weight->dims[b->of]) {
    inout_dim->stage_count = 0;
    return NULL;
  }
  TSR_TRY(set_ratio(b));
  return b->unit > 1 || b->step > 1 ? scale_stages(b, bound, inout_dim) : NULL;
}
