// Correction within a plan: tsr_spec_correct, with its changes as notes. Each pair of spec and
// shape is corrected once.
#include "base/grow.h"
#include "plan/plan.h"
#include "plan/spec_entry.h"
#include "spec/axis_ref.h"

// ---- notes ----

static const tsr_why why_of[TSR_CHANGE_COUNT] = {
    [TSR_CHANGE_CUT_TO_RANK] = TSR_WHY_CUT_TO_RANK,
    [TSR_CHANGE_AXIS_MISSING] = TSR_WHY_AXIS_MISSING,
    [TSR_CHANGE_SUB_AXIS_MISFIT] = TSR_WHY_SUB_AXIS_MISFIT,
    [TSR_CHANGE_INDIVISIBLE] = TSR_WHY_INDIVISIBLE,
    [TSR_CHANGE_CUT_MISFIT] = TSR_WHY_CUT_MISFIT,
    [TSR_CHANGE_UNCONSTRAINED] = TSR_WHY_UNCONSTRAINED,
};

tsr_change_kind tsr_why_change(tsr_why why) {
  int kind = 0;
  while (kind < TSR_CHANGE_COUNT && why_of[kind] != why) kind++;
  return (tsr_change_kind)kind;
}

static tsr_status add_correction_note(tsr_plan_builder *builder, tsr_plan_note note) {
  tsr_plan_note *notes = tsr_grow(builder->correction_notes, builder->correction_note_count,
                                  &builder->correction_note_capacity, sizeof *notes);
  if (!notes) return tsr_fail(NO_MEMORY, "notes of a plan");
  builder->correction_notes = notes;
  if (note.axis) TSR_TRY(tsr_plan_builder_name(builder, note.axis, &note.axis));
  notes[builder->correction_note_count++] = note;
  return NULL;
}

// NOTHING_LEFT gets no note: the changes before it say why.
static tsr_status add_change_notes(tsr_plan_builder *builder, const tsr_changes *changes) {
  for (int64_t i = 0; i < changes->count; i++) {
    const tsr_change *change = &changes->items[i];
    if (change->kind == TSR_CHANGE_NOTHING_LEFT) continue;
    const bool sub_axis = change->kind == TSR_CHANGE_SUB_AXIS_MISFIT;
    TSR_TRY(add_correction_note(
        builder, (tsr_plan_note){.why = why_of[change->kind],
                                 .dim = change->dim,
                                 .rule = -1,
                                 .argument = sub_axis ? change->size : change->product,
                                 .axis = change->axis}));
  }
  return NULL;
}

// ---- axes used twice ----

// The axes of a spec met so far.
typedef struct repeat_scan {
  tsr_plan_builder *builder;
  tsr_arena arena;
  const tsr_axis_ref *seen[2 * TSR_MAX_RANK];
  int seen_count;
} repeat_scan;

static bool is_seen(repeat_scan *work, const tsr_axis_ref *ref) {
  for (int i = 0; i < work->seen_count; i++)
    if (tsr_axis_ref_overlaps(work->seen[i], ref)) return true;
  if (work->seen_count < 2 * TSR_MAX_RANK) work->seen[work->seen_count++] = ref;
  return false;
}

// Drops axes met before from a stage. `*out_stands`: the cut still makes sense without them.
static tsr_status drop_from_stage(repeat_scan *work, int dim, tsr_stage *stage, bool *out_stands) {
  tsr_axis_ref *axes = tsr_arena_zeros(&work->arena, (size_t)stage->axis_count + 1, sizeof *axes);
  if (!axes) return tsr_fail(NO_MEMORY, "axes of a spec");
  int kept = 0;
  for (int i = 0; i < stage->axis_count; i++) {
    if (!is_seen(work, &stage->axes[i])) {
      axes[kept++] = stage->axes[i];
      continue;
    }
    TSR_TRY(add_correction_note(
        work->builder,
        (tsr_plan_note){
            .why = TSR_WHY_DUPLICATE_AXIS, .dim = dim, .rule = -1, .axis = stage->axes[i].name}));
  }
  const bool whole = kept == stage->axis_count;
  *out_stands = whole || stage->kind == TSR_STAGE_EVEN || stage->kind == TSR_STAGE_CYCLIC;
  stage->axes = axes;
  stage->axis_count = kept;
  return NULL;
}

static tsr_status drop_from_dim(repeat_scan *work, int d, tsr_spec_dim *dim) {
  tsr_stage *stages = tsr_arena_zeros(&work->arena, (size_t)dim->stage_count + 1, sizeof *stages);
  if (!stages) return tsr_fail(NO_MEMORY, "stages of a spec");
  int kept = 0;
  for (int s = 0; s < dim->stage_count; s++) {
    bool stands = true;
    stages[kept] = dim->stages[s];
    TSR_TRY(drop_from_stage(work, d, &stages[kept], &stands));
    if (!stands) {
      kept = 0;
      break;
    }
    kept += stages[kept].axis_count > 0;
  }
  dim->stages = stages;
  dim->stage_count = kept;
  return NULL;
}

static tsr_status drop_repeats(repeat_scan *work, const tsr_spec *spec, tsr_spec **out_spec) {
  tsr_spec_desc desc = *tsr_spec_desc_of(spec);
  tsr_spec_dim *dims = tsr_arena_zeros(&work->arena, (size_t)desc.dim_count + 1, sizeof *dims);
  if (!dims) return tsr_fail(NO_MEMORY, "dimensions of a spec");
  for (int d = 0; d < desc.dim_count; d++) {
    dims[d] = desc.dims[d];
    TSR_TRY(drop_from_dim(work, d, &dims[d]));
  }
  desc.dims = dims;
  return tsr_spec_create(&desc, out_spec);
}

// ---- cuts that come out uneven ----

// Correction keeps blocks and parts that come out uneven. They are dropped here if the policy does
// not allow them.

static int64_t count_shards(const tsr_spec_dim *entry, const tsr_mesh *mesh) {
  int64_t shards = 1;
  for (int s = 0; s < entry->stage_count; s++)
    for (int i = 0; i < entry->stages[s].axis_count; i++) {
      const tsr_axis_ref *ref = &entry->stages[s].axes[i];
      shards *=
          ref->size ? ref->size : tsr_mesh_axis_at(mesh, tsr_mesh_axis_find(mesh, ref->name))->size;
    }
  return shards;
}

// The spec without the entries that do not fit, or NULL if all do.
static tsr_status drop_misfits(tsr_plan_builder *builder, const tsr_spec *spec,
                               const tsr_tensor *tensor, tsr_policy policy, tsr_spec **out_spec) {
  const tsr_mesh *mesh = builder->plan->mesh;
  tsr_spec_desc desc = *tsr_spec_desc_of(spec);
  tsr_spec_dim dims[TSR_MAX_RANK];
  bool any = false, cut = false;
  for (int d = 0; d < desc.dim_count; d++) {
    bool fits = true;
    dims[d] = desc.dims[d];
    if (!dims[d].stage_count) continue;
    TSR_TRY(tsr_spec_entry_fits(&dims[d], mesh, tensor->dims[d], policy, &fits));
    cut = cut || fits;
    if (fits) continue;
    any = true;
    dims[d].stage_count = 0;
    TSR_TRY(add_correction_note(builder,
                                (tsr_plan_note){.why = TSR_WHY_CUT_MISFIT,
                                                .dim = d,
                                                .rule = -1,
                                                .argument = count_shards(&desc.dims[d], mesh)}));
  }
  *out_spec = NULL;
  if (!any) return NULL;
  desc.dims = dims;
  if (!cut) desc.dim_count = 0;
  return tsr_spec_create(&desc, out_spec);
}

// Nearly all specs fit as correction left them.
static tsr_status fit(tsr_plan_builder *builder, const tsr_tensor *tensor, tsr_policy policy,
                      tsr_spec **inout_spec) {
  tsr_layout *layout = NULL;
  tsr_spec *fitting = NULL;
  TSR_TRY(tsr_tensor_try_layout(tensor, builder->plan->mesh, *inout_spec, policy, &layout));
  tsr_layout_release(layout);
  if (layout) return NULL;
  TSR_TRY(drop_misfits(builder, *inout_spec, tensor, policy, &fitting));
  if (!fitting) return NULL;
  tsr_spec_release(*inout_spec);
  *inout_spec = fitting;
  return NULL;
}

// ---- correction ----

static tsr_status correct_once(tsr_plan_builder *builder, const tsr_spec *wanted,
                               const tsr_tensor *tensor, tsr_policy policy, tsr_spec **out_spec) {
  const tsr_shape shape = tsr_tensor_shape(tensor);
  const tsr_correct_options options = {.size = sizeof options,
                                       .keep_group_members = builder->keep_group_members,
                                       .uneven = policy != TSR_POLICY_ERROR};
  tsr_changes changes = {0};
  TSR_TRY(tsr_spec_correct(wanted, builder->plan->mesh, &shape, &options, out_spec, &changes));
  tsr_status status = add_change_notes(builder, &changes);
  tsr_changes_deinit(&changes);
  if (!status) status = fit(builder, tensor, policy, out_spec);
  if (status) tsr_spec_release(*out_spec);
  return status;
}

static tsr_status correct(tsr_plan_builder *builder, const tsr_spec *wanted,
                          const tsr_tensor *tensor, tsr_policy policy, tsr_spec **out_spec) {
  tsr_status status = correct_once(builder, wanted, tensor, policy, out_spec);
  if (tsr_status_cause(status) != TSR_CAUSE_DUPLICATE_MESH_AXIS) return status;
  tsr_status_free(status);
  repeat_scan work = {.builder = builder, .arena = TSR_ARENA_EMPTY};
  tsr_spec *without = NULL;
  status = drop_repeats(&work, wanted, &without);
  if (!status) status = correct_once(builder, without, tensor, policy, out_spec);
  tsr_spec_release(without);
  tsr_arena_deinit(&work.arena);
  return status;
}

static tsr_status correct_shape(tsr_plan_builder *builder, int32_t wanted, const tsr_tensor *tensor,
                                tsr_policy policy, tsr_correction *out) {
  tsr_spec *spec = NULL;
  out->first_note = builder->correction_note_count;
  TSR_TRY(correct(builder, builder->plan->specs[wanted], tensor, policy, &spec));
  out->note_count = builder->correction_note_count - out->first_note;
  tsr_status status = tsr_plan_builder_intern(builder, spec, &out->final);
  tsr_spec_release(spec);
  return status;
}

static tsr_status find_correction(tsr_plan_builder *builder, int32_t wanted,
                                  const tsr_tensor *tensor, tsr_policy policy,
                                  const tsr_correction **out_correction) {
  const uint64_t key = (uint64_t)wanted << 4 | (uint64_t)policy << 1 | builder->keep_group_members;
  bool is_new = false;
  tsr_correction *correction = tsr_shape_table_value(&builder->corrected, key, tensor, &is_new);
  if (!correction) return tsr_fail(NO_MEMORY, "corrections of specs");
  *out_correction = correction;
  return is_new ? correct_shape(builder, wanted, tensor, policy, correction) : NULL;
}

tsr_status tsr_plan_builder_correct(tsr_plan_builder *builder, int64_t row, const tsr_spec *wanted,
                                    tsr_policy policy) {
  if (!builder->plan->mesh) return tsr_plan_builder_set(builder, row, wanted, wanted, policy);
  const tsr_tensor *tensor = tsr_tree_at(builder->plan->tree, row);
  const tsr_correction *correction = NULL;
  int32_t index = 0;
  TSR_TRY(tsr_plan_builder_intern(builder, wanted, &index));
  TSR_TRY_NOTE(find_correction(builder, index, tensor, policy, &correction), "tensor \"%s\"",
               tensor->path);
  tsr_stored_row *stored = &builder->plan->rows[row];
  stored->wanted = index;
  stored->final = correction->final;
  stored->policy = (uint8_t)policy;
  for (int64_t i = 0; i < correction->note_count; i++)
    TSR_TRY(tsr_plan_builder_note(builder, row,
                                  &builder->correction_notes[correction->first_note + i]));
  return NULL;
}
