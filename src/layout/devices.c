// A layout on other devices: the same cuts, with positions mapped to another list of devices.
#include <stdlib.h>

#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

// The layout's mesh with these devices; without a mesh, one axis "device".
static tsr_status mesh_with(const tsr_layout *layout, const int64_t *devices, tsr_mesh **out_mesh) {
  tsr_axis axes[TSR_MAX_AXES] = {{.name = "device", .size = tsr_layout_device_count(layout)}};
  tsr_mesh_desc desc = {.size = sizeof desc,
                        .axis_count = 1,
                        .axes = axes,
                        .device_count = tsr_layout_device_count(layout),
                        .devices = devices};
  if (layout->mesh) {
    desc.axis_count = tsr_mesh_axis_count(layout->mesh);
    desc.topology = tsr_mesh_topology(layout->mesh);
    for (int i = 0; i < desc.axis_count; i++) axes[i] = *tsr_mesh_axis_at(layout->mesh, i);
  }
  return tsr_mesh_create(&desc, out_mesh);
}

static tsr_status grid_on(const tsr_layout *layout, const tsr_mesh *mesh, tsr_layout **out_layout) {
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_sharding *sharding = NULL;
  TSR_TRY(tsr_sharding_bind(mesh, tsr_sharding_spec(layout->requested), false, &sharding));
  tsr_status status = tsr_layout_create(sharding, &shape, (tsr_policy)layout->policy, out_layout);
  tsr_sharding_release(sharding);
  return status;
}

static tsr_status boxes_on(const tsr_layout *layout, const tsr_mesh *mesh,
                           tsr_layout **out_layout) {
  const tsr_shape shape = tsr_layout_shape(layout);
  const tsr_box_table *table = layout->table;
  int64_t *counts = malloc(sizeof *counts * (size_t)table->shard_count);
  if (!counts) return tsr_fail(NO_MEMORY, "%lld shards", (long long)table->shard_count);
  for (int64_t s = 0; s < table->shard_count; s++)
    counts[s] = table->first[s + 1] - table->first[s];
  tsr_status status =
      tsr_layout_from_boxes(mesh, &shape, table->shard_count, counts, table->ranges, out_layout);
  free(counts);
  return status;
}

tsr_status tsr_layout_with_devices(const tsr_layout *layout, const int64_t *devices,
                                   tsr_layout **out_layout) {
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_layout_check_listed(tsr_layout_device_count(layout), "devices"));
  TSR_TRY(mesh_with(layout, devices, &mesh));
  tsr_status status = NULL;
  if (layout->kind == TSR_LAYOUT_GRID)
    status = grid_on(layout, mesh, out_layout);
  else if (layout->kind == TSR_LAYOUT_BOXES)
    status = boxes_on(layout, mesh, out_layout);
  else
    status = tsr_layout_from_flat(mesh, &shape, layout->table->shard_count, layout->table->ranges,
                                  out_layout);
  tsr_mesh_release(mesh);
  return status;
}
