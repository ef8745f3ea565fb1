// Policies for sizes that do not divide. ERROR names the nearest sizes that would; TRIM drops axes
// from the minor end until the rest divides.
#include "layout/fit_policy.h"

#include <string.h>

#include "base/arena.h"
#include "base/text_internal.h"
#include "spec/sharding_internal.h"
#include "spec/sub_axis.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

// ---- messages ----

static void print_axis(const tsr_mesh *mesh, const tsr_sub_axis *sub_axis, tsr_text *out) {
  const tsr_axis_ref ref = tsr_sub_axis_ref(mesh, sub_axis);
  tsr_text_add(out, ref.name);
  if (ref.size) tsr_text_addf(out, ":(%lld)%lld", (long long)ref.pre, (long long)ref.size);
  tsr_text_addf(out, "=%lld", (long long)sub_axis->size);
}

void tsr_fit_print_axes(const tsr_mesh *mesh, const tsr_bound_stage *stage, tsr_text *out) {
  for (int i = 0; i < stage->axis_count; i++) {
    if (i > 0) tsr_text_add(out, " * ");
    print_axis(mesh, &stage->axes[i], out);
  }
}

// The product that must divide the size: x=4 * y=2 = 8.
static void print_unit(const tsr_mesh *mesh, const tsr_bound_stage *stage, const tsr_misfit *found,
                       tsr_text *out) {
  tsr_fit_print_axes(mesh, stage, out);
  bool product = stage->axis_count > 1;
  if (stage->kind == TSR_STAGE_CYCLIC) {
    tsr_text_addf(out, " * blocks of %lld", (long long)stage->cut->block);
    product = true;
  }
  if (stage->kind == TSR_STAGE_PARTS) {
    const tsr_part *part = &stage->cut->parts[found->part];
    if (part->copies > 1) tsr_text_addf(out, " / %lld copies", (long long)part->copies);
    if (part->grain > 1) tsr_text_addf(out, " * grains of %lld", (long long)part->grain);
    product = product || part->copies > 1 || part->grain > 1;
  }
  if (product) tsr_text_addf(out, " = %lld", (long long)found->unit);
}

static void print_remainder(const tsr_mesh *mesh, const tsr_bound_stage *stage,
                            const tsr_misfit *found, tsr_text *out) {
  if (stage->kind == TSR_STAGE_PARTS)
    tsr_text_addf(out, "part \"%s\": ", stage->cut->parts[found->part].name);
  tsr_text_addf(out, "size %lld is not divisible by ", (long long)found->size);
  print_unit(mesh, stage, found, out);
  const int64_t below = found->size / found->unit * found->unit;
  int64_t above = 0;
  const bool overflows = __builtin_add_overflow(below, found->unit, &above);
  if (below > 0 && !overflows)
    tsr_text_addf(out, "; nearest sizes are %lld and %lld", (long long)below, (long long)above);
  else
    tsr_text_addf(out, "; the nearest size is %lld", (long long)(overflows ? below : above));
}

static void print_misfit(const tsr_mesh *mesh, const tsr_bound_stage *stage,
                         const tsr_misfit *found, tsr_text *out) {
  const long long size = found->size, unit = found->unit;
  switch (found->kind) {
    case TSR_MISFIT_REMAINDER:
      print_remainder(mesh, stage, found, out);
      break;
    case TSR_MISFIT_SIZES_COUNT:
      tsr_text_addf(out, "%lld sizes for %lld shards, wanted one for each", size, unit);
      break;
    case TSR_MISFIT_SUM:
      tsr_text_addf(out, "%s add up to %lld, wanted the size %lld",
                    stage->kind == TSR_STAGE_SIZES ? "sizes" : "parts", unit, size);
      break;
    case TSR_MISFIT_UNEQUAL:
      tsr_text_addf(out, "%s need shards of one size, but those before have %lld and %lld",
                    stage->kind == TSR_STAGE_SIZES ? "sizes" : "parts", size, unit);
      break;
    case TSR_MISFIT_COPIES:
      tsr_text_addf(out, "part \"%s\" has %lld copies, which do not divide %lld shards",
                    stage->cut->parts[found->part].name, unit, size);
      break;
    case TSR_MISFIT_VALUE:
    case TSR_FITS:
      tsr_text_add(out, "a size, grain, block or number of copies is out of bounds");
      break;
  }
}

static tsr_status refuse(const tsr_mesh *mesh, const tsr_cut *cut, int dim,
                         const tsr_misfit *found) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "dimension %d", dim);
  if (cut->stage_count > 1) tsr_text_addf(&text, ", stage %d", found->stage);
  tsr_text_add(&text, ": ");
  print_misfit(mesh, &cut->stages[found->stage], found, &text);
  return tsr_fail_text(
      found->kind == TSR_MISFIT_REMAINDER ? TSR_CAUSE_INDIVISIBLE : TSR_CAUSE_BAD_CUT, &text);
}

tsr_status tsr_fit_check(const tsr_sharding *sharding, const tsr_shape *shape, bool evenly) {
  for (int d = 0; d < tsr_sharding_dim_count(sharding); d++) {
    const tsr_cut cut = tsr_cut_of(sharding, d, shape->dims[d]);
    if (cut.stage_count == 0) continue;
    const tsr_misfit found = tsr_cut_fit(&cut, evenly);
    if (found.kind != TSR_FITS) return refuse(tsr_sharding_mesh(sharding), &cut, d, &found);
  }
  return NULL;
}

// ---- trimming ----

// A copy of a dimension's stages for trying smaller axes.
typedef struct policy_trial {
  tsr_cut cut;
  tsr_bound_stage *stages;
  tsr_sub_axis **axes;  // of each stage
} policy_trial;

static tsr_status start_trial(tsr_arena *arena, const tsr_cut *cut, policy_trial *out) {
  const size_t count = (size_t)cut->stage_count;
  out->cut = *cut;
  out->stages = tsr_arena_zeros(arena, count, sizeof *out->stages);
  out->axes = tsr_arena_zeros(arena, count, sizeof *out->axes);
  if (!out->stages || !out->axes) return tsr_fail(NO_MEMORY, "the stages of a cut");
  for (size_t s = 0; s < count; s++) {
    const size_t bytes = sizeof **out->axes * (size_t)cut->stages[s].axis_count;
    out->stages[s] = cut->stages[s];
    out->axes[s] = tsr_arena_alloc(arena, bytes);
    if (!out->axes[s]) return tsr_fail(NO_MEMORY, "the axes of a cut");
    out->stages[s].axes = memcpy(out->axes[s], cut->stages[s].axes, bytes);
  }
  out->cut.stages = out->stages;
  return NULL;
}

// Changes the size of the minor-most axis of the last stage. Size 1 removes the axis, and the stage
// with its only axis.
static void resize_last(policy_trial *t, int64_t size) {
  tsr_bound_stage *last = &t->stages[t->cut.stage_count - 1];
  tsr_sub_axis *axis = &t->axes[t->cut.stage_count - 1][last->axis_count - 1];
  last->shards = last->shards / axis->size * size;
  t->cut.shards = t->cut.shards / axis->size * size;
  axis->size = size;
  if (size == 1 && --last->axis_count == 0) t->cut.stage_count--;
}

static bool divides(const policy_trial *t) { return tsr_cut_fit(&t->cut, true).kind == TSR_FITS; }

// The largest divisor of `n` below `bound`, at least 1. O(sqrt(n)) for a whole descent.
static int64_t divisor_below(int64_t n, int64_t bound) {
  int64_t d = n / bound + 1;
  for (; d <= n / d; d++)
    if (n % d == 0) return n / d;
  int64_t divisor = n / d < bound - 1 ? n / d : bound - 1;
  while (n % divisor != 0) divisor--;
  return divisor;
}

// Removes axes from the minor end until the rest divides; keeps the largest sub-axis of the last
// one that still divides.
static void trim(policy_trial *t) {
  while (t->cut.stage_count > 0 && !divides(t)) {
    const tsr_bound_stage *last = &t->stages[t->cut.stage_count - 1];
    const int64_t size = last->axes[last->axis_count - 1].size;
    int64_t kept = size;
    while (kept > 1) {
      kept = divisor_below(size, kept);
      if (kept > 1) resize_last(t, kept);
      if (kept > 1 && divides(t)) return;
    }
    resize_last(t, 1);
  }
}

// The trimmed stages as a spec's dimension.
static tsr_status write_dim(tsr_arena *arena, const tsr_mesh *mesh, const policy_trial *t,
                            tsr_spec_dim *out) {
  tsr_stage *stages = tsr_arena_zeros(arena, (size_t)t->cut.stage_count + 1, sizeof *stages);
  if (!stages) return tsr_fail(NO_MEMORY, "the stages of a cut");
  for (int s = 0; s < t->cut.stage_count; s++) {
    const tsr_bound_stage *bound = &t->stages[s];
    tsr_axis_ref *axes = tsr_arena_zeros(arena, (size_t)bound->axis_count, sizeof *axes);
    if (!axes) return tsr_fail(NO_MEMORY, "the axes of a cut");
    for (int i = 0; i < bound->axis_count; i++) axes[i] = tsr_sub_axis_ref(mesh, &bound->axes[i]);
    stages[s] = *bound->cut;
    stages[s].axis_count = bound->axis_count;
    stages[s].axes = axes;
  }
  out->stage_count = t->cut.stage_count;
  out->stages = stages;
  return NULL;
}

static tsr_status trim_dim(tsr_arena *arena, const tsr_sharding *sharding, const tsr_shape *shape,
                           int dim, tsr_spec_dim *out, bool *changed) {
  const tsr_cut cut = tsr_cut_of(sharding, dim, shape->dims[dim]);
  const tsr_misfit found = tsr_cut_fit(&cut, true);
  if (found.kind == TSR_FITS) return NULL;
  if (found.kind != TSR_MISFIT_REMAINDER)
    return refuse(tsr_sharding_mesh(sharding), &cut, dim, &found);
  policy_trial t;
  TSR_TRY(start_trial(arena, &cut, &t));
  trim(&t);
  *changed = true;
  return write_dim(arena, tsr_sharding_mesh(sharding), &t, out);
}

static tsr_status trim_dims(tsr_arena *arena, const tsr_sharding *sharding, const tsr_shape *shape,
                            tsr_sharding **out_sharding) {
  tsr_spec_desc desc = *tsr_spec_desc_of(tsr_sharding_spec(sharding));
  tsr_spec_dim *dims = tsr_arena_zeros(arena, (size_t)desc.dim_count + 1, sizeof *dims);
  if (!dims) return tsr_fail(NO_MEMORY, "a spec of %d dimensions", desc.dim_count);
  bool changed = false;
  for (int d = 0; d < desc.dim_count; d++) {
    dims[d] = desc.dims[d];
    TSR_TRY(trim_dim(arena, sharding, shape, d, &dims[d], &changed));
  }
  if (!changed) {
    *out_sharding = tsr_sharding_retain(sharding);
    return NULL;
  }
  desc.dims = dims;
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_create(&desc, &spec));
  tsr_status status = tsr_sharding_bind(tsr_sharding_mesh(sharding), spec, false, out_sharding);
  tsr_spec_release(spec);
  return status;
}

tsr_status tsr_fit_trim(const tsr_sharding *sharding, const tsr_shape *shape,
                        tsr_sharding **out_sharding) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = trim_dims(&arena, sharding, shape, out_sharding);
  tsr_arena_deinit(&arena);
  return status;
}
