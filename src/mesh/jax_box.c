// A TPU slice as a box of coordinates, and the placement of its devices in a mesh.
//
// The placement needs no transposed copies. A physical axis is split into digits, one per logical
// axis, and each digit has a fixed stride in the mesh. So the contribution of a coordinate to a
// device's position depends on that coordinate alone. One small table per axis holds it; a position
// is the sum of four lookups.
#include <stdlib.h>

#include "mesh/jax.h"
#include "mesh/nd.h"

// Row-major index of a device in the box.
static int64_t place_of(const tsr_torus *torus, const tsr_device *device) {
  int64_t place = 0;
  for (int axis = 0; axis < 3; axis++)
    place = place * torus->sizes[axis] + device->coords[axis] - torus->low[axis];
  return place * torus->sizes[TSR_FIELD_CORE] + device->core - torus->low[TSR_FIELD_CORE];
}

static tsr_status fail_unknown_place(const tsr_device *device, const char *kind) {
  return tsr_fail(BROKEN_TOPOLOGY, "device %lld of kind \"%s\" has no %s, which a torus needs",
                  (long long)device->id, kind, device->has_coords ? "core number" : "coordinates");
}

static void widen(int64_t value, int64_t *low, int64_t *high) {
  *low = value < *low ? value : *low;
  *high = value > *high ? value : *high;
}

static tsr_status find_box(const tsr_device_list *list, tsr_torus *torus) {
  int64_t low[] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  int64_t high[] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_device *device = &list->devices[i];
    if (!device->has_coords || device->core == TSR_NO_CORE)
      return fail_unknown_place(device, list->kind_name);
    for (int axis = 0; axis < 3; axis++) widen(device->coords[axis], &low[axis], &high[axis]);
    widen(device->core, &low[TSR_FIELD_CORE], &high[TSR_FIELD_CORE]);
  }
  for (int field = 0; field < TSR_FIELD_COUNT; field++) {
    torus->low[field] = low[field];
    torus->sizes[field] = high[field] - low[field] + 1;
  }
  return NULL;
}

static tsr_status check_size(const tsr_torus *torus, const tsr_device_list *list) {
  int64_t places = 0;
  if (tsr_dims_product(torus->sizes, TSR_FIELD_COUNT, &places) && places == list->count)
    return NULL;
  char text[TSR_DIMS_TEXT];
  return tsr_fail(NOT_A_CUBOID,
                  "%lld devices do not fill the %s box of their coordinates (%lld per chip)",
                  (long long)list->count, tsr_dims_text(torus->sizes, 3, "x", text),
                  (long long)torus->sizes[TSR_FIELD_CORE]);
}

// Chooses the axes: x, y, z, and the cores if the kind has such an axis.
static tsr_status choose_axes(tsr_torus *torus, const tsr_device_list *list) {
  const tsr_core_axis cores = list->kind->core_axis;
  const bool has_core_axis =
      cores == TSR_CORE_ALWAYS || (cores == TSR_CORE_IF_TWO && torus->sizes[TSR_FIELD_CORE] == 2);
  torus->rank = has_core_axis ? 4 : 3;
  for (int axis = 0; axis < torus->rank; axis++) {
    torus->fields[axis] = axis;
    torus->dims[axis] = torus->sizes[axis];
  }
  const bool one_each = torus->low[TSR_FIELD_CORE] == 0 && torus->sizes[TSR_FIELD_CORE] == 1;
  for (int i = 0; !has_core_axis && !one_each && i < list->count; i++)
    if (list->devices[i].core != 0)
      return tsr_fail(
          NEEDS_ONE_DEVICE_PER_CHIP,
          "device %lld is core %lld of its chip; a mesh on \"%s\" wants one device per chip",
          (long long)list->devices[i].id, (long long)list->devices[i].core, list->kind_name);
  return NULL;
}

// The box has as many places as devices, so it has a hole exactly if a place is taken twice.
static tsr_status check_places_differ(const tsr_torus *torus, const tsr_device_list *list) {
  uint64_t *taken = calloc((size_t)list->count / 64 + 1, sizeof *taken);
  if (!taken) return tsr_fail(NO_MEMORY, "the places of %lld devices", (long long)list->count);
  tsr_status status = NULL;
  for (int i = 0; !status && i < list->count; i++) {
    const tsr_device *device = &list->devices[i];
    const uint64_t place = (uint64_t)place_of(torus, device);
    const uint64_t bit = UINT64_C(1) << (place % 64);
    if (taken[place / 64] & bit)
      status = tsr_fail(
          NOT_A_CUBOID,
          "device %lld is not alone at (%lld, %lld, %lld) core %lld, so the box of the %lld "
          "devices has a hole",
          (long long)device->id, (long long)device->coords[0], (long long)device->coords[1],
          (long long)device->coords[2], (long long)device->core, (long long)list->count);
    taken[place / 64] |= bit;
  }
  free(taken);
  return status;
}

tsr_status tsr_torus_init(tsr_torus *torus, const tsr_device_list *list) {
  TSR_TRY(find_box(list, torus));
  TSR_TRY(check_size(torus, list));
  TSR_TRY(choose_axes(torus, list));
  return check_places_differ(torus, list);
}

// ---- contiguous submeshes ----

// The only slices and mesh shapes (without sizes 1) with a known order of the physical axes in
// which every host holds a contiguous block.
static const struct contiguous {
  int64_t torus[3], shape[2];
  int axes[3];
} contiguous[] = {
    {{2, 2, 1}, {2, 2}, {0, 1, 2}},     {{2, 2, 4}, {4, 4}, {0, 1, 2}},
    {{4, 4, 4}, {16, 4}, {0, 2, 1}},    {{4, 8, 8}, {64, 4}, {0, 2, 1}},
    {{4, 8, 8}, {4, 64}, {0, 2, 1}},    {{8, 8, 8}, {64, 8}, {0, 2, 1}},
    {{8, 16, 16}, {256, 8}, {0, 2, 1}}, {{8, 16, 16}, {8, 256}, {0, 2, 1}},
};
enum { CONTIGUOUS_COUNT = sizeof contiguous / sizeof *contiguous };

static bool same_dims(const int64_t *a, int a_rank, const int64_t *b, int b_rank) {
  bool same = a_rank == b_rank;
  for (int i = 0; same && i < a_rank; i++) same = a[i] == b[i];
  return same;
}

static void reorder_axes(tsr_torus *torus, const int order[3]) {
  const tsr_torus old = *torus;
  for (int axis = 0; axis < 3; axis++) {
    torus->fields[axis] = old.fields[order[axis]];
    torus->dims[axis] = old.dims[order[axis]];
  }
}

tsr_status tsr_torus_make_contiguous(tsr_torus *torus, const int64_t *shape, int rank) {
  int64_t proper[TSR_MAX_AXES];
  int proper_rank = 0;
  for (int i = 0; i < rank; i++)
    if (shape[i] != 1) proper[proper_rank++] = shape[i];
  const struct contiguous *known = NULL;
  for (int i = 0; i < CONTIGUOUS_COUNT; i++) {
    if (!same_dims(contiguous[i].torus, 3, torus->dims, torus->rank)) continue;
    known = &contiguous[i];
    if (!same_dims(known->shape, 2, proper, proper_rank)) continue;
    reorder_axes(torus, known->axes);
    return NULL;
  }
  char dims[TSR_DIMS_TEXT], wanted[TSR_DIMS_TEXT];
  tsr_dims_text(torus->dims, torus->rank, "x", dims);
  if (!known)
    return tsr_fail(
        CONTIGUOUS_TOPOLOGY_UNSUPPORTED,
        "no contiguous submeshes on a %s slice; they are known for 2x2x1, 2x2x4, 4x4x4, "
        "4x8x8, 8x8x8 and 8x16x16",
        dims);
  return tsr_fail(CONTIGUOUS_SHAPE_UNSUPPORTED,
                  "no contiguous submeshes for mesh (%s) on a %s slice; wanted (%lld, %lld)",
                  tsr_dims_text(shape, rank, ", ", wanted), dims, (long long)known->shape[0],
                  (long long)known->shape[1]);
}

// ---- placing ----

// Fills `table` with the contribution of each coordinate of a physical axis to the position in the
// mesh. `cuts` is the axis's row of the assignment, the last logical axis fastest; `weights` has
// the strides.
static void fill_table(const int64_t *cuts, const int64_t *weights, int rank, int64_t *table) {
  int64_t filled = 1;
  table[0] = 0;
  for (int l = rank - 1; l >= 0; l--) {
    for (int64_t i = filled; i < filled * cuts[l]; i++) table[i] = table[i - filled] + weights[l];
    filled *= cuts[l];
  }
}

tsr_status tsr_torus_place(const tsr_torus *torus, const tsr_device_list *list,
                           const int64_t *shape, int rank, const tsr_assignment *assignment,
                           int64_t *out_ids) {
  int64_t room = 0;
  for (int field = 0; field < TSR_FIELD_COUNT; field++) room += torus->sizes[field];
  int64_t *memory = calloc((size_t)room, sizeof *memory);
  if (!memory) return tsr_fail(NO_MEMORY, "tables of %lld coordinates", (long long)room);
  int64_t *tables[TSR_FIELD_COUNT];
  int64_t used = 0;
  for (int field = 0; field < TSR_FIELD_COUNT; field++) {
    tables[field] = memory + used;
    used += torus->sizes[field];
  }
  // Within a logical axis the first physical axis is the slowest.
  tsr_nd mesh = tsr_nd_rows(shape, rank);
  int64_t *weights = mesh.strides;
  for (int axis = torus->rank - 1; axis >= 0; axis--) {
    fill_table(assignment->factors[axis], weights, rank, tables[torus->fields[axis]]);
    for (int l = 0; l < rank; l++) weights[l] *= assignment->factors[axis][l];
  }
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_device *device = &list->devices[i];
    int64_t position = tables[TSR_FIELD_CORE][device->core - torus->low[TSR_FIELD_CORE]];
    for (int field = 0; field < 3; field++)
      position += tables[field][device->coords[field] - torus->low[field]];
    out_ids[position] = device->id;
  }
  free(memory);
  return NULL;
}
