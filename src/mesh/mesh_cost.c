// The cost of communication along the axes of a mesh: the alpha-beta model on rings.
//
// Each axis divides the mesh into groups (devices that differ in that coordinate only). Ring
// algorithms communicate between neighbours, so the farthest neighbours of any group set the pace.
// On a torus, neighbours h hops apart occupy h links, which the groups share: bandwidth falls to
// 1/h. A group that closes to a ring of the torus can send both ways at once.
//
// A collective over axes of different levels runs level by level, so that slow links carry small
// messages: scatter from fast to slow, gather from slow to fast.
#include "mesh/mesh_cost.h"

#include <stdlib.h>

#include "mesh/mesh.h"
#include "topology/topology_internal.h"

// ---- one axis ----

tsr_axis_cost tsr_axis_cost_of(const tsr_topology *topology, int64_t size, const tsr_steps *steps) {
  tsr_axis_cost cost = {.level = steps->level, .link = *tsr_topology_link(topology, steps->level)};
  if (size == 1) return (tsr_axis_cost){.level = TSR_LEVEL_SELF};
  // Devices of one chip or host are all neighbours, so they always close to a ring.
  cost.ring = cost.level == TSR_LEVEL_CHIP || cost.level == TSR_LEVEL_HOST ||
              (cost.level == TSR_LEVEL_ICI && steps->closes && size > 2);
  if (cost.level == TSR_LEVEL_ICI) {
    const double ways = cost.ring ? 2.0 : 1.0;
    cost.link.alpha *= (double)steps->hops;
    cost.link.beta *= (double)steps->hops / ways;
  }
  return cost;
}

static void worsen(tsr_steps *worst, tsr_level level, int64_t hops) {
  if (level > worst->level) worst->level = level;
  if (hops > worst->hops) worst->hops = hops;
}

// Adds the group that starts at `first` and whose members are `stride` apart.
static void add_group(const tsr_topology *topology, const int64_t *places, int64_t first,
                      int64_t stride, int64_t size, tsr_steps *worst) {
  tsr_steps group = {.level = TSR_LEVEL_SELF};
  int64_t before = places[first];
  for (int64_t i = 1; i < size; i++) {
    const int64_t place = places[first + i * stride];
    worsen(&group, tsr_topology_level(topology, before, place),
           tsr_topology_hops(topology, before, place));
    before = place;
  }
  if (tsr_topology_level(topology, before, places[first]) > group.level ||
      tsr_topology_hops(topology, before, places[first]) > group.hops)
    worst->closes = false;
  worsen(worst, group.level, group.hops);
}

// The list position of each device in the topology; NULL = out of memory.
static int64_t *list_places(const tsr_mesh *mesh) {
  const tsr_topology *topology = tsr_mesh_topology(mesh);
  const int64_t count = tsr_mesh_device_count(mesh);
  int64_t *places = malloc(sizeof *places * (size_t)count);
  for (int64_t i = 0; places && i < count; i++)
    places[i] = tsr_topology_device_find(topology, tsr_mesh_device_at(mesh, i));
  return places;
}

// The cost of groups whose members are `stride` positions apart: an axis or a sub-axis.
static tsr_axis_cost cost_of_digit(const tsr_mesh *mesh, const int64_t *places, int64_t stride,
                                   int64_t size) {
  const tsr_topology *topology = tsr_mesh_topology(mesh);
  tsr_steps worst = {.level = TSR_LEVEL_SELF, .closes = true};
  for (int64_t outer = 0; outer < tsr_mesh_device_count(mesh); outer += size * stride)
    for (int64_t inner = 0; inner < stride; inner++)
      add_group(topology, places, outer + inner, stride, size, &worst);
  return tsr_axis_cost_of(topology, size, &worst);
}

static tsr_axis_cost cost_of_axis(const tsr_mesh *mesh, const int64_t *places, int axis) {
  return cost_of_digit(mesh, places, tsr_mesh_stride(mesh, axis),
                       tsr_mesh_axis_at(mesh, axis)->size);
}

// The positions above, for a mesh with a topology; free() them.
static tsr_status find_places(const tsr_mesh *mesh, int64_t **out_places) {
  if (!tsr_mesh_topology(mesh))
    return tsr_fail(BAD_ARGUMENT, "a mesh without a topology has no costs");
  int64_t *places = list_places(mesh);
  if (!places)
    return tsr_fail(NO_MEMORY, "costs of %lld devices", (long long)tsr_mesh_device_count(mesh));
  *out_places = places;
  return NULL;
}

tsr_status tsr_mesh_axis_cost(const tsr_mesh *mesh, int axis, tsr_axis_cost *out_cost) {
  if (axis < 0 || axis >= tsr_mesh_axis_count(mesh))
    return tsr_fail(INDEX_OUT_OF_RANGE, "axis %d of a mesh with %d", axis,
                    tsr_mesh_axis_count(mesh));
  int64_t *places = NULL;
  TSR_TRY(find_places(mesh, &places));
  *out_cost = cost_of_axis(mesh, places, axis);
  free(places);
  return NULL;
}

tsr_status tsr_mesh_digit_costs(const tsr_mesh *mesh, const int64_t *strides, const int64_t *sizes,
                                int digit_count, tsr_axis_cost *out_costs) {
  int64_t *places = NULL;
  TSR_TRY(find_places(mesh, &places));
  for (int i = 0; i < digit_count; i++)
    out_costs[i] = cost_of_digit(mesh, places, strides[i], sizes[i]);
  free(places);
  return NULL;
}

// ---- collectives ----

static double gather_seconds(double count, const tsr_link *link, double bytes) {
  return (count - 1) * (link->alpha + bytes * link->beta);
}

static double scatter_seconds(double count, const tsr_link *link, double bytes) {
  return (count - 1) * (link->alpha + bytes / count * link->beta);
}

double tsr_collective_seconds(tsr_collective op, int64_t count, const tsr_link *link,
                              double bytes) {
  const double n = (double)count;
  if (count == 1) return 0;
  switch (op) {
    case TSR_COLLECTIVE_ALL_GATHER:
      return gather_seconds(n, link, bytes);
    case TSR_COLLECTIVE_REDUCE_SCATTER:
    case TSR_COLLECTIVE_ALL_TO_ALL:
      return scatter_seconds(n, link, bytes);
    case TSR_COLLECTIVE_ALL_REDUCE:
      return scatter_seconds(n, link, bytes) + gather_seconds(n, link, bytes / n);
    default:
      return link->alpha + bytes * link->beta;
  }
}

// One level of a collective: its devices, at the pace of its slowest axis.
typedef struct level_stage {
  int64_t count;
  tsr_link link;
} level_stage;

static double greater(double a, double b) { return a > b ? a : b; }

static void collect_stages(const tsr_axis_cost *costs, const int64_t *sizes, int count,
                           level_stage stages[TSR_LEVEL_COUNT]) {
  for (int level = 0; level < TSR_LEVEL_COUNT; level++) stages[level] = (level_stage){.count = 1};
  for (int i = 0; i < count; i++) {
    level_stage *own = &stages[costs[i].level];
    own->count *= sizes[i];
    own->link.alpha = greater(own->link.alpha, costs[i].link.alpha);
    own->link.beta = greater(own->link.beta, costs[i].link.beta);
  }
}

// From slow to fast; each level gathers the results of the slower ones.
static double staged_gather(const level_stage *stages, double bytes) {
  double seconds = 0;
  for (int level = TSR_LEVEL_COUNT - 1; level >= 0; level--) {
    seconds += tsr_collective_seconds(TSR_COLLECTIVE_ALL_GATHER, stages[level].count,
                                      &stages[level].link, bytes);
    bytes *= (double)stages[level].count;
  }
  return seconds;
}

// From fast to slow; each level passes on only its share. `*out_bytes` is what remains.
static double staged_scatter(const level_stage *stages, double bytes, double *out_bytes) {
  double seconds = 0;
  for (int level = 0; level < TSR_LEVEL_COUNT; level++) {
    seconds += tsr_collective_seconds(TSR_COLLECTIVE_REDUCE_SCATTER, stages[level].count,
                                      &stages[level].link, bytes);
    bytes /= (double)stages[level].count;
  }
  *out_bytes = bytes;
  return seconds;
}

static double staged_seconds(tsr_collective op, const level_stage *stages, double bytes) {
  double seconds = 0, rest = 0;
  switch (op) {
    case TSR_COLLECTIVE_ALL_GATHER:
      return staged_gather(stages, bytes);
    case TSR_COLLECTIVE_REDUCE_SCATTER:
      return staged_scatter(stages, bytes, &rest);
    case TSR_COLLECTIVE_ALL_REDUCE:
      seconds = staged_scatter(stages, bytes, &rest);
      return seconds + staged_gather(stages, rest);
    case TSR_COLLECTIVE_ALL_TO_ALL:
      for (int level = 0; level < TSR_LEVEL_COUNT; level++)
        seconds += tsr_collective_seconds(op, stages[level].count, &stages[level].link, bytes);
      return seconds;
    default:
      for (int level = 0; level < TSR_LEVEL_COUNT; level++)
        seconds = greater(
            seconds, tsr_collective_seconds(op, stages[level].count, &stages[level].link, bytes));
      return seconds;
  }
}

double tsr_collective_over(tsr_collective op, const tsr_axis_cost *costs, const int64_t *sizes,
                           int axis_count, double bytes) {
  level_stage stages[TSR_LEVEL_COUNT];
  collect_stages(costs, sizes, axis_count, stages);
  return staged_seconds(op, stages, bytes);
}

tsr_status tsr_mesh_collective_cost(const tsr_mesh *mesh, tsr_collective op,
                                    const char *const *axes, int axis_count, int64_t bytes,
                                    double *out_seconds) {
  int numbers[TSR_MAX_AXES];
  int64_t sizes[TSR_MAX_AXES], *places = NULL;
  tsr_axis_cost costs[TSR_MAX_AXES];
  if ((unsigned)op >= TSR_COLLECTIVE_COUNT)
    return tsr_fail(BAD_ARGUMENT, "collective %d does not exist, wanted 0 to %d", (int)op,
                    TSR_COLLECTIVE_COUNT - 1);
  if (bytes < 0) return tsr_fail(BAD_ARGUMENT, "a message of %lld bytes", (long long)bytes);
  TSR_TRY(tsr_mesh_find_axes(mesh, axes, axis_count, numbers));
  TSR_TRY(find_places(mesh, &places));
  for (int i = 0; i < axis_count; i++) {
    costs[i] = cost_of_axis(mesh, places, numbers[i]);
    sizes[i] = tsr_mesh_axis_at(mesh, numbers[i])->size;
  }
  free(places);
  *out_seconds = tsr_collective_over(op, costs, sizes, axis_count, (double)bytes);
  return NULL;
}
