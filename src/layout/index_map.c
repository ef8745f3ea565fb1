// JAX's view of a layout: the ranges of every device, and replica ids of devices with equal ranges.
#include <stdlib.h>

#include "base/room.h"
#include "layout/cover.h"
#include "layout/grid.h"
#include "layout/layout_internal.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

// An unreduced axis of size 1 leaves a complete result (as in JAX).
static tsr_status check_reduced(const tsr_layout *layout) {
  int count = 0, at = 0;
  const tsr_sub_axis *axes = tsr_layout_unreduced(layout, &count);
  while (at < count && axes[at].size == 1) at++;
  if (at == count) return NULL;
  return tsr_fail(UNREDUCED_HAS_NO_INDEX_MAP,
                  "axis \"%s\" is unreduced: its devices hold partial results, not ranges",
                  tsr_mesh_axis_at(layout->mesh, axes[at].axis)->name);
}

// The ranges of all shards of all dimensions in one block; those of dimension d begin at
// `starts[d]`.
static tsr_status dim_tables(const tsr_layout *layout, tsr_range **out_ranges, int64_t *starts) {
  int64_t total = 0;
  for (int d = 0; d < layout->rank; d++) {
    starts[d] = total;
    total += tsr_layout_dim_shards(layout, d);
  }
  tsr_range *ranges = malloc(sizeof *ranges * ((size_t)total + 1));
  if (!ranges) return tsr_fail(NO_MEMORY, "%lld ranges", (long long)total);
  tsr_status status = NULL;
  for (int d = 0; d < layout->rank && !status; d++)
    status = tsr_layout_dim_ranges(layout, d, ranges + starts[d]);
  if (status)
    free(ranges);
  else
    *out_ranges = ranges;
  return status;
}

// ---- the index map ----

// One pass over the positions: each row is the previous row with the changed ranges.
static void fill_grid(const tsr_layout *layout, const tsr_range *tables, const int64_t *starts,
                      tsr_range *out) {
  const int rank = layout->rank;
  const int64_t devices = tsr_layout_device_count(layout);
  tsr_range row[TSR_MAX_RANK];
  for (int d = 0; d < rank; d++) row[d] = tables[starts[d]];
  tsr_grid_walk walk;
  tsr_grid_walk_init(&walk, layout);
  for (int64_t p = 0; p < devices; p++, out += rank) {
    for (int d = 0; d < rank; d++) out[d] = row[d];
    for (int i = tsr_grid_walk_step(&walk); i < walk.place_count; i++) {
      const int d = walk.places[i].dim;
      if (d >= 0) row[d] = tables[starts[d] + walk.coords[d]];
    }
  }
}

static tsr_status map_listed(const tsr_layout *layout, tsr_range *out_ranges) {
  const int64_t shards = layout->table->shard_count, devices = tsr_layout_device_count(layout);
  const int rank = layout->rank;
  tsr_range box[TSR_MAX_RANK];
  // All shards once before the first is written: a failure leaves the output unchanged.
  for (int64_t s = 0; s < shards; s++) TSR_TRY(tsr_layout_box(layout, s, box));
  for (int64_t s = 0; s < shards; s++) TSR_TRY(tsr_layout_box(layout, s, out_ranges + s * rank));
  for (int64_t i = shards * rank; i < devices * rank; i++)
    out_ranges[i] = out_ranges[i - shards * rank];
  return NULL;
}

tsr_status tsr_layout_index_map(const tsr_layout *layout, tsr_range *out_ranges) {
  TSR_TRY(tsr_layout_check_listed(tsr_layout_device_count(layout), "devices"));
  TSR_TRY(tsr_list_check(out_ranges, layout->rank, "ranges for each device"));
  TSR_TRY(check_reduced(layout));
  if (layout->table) return map_listed(layout, out_ranges);
  tsr_range *tables = NULL;
  int64_t starts[TSR_MAX_RANK];
  TSR_TRY(dim_tables(layout, &tables, starts));
  fill_grid(layout, tables, starts, out_ranges);
  free(tables);
  return NULL;
}

// ---- JAX's replica ids ----

tsr_status tsr_layout_jax_replica_ids(const tsr_layout *layout, int64_t *out_ids) {
  const int64_t devices = tsr_layout_device_count(layout);
  TSR_TRY(tsr_layout_check_listed(devices, "devices"));
  tsr_range *ranges = malloc(sizeof *ranges * ((size_t)devices * layout->rank + 1));
  if (!ranges) return tsr_fail(NO_MEMORY, "the ranges of %lld devices", (long long)devices);
  tsr_status status = tsr_layout_index_map(layout, ranges);
  if (!status) status = tsr_box_classes(ranges, layout->rank, devices, NULL, out_ids);
  free(ranges);
  return status;
}
