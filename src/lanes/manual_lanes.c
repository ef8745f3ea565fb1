// The lanes of manual computations, and the pieces of tensors that they have.
#include "lanes/manual_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "verify/sdy_axes.h"
#include "verify/sdy_checks.h"

enum { MOST_LANES = 1 << 16 };

const char *tsr_op_title_in(tsr_arena *arena, const tsr_op *op) {
  if (!op->line) return op->name;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "%s at line %u", op->name, op->line);
  const char *kept = tsr_arena_copy(arena, tsr_text_string(&text), strlen(tsr_text_string(&text)));
  tsr_text_deinit(&text);
  return kept ? kept : op->name;
}

// ---- lanes ----

static const tsr_attr *axis_name(const tsr_attr *mesh, int64_t axis) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  return tsr_attr_field(axes->items[axis], TSR_SDY_MESH_AXIS_NAME);
}

static int64_t device_at(const tsr_attr *mesh, int64_t position) {
  if (!mesh) return position;
  const tsr_attr *ids = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  return position < tsr_attr_int_count(ids) ? tsr_attr_int_at(ids, position) : position;
}

// The mesh that the shardings of the op name; NULL if they name none.
static const tsr_attr *mesh_of(const tsr_ir *ir, const tsr_op *op) {
  static const char *const sides[] = {"in_shardings", "out_shardings"};
  for (size_t side = 0; side < sizeof sides / sizeof *sides; side++) {
    const tsr_attr *list = tsr_attr_field(tsr_op_attr(op, sides[side]), TSR_SDY_SHARDINGS_LIST);
    for (int64_t i = 0; i < list->count; i++) {
      const tsr_attr *mesh = tsr_sdy_mesh_of(ir, op, list->items[i]);
      if (mesh && !tsr_sdy_is_empty(mesh)) return mesh;
    }
  }
  return NULL;
}

// Fills the coordinates of a lane, which counts the combinations of manual axes.
static int64_t fill_coords(const int64_t *sizes, const bool *is_manual, int axes, int64_t lane,
                           int64_t *coords) {
  int64_t position = 0, stride = 1;
  for (int i = axes - 1; i >= 0; i--) {
    coords[i] = is_manual[i] ? lane % sizes[i] : 0;
    if (is_manual[i]) lane /= sizes[i];
    position += coords[i] * stride;
    stride *= sizes[i];
  }
  return position;
}

// The lane of the computation around that has the same coordinates on its axes.
static int outer_lane(const tsr_manual *outer, const int64_t *coords) {
  int64_t lane = 0;
  for (int i = 0; i < outer->axis_count; i++)
    if (outer->is_manual[i]) lane = lane * outer->sizes[i] + coords[i];
  return (int)lane;
}

typedef struct lane_device {
  int64_t device;
  int lane;
} lane_device;

static int by_device(const void *a, const void *b) {
  const lane_device *x = a, *y = b;
  return (x->device > y->device) - (x->device < y->device);
}

static tsr_status order_devices(tsr_arena *arena, tsr_manual *m) {
  lane_device *order = tsr_arena_zeros(arena, (size_t)m->lanes, sizeof *order);
  int *lanes = tsr_arena_zeros(arena, (size_t)m->lanes, sizeof *lanes);
  TSR_NEED(order && lanes ? m : NULL);
  for (int lane = 0; lane < m->lanes; lane++) order[lane] = (lane_device){m->devices[lane], lane};
  qsort(order, (size_t)m->lanes, sizeof *order, by_device);
  for (int i = 0; i < m->lanes; i++) lanes[i] = order[i].lane;
  m->by_device = lanes;
  return NULL;
}

int tsr_manual_lane(const tsr_manual *manual, int64_t device) {
  int low = 0, high = manual->lanes;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (manual->devices[manual->by_device[middle]] < device)
      low = middle + 1;
    else
      high = middle;
  }
  const int lane = low < manual->lanes ? manual->by_device[low] : -1;
  return lane >= 0 && manual->devices[lane] == device ? lane : -1;
}

static tsr_status fill_lanes(tsr_arena *arena, tsr_manual *m) {
  const int axes = m->axis_count;
  int64_t *coords = tsr_arena_zeros(arena, (size_t)m->lanes * (size_t)axes + 1, sizeof *coords);
  int64_t *devices = tsr_arena_zeros(arena, (size_t)m->lanes, sizeof *devices);
  int *outer = tsr_arena_zeros(arena, (size_t)m->lanes, sizeof *outer);
  TSR_NEED(coords && devices && outer ? m : NULL);
  for (int lane = 0; lane < m->lanes; lane++) {
    const int64_t position =
        fill_coords(m->sizes, m->is_manual, axes, lane, coords + (int64_t)lane * axes);
    devices[lane] = device_at(m->mesh, position);
    outer[lane] = m->outer ? outer_lane(m->outer, coords + (int64_t)lane * axes) : 0;
  }
  m->coords = coords;
  m->devices = devices;
  m->outer_lanes = outer;
  return order_devices(arena, m);
}

tsr_status tsr_manual_open(tsr_ir *ir, tsr_arena *arena, const tsr_op *op, const tsr_manual *outer,
                           tsr_manual *out) {
  const tsr_attr *mesh = mesh_of(ir, op);
  *out = (tsr_manual){.outer = outer, .mesh = mesh, .lanes = 1};
  if (outer && outer->grid.replicas)
    return tsr_fail(UNSUPPORTED, "%s: stands in a program that is run in parallel",
                    tsr_op_title_in(arena, op));
  if (!mesh && outer) out->mesh = mesh = outer->mesh;
  if (!mesh) return fill_lanes(arena, out);
  if (outer && !tsr_attr_equal(outer->mesh, mesh))
    return tsr_fail(UNSUPPORTED, "%s: its mesh is not that of the manual computation around",
                    tsr_op_title_in(arena, op));
  const tsr_attr *manual = tsr_op_attr(op, "manual_axes");
  out->axis_count = (int)tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
  int64_t *sizes = tsr_arena_zeros(arena, (size_t)out->axis_count + 1, sizeof *sizes);
  bool *is_manual = tsr_arena_zeros(arena, (size_t)out->axis_count + 1, sizeof *is_manual);
  TSR_NEED(sizes && is_manual ? out : NULL);
  for (int i = 0; i < out->axis_count; i++) {
    sizes[i] = tsr_sdy_axis_size(mesh, i);
    is_manual[i] = tsr_sdy_is_manual(manual, axis_name(mesh, i)) || (outer && outer->is_manual[i]);
    if (is_manual[i] && tsr_saturated_multiply(out->lanes, sizes[i]) > MOST_LANES)
      return tsr_fail(TOO_LARGE, "%s: more than %d devices run as one", tsr_op_title_in(arena, op),
                      MOST_LANES);
    if (is_manual[i]) out->lanes *= (int)sizes[i];
  }
  out->sizes = sizes;
  out->is_manual = is_manual;
  return fill_lanes(arena, out);
}

// ---- pieces ----

// Which piece of a dim a lane has: the manual axes of its sharding, the first one counting most.
static int64_t piece_of(const tsr_manual *m, const tsr_attr *manual, const tsr_attr *dim,
                        const int64_t *coords) {
  const tsr_attr *axes = tsr_attr_field(dim, TSR_SDY_DIM_AXES);
  int64_t piece = 0;
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *name = tsr_attr_field(axes->items[i], TSR_SDY_AXIS_NAME);
    if (!tsr_sdy_is_manual(manual, name)) continue;
    const int64_t axis = tsr_sdy_axis_find(m->mesh, name), size = m->sizes[axis];
    const tsr_attr *sub = tsr_attr_field(axes->items[i], TSR_SDY_AXIS_SUB_AXIS);
    if (!sub) {
      piece = piece * size + coords[axis];
      continue;
    }
    const int64_t before = tsr_attr_field(sub, TSR_SDY_SUB_AXIS_PRE_SIZE)->integer;
    const int64_t own = tsr_attr_field(sub, TSR_SDY_SUB_AXIS_SIZE)->integer;
    piece = piece * own + coords[axis] / (size / (before * own)) % own;
  }
  return piece;
}

tsr_status tsr_manual_pieces(tsr_arena *arena, const tsr_op *op, const tsr_manual *m, int index,
                             bool is_result, const tsr_type *whole, const tsr_type *piece,
                             const int64_t **out_starts) {
  const tsr_attr *list = tsr_attr_field(
      tsr_op_attr(op, is_result ? "out_shardings" : "in_shardings"), TSR_SDY_SHARDINGS_LIST);
  const tsr_attr *sharding = list->items[index], *manual = tsr_op_attr(op, "manual_axes");
  if (whole->rank > TSR_MAX_RANK || whole->rank != piece->rank)
    return tsr_fail(UNSUPPORTED, "%s: a tensor of rank %d", tsr_op_title_in(arena, op),
                    whole->rank);
  if (tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)->count)
    return tsr_fail(UNSUPPORTED, "%s: a value that is not reduced", tsr_op_title_in(arena, op));
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  int64_t *starts = tsr_arena_zeros(arena, (size_t)m->lanes, sizeof *starts), stride = 1;
  TSR_NEED(starts);
  for (int d = piece->rank - 1; d >= 0; stride *= whole->dims[d--])
    for (int lane = 0; lane < m->lanes && d < dims->count; lane++)
      starts[lane] +=
          stride * piece->dims[d] *
          piece_of(m, manual, dims->items[d], m->coords + (int64_t)lane * m->axis_count);
  *out_starts = starts;
  return NULL;
}
