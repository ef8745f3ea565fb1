// Counts the ways to use the axes of a mesh, with their costs, and finds the dimensions for each by
// dynamic programming over the dimensions of a shape.
#include "advice/ways.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh_cost.h"
#include "tessera/engine/mesh.h"

// ---- kinds ----

static bool same_cost(const tsr_axis_cost *a, const tsr_axis_cost *b) {
  return a->level == b->level && a->link.alpha == b->link.alpha && a->link.beta == b->link.beta;
}

static void add_axis(tsr_ways *ways, const tsr_axis_cost *costs, int axis) {
  const int64_t size = tsr_mesh_axis_at(ways->mesh, axis)->size;
  if (size == 1) return;
  int at = 0;
  for (; at < ways->kind_count; at++)
    if (ways->kinds[at].size == size && same_cost(&costs[ways->kinds[at].axes[0]], &costs[axis]))
      break;
  tsr_way_kind *kind = &ways->kinds[at];
  if (at == ways->kind_count) ways->kinds[ways->kind_count++] = (tsr_way_kind){.size = size};
  kind->axes[kind->count++] = (uint8_t)axis;
}

static tsr_status add_axes(tsr_ways *ways, const tsr_axis_cost *costs, const tsr_units *units) {
  uint32_t used = 0;
  for (int i = 0; i < units->count; i++)
    for (int j = 0; j < units->items[i].axis_count; j++) {
      const int axis = units->items[i].axes[j];
      if (used >> axis & 1)
        return tsr_fail(DUPLICATE_MESH_AXIS, "axis \"%s\" is named twice",
                        tsr_mesh_axis_at(ways->mesh, axis)->name);
      used |= UINT32_C(1) << axis;
      add_axis(ways, costs, axis);
    }
  return NULL;
}

// Without a topology all links are alike.
static tsr_status find_costs(const tsr_mesh *mesh, tsr_axis_cost *out_costs) {
  memset(out_costs, 0, sizeof *out_costs * TSR_MAX_AXES);
  if (!tsr_mesh_topology(mesh)) return NULL;
  for (int axis = 0; axis < tsr_mesh_axis_count(mesh); axis++)
    TSR_TRY(tsr_mesh_axis_cost(mesh, axis, &out_costs[axis]));
  return NULL;
}

// ---- ways ----

static int digit(const tsr_way_kind *kind, int way) {
  return way / kind->stride % (kind->count + 1);
}

static tsr_status count_ways(tsr_ways *ways) {
  ways->count = 1;
  for (int i = 0; i < ways->kind_count; i++) {
    ways->kinds[i].stride = ways->count;
    ways->count *= ways->kinds[i].count + 1;
    if (ways->count > TSR_MAX_WAYS)
      return tsr_fail(TOO_LARGE, "more than %d ways to use the axes; name fewer of them",
                      TSR_MAX_WAYS);
  }
  return NULL;
}

static void fill_way(tsr_ways *ways, const tsr_axis_cost *costs, int way) {
  tsr_axis_cost used[TSR_MAX_AXES];
  int64_t sizes[TSR_MAX_AXES], split = 1;
  int count = 0;
  for (int i = 0; i < ways->kind_count; i++)
    for (int j = digit(&ways->kinds[i], way); j > 0; j--, count++) {
      used[count] = costs[ways->kinds[i].axes[0]];
      sizes[count] = ways->kinds[i].size;
      split *= sizes[count];
    }
  tsr_way *own = &ways->items[way];
  *own = (tsr_way){.split = split, .beta = (double)(split - 1)};
  if (!tsr_mesh_topology(ways->mesh)) return;
  // The cost is linear in the bytes, so two points give it.
  own->alpha = tsr_collective_over(TSR_COLLECTIVE_ALL_GATHER, used, sizes, count, 0);
  own->beta = tsr_collective_over(TSR_COLLECTIVE_ALL_GATHER, used, sizes, count, 1) - own->alpha;
}

static tsr_status make_ways(tsr_ways *ways, const tsr_units *units) {
  tsr_axis_cost costs[TSR_MAX_AXES];
  TSR_TRY(find_costs(ways->mesh, costs));
  TSR_TRY(add_axes(ways, costs, units));
  TSR_TRY(count_ways(ways));
  ways->items = malloc(sizeof *ways->items * (size_t)ways->count);
  if (!ways->items) return tsr_fail(NO_MEMORY, "%d ways to use axes", ways->count);
  for (int way = 0; way < ways->count; way++) fill_way(ways, costs, way);
  return NULL;
}

tsr_status tsr_ways_init(tsr_ways *ways, const tsr_mesh *mesh, const char *const *names,
                         int name_count) {
  tsr_units units;
  *ways = (tsr_ways){.mesh = mesh};
  tsr_units_in_order(mesh, &units);
  if (name_count) TSR_TRY(tsr_units_of_names(mesh, names, name_count, &units));
  tsr_status status = make_ways(ways, &units);
  if (status) tsr_ways_deinit(ways);
  return status;
}

void tsr_ways_deinit(tsr_ways *ways) {
  free(ways->items);
  *ways = (tsr_ways){.mesh = NULL};
}

// ---- placing ----

tsr_status tsr_placer_init(tsr_way_placer *placer, const tsr_ways *ways) {
  const size_t count = (size_t)ways->count;
  *placer = (tsr_way_placer){.ways = ways};
  placer->scores = malloc(sizeof *placer->scores * count);
  placer->next = malloc(sizeof *placer->next * count);
  placer->from = malloc(sizeof *placer->from * count * TSR_MAX_RANK);
  if (placer->scores && placer->next && placer->from) return NULL;
  tsr_placer_deinit(placer);
  return tsr_fail(NO_MEMORY, "%zu ways to use axes", count);
}

void tsr_placer_deinit(tsr_way_placer *placer) {
  free(placer->scores);
  free(placer->next);
  free(placer->from);
  *placer = (tsr_way_placer){.ways = NULL};
}

static bool is_used(const tsr_way_placer *placer, const tsr_way_kind *kind, int index) {
  return placer->used >> kind->axes[index] & 1;
}

static int free_count(const tsr_way_placer *placer, const tsr_way_kind *kind) {
  int count = 0;
  for (int i = 0; i < kind->count; i++) count += !is_used(placer, kind, i);
  return count;
}

// Whether there are axes enough for both ways together.
static bool can_join(const tsr_way_placer *placer, const int *frees, int a, int b) {
  const tsr_ways *ways = placer->ways;
  for (int i = 0; i < ways->kind_count; i++)
    if (digit(&ways->kinds[i], a) + digit(&ways->kinds[i], b) > frees[i]) return false;
  return true;
}

// A cut in one dimension more outweighs which dimensions they are. All together stay below 2^16.
static uint32_t weight(int place) { return 1024 + (uint32_t)place; }

// Lets the dimension at `place` of the order take every way that divides it, in addition to the
// ways of those before.
static void place_dim(tsr_way_placer *placer, const int *frees, int place) {
  const tsr_ways *ways = placer->ways;
  const int64_t size = placer->shape.dims[placer->order[place]];
  uint16_t *from = placer->from + (size_t)place * (size_t)ways->count;
  memcpy(placer->next, placer->scores, sizeof *placer->next * (size_t)ways->count);
  memset(from, 0, sizeof *from * (size_t)ways->count);
  for (int own = 1; own < ways->count; own++) {
    if (ways->items[own].split > size || size % ways->items[own].split != 0) continue;
    for (int before = 0; before + own < ways->count; before++) {
      if (placer->scores[before] == TSR_NO_WAY || !can_join(placer, frees, before, own)) continue;
      const uint32_t score = placer->scores[before] + weight(place);
      if (score >= placer->next[before + own]) continue;
      placer->next[before + own] = score;
      from[before + own] = (uint16_t)own;
    }
  }
  memcpy(placer->scores, placer->next, sizeof *placer->next * (size_t)ways->count);
}

void tsr_placer_run(tsr_way_placer *placer, const tsr_shape *shape, uint32_t used) {
  int frees[TSR_MAX_AXES];
  placer->shape = *shape;
  placer->used = used;
  tsr_dims_by_size(shape, false, placer->order);
  for (int i = 0; i < placer->ways->kind_count; i++)
    frees[i] = free_count(placer, &placer->ways->kinds[i]);
  memset(placer->scores, 0xff, sizeof *placer->scores * (size_t)placer->ways->count);
  placer->scores[0] = 0;
  for (int place = 0; place < shape->rank; place++) place_dim(placer, frees, place);
}

// Adds an axis to a dimension, in mesh order.
static void insert_axis(tsr_choice *choice, int dim, uint8_t axis) {
  int at = choice->counts[dim]++;
  for (; at > 0 && choice->axes[dim][at - 1] > axis; at--)
    choice->axes[dim][at] = choice->axes[dim][at - 1];
  choice->axes[dim][at] = axis;
  choice->used |= UINT32_C(1) << axis;
}

// The next axes of each kind that are free.
static void take_axes(const tsr_way_placer *placer, int way, int dim, int *taken,
                      tsr_choice *choice) {
  for (int i = 0; i < placer->ways->kind_count; i++) {
    const tsr_way_kind *kind = &placer->ways->kinds[i];
    for (int j = digit(kind, way); j > 0; j--) {
      while (is_used(placer, kind, taken[i])) taken[i]++;
      insert_axis(choice, dim, kind->axes[taken[i]++]);
    }
  }
}

void tsr_placer_choice(const tsr_way_placer *placer, int way, tsr_choice *out_choice) {
  const int rank = placer->shape.rank;
  int owns[TSR_MAX_RANK], taken[TSR_MAX_AXES] = {0};
  assert(placer->scores[way] != TSR_NO_WAY);
  for (int place = rank - 1; place >= 0; place--) {
    owns[place] = placer->from[(size_t)place * (size_t)placer->ways->count + (size_t)way];
    way -= owns[place];
  }
  assert(way == 0);
  *out_choice = (tsr_choice){.rank = rank};
  for (int place = 0; place < rank; place++)
    take_axes(placer, owns[place], placer->order[place], taken, out_choice);
}
