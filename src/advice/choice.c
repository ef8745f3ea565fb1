// Units of axes from names or from a mesh, and choices of axes turned into specs.
#include "advice/choice.h"

#include <assert.h>
#include <string.h>

#include "mesh/mesh.h"
#include "mesh/mesh_internal.h"
#include "spec/spec_internal.h"

// ---- units ----

static void unit_add(tsr_unit *unit, const tsr_mesh *mesh, int axis) {
  unit->axes[unit->axis_count++] = (uint8_t)axis;
  unit->mask |= UINT32_C(1) << axis;
  unit->size *= tsr_mesh_axis_at(mesh, axis)->size;
}

static tsr_status read_unit(const tsr_mesh *mesh, const tsr_spec_dim *entry, const char *name,
                            tsr_unit *out_unit) {
  const tsr_stage *stage = entry->stages;
  tsr_unit unit = {.size = 1};
  if (entry->stage_count != 1 || stage->kind != TSR_STAGE_EVEN || entry->open)
    return tsr_fail(BAD_ARGUMENT, "name \"%s\" is neither an axis nor axes joined by '+'",
                    name ? name : "");
  for (int i = 0; i < stage->axis_count; i++) {
    int axis = 0;
    if (stage->axes[i].size)
      return tsr_fail(BAD_ARGUMENT, "name \"%s\" has a sub-axis, wanted whole axes", name);
    TSR_TRY(tsr_mesh_need_axis(mesh, stage->axes[i].name, &axis));
    if (unit.mask >> axis & 1)
      return tsr_fail(DUPLICATE_MESH_AXIS, "name \"%s\" has axis \"%s\" twice", name,
                      stage->axes[i].name);
    unit_add(&unit, mesh, axis);
  }
  *out_unit = unit;
  return NULL;
}

static bool same_axes(const tsr_unit *a, const tsr_unit *b) {
  bool same = a->axis_count == b->axis_count;
  for (int i = 0; same && i < a->axis_count; i++) same = a->axes[i] == b->axes[i];
  return same;
}

static tsr_status add_unit(tsr_units *units, const tsr_unit *unit) {
  for (int i = 0; i < units->count; i++)
    if (same_axes(&units->items[i], unit)) return NULL;
  if (units->count == TSR_MAX_UNITS)
    return tsr_fail(TOO_LARGE, "more than %d names of axes", TSR_MAX_UNITS);
  units->items[units->count++] = *unit;
  return NULL;
}

// Names are parsed as the entries of a spec, which handles quotes and groups.
tsr_status tsr_units_of_names(const tsr_mesh *mesh, const char *const *names, int name_count,
                              tsr_units *out_units) {
  tsr_spec *spec = NULL;
  tsr_units units = {.count = 0};
  TSR_TRY(tsr_spec_of(names, name_count, &spec));
  tsr_status status = NULL;
  for (int i = 0; !status && i < name_count; i++) {
    tsr_unit unit;
    status = read_unit(mesh, &tsr_spec_desc_of(spec)->dims[i], names[i], &unit);
    if (!status) status = add_unit(&units, &unit);
  }
  tsr_spec_release(spec);
  if (status) return status;
  *out_units = units;
  return NULL;
}

void tsr_units_in_order(const tsr_mesh *mesh, tsr_units *out_units) {
  out_units->count = tsr_mesh_axis_count(mesh);
  for (int i = 0; i < out_units->count; i++) {
    out_units->items[i] = (tsr_unit){.size = 1};
    unit_add(&out_units->items[i], mesh, i);
  }
}

// Insertion sort: stable, and there are few.
void tsr_units_sort(tsr_units *units) {
  for (int i = 1; i < units->count; i++) {
    const tsr_unit unit = units->items[i];
    int at = i;
    for (; at > 0 && units->items[at - 1].size < unit.size; at--)
      units->items[at] = units->items[at - 1];
    units->items[at] = unit;
  }
}

// ---- choices ----

void tsr_choice_add(tsr_choice *choice, int dim, const tsr_unit *unit) {
  assert(!(choice->used & unit->mask));
  for (int i = 0; i < unit->axis_count; i++)
    choice->axes[dim][choice->counts[dim]++] = unit->axes[i];
  choice->used |= unit->mask;
}

tsr_status tsr_choice_extend(const tsr_choice *choice, int dim, const tsr_mesh *mesh,
                             tsr_arena *arena, tsr_spec_dim *inout_dim) {
  const int added = choice->counts[dim], before = inout_dim->stage_count;
  if (!added) return NULL;
  const size_t count = before ? (size_t)before : 1;
  tsr_stage *stages = tsr_arena_zeros(arena, count, sizeof *stages);
  if (!stages) return tsr_fail(NO_MEMORY, "stages of a spec");
  if (before) memcpy(stages, inout_dim->stages, sizeof *stages * count);
  tsr_stage *last = &stages[count - 1];
  tsr_axis_ref *axes = tsr_arena_zeros(arena, (size_t)(last->axis_count + added), sizeof *axes);
  if (!axes) return tsr_fail(NO_MEMORY, "axes of a spec");
  if (last->axis_count) memcpy(axes, last->axes, sizeof *axes * (size_t)last->axis_count);
  last->axes = axes;
  for (int i = 0; i < added; i++)
    axes[last->axis_count++] =
        (tsr_axis_ref){.name = tsr_mesh_axis_at(mesh, choice->axes[dim][i])->name, .pre = 1};
  inout_dim->stages = stages;
  inout_dim->stage_count = (int)count;
  return NULL;
}

tsr_status tsr_choice_spec(const tsr_choice *choice, const tsr_mesh *mesh, const tsr_spec *start,
                           tsr_spec **out_spec) {
  tsr_spec_desc desc = start ? *tsr_spec_desc_of(start) : TSR_SPEC_DESC;
  tsr_spec_dim dims[TSR_MAX_RANK] = {0};
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = NULL;
  for (int dim = 0; !status && dim < choice->rank; dim++) {
    if (dim < desc.dim_count) dims[dim] = desc.dims[dim];
    status = tsr_choice_extend(choice, dim, mesh, &arena, &dims[dim]);
  }
  desc.dim_count = choice->rank;
  desc.dims = dims;
  if (!status) status = tsr_spec_create(&desc, out_spec);
  tsr_arena_deinit(&arena);
  return status;
}

// ---- small things ----

void tsr_dims_by_size(const tsr_shape *shape, bool smallest_first, int *out_order) {
  for (int i = 0; i < shape->rank; i++) {
    const int64_t size = shape->dims[i];
    int at = i;
    for (; at > 0; at--) {
      const int64_t before = shape->dims[out_order[at - 1]];
      if (smallest_first ? before <= size : before >= size) break;
      out_order[at] = out_order[at - 1];
    }
    out_order[at] = i;
  }
}

tsr_status tsr_mesh_or_current(const tsr_mesh *mesh, const tsr_mesh **out_mesh) {
  if (!mesh) return tsr_mesh_require(out_mesh);
  *out_mesh = mesh;
  return NULL;
}
