// Terms: the partial results that positions hold over the unreduced axes of a layout.
#include "layout/layout.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"

const tsr_sub_axis *tsr_layout_unreduced(const tsr_layout *layout, int *out_count) {
  *out_count = 0;
  return layout->sharding ? tsr_sharding_unreduced(layout->sharding, out_count) : NULL;
}

int64_t tsr_layout_term_count(const tsr_layout *layout) {
  int count = 0;
  const tsr_sub_axis *axes = tsr_layout_unreduced(layout, &count);
  int64_t terms = 1;
  for (int i = 0; i < count; i++) terms *= axes[i].size;
  return terms;
}

// The digit of a coordinate along a sub-axis, and its weight.
static int64_t sub_digit(const tsr_mesh *mesh, const tsr_sub_axis *axis, int64_t coordinate,
                         int64_t *out_weight) {
  *out_weight = tsr_mesh_axis_at(mesh, axis->axis)->size / (axis->pre * axis->size);
  return coordinate / *out_weight % axis->size;
}

int64_t tsr_layout_term(const tsr_layout *layout, int64_t position) {
  int count = 0;
  const tsr_sub_axis *axes = tsr_layout_unreduced(layout, &count);
  int64_t coords[TSR_MAX_AXES], weight, term = 0;
  if (count == 0) return 0;
  tsr_mesh_coords(layout->mesh, position, coords);
  for (int i = 0; i < count; i++)
    term = term * axes[i].size + sub_digit(layout->mesh, &axes[i], coords[axes[i].axis], &weight);
  return term;
}

int64_t tsr_layout_first_term(const tsr_layout *layout, int64_t position) {
  int count = 0;
  const tsr_sub_axis *axes = tsr_layout_unreduced(layout, &count);
  int64_t coords[TSR_MAX_AXES], weight;
  if (count == 0) return position;
  tsr_mesh_coords(layout->mesh, position, coords);
  for (int i = 0; i < count; i++) {
    const int64_t digit = sub_digit(layout->mesh, &axes[i], coords[axes[i].axis], &weight);
    coords[axes[i].axis] -= digit * weight;
  }
  return tsr_mesh_position(layout->mesh, coords);
}
