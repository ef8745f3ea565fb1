// eformer's small choosers: MeshPartitionHelper and the rules by shape and by memory. Only
// comparisons with eformer need them (tests/golden); tsr_plan_fit does better.
//
// eformer's helper puts its pair of axes on the first two dimensions even where they do not divide.
// Here they must divide; otherwise the other axes are tried.
#include <string.h>

#include "advice/choice.h"
#include "advice/plan_auto_internal.h"
#include "spec/spec_internal.h"

// ---- MeshPartitionHelper ----

static int64_t axis_size(const tsr_mesh *mesh, const char *name) {
  const int axis = tsr_mesh_axis_find(mesh, name);
  return axis < 0 ? 0 : tsr_mesh_axis_at(mesh, axis)->size;
}

static void suggest(tsr_methods *methods, const char *name) {
  methods->items[methods->count++] = name;
}

// Whether the first two dimensions together have `least` elements.
static bool has_area(const tsr_shape *shape, int64_t least) {
  int64_t area = 0;
  if (shape->rank < 2) return false;
  return __builtin_mul_overflow(shape->dims[0], shape->dims[1], &area) || area >= least;
}

void tsr_helper_methods(const tsr_shape *shape, const tsr_mesh *mesh, tsr_methods *out_methods) {
  const int64_t fsdp = axis_size(mesh, "fsdp"), sp = axis_size(mesh, "sp");
  const bool pair = fsdp && sp && has_area(shape, fsdp * sp);
  *out_methods = (tsr_methods){.count = 0};
  if (pair) suggest(out_methods, "fsdp+sp");
  if (shape->rank > 0 && axis_size(mesh, "dp")) suggest(out_methods, "dp");
  if (shape->rank > 1 && sp && !pair) suggest(out_methods, "sp");
  if (axis_size(mesh, "tp")) suggest(out_methods, "tp");
  if (fsdp && !pair) suggest(out_methods, "fsdp");
}

static bool is_pair(const char *method) { return strchr(method, '+') != NULL; }

static tsr_unit unit_of(const tsr_mesh *mesh, const char *name) {
  const int axis = tsr_mesh_axis_find(mesh, name);
  return (tsr_unit){.axis_count = 1,
                    .axes = {(uint8_t)axis},
                    .mask = UINT32_C(1) << axis,
                    .size = tsr_mesh_axis_at(mesh, axis)->size};
}

static void place_single(const tsr_mesh *mesh, const char *name, const tsr_shape *shape,
                         int64_t least, tsr_choice *choice) {
  const tsr_unit unit = unit_of(mesh, name);
  for (int dim = 0; dim < shape->rank; dim++) {
    const int64_t size = shape->dims[dim];
    if (choice->counts[dim] || size < least || size % unit.size != 0) continue;
    tsr_choice_add(choice, dim, &unit);
    return;
  }
}

// One axis on each of the first two dimensions. Where eformer would cut a size that does not divide
// (in the first attempt only one that is large enough), both go on the first dimension if they can.
static bool place_pair(const tsr_mesh *mesh, const tsr_shape *shape, bool second_try,
                       tsr_choice *choice) {
  const tsr_unit fsdp = unit_of(mesh, "fsdp"), sp = unit_of(mesh, "sp");
  const int64_t rows = shape->dims[0], columns = shape->dims[1];
  const bool apart = rows % fsdp.size == 0 && columns % sp.size == 0;
  const bool stacked = rows % (fsdp.size * sp.size) == 0 && (second_try || columns >= sp.size);
  if (!apart && !stacked) return false;
  tsr_choice_add(choice, 0, &fsdp);
  tsr_choice_add(choice, apart ? 1 : 0, &sp);
  return true;
}

// The pair is the first method. If it can be placed, it is the only one.
static void place_all(const tsr_mesh *mesh, const tsr_methods *methods, const tsr_shape *shape,
                      int64_t least, bool second_try, tsr_choice *choice) {
  for (int i = 0; i < methods->count; i++) {
    if (!is_pair(methods->items[i]))
      place_single(mesh, methods->items[i], shape, least, choice);
    else if (place_pair(mesh, shape, second_try, choice))
      return;
  }
}

// eformer compares a dimension with half an equal share of all elements, though these are different
// things. The second attempt usually decides.
tsr_status tsr_helper_spec(const tsr_shape *shape, const tsr_mesh *mesh, int64_t min_size,
                           tsr_spec **out_spec) {
  int64_t elements = 0;
  tsr_methods methods;
  tsr_choice choice = {.rank = shape->rank};
  TSR_TRY(tsr_mesh_or_current(mesh, &mesh));
  TSR_TRY(tsr_shape_count(shape, &elements));
  tsr_helper_methods(shape, mesh, &methods);
  const int64_t share = elements / tsr_mesh_device_count(mesh) / 2;
  place_all(mesh, &methods, shape, share > min_size ? share : min_size, false, &choice);
  if (!choice.used) place_all(mesh, &methods, shape, min_size, true, &choice);
  return tsr_choice_spec(&choice, mesh, NULL, out_spec);
}

// ---- by shape ----

static bool rule_matches(const tsr_shape_rule *rule, const tsr_shape *shape) {
  bool matches = rule->rank == shape->rank;
  for (int i = 0; matches && i < rule->rank; i++)
    matches = rule->dims[i] == TSR_ANY_SIZE || rule->dims[i] == shape->dims[i];
  return matches;
}

tsr_status tsr_shape_rules_match(const tsr_shape_rule *rules, int64_t count, const tsr_shape *shape,
                                 tsr_spec **out_spec) {
  for (int64_t i = 0; i < count; i++) {
    if (!rule_matches(&rules[i], shape)) continue;
    *out_spec = tsr_spec_retain(rules[i].spec);
    return NULL;
  }
  return tsr_spec_of(NULL, 0, out_spec);
}

// ---- by memory ----

// The share of `bytes` left after a dimension took the first free unit that divides it.
static int64_t cut_dim(const tsr_units *units, int dim, int64_t size, int64_t bytes,
                       tsr_choice *choice) {
  for (int i = 0; i < units->count; i++) {
    const tsr_unit *unit = &units->items[i];
    if (choice->used & unit->mask || size % unit->size != 0) continue;
    tsr_choice_add(choice, dim, unit);
    return bytes / unit->size;
  }
  return bytes;
}

tsr_status tsr_memory_rule_spec(const tsr_shape *shape, tsr_dtype dtype, const tsr_mesh *mesh,
                                int64_t limit, const char *const *names, int name_count,
                                tsr_spec **out_spec, int64_t *out_bytes) {
  int64_t bytes = 0;
  int order[TSR_MAX_RANK];
  tsr_units units;
  tsr_spec *spec = NULL;
  tsr_choice choice = {.rank = shape->rank};
  TSR_TRY(tsr_mesh_or_current(mesh, &mesh));
  TSR_TRY(tsr_shape_bytes(shape, dtype, &bytes));
  tsr_units_in_order(mesh, &units);
  if (name_count) TSR_TRY(tsr_units_of_names(mesh, names, name_count, &units));
  tsr_units_sort(&units);
  tsr_dims_by_size(shape, false, order);
  const bool whole = bytes <= limit;
  for (int i = 0; i < shape->rank && bytes > limit; i++)
    bytes = cut_dim(&units, order[i], shape->dims[order[i]], bytes, &choice);
  TSR_TRY(whole ? tsr_spec_of(NULL, 0, &spec) : tsr_choice_spec(&choice, mesh, NULL, &spec));
  *out_spec = spec;
  if (out_bytes) *out_bytes = bytes;
  return NULL;
}
