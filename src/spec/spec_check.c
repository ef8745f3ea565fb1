// Checks of a spec that need no mesh. The sets are checked in JAX's order, so that of several
// faults the same one is reported.
#include "base/room.h"
#include "spec/axis_ref.h"
#include "spec/spec.h"

bool tsr_stage_is_empty(const tsr_stage *stage) {
  return stage->axis_count == 0 || (stage->axis_count == 1 && stage->axes[0].name[0] == '\0');
}

static tsr_status check_ref(const tsr_axis_ref *ref) {
  if (!ref->name) return tsr_fail(BAD_ARGUMENT, "an axis has no name");
  if (ref->size == 0 && (ref->pre == 0 || ref->pre == 1)) return NULL;
  int64_t end = 0;
  if (ref->pre < 1 || ref->size < 1 || __builtin_mul_overflow(ref->pre, ref->size, &end))
    return tsr_fail(BAD_SUB_AXIS,
                    "sub-axis \"%s\":(%lld)%lld: both numbers must be 1 or more, and their product "
                    "a size",
                    ref->name, (long long)ref->pre, (long long)ref->size);
  return NULL;
}

static tsr_status check_sizes(const tsr_stage *stage) {
  int64_t sum = 0;
  for (int64_t i = 0; i < stage->count; i++) {
    if (stage->sizes[i] < 0)
      return tsr_fail(BAD_CUT, "the cut has size %lld, expected 0 or more",
                      (long long)stage->sizes[i]);
    if (__builtin_add_overflow(sum, stage->sizes[i], &sum))
      return tsr_fail(BAD_CUT, "the sizes of the cut add up to more than 2^63-1");
  }
  return NULL;
}

static tsr_status check_parts(const tsr_stage *stage) {
  int64_t sum = 0;
  for (int64_t i = 0; i < stage->count; i++) {
    const tsr_part *part = &stage->parts[i];
    if (!part->name) return tsr_fail(BAD_ARGUMENT, "part %lld has no name", (long long)i);
    if (part->size < 0 || __builtin_add_overflow(sum, part->size, &sum))
      return tsr_fail(BAD_CUT, "part \"%s\" has size %lld, wanted 0 or more", part->name,
                      (long long)part->size);
    if (part->grain < 1)
      return tsr_fail(BAD_CUT, "part \"%s\" has grain %lld, wanted 1 or more", part->name,
                      (long long)part->grain);
    if (part->copies < 1)
      return tsr_fail(BAD_CUT, "part \"%s\" has %lld copies, wanted 1 or more", part->name,
                      (long long)part->copies);
  }
  return NULL;
}

static tsr_status check_cut(const tsr_stage *stage) {
  if (stage->kind == TSR_STAGE_EVEN) return NULL;
  if (tsr_stage_is_empty(stage)) return tsr_fail(BAD_CUT, "a cut names no axis");
  switch (stage->kind) {
    case TSR_STAGE_EVEN:
      break;
    case TSR_STAGE_CYCLIC:
      if (stage->block < 1)
        return tsr_fail(BAD_CUT, "cyclic blocks of %lld elements, wanted 1 or more",
                        (long long)stage->block);
      return NULL;
    case TSR_STAGE_SIZES:
      if (stage->count < 1) return tsr_fail(BAD_CUT, "a cut by sizes without sizes");
      TSR_TRY(tsr_list_check(stage->sizes, stage->count, "sizes"));
      return check_sizes(stage);
    case TSR_STAGE_PARTS:
      if (stage->count < 1) return tsr_fail(BAD_CUT, "a cut by parts without parts");
      TSR_TRY(tsr_list_check(stage->parts, stage->count, "parts"));
      return check_parts(stage);
  }
  return tsr_fail(BAD_ARGUMENT, "%d is not a kind of stage", (int)stage->kind);
}

static tsr_status check_stage(const tsr_stage *stage, int64_t *names) {
  if (stage->axis_count < 0 || stage->count < 0)
    return tsr_fail(BAD_ARGUMENT, "a stage of %d axes and %lld sizes or parts, wanted 0 or more",
                    stage->axis_count, (long long)stage->count);
  if (stage->kind != TSR_STAGE_CYCLIC && stage->count > INT32_MAX)
    return tsr_fail(TOO_LARGE, "a cut by %lld sizes or parts, wanted at most %d",
                    (long long)stage->count, INT32_MAX);
  *names += stage->axis_count;
  if (stage->kind == TSR_STAGE_PARTS) *names += stage->count;
  if (*names > TSR_SPEC_MAX_NAMES)
    return tsr_fail(TOO_LARGE, "a spec names at most %d axes and parts", TSR_SPEC_MAX_NAMES);
  TSR_TRY(tsr_list_check(stage->axes, stage->axis_count, "axes"));
  for (int i = 0; i < stage->axis_count; i++) TSR_TRY(check_ref(&stage->axes[i]));
  return check_cut(stage);
}

static tsr_status check_dim(const tsr_spec_dim *dim, int64_t *names) {
  TSR_TRY(tsr_list_check(dim->stages, dim->stage_count, "stages"));
  if (dim->priority < 0)
    return tsr_fail(BAD_ARGUMENT, "priority %d, wanted 0 or more", dim->priority);
  if (dim->priority && !dim->has_priority)
    return tsr_fail(BAD_ARGUMENT, "priority %d, but has_priority is not set", dim->priority);
  for (int i = 0; i < dim->stage_count; i++) TSR_TRY(check_stage(&dim->stages[i], names));
  return NULL;
}

// A set of the spec and its name in messages.
typedef struct axis_set {
  const char *name;
  const tsr_axis_ref *refs;
  int count;
} axis_set;

static tsr_status check_set(const axis_set *set, int64_t *names) {
  TSR_TRY_NOTE(tsr_list_check(set->refs, set->count, "axes"), "the %s axes", set->name);
  *names += set->count;
  if (*names > TSR_SPEC_MAX_NAMES)
    return tsr_fail(TOO_LARGE, "a spec names at most %d axes and parts", TSR_SPEC_MAX_NAMES);
  for (int i = 0; i < set->count; i++) {
    TSR_TRY(check_ref(&set->refs[i]));
    if (!set->refs[i].name[0])
      return tsr_fail(BAD_ARGUMENT, "the %s axes include None, wanted names", set->name);
    for (int j = 0; j < i; j++)
      if (tsr_axis_ref_overlaps(&set->refs[i], &set->refs[j]) &&
          !tsr_axis_ref_equal(&set->refs[i], &set->refs[j]))
        return tsr_fail(DUPLICATE_MESH_AXIS, "sub-axes of \"%s\" overlap among the %s axes",
                        set->refs[i].name, set->name);
  }
  return NULL;
}

static bool set_overlaps(const axis_set *set, const tsr_axis_ref *ref) {
  for (int i = 0; i < set->count; i++)
    if (tsr_axis_ref_overlaps(&set->refs[i], ref)) return true;
  return false;
}

static const tsr_axis_ref *common_axis(const axis_set *a, const axis_set *b) {
  for (int i = 0; i < a->count; i++)
    if (set_overlaps(b, &a->refs[i])) return &a->refs[i];
  return NULL;
}

static tsr_status check_entry(const tsr_spec_dim *dim, const axis_set sets[3], int d) {
  for (int s = 0; s < dim->stage_count; s++) {
    for (int i = 0; i < dim->stages[s].axis_count; i++) {
      const tsr_axis_ref *ref = &dim->stages[s].axes[i];
      const char *wrong = "axis \"%s\" cuts dimension %d and is %s too";
      if (set_overlaps(&sets[0], ref))
        return tsr_fail(PARTITION_OVERLAPS_UNREDUCED, wrong, ref->name, d, sets[0].name);
      if (set_overlaps(&sets[1], ref))
        return tsr_fail(PARTITION_OVERLAPS_REDUCED, wrong, ref->name, d, sets[1].name);
      if (set_overlaps(&sets[2], ref))
        return tsr_fail(DUPLICATE_MESH_AXIS, wrong, ref->name, d, sets[2].name);
    }
  }
  return NULL;
}

tsr_status tsr_spec_desc_check(const tsr_spec_desc *desc) {
  TSR_TRY(tsr_list_check(desc->dims, desc->dim_count, "dimensions"));
  if (desc->reduction < TSR_REDUCE_SUM || desc->reduction >= TSR_SPEC_REDUCTION_COUNT)
    return tsr_fail(BAD_ARGUMENT, "reduction %d is not one of sum, max and min",
                    (int)desc->reduction);
  const axis_set sets[3] = {{"unreduced", desc->unreduced, desc->unreduced_count},
                            {"reduced", desc->reduced, desc->reduced_count},
                            {"replicated", desc->replicated, desc->replicated_count}};
  int64_t names = 0;
  for (int d = 0; d < desc->dim_count; d++)
    TSR_TRY_NOTE(check_dim(&desc->dims[d], &names), "dimension %d", d);
  for (int i = 0; i < 3; i++) TSR_TRY(check_set(&sets[i], &names));

  const tsr_axis_ref *both = common_axis(&sets[0], &sets[1]);
  if (both)
    return tsr_fail(UNREDUCED_OVERLAPS_REDUCED, "axis \"%s\" is unreduced and reduced too",
                    both->name);
  for (int d = 0; d < desc->dim_count; d++) TSR_TRY(check_entry(&desc->dims[d], sets, d));
  for (int i = 0; i < 2; i++) {
    both = common_axis(&sets[i], &sets[2]);
    if (both)
      return tsr_fail(DUPLICATE_MESH_AXIS, "axis \"%s\" is %s and replicated too", both->name,
                      sets[i].name);
  }
  return NULL;
}
