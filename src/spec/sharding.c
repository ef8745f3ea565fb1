// Binding turns names into axis indices once, so that everything after it is arithmetic.
//
// A sharding is one block: its dimensions, their stages, their sub-axes, and the digit of a mesh
// position for each sub-axis.
#include "spec/sharding.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "mesh/mesh.h"
#include "mesh/mesh_internal.h"
#include "spec/axis_ref.h"
#include "spec/sharding_internal.h"
#include "spec/spec.h"
#include "tessera/engine/sharding.h"

typedef struct sub_axis_list {
  int count;
  const tsr_sub_axis *sub_axes;
} sub_axis_list;

struct tsr_sharding {
  atomic_int refs;
  int dim_count, sub_axis_count;
  const tsr_mesh *mesh;
  const tsr_spec *spec;
  sub_axis_list unreduced, reduced, replicated;
  const tsr_sub_axis *sub_axes;  // of all stages and sets
  const tsr_digit *digits;       // of the same
  tsr_sharding_dim dims[];       // then stages, sub-axes, digits
};

// ---- checks, in JAX's order ----

// An axis of an entry: which one, in which dimension.
typedef struct axis_use {
  const tsr_axis_ref *ref;
  int dim;
} axis_use;

static tsr_status check_use(const axis_use *uses, int count) {
  const axis_use *last = &uses[count - 1];
  for (int i = 0; i < count - 1; i++) {
    if (!tsr_axis_ref_overlaps(uses[i].ref, last->ref)) continue;
    if (uses[i].dim == last->dim)
      return tsr_fail(DUPLICATE_MESH_AXIS, "axis \"%s\" is used twice in dimension %d",
                      last->ref->name, last->dim);
    return tsr_fail(DUPLICATE_MESH_AXIS, "axis \"%s\" is used twice: in dimension %d and in %d",
                    last->ref->name, uses[i].dim, last->dim);
  }
  return NULL;
}

static int count_sub_axes(const tsr_spec_desc *desc) {
  int count = desc->unreduced_count + desc->reduced_count + desc->replicated_count;
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++) count += desc->dims[d].stages[s].axis_count;
  return count;
}

tsr_status tsr_spec_check_unique(const tsr_spec_desc *desc) {
  axis_use *uses = calloc((size_t)count_sub_axes(desc) + 1, sizeof *uses);
  if (!uses) return tsr_fail(NO_MEMORY, "the axes of a spec");
  tsr_status status = NULL;
  int count = 0;
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++)
      for (int i = 0; !status && i < desc->dims[d].stages[s].axis_count; i++) {
        uses[count++] = (axis_use){&desc->dims[d].stages[s].axes[i], d};
        status = check_use(uses, count);
      }
  free(uses);
  return status;
}

static tsr_status check_known(const tsr_mesh *mesh, const tsr_axis_ref *refs, int count) {
  for (int i = 0; i < count; i++) {
    if (!refs[i].name[0])
      return tsr_fail(UNKNOWN_MESH_AXIS, "None inside a group is not an axis of the mesh");
    if (tsr_mesh_axis_find(mesh, refs[i].name) < 0) return tsr_mesh_no_axis(mesh, refs[i].name);
  }
  return NULL;
}

static tsr_status check_entries(const tsr_mesh *mesh, const tsr_spec_desc *desc) {
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++) {
      const tsr_stage *stage = &desc->dims[d].stages[s];
      TSR_TRY_NOTE(check_known(mesh, stage->axes, stage->axis_count), "dimension %d", d);
    }
  return NULL;
}

static bool has_type(const tsr_mesh *mesh, tsr_axis_type type) {
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    if (tsr_mesh_axis_at(mesh, i)->type == type) return true;
  return false;
}

static tsr_status check_open(const tsr_mesh *mesh, const tsr_spec_desc *desc) {
  if (has_type(mesh, TSR_AXIS_AUTO)) return NULL;
  for (int d = 0; d < desc->dim_count; d++)
    if (desc->dims[d].open)
      return tsr_fail(UNCONSTRAINED_NEEDS_AUTO_AXIS,
                      "dimension %d is left open, but no axis of the mesh is auto", d);
  return NULL;
}

// An axis among `refs` that is not explicit; NULL if all are.
static const tsr_axis *not_explicit(const tsr_mesh *mesh, const tsr_axis_ref *refs, int count) {
  for (int i = 0; i < count; i++) {
    const tsr_axis *axis = tsr_mesh_axis_at(mesh, tsr_mesh_axis_find(mesh, refs[i].name));
    if (axis->type != TSR_AXIS_EXPLICIT) return axis;
  }
  return NULL;
}

static tsr_status check_sets(const tsr_mesh *mesh, const tsr_spec_desc *desc, bool strict_types) {
  const bool check_types =
      strict_types || has_type(mesh, TSR_AXIS_EXPLICIT) || has_type(mesh, TSR_AXIS_MANUAL);
  TSR_TRY_NOTE(check_known(mesh, desc->unreduced, desc->unreduced_count), "unreduced");
  const tsr_axis *wrong =
      check_types ? not_explicit(mesh, desc->unreduced, desc->unreduced_count) : NULL;
  if (wrong)
    return tsr_fail(UNREDUCED_NEEDS_EXPLICIT_AXIS,
                    "axis \"%s\" is unreduced, so it must be explicit; it is %s", wrong->name,
                    tsr_axis_type_name(wrong->type));
  TSR_TRY_NOTE(check_known(mesh, desc->reduced, desc->reduced_count), "reduced");
  wrong = check_types ? not_explicit(mesh, desc->reduced, desc->reduced_count) : NULL;
  if (wrong)
    return tsr_fail(REDUCED_NEEDS_EXPLICIT_AXIS,
                    "axis \"%s\" is reduced, so it must be explicit; it is %s", wrong->name,
                    tsr_axis_type_name(wrong->type));
  TSR_TRY_NOTE(check_known(mesh, desc->replicated, desc->replicated_count), "replicated");
  return NULL;
}

static tsr_status check_independent(const tsr_mesh *mesh, const tsr_sub_axis *sub_axes, int count) {
  for (int i = 1; i < count; i++)
    for (int j = 0; j < i; j++)
      if (!tsr_sub_axis_independent(&sub_axes[i], &sub_axes[j])) {
        const tsr_sub_axis *a = &sub_axes[j], *b = &sub_axes[i];
        return tsr_fail(BAD_SUB_AXIS,
                        "sub-axes (%lld)%lld and (%lld)%lld of axis \"%s\" of size %lld do not fit "
                        "together: neither starts at a multiple of the other's end",
                        (long long)a->pre, (long long)a->size, (long long)b->pre,
                        (long long)b->size, tsr_mesh_axis_at(mesh, a->axis)->name,
                        (long long)tsr_mesh_axis_at(mesh, a->axis)->size);
      }
  return NULL;
}

// The number of shards that a cut needs must be the one on this mesh.
static tsr_status check_cut(const tsr_bound_stage *stage) {
  const tsr_stage *cut = stage->cut;
  if (cut->kind == TSR_STAGE_SIZES && cut->count != stage->shards)
    return tsr_fail(BAD_CUT, "%lld sizes for %lld shards, wanted one for each",
                    (long long)cut->count, (long long)stage->shards);
  for (int i = 0; cut->kind == TSR_STAGE_PARTS && i < cut->count; i++)
    if (stage->shards % cut->parts[i].copies != 0)
      return tsr_fail(BAD_CUT, "part \"%s\" has %lld copies, which do not divide %lld shards",
                      cut->parts[i].name, (long long)cut->parts[i].copies,
                      (long long)stage->shards);
  return NULL;
}

// ---- filling the block ----

// Where the next stage, sub-axis and digit go.
typedef struct bind_cursor {
  const tsr_mesh *mesh;
  tsr_bound_stage *stage;
  tsr_sub_axis *sub_axis;
  tsr_digit *digit;
} bind_cursor;

static tsr_status bind_refs(bind_cursor *at, const tsr_axis_ref *refs, int count) {
  for (int i = 0; i < count; i++) {
    const int axis = tsr_mesh_axis_find(at->mesh, refs[i].name);
    TSR_TRY(tsr_sub_axis_bind(at->mesh, axis, &refs[i], at->sub_axis));
    *at->digit++ = tsr_sub_axis_digit(at->mesh, at->sub_axis++);
  }
  return NULL;
}

static tsr_status bind_set(bind_cursor *at, const tsr_axis_ref *refs, int count,
                           sub_axis_list *out_set) {
  *out_set = (sub_axis_list){count, at->sub_axis};
  return bind_refs(at, refs, count);
}

static tsr_status bind_stage(bind_cursor *at, const tsr_stage *stage, tsr_bound_stage *out_stage) {
  *out_stage = (tsr_bound_stage){.kind = stage->kind,
                                 .axis_count = stage->axis_count,
                                 .axes = at->sub_axis,
                                 .shards = 1,
                                 .cut = stage};
  TSR_TRY(bind_refs(at, stage->axes, stage->axis_count));
  for (int i = 0; i < stage->axis_count; i++) out_stage->shards *= out_stage->axes[i].size;
  return check_cut(out_stage);
}

static tsr_status bind_dim(bind_cursor *at, const tsr_spec_dim *dim, tsr_sharding_dim *out_dim) {
  *out_dim = (tsr_sharding_dim){.stage_count = dim->stage_count,
                                .stages = dim->stage_count ? at->stage : NULL,
                                .shards = 1,
                                .open = dim->open,
                                .has_priority = dim->has_priority,
                                .priority = dim->priority};
  for (int s = 0; s < dim->stage_count; s++) {
    TSR_TRY(bind_stage(at, &dim->stages[s], at->stage));
    out_dim->shards *= at->stage++->shards;
  }
  return NULL;
}

static tsr_status fill(tsr_sharding *sharding, bind_cursor at, const tsr_spec_desc *desc) {
  sharding->sub_axes = at.sub_axis;
  sharding->digits = at.digit;
  for (int d = 0; d < desc->dim_count; d++)
    TSR_TRY_NOTE(bind_dim(&at, &desc->dims[d], &sharding->dims[d]), "dimension %d", d);
  TSR_TRY(bind_set(&at, desc->unreduced, desc->unreduced_count, &sharding->unreduced));
  TSR_TRY(bind_set(&at, desc->reduced, desc->reduced_count, &sharding->reduced));
  TSR_TRY(bind_set(&at, desc->replicated, desc->replicated_count, &sharding->replicated));
  return check_independent(sharding->mesh, sharding->sub_axes, sharding->sub_axis_count);
}

static tsr_status create(const tsr_mesh *mesh, const tsr_spec *spec, tsr_sharding **out_sharding) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  size_t stages = 0;
  for (int d = 0; d < desc->dim_count; d++) stages += (size_t)desc->dims[d].stage_count;
  const size_t sub_axes = (size_t)count_sub_axes(desc);
  const size_t head = sizeof(tsr_sharding) + (size_t)desc->dim_count * sizeof(tsr_sharding_dim);
  const size_t stage_bytes = stages * sizeof(tsr_bound_stage);
  const size_t sub_axis_bytes = sub_axes * sizeof(tsr_sub_axis);
  const size_t bytes = head + stage_bytes + sub_axis_bytes + sub_axes * sizeof(tsr_digit);
  tsr_sharding *sharding = malloc(bytes);
  if (!sharding) return tsr_fail(NO_MEMORY, "a sharding of %zu bytes", bytes);
  *sharding = (tsr_sharding){.dim_count = desc->dim_count,
                             .sub_axis_count = (int)sub_axes,
                             .mesh = tsr_mesh_retain(mesh),
                             .spec = tsr_spec_retain(spec)};
  atomic_init(&sharding->refs, 1);
  char *end = (char *)sharding + head;
  const bind_cursor at = {mesh, (void *)end, (void *)(end + stage_bytes),
                          (void *)(end + stage_bytes + sub_axis_bytes)};
  tsr_status status = fill(sharding, at, desc);
  if (status) {
    tsr_sharding_release(sharding);
    return status;
  }
  *out_sharding = sharding;
  return NULL;
}

// ---- public ----

tsr_status tsr_sharding_bind(const tsr_mesh *mesh, const tsr_spec *spec, bool strict_types,
                             tsr_sharding **out_sharding) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  TSR_TRY(tsr_spec_check_unique(desc));
  TSR_TRY(check_entries(mesh, desc));
  TSR_TRY(check_open(mesh, desc));
  TSR_TRY(check_sets(mesh, desc, strict_types));
  return create(mesh, spec, out_sharding);
}

tsr_sharding *tsr_sharding_retain(const tsr_sharding *sharding) {
  tsr_sharding *mine = (tsr_sharding *)sharding;
  atomic_fetch_add_explicit(&mine->refs, 1, memory_order_relaxed);
  return mine;
}

void tsr_sharding_release(const tsr_sharding *sharding) {
  tsr_sharding *mine = (tsr_sharding *)sharding;
  if (!mine || atomic_fetch_sub_explicit(&mine->refs, 1, memory_order_acq_rel) != 1) return;
  tsr_mesh_release(mine->mesh);
  tsr_spec_release(mine->spec);
  free(mine);
}

const tsr_mesh *tsr_sharding_mesh(const tsr_sharding *sharding) { return sharding->mesh; }
const tsr_spec *tsr_sharding_spec(const tsr_sharding *sharding) { return sharding->spec; }
int tsr_sharding_dim_count(const tsr_sharding *sharding) { return sharding->dim_count; }

const tsr_sharding_dim *tsr_sharding_dim_at(const tsr_sharding *sharding, int dim) {
  static const tsr_sharding_dim uncut = {.shards = 1};
  if (dim < 0) return NULL;
  return dim < sharding->dim_count ? &sharding->dims[dim] : &uncut;
}

static const tsr_sub_axis *list_of(const sub_axis_list *list, int *out_count) {
  *out_count = list->count;
  return list->sub_axes;
}

const tsr_sub_axis *tsr_sharding_unreduced(const tsr_sharding *sharding, int *out_count) {
  return list_of(&sharding->unreduced, out_count);
}

const tsr_sub_axis *tsr_sharding_reduced(const tsr_sharding *sharding, int *out_count) {
  return list_of(&sharding->reduced, out_count);
}

const tsr_sub_axis *tsr_sharding_replicated(const tsr_sharding *sharding, int *out_count) {
  return list_of(&sharding->replicated, out_count);
}

const tsr_digit *tsr_sharding_stage_digits(const tsr_sharding *sharding, int dim, int stage) {
  return sharding->digits + (sharding->dims[dim].stages[stage].axes - sharding->sub_axes);
}

int64_t tsr_sharding_stage_index(const tsr_sharding *sharding, int dim, int stage,
                                 int64_t position) {
  if (dim < 0 || dim >= sharding->dim_count || stage < 0 ||
      stage >= sharding->dims[dim].stage_count || position < 0 ||
      position >= tsr_mesh_device_count(sharding->mesh))
    return -1;
  const tsr_digit *digits = tsr_sharding_stage_digits(sharding, dim, stage);
  const int count = sharding->dims[dim].stages[stage].axis_count;
  int64_t index = 0;
  for (int i = 0; i < count; i++)
    index = index * digits[i].size + position / digits[i].stride % digits[i].size;
  return index;
}

tsr_status tsr_sharding_check_auto(const tsr_sharding *sharding) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  for (int d = 0; d < tsr_sharding_dim_count(sharding); d++) {
    const tsr_sharding_dim *dim = tsr_sharding_dim_at(sharding, d);
    for (int s = 0; s < dim->stage_count; s++)
      for (int i = 0; i < dim->stages[s].axis_count; i++) {
        const tsr_axis *axis = tsr_mesh_axis_at(mesh, dim->stages[s].axes[i].axis);
        if (axis->type != TSR_AXIS_AUTO)
          return tsr_fail(CONSTRAINT_NEEDS_AUTO_AXIS,
                          "dimension %d is constrained to axis \"%s\", which is %s, wanted auto", d,
                          axis->name, tsr_axis_type_name(axis->type));
      }
  }
  return NULL;
}

bool tsr_sharding_is_fully_replicated(const tsr_sharding *sharding) {
  if (tsr_mesh_device_count(sharding->mesh) == 1) return true;
  if (sharding->unreduced.count) return false;
  for (int d = 0; d < sharding->dim_count; d++)
    if (sharding->dims[d].shards > 1) return false;
  return true;
}

uint32_t tsr_sharding_replicated_axes(const tsr_sharding *sharding) {
  uint32_t used = 0;
  // The set "replicated" comes last.
  const int count = sharding->sub_axis_count - sharding->replicated.count;
  for (int i = 0; i < count; i++) used |= UINT32_C(1) << sharding->sub_axes[i].axis;
  return ((UINT32_C(1) << tsr_mesh_axis_count(sharding->mesh)) - 1) & ~used;
}

bool tsr_sharding_equal(const tsr_sharding *a, const tsr_sharding *b) {
  return a == b || (tsr_spec_equal(a->spec, b->spec) && tsr_mesh_equal(a->mesh, b->mesh));
}
