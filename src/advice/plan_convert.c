// A plan carried over to another mesh: convert_sharding_strategy.
//
// Where every axis of a spec has a successor of its own size, the spec only changes names.
// Otherwise each dimension keeps the successors it can use. If that leaves it in fewer shards than
// before, unclaimed axes are added, to come as near to the old number as possible.
//
// Rules that compute their cuts from the model's facts are matched again (rematch.c): 8 key heads
// in 8 shards look like any even cut, but in 16 shards they need replicas.
#include <stdlib.h>
#include <string.h>

#include "advice/choice.h"
#include "advice/rematch.h"
#include "base/grow.h"
#include "plan/plan_internal.h"
#include "plan/stand_ins.h"
#include "spec/sharding_internal.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/engine/sharding.h"

// The conversion of a spec for a shape.
typedef struct converted_spec {
  const tsr_spec *spec;  // owned
  int64_t first_note, note_count;
} converted_spec;

typedef struct convert_job {
  const tsr_plan *plan;
  const tsr_mesh *mesh;  // the new one
  tsr_axis_successors successors;
  tsr_rematch rematch;
  tsr_shape_table table;  // converted_spec, by spec and policy
  tsr_plan_note *notes;   // their axes live as long as the meshes
  int64_t note_count, note_capacity;
} convert_job;

// A tensor on its way.
typedef struct row_conversion {
  const tsr_tensor *tensor;
  const tsr_sharding *from;
  tsr_policy policy;
  bool evenly;     // sizes must divide
  bool keep_cuts;  // keep parts, sizes and blocks if they fit
  uint32_t cuts;   // dimensions that kept them, as bits
  tsr_choice choice;
  int64_t shards[TSR_MAX_RANK];  // of each dimension so far
} row_conversion;

static tsr_status add_note(convert_job *job, tsr_why why, int dim, int64_t argument,
                           const char *axis) {
  tsr_plan_note *notes =
      tsr_grow(job->notes, job->note_count, &job->note_capacity, sizeof *job->notes);
  if (!notes) return tsr_fail(NO_MEMORY, "%lld notes", (long long)job->note_count);
  job->notes = notes;
  job->notes[job->note_count++] =
      (tsr_plan_note){.why = why, .dim = dim, .rule = -1, .argument = argument, .axis = axis};
  return NULL;
}

// ---- changing names only ----

// Whether the successor can replace the axis, and its sub-axes.
static bool has_equal_successor(const convert_job *job, int axis) {
  const int of = job->successors.of[axis];
  return of >= 0 &&
         tsr_mesh_axis_at(job->plan->mesh, axis)->size == tsr_mesh_axis_at(job->mesh, of)->size;
}

// Marks the axes' successors; false when one of them has none of its size.
static bool claim_successors(const convert_job *job, const tsr_sub_axis *axes, int count,
                             int owner[TSR_MAX_AXES]) {
  for (int i = 0; i < count; i++) {
    const int axis = axes[i].axis;
    if (!has_equal_successor(job, axis)) return false;
    int *own = &owner[job->successors.of[axis]];
    if (*own >= 0 && *own != axis) return false;
    *own = axis;
  }
  return true;
}

static bool can_rename(const convert_job *job, const tsr_sharding *from) {
  int owner[TSR_MAX_AXES], count = 0;
  for (int i = 0; i < TSR_MAX_AXES; i++) owner[i] = -1;
  for (int d = 0; d < tsr_sharding_dim_count(from); d++) {
    const tsr_sharding_dim *dim = tsr_sharding_dim_at(from, d);
    for (int s = 0; s < dim->stage_count; s++)
      if (!claim_successors(job, dim->stages[s].axes, dim->stages[s].axis_count, owner))
        return false;
  }
  const tsr_sub_axis *set = tsr_sharding_unreduced(from, &count);
  if (!claim_successors(job, set, count, owner)) return false;
  set = tsr_sharding_reduced(from, &count);
  if (!claim_successors(job, set, count, owner)) return false;
  set = tsr_sharding_replicated(from, &count);
  return claim_successors(job, set, count, owner);
}

// The axes with the names of their successors, in the arena. None inside a group stays.
static tsr_status rename_axes(const convert_job *job, tsr_arena *arena, int count,
                              const tsr_axis_ref **inout_axes) {
  tsr_axis_ref *axes = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *axes);
  if (!axes) return tsr_fail(NO_MEMORY, "axes of a spec");
  for (int i = 0; i < count; i++) {
    axes[i] = (*inout_axes)[i];
    const int axis = tsr_mesh_axis_find(job->plan->mesh, axes[i].name);
    if (axis >= 0) axes[i].name = tsr_mesh_axis_at(job->mesh, job->successors.of[axis])->name;
  }
  *inout_axes = axes;
  return NULL;
}

static tsr_status rename_dim(const convert_job *job, tsr_arena *arena, tsr_spec_dim *dim) {
  tsr_stage *stages = tsr_arena_zeros(arena, (size_t)dim->stage_count + 1, sizeof *stages);
  if (!stages) return tsr_fail(NO_MEMORY, "stages of a spec");
  for (int s = 0; s < dim->stage_count; s++) {
    stages[s] = dim->stages[s];
    TSR_TRY(rename_axes(job, arena, stages[s].axis_count, &stages[s].axes));
  }
  dim->stages = stages;
  return NULL;
}

static tsr_status rename_spec(const convert_job *job, tsr_arena *arena, tsr_spec_desc *desc,
                              tsr_spec_dim *dims) {
  for (int d = 0; d < desc->dim_count; d++) {
    dims[d] = desc->dims[d];
    TSR_TRY(rename_dim(job, arena, &dims[d]));
  }
  TSR_TRY(rename_axes(job, arena, desc->unreduced_count, &desc->unreduced));
  TSR_TRY(rename_axes(job, arena, desc->reduced_count, &desc->reduced));
  return rename_axes(job, arena, desc->replicated_count, &desc->replicated);
}

// ---- choosing again ----

static bool divides(const row_conversion *on, int dim, int64_t factor) {
  const int64_t size = on->tensor->dims[dim];
  int64_t shards = 0;
  if (__builtin_mul_overflow(on->shards[dim], factor, &shards)) return false;
  return !on->evenly || size % shards == 0;
}

static void take_axis(const convert_job *job, row_conversion *on, int dim, int axis) {
  on->choice.axes[dim][on->choice.counts[dim]++] = (uint8_t)axis;
  on->choice.used |= UINT32_C(1) << axis;
  on->shards[dim] *= tsr_mesh_axis_at(job->mesh, axis)->size;
}

// Keeps the successor of one axis of a dimension, or notes why not.
static tsr_status keep_successor(convert_job *job, row_conversion *on, int dim, int axis) {
  const char *name = tsr_mesh_axis_at(job->plan->mesh, axis)->name;
  const int of = job->successors.of[axis];
  if (of < 0) return add_note(job, TSR_WHY_AXIS_MISSING, dim, 0, name);
  const tsr_axis *own = tsr_mesh_axis_at(job->mesh, of);
  if (on->choice.used >> of & 1) return add_note(job, TSR_WHY_DUPLICATE_AXIS, dim, 0, own->name);
  if (!divides(on, dim, own->size))
    return add_note(job, TSR_WHY_INDIVISIBLE, dim, on->shards[dim] * own->size, own->name);
  take_axis(job, on, dim, of);
  return NULL;
}

static bool is_plain(const tsr_sharding_dim *dim) {
  for (int s = 0; s < dim->stage_count; s++)
    if (dim->stages[s].kind != TSR_STAGE_EVEN) return false;
  return true;
}

// Whether the successors can replace the axes of a stage. Explicit sizes fit one number of shards
// only; whether parts fit is checked at the end.
static bool can_keep_cut(const convert_job *job, const row_conversion *on,
                         const tsr_bound_stage *stage) {
  uint32_t used = on->choice.used;
  int64_t shards = 1;
  for (int i = 0; i < stage->axis_count; i++) {
    const int axis = stage->axes[i].axis, of = job->successors.of[axis];
    if (of < 0 || used >> of & 1) return false;
    if (stage->axes[i].size != tsr_mesh_axis_at(job->plan->mesh, axis)->size) return false;
    used |= UINT32_C(1) << of;
    shards *= tsr_mesh_axis_at(job->mesh, of)->size;
  }
  return stage->kind != TSR_STAGE_SIZES || shards == stage->shards;
}

static tsr_status keep_cuts(convert_job *job, row_conversion *on, int d) {
  const tsr_sharding_dim *dim = tsr_sharding_dim_at(on->from, d);
  bool can = on->keep_cuts;
  for (int s = 0; can && s < dim->stage_count; s++) can = can_keep_cut(job, on, &dim->stages[s]);
  if (!can) return add_note(job, TSR_WHY_CUT_MISFIT, d, dim->shards, NULL);
  on->cuts |= UINT32_C(1) << d;
  for (int s = 0; s < dim->stage_count; s++)
    for (int i = 0; i < dim->stages[s].axis_count; i++)
      take_axis(job, on, d, job->successors.of[dim->stages[s].axes[i].axis]);
  return NULL;
}

static tsr_status keep_successors(convert_job *job, row_conversion *on, int d) {
  const tsr_sharding_dim *dim = tsr_sharding_dim_at(on->from, d);
  if (!is_plain(dim)) return keep_cuts(job, on, d);
  for (int s = 0; s < dim->stage_count; s++)
    for (int i = 0; i < dim->stages[s].axis_count; i++)
      if (dim->stages[s].axes[i].size > 1)
        TSR_TRY(keep_successor(job, on, d, dim->stages[s].axes[i].axis));
  return NULL;
}

// How far a number of shards is from the old one, as a factor.
static double distance(int64_t shards, int64_t wanted) {
  return shards > wanted ? (double)shards / (double)wanted : (double)wanted / (double)shards;
}

static int64_t mask_size(const tsr_mesh *mesh, uint32_t mask) {
  int64_t size = 1;
  for (int axis = 0; mask >> axis; axis++)
    if (mask >> axis & 1) size *= tsr_mesh_axis_at(mesh, axis)->size;
  return size;
}

// The unclaimed axes that bring a dimension nearest to the old number of shards; the fewest shards
// and the lowest axes where several do. There are few unclaimed axes, so all their sets are tried.
static uint32_t nearest_set(const convert_job *job, const row_conversion *on, int dim,
                            int64_t wanted) {
  const uint32_t unclaimed = job->successors.unclaimed & ~on->choice.used;
  uint32_t best = 0;
  int64_t best_size = 1;
  for (uint32_t set = unclaimed; set; set = (set - 1) & unclaimed) {
    const int64_t size = mask_size(job->mesh, set);
    if (size == 1 || !divides(on, dim, size)) continue;
    const double now = distance(on->shards[dim] * best_size, wanted);
    const double then = distance(on->shards[dim] * size, wanted);
    const bool tie = size < best_size || (size == best_size && set < best);
    if (then > now || (then == now && !tie)) continue;
    best = set;
    best_size = size;
  }
  return best;
}

// The dimension with the greatest loss of shards; -1 when none has one or all are done.
static int most_reduced(const row_conversion *on, uint64_t done) {
  int found = -1;
  double most = 1;
  for (int d = 0; d < on->choice.rank; d++) {
    const tsr_sharding_dim *dim = tsr_sharding_dim_at(on->from, d);
    const double lack = (double)dim->shards / (double)on->shards[d];
    if (done >> d & 1 || !is_plain(dim) || lack <= most) continue;
    most = lack;
    found = d;
  }
  return found;
}

static void add_free_axes(const convert_job *job, row_conversion *on) {
  uint64_t done = 0;
  for (int dim; (dim = most_reduced(on, done)) >= 0; done |= UINT64_C(1) << dim) {
    const uint32_t set = nearest_set(job, on, dim, tsr_sharding_dim_at(on->from, dim)->shards);
    for (int axis = 0; set >> axis; axis++)
      if (set >> axis & 1) take_axis(job, on, dim, axis);
  }
}

static tsr_status make_dim(const convert_job *job, const row_conversion *on, int dim,
                           tsr_arena *arena, tsr_spec_dim *inout_dim) {
  if (on->cuts >> dim & 1) return rename_dim(job, arena, inout_dim);
  inout_dim->stage_count = 0;
  return tsr_choice_extend(&on->choice, dim, job->mesh, arena, inout_dim);
}

// Partial results belong to the devices they are on, so another mesh has no place for them.
static tsr_status check_sets(const convert_job *job, const tsr_sharding *from) {
  int count = 0;
  const tsr_sub_axis *axes = tsr_sharding_unreduced(from, &count);
  if (!count) return NULL;
  return tsr_fail(UNSUPPORTED, "partial results over axis \"%s\" have no place on another mesh",
                  tsr_mesh_axis_at(job->plan->mesh, axes[0].axis)->name);
}

static tsr_status choose_spec(convert_job *job, row_conversion *on, tsr_arena *arena,
                              tsr_spec_desc *desc, tsr_spec_dim *dims) {
  on->choice.rank = desc->dim_count;
  TSR_TRY(check_sets(job, on->from));
  for (int d = 0; d < desc->dim_count; d++) {
    on->shards[d] = 1;
    TSR_TRY(keep_successors(job, on, d));
  }
  add_free_axes(job, on);
  for (int d = 0; d < desc->dim_count; d++) {
    dims[d] = desc->dims[d];
    TSR_TRY(make_dim(job, on, d, arena, &dims[d]));
  }
  *desc = (tsr_spec_desc){
      .size = sizeof *desc, .dim_count = desc->dim_count, .mesh_name = desc->mesh_name};
  return NULL;
}

// ---- one spec for one shape ----

// One note for each dimension that was cut; one for the whole if none was.
static tsr_status note_dims(convert_job *job, const tsr_sharding *from, const tsr_spec *to) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(to);
  bool cut = false;
  for (int d = 0; d < tsr_sharding_dim_count(from); d++) {
    const int64_t shards = tsr_sharding_dim_at(from, d)->shards;
    if (shards == 1) continue;
    cut = true;
    const bool still = d < desc->dim_count && desc->dims[d].stage_count;
    const int axis =
        still ? tsr_mesh_axis_find(job->mesh, desc->dims[d].stages[0].axes[0].name) : -1;
    TSR_TRY(add_note(job, TSR_WHY_CONVERTED, d, shards,
                     axis < 0 ? NULL : tsr_mesh_axis_at(job->mesh, axis)->name));
  }
  return cut ? NULL : add_note(job, TSR_WHY_CONVERTED, -1, 1, NULL);
}

static tsr_status make_spec(convert_job *job, row_conversion *on, tsr_spec **out_spec) {
  tsr_spec_desc desc = *tsr_spec_desc_of(tsr_sharding_spec(on->from));
  tsr_spec_dim dims[TSR_MAX_RANK];
  tsr_arena arena = TSR_ARENA_EMPTY;
  on->choice = (tsr_choice){.rank = 0};
  on->cuts = 0;
  tsr_status status = can_rename(job, on->from) ? rename_spec(job, &arena, &desc, dims)
                                                : choose_spec(job, on, &arena, &desc, dims);
  desc.dims = dims;
  if (!status) status = tsr_spec_create(&desc, out_spec);
  tsr_arena_deinit(&arena);
  return status;
}

static tsr_status check_fit(const convert_job *job, const row_conversion *on, const tsr_spec *spec,
                            bool *out_fits) {
  tsr_layout *layout = NULL;
  tsr_status status = tsr_tensor_layout(on->tensor, job->mesh, spec, on->policy, &layout);
  const tsr_cause cause = tsr_status_cause(status);
  *out_fits = cause != TSR_CAUSE_BAD_CUT && cause != TSR_CAUSE_INDIVISIBLE;
  tsr_layout_release(layout);
  if (*out_fits) return status;
  tsr_status_free(status);
  return NULL;
}

// Tries to keep parts, sizes and blocks, and then without them if they do not fit.
static tsr_status make_fitting(convert_job *job, row_conversion *on, tsr_spec **out_spec) {
  const int64_t note_count = job->note_count;
  tsr_spec *spec = NULL;
  bool fits = true;
  on->keep_cuts = true;
  TSR_TRY(make_spec(job, on, &spec));
  tsr_status status = on->cuts ? check_fit(job, on, spec, &fits) : NULL;
  if (!status && fits) {
    *out_spec = spec;
    return NULL;
  }
  tsr_spec_release(spec);
  if (status) return status;
  job->note_count = note_count;
  on->keep_cuts = false;
  return make_spec(job, on, out_spec);
}

static tsr_status convert_bound(convert_job *job, row_conversion *on, const tsr_spec **out_spec) {
  tsr_spec *spec = NULL;
  TSR_TRY(make_fitting(job, on, &spec));
  const tsr_status status = note_dims(job, on->from, spec);
  if (status)
    tsr_spec_release(spec);
  else
    *out_spec = spec;
  return status;
}

static tsr_status convert_row(convert_job *job, const tsr_plan_row *row, converted_spec *out) {
  tsr_sharding *from = NULL;
  *out = (converted_spec){.first_note = job->note_count};
  TSR_TRY_NOTE(tsr_sharding_bind(job->plan->mesh, row->final, false, &from), "tensor \"%s\"",
               row->tensor->path);
  row_conversion on = {.tensor = row->tensor,
                       .from = from,
                       .policy = row->policy,
                       .evenly = row->policy == TSR_POLICY_ERROR || row->policy == TSR_POLICY_TRIM};
  tsr_status status = tsr_sharding_dim_count(from) > row->tensor->rank
                          ? tsr_fail(RANK_TOO_SMALL, "a spec of %d entries for rank %d",
                                     tsr_sharding_dim_count(from), row->tensor->rank)
                          : convert_bound(job, &on, &out->spec);
  tsr_sharding_release(from);
  out->note_count = job->note_count - out->first_note;
  return status ? tsr_note(status, "tensor \"%s\"", row->tensor->path) : NULL;
}

// ---- all rows ----

static tsr_status find_result(convert_job *job, int64_t index, const tsr_plan_row *row,
                              const converted_spec **out) {
  const uint64_t key =
      (uint64_t)tsr_plan_final(job->plan, index) * TSR_POLICY_COUNT + (uint64_t)row->policy;
  bool is_new = false;
  converted_spec *result = tsr_shape_table_value(&job->table, key, row->tensor, &is_new);
  if (!result) return tsr_fail(NO_MEMORY, "converted specs");
  *out = result;
  return is_new ? convert_row(job, row, result) : NULL;
}

// The row by the rules for the new mesh, with its notes, and a note on the old cut.
static tsr_status take_rematched(convert_job *job, tsr_plan_builder *builder, int64_t index,
                                 const tsr_plan_row *row) {
  tsr_plan_row now;
  tsr_sharding *from = NULL;
  tsr_plan_row_read(job->rematch.plan, index, &now);
  const int64_t first = job->note_count;
  TSR_TRY_NOTE(tsr_sharding_bind(job->plan->mesh, row->final, false, &from), "tensor \"%s\"",
               row->tensor->path);
  tsr_status status = note_dims(job, from, now.final);
  tsr_sharding_release(from);
  if (!status) status = tsr_plan_builder_copy(builder, index, &now);
  for (int64_t i = first; i < job->note_count && !status; i++)
    status = tsr_plan_builder_note(builder, index, &job->notes[i]);
  job->note_count = first;
  return status;
}

static tsr_status set_row(convert_job *job, tsr_plan_builder *builder, int64_t index) {
  const converted_spec *result = NULL;
  tsr_plan_row row;
  tsr_plan_row_read(job->plan, index, &row);
  if (tsr_rematch_has(&job->rematch, &row)) return take_rematched(job, builder, index, &row);
  TSR_TRY(find_result(job, index, &row, &result));
  for (int64_t i = 0; i < result->note_count; i++)
    TSR_TRY(tsr_plan_builder_note(builder, index, &job->notes[result->first_note + i]));
  return tsr_plan_builder_set(builder, index, result->spec, result->spec, row.policy);
}

// Each row finds its own cut; companions then follow.
static tsr_status convert_all(convert_job *job, tsr_plan **out_plan) {
  tsr_plan_builder builder;
  TSR_TRY(tsr_plan_builder_init(&builder, job->plan->tree, job->mesh));
  tsr_plan_builder_rules(&builder, job->rematch.rules, NULL);
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < tsr_plan_count(job->plan); i++)
    status = set_row(job, &builder, i);
  if (!status && tsr_plan_has_companions(job->plan))
    status = tsr_plan_builder_follow(&builder, NULL, NULL);
  return tsr_plan_builder_end(&builder, status, out_plan);
}

static void release_results(convert_job *job) {
  const converted_spec *results = (converted_spec *)(void *)job->table.values;
  for (int64_t i = 0; i < job->table.slots.count; i++) tsr_spec_release(results[i].spec);
  tsr_shape_table_deinit(&job->table);
  tsr_rematch_deinit(&job->rematch);
  free(job->notes);
}

tsr_status tsr_plan_convert(const tsr_plan *plan, const tsr_mesh *mesh, const char *strategy,
                            tsr_plan **out_plan) {
  TSR_TRY(tsr_mesh_or_current(mesh, &mesh));
  if (strategy && strcmp(strategy, "preserve_balance") != 0)
    return tsr_fail(UNKNOWN_STRATEGY, "strategy \"%s\" is unknown, wanted \"preserve_balance\"",
                    strategy);
  if (!plan->mesh) return tsr_fail(NO_MESH_ACTIVE, "the plan was made without a mesh");
  convert_job job = {.plan = plan, .mesh = mesh, .table = TSR_SHAPE_TABLE(converted_spec)};
  tsr_axis_successors_find(plan->mesh, mesh, &job.successors);
  tsr_status status = tsr_rematch_init(&job.rematch, plan, mesh, &job.successors);
  if (!status) status = convert_all(&job, out_plan);
  release_results(&job);
  return status;
}
