// Mesh positions as numbers in a mixed radix: which digits are the shard, which the replica
// (grid.h).
#include "layout/grid.h"

#include <string.h>

#include "spec/sharding.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/sharding.h"

// Adds the digits that cut `dim`, minor first. Returns their number.
static int add_digits(const tsr_sharding *sharding, int dim, tsr_place *places) {
  const tsr_sharding_dim *bound = tsr_sharding_dim_at(sharding, dim);
  int count = 0;
  int64_t weight = 1;
  for (int s = bound->stage_count - 1; s >= 0; s--) {
    const tsr_digit *digits = tsr_sharding_stage_digits(sharding, dim, s);
    for (int i = bound->stages[s].axis_count - 1; i >= 0; i--) {
      if (digits[i].size == 1) continue;
      places[count++] = (tsr_place){digits[i].stride, digits[i].size, dim, weight};
      weight *= digits[i].size;
    }
  }
  return count;
}

static void sort_places(tsr_place *places, int count) {
  for (int i = 1; i < count; i++) {
    const tsr_place place = places[i];
    int j = i;
    for (; j > 0 && places[j - 1].stride < place.stride; j--) places[j] = places[j - 1];
    places[j] = place;
  }
}

int tsr_grid_places(const tsr_layout *layout, tsr_place *out_places) {
  tsr_place used[TSR_MAX_PLACES / 2];
  int used_count = 0;
  for (int d = 0; d < tsr_sharding_dim_count(layout->sharding); d++)
    used_count += add_digits(layout->sharding, d, used + used_count);
  sort_places(used, used_count);
  // A gap between one digit and the next lower one is a replica digit.
  int64_t above = tsr_mesh_device_count(layout->mesh);
  int count = 0;
  for (int i = 0; i <= used_count; i++) {
    const int64_t top = i < used_count ? used[i].stride * used[i].size : 1;
    if (above > top) out_places[count++] = (tsr_place){top, above / top, -1, 1};
    if (i == used_count) break;
    out_places[count++] = used[i];
    above = used[i].stride;
  }
  int64_t weight = 1;
  for (int i = count - 1; i >= 0; i--) {
    if (out_places[i].dim >= 0) continue;
    out_places[i].weight = weight;
    weight *= out_places[i].size;
  }
  return count;
}

int64_t tsr_grid_index(const tsr_layout *layout, int dim, int64_t position) {
  const tsr_sharding_dim *bound = tsr_sharding_dim_at(layout->sharding, dim);
  int64_t index = 0;
  for (int s = 0; s < bound->stage_count; s++)
    index = index * bound->stages[s].shards +
            tsr_sharding_stage_index(layout->sharding, dim, s, position);
  return index;
}

void tsr_grid_walk_init(tsr_grid_walk *walk, const tsr_layout *layout) {
  walk->place_count = tsr_grid_places(layout, walk->places);
  memset(walk->digits, 0, sizeof walk->digits);
  memset(walk->coords, 0, sizeof walk->coords);
}

int tsr_grid_walk_step(tsr_grid_walk *walk) {
  int i = walk->place_count;
  while (i-- > 0) {
    const tsr_place *place = &walk->places[i];
    const bool wraps = ++walk->digits[i] == place->size;
    if (wraps) walk->digits[i] = 0;
    if (place->dim >= 0) walk->coords[place->dim] += place->weight * (wraps ? 1 - place->size : 1);
    if (!wraps) return i;
  }
  return 0;
}
