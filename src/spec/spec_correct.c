// Correction: makes a spec fit a mesh and a tensor.
//
// A spec is written once for many tensors and meshes. Each entry that does not fit is dropped, and
// every change is recorded with its reason. Nothing moves to another dimension.
#include "base/arithmetic.h"
#include "base/sized.h"
#include "element/shape_internal.h"
#include "spec/changes.h"
#include "spec/sharding.h"
#include "spec/spec_builder.h"
#include "spec/spec_internal.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/topology.h"
#include "topology/topology_internal.h"

// The state of one correction.
typedef struct correction {
  const tsr_mesh *mesh;
  const tsr_shape *shape;
  bool strict, keep_members, uneven;
  tsr_spec_builder builder;
  tsr_changes changes;
} correction;

static tsr_status change(correction *work, tsr_change what) {
  if (work->strict) return tsr_change_fail(&what, work->mesh);
  return tsr_changes_add(&work->changes, &what);
}

// ---- axes ----

// What is wrong with an axis on this mesh; else its number of members.
static bool find_members(const correction *work, const tsr_axis_ref *ref, int64_t *out_members,
                         tsr_change *out_change) {
  const int axis = ref->name[0] ? tsr_mesh_axis_find(work->mesh, ref->name) : -1;
  if (axis < 0) {
    *out_change = (tsr_change){.kind = TSR_CHANGE_AXIS_MISSING, .axis = ref->name};
    return false;
  }
  const int64_t whole = tsr_mesh_axis_at(work->mesh, axis)->size;
  if (ref->size && whole % (ref->pre * ref->size) != 0) {
    *out_change =
        (tsr_change){.kind = TSR_CHANGE_SUB_AXIS_MISFIT, .axis = ref->name, .size = whole};
    return false;
  }
  *out_members = ref->size ? ref->size : whole;
  return true;
}

// Products saturate; the largest number divides no size but 0.

// ---- stages ----

enum { ANY_SIZE = -1 };  // shards that differ in size

// The size of each shard of a stage of `size` elements; ANY_SIZE if they differ. False if the stage
// does not fit.
static bool divide(const tsr_stage *stage, int64_t size, int64_t shards, bool uneven,
                   int64_t *out_size) {
  int64_t sum = 0, local = 0;
  bool alike = true;
  switch (stage->kind) {
    case TSR_STAGE_EVEN:
      alike = size != ANY_SIZE && size % shards == 0;
      *out_size = alike ? size / shards : ANY_SIZE;
      return alike || uneven || size == ANY_SIZE;
    case TSR_STAGE_CYCLIC:
      alike = size != ANY_SIZE && size % tsr_saturated_multiply(shards, stage->block) == 0;
      *out_size = alike ? size / shards : ANY_SIZE;
      return true;
    case TSR_STAGE_SIZES:
      for (int64_t i = 0; i < stage->count; i++) {
        sum += stage->sizes[i];
        alike = alike && stage->sizes[i] == stage->sizes[0];
      }
      *out_size = alike ? stage->sizes[0] : ANY_SIZE;
      return stage->count == shards && (size == ANY_SIZE || sum == size);
    case TSR_STAGE_PARTS:
      for (int64_t i = 0; i < stage->count; i++) {
        const tsr_part *part = &stage->parts[i];
        if (shards % part->copies != 0) return false;
        const int64_t ways = shards / part->copies;
        sum += part->size;
        alike = alike && part->size % tsr_saturated_multiply(ways, part->grain) == 0;
        local += part->size / ways;
      }
      *out_size = alike ? local : ANY_SIZE;
      return size == ANY_SIZE || sum == size;
  }
  return false;
}

// Whether all stages of an entry fit, or why not.
static bool entry_fits(const correction *work, const tsr_spec_dim *dim, int64_t size,
                       tsr_change *out_change) {
  int64_t product = 1, members = 0, local = size;
  int axes = 0;
  for (int s = 0; s < dim->stage_count; s++)
    for (int i = 0; i < dim->stages[s].axis_count; i++, axes++) {
      if (!find_members(work, &dim->stages[s].axes[i], &members, out_change)) return false;
      product = tsr_saturated_multiply(product, members);
    }
  for (int s = 0; s < dim->stage_count; s++) {
    const tsr_stage *stage = &dim->stages[s];
    int64_t shards = 1;
    for (int i = 0; i < stage->axis_count; i++) {
      find_members(work, &stage->axes[i], &members, out_change);
      shards = tsr_saturated_multiply(shards, members);
    }
    if (divide(stage, local, shards, work->uneven, &local)) continue;
    const bool even = stage->kind == TSR_STAGE_EVEN;
    *out_change = (tsr_change){.kind = even ? TSR_CHANGE_INDIVISIBLE : TSR_CHANGE_CUT_MISFIT,
                               .axis = even && axes == 1 ? stage->axes[0].name : NULL,
                               .size = size,
                               .product = even ? product : shards};
    return false;
  }
  return true;
}

// ---- entries ----

static tsr_status copy_entry(correction *work, const tsr_spec_dim *dim) {
  for (int s = 0; s < dim->stage_count; s++)
    TSR_TRY(tsr_spec_builder_copy_stage(&work->builder, &dim->stages[s]));
  return NULL;
}

// Keeps the members of a plain group, major to minor, that the mesh has and that divide the size.
static tsr_status keep_members(correction *work, const tsr_stage *group, int d, int64_t size) {
  int64_t product = 1;
  TSR_TRY(tsr_spec_builder_stage(&work->builder));
  for (int i = 0; i < group->axis_count; i++) {
    tsr_change wrong = {0};
    int64_t members = 0;
    bool fits = find_members(work, &group->axes[i], &members, &wrong);
    if (fits && !work->uneven && size % tsr_saturated_multiply(product, members) != 0) {
      fits = false;
      wrong = (tsr_change){.kind = TSR_CHANGE_INDIVISIBLE,
                           .axis = group->axes[i].name,
                           .size = size / product,
                           .product = members};
    }
    if (fits) {
      product = tsr_saturated_multiply(product, members);
      TSR_TRY(tsr_spec_builder_axis(&work->builder, &group->axes[i]));
    } else {
      wrong.dim = d;
      wrong.alone = group->axis_count > 1;
      TSR_TRY(change(work, wrong));
    }
  }
  return NULL;
}

static bool is_plain_group(const tsr_spec_dim *dim) {
  return dim->stage_count == 1 && dim->stages[0].kind == TSR_STAGE_EVEN;
}

static tsr_status correct_entry(correction *work, const tsr_spec_dim *dim, int d) {
  const int64_t size = work->shape->dims[d];
  TSR_TRY(tsr_spec_builder_dim(&work->builder));
  tsr_spec_builder_last_dim(&work->builder)->has_priority = dim->has_priority;
  tsr_spec_builder_last_dim(&work->builder)->priority = dim->priority;
  if (!dim->stage_count)
    return dim->open ? change(work, (tsr_change){.kind = TSR_CHANGE_UNCONSTRAINED, .dim = d})
                     : NULL;
  tsr_change wrong = {0};
  const bool fits = entry_fits(work, dim, size, &wrong);
  if (!fits && !(work->keep_members && is_plain_group(dim))) {
    wrong.dim = d;
    return change(work, wrong);
  }
  tsr_spec_builder_last_dim(&work->builder)->open = dim->open;
  return fits ? copy_entry(work, dim) : keep_members(work, &dim->stages[0], d, size);
}

static tsr_status correct_set(correction *work, tsr_spec_set set, const tsr_axis_ref *refs,
                              int count) {
  for (int i = 0; i < count; i++) {
    int64_t members = 0;
    tsr_change wrong = {0};
    if (find_members(work, &refs[i], &members, &wrong)) {
      TSR_TRY(tsr_spec_builder_member(&work->builder, set, &refs[i]));
    } else {
      wrong.dim = -1;
      wrong.alone = true;
      TSR_TRY(change(work, wrong));
    }
  }
  return NULL;
}

// ---- the whole ----

static tsr_status correct_entries(correction *work, const tsr_spec_desc *desc) {
  const int rank = work->shape->rank;
  if (desc->dim_count > rank)
    TSR_TRY(change(
        work,
        (tsr_change){
            .kind = TSR_CHANGE_CUT_TO_RANK, .dim = -1, .size = rank, .product = desc->dim_count}));
  static const tsr_spec_dim uncut = {0};
  for (int d = 0; d < rank; d++)
    TSR_TRY(correct_entry(work, d < desc->dim_count ? &desc->dims[d] : &uncut, d));
  return NULL;
}

// Without an axis in any entry, the entries are dropped.
static tsr_status drop_empty_entries(correction *work) {
  if (work->builder.axes.count) return NULL;
  work->builder.dims.count = 0;
  work->builder.stages.count = 0;
  if (!work->changes.count) return NULL;
  return tsr_changes_add(&work->changes, &(tsr_change){.kind = TSR_CHANGE_NOTHING_LEFT, .dim = -1});
}

static tsr_status correct_on_mesh(correction *work, const tsr_spec_desc *desc,
                                  tsr_spec **out_spec) {
  if (desc->dim_count) TSR_TRY(correct_entries(work, desc));
  TSR_TRY(correct_set(work, TSR_SET_UNREDUCED, desc->unreduced, desc->unreduced_count));
  TSR_TRY(correct_set(work, TSR_SET_REDUCED, desc->reduced, desc->reduced_count));
  TSR_TRY(correct_set(work, TSR_SET_REPLICATED, desc->replicated, desc->replicated_count));
  TSR_TRY(drop_empty_entries(work));
  work->builder.reduction = desc->reduction;
  work->builder.mesh_name = desc->mesh_name;
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_builder_finish(&work->builder, &spec));
  tsr_status status = tsr_spec_check_unique(tsr_spec_desc_of(spec));
  if (status)
    tsr_spec_release(spec);
  else
    *out_spec = spec;
  return status;
}

static tsr_status correct_without_mesh(correction *work, bool allowed, tsr_spec **out_spec) {
  const tsr_change none = {.kind = TSR_CHANGE_NO_MESH, .dim = -1};
  if (!allowed) return tsr_fail(NO_MESH_ACTIVE, "no mesh is active; enter one with tsr_mesh_enter");
  TSR_TRY(change(work, none));
  return tsr_spec_of(NULL, 0, out_spec);
}

static tsr_status run(correction *work, const tsr_spec *spec, const tsr_correct_options *options,
                      tsr_spec **out_spec) {
  TSR_TRY(tsr_shape_check(work->shape));
  tsr_spec *corrected = NULL;
  TSR_TRY(work->mesh ? correct_on_mesh(work, tsr_spec_desc_of(spec), &corrected)
                     : correct_without_mesh(work, options->allow_no_mesh, &corrected));
  tsr_status status = tsr_changes_log(&work->changes, options->log, options->log_context);
  if (status)
    tsr_spec_release(corrected);
  else
    *out_spec = corrected;
  return status;
}

tsr_status tsr_spec_correct(const tsr_spec *spec, const tsr_mesh *mesh, const tsr_shape *shape,
                            const tsr_correct_options *given, tsr_spec **out_spec,
                            tsr_changes *out_changes) {
  tsr_correct_options read;
  const tsr_correct_options *const options = &read;
  TSR_TRY(tsr_sized_read(tsr_correct_options, given, &read));
  correction work = {.mesh = mesh ? mesh : tsr_mesh_current(),
                     .shape = shape,
                     .strict = options->strict,
                     .keep_members = options->keep_group_members,
                     .uneven = options->uneven,
                     .builder = TSR_SPEC_BUILDER_EMPTY};
  tsr_status status = run(&work, spec, options, out_spec);
  if (!status && out_changes)
    *out_changes = work.changes;
  else
    tsr_changes_deinit(&work.changes);
  tsr_spec_builder_deinit(&work.builder);
  return status;
}

tsr_status tsr_spec_constrain(const tsr_spec *spec, const tsr_mesh *mesh, const tsr_shape *shape,
                              const tsr_correct_options *options, tsr_spec **out_spec,
                              tsr_changes *out_changes) {
  if (!mesh) mesh = tsr_mesh_current();
  if (mesh && tsr_spec_desc_of(spec)->dim_count)
    return tsr_spec_correct(spec, mesh, shape, options, out_spec, out_changes);
  *out_spec = NULL;
  if (out_changes) *out_changes = (tsr_changes){0};
  return NULL;
}

bool tsr_t5x_constraint_applies(const tsr_topology *topology) {
  const tsr_mesh *mesh = tsr_mesh_current();
  if (!mesh) return false;
  if (!topology) topology = tsr_mesh_topology(mesh);
  return topology && tsr_topology_platform(topology) != TSR_PLATFORM_CPU;
}
