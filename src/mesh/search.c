// The best assignment of logical axes to a machine, by search.
//
// A machine is a grid of physical axes: slices, x, y, z and cores of a torus, or hosts and devices.
// A layout divides each physical axis into pieces and gives each piece to a logical axis, whose
// pieces are ordered from the innermost physical axis outwards. The grid looks the same from each
// of its places, so all groups have the same steps, and the exact cost of a layout follows from its
// pieces: a trial needs no pass over the devices.
//
// The search is depth first, innermost physical axis first and the axis with most traffic first. It
// drops a branch when its finished axes cost as much as the best layout so far. This order finds
// good layouts early; a limit on the pieces tried bounds the time on machines with very many
// layouts.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/compare.h"
#include "base/room.h"
#include "mesh/dims.h"
#include "mesh/mesh.h"
#include "mesh/mesh_cost.h"
#include "mesh/nd.h"
#include "topology/topology_internal.h"

// ---- the machine as a grid ----

enum { PHYSICAL_MAX = 5 };

// The kind of link between neighbours along a physical axis.
typedef enum physical_role { ROLE_NET, ROLE_TORUS, ROLE_CHIP, ROLE_HOST } physical_role;

typedef struct physical_grid {
  const tsr_topology *topology;
  int rank;
  int64_t dims[PHYSICAL_MAX];  // outermost first
  physical_role roles[PHYSICAL_MAX];
  bool wraps[PHYSICAL_MAX];
  int64_t low[PHYSICAL_MAX];  // of the axis's coordinate
  int64_t *ids;               // row-major, owned
} physical_grid;

// A device by its place: slice, x, y, z and core, or only its process.
typedef struct device_place {
  int64_t fields[PHYSICAL_MAX];
  int64_t id;
} device_place;

static int compare_places(const void *a, const void *b) {
  const device_place *x = a, *y = b;
  for (int i = 0; i < PHYSICAL_MAX; i++)
    if (x->fields[i] != y->fields[i]) return tsr_compare(x->fields[i], y->fields[i]);
  return tsr_compare(x->id, y->id);
}

static bool is_torus(const tsr_device *devices, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!devices[i].has_coords) return false;
  return true;
}

static void list_places(const tsr_device *devices, int64_t count, bool torus,
                        device_place *places) {
  for (int64_t i = 0; i < count; i++) {
    const tsr_device *device = &devices[i];
    places[i] =
        (device_place){.fields = {torus ? device->slice : device->process}, .id = device->id};
    if (!torus) continue;
    memcpy(&places[i].fields[1], device->coords, sizeof device->coords);
    places[i].fields[4] = device->core == TSR_NO_CORE ? 0 : device->core;
  }
  qsort(places, (size_t)count, sizeof *places, compare_places);
}

static void add_axis(physical_grid *all, int64_t size, physical_role kind, bool wraps,
                     int64_t low) {
  all->dims[all->rank] = size;
  all->roles[all->rank] = kind;
  all->wraps[all->rank] = wraps;
  all->low[all->rank++] = low;
}

// The axes of the grid that sorted places would fill.
static void find_axes(physical_grid *all, const device_place *places, int64_t count, bool torus) {
  int64_t blocks = 1;
  int64_t core_low = places[0].fields[4], core_high = core_low;
  for (int64_t i = 1; i < count; i++) {
    const int64_t core = places[i].fields[4];
    blocks += places[i].fields[0] != places[i - 1].fields[0];
    if (core < core_low) core_low = core;
    if (core > core_high) core_high = core;
  }
  add_axis(all, blocks, ROLE_NET, false, 0);
  if (!torus) {
    add_axis(all, count / blocks, ROLE_HOST, false, 0);
    return;
  }
  int64_t low[3], sizes[3];
  tsr_topology_bounds(all->topology, low, sizes);
  for (int i = 0; i < 3; i++)
    add_axis(all, sizes[i], ROLE_TORUS, tsr_topology_wrap(all->topology)[i], low[i]);
  add_axis(all, (int64_t)core_high - core_low + 1, ROLE_CHIP, false, core_low);
}

// Whether sorted places fill the grid: each has the coordinates of its index.
static bool fills(const physical_grid *all, const device_place *places, int64_t count) {
  const int64_t per_block = count / all->dims[0];
  int64_t total = 0;
  if (!tsr_dims_product(all->dims, all->rank, &total) || total != count) return false;
  for (int64_t i = 0; i < count; i++) {
    if (places[i].fields[0] != places[i / per_block * per_block].fields[0]) return false;
    int64_t rest = i;
    for (int k = all->rank - 1; k > 0 && all->roles[k] != ROLE_HOST; k--) {
      if (places[i].fields[k] - all->low[k] != rest % all->dims[k]) return false;
      rest /= all->dims[k];
    }
  }
  return true;
}

static tsr_status read_grid(physical_grid *all, device_place *places) {
  const tsr_device *devices = tsr_topology_devices(all->topology);
  const int64_t count = tsr_topology_device_count(all->topology);
  const bool torus = is_torus(devices, count);
  list_places(devices, count, torus, places);
  find_axes(all, places, count, torus);
  if (!fills(all, places, count))
    return tsr_fail(NOT_A_CUBOID, "the %lld devices do not fill a box of %s", (long long)count,
                    torus ? "slices, coordinates and cores" : "processes with equally many each");
  for (int64_t i = 0; i < count; i++) all->ids[i] = places[i].id;
  return NULL;
}

// The caller frees `ids`.
static tsr_status machine_init(physical_grid *all, const tsr_topology *topology) {
  const size_t count = (size_t)tsr_topology_device_count(topology);
  *all = (physical_grid){.topology = topology, .ids = malloc(count * sizeof *all->ids)};
  device_place *places = malloc(count * sizeof *places);
  const tsr_status status = all->ids && places ? read_grid(all, places)
                                               : tsr_fail(NO_MEMORY, "grid of %zu devices", count);
  free(places);
  if (status) free(all->ids);
  return status;
}

// ---- layouts and their cost ----

enum { PIECES_MAX = TSR_ND_MAX, TRIES_MAX = 1 << 18 };

// A factor of a physical axis, given to a logical one.
typedef struct axis_piece {
  int axis, physical;
  int64_t size, stride;  // places along the physical axis
} axis_piece;

typedef struct layout {
  int count;
  axis_piece pieces[PIECES_MAX];  // in order of placement: of each physical axis the minor first
} layout;

// A step on the grid: its level and hops in the topology.
typedef struct grid_step {
  tsr_level level;
  int64_t hops;
} grid_step;

// Adds a shift of `distance` places along physical axis `axis`.
static void add_shift(const physical_grid *all, int axis, int64_t distance, grid_step *sum) {
  static const tsr_level levels[] = {[ROLE_NET] = TSR_LEVEL_NET,
                                     [ROLE_TORUS] = TSR_LEVEL_ICI,
                                     [ROLE_CHIP] = TSR_LEVEL_CHIP,
                                     [ROLE_HOST] = TSR_LEVEL_HOST};
  const tsr_level level = levels[all->roles[axis]];
  if (level > sum->level) sum->level = level;
  if (level != TSR_LEVEL_ICI) return;
  const int64_t around = all->dims[axis] - distance;
  sum->hops += all->wraps[axis] && around < distance ? around : distance;
}

// The pieces of one logical axis, minor first.
typedef struct chain {
  int count;
  axis_piece pieces[PHYSICAL_MAX];
} chain;

static chain chain_of(const layout *tried, int axis) {
  chain own = {.count = 0};
  for (int i = 0; i < tried->count; i++)
    if (tried->pieces[i].axis == axis) own.pieces[own.count++] = tried->pieces[i];
  return own;
}

// The step from the last place of the pieces before `carry` to the next place of `carry`; or back
// to the start after all pieces.
static grid_step step_of(const physical_grid *all, const chain *own, int carry) {
  grid_step sum = {TSR_LEVEL_SELF, 0};
  for (int i = 0; i < carry; i++)
    add_shift(all, own->pieces[i].physical, (own->pieces[i].size - 1) * own->pieces[i].stride,
              &sum);
  if (carry < own->count)
    add_shift(all, own->pieces[carry].physical, own->pieces[carry].stride, &sum);
  return sum;
}

static tsr_steps steps_of(const physical_grid *all, const chain *own) {
  tsr_steps worst = {.level = TSR_LEVEL_SELF};
  for (int carry = 0; carry < own->count; carry++) {
    const grid_step step = step_of(all, own, carry);
    if (step.level > worst.level) worst.level = step.level;
    if (step.hops > worst.hops) worst.hops = step.hops;
  }
  const grid_step back = step_of(all, own, own->count);
  worst.closes = back.level <= worst.level && back.hops <= worst.hops;
  return worst;
}

// ---- the search ----

typedef struct layout_search {
  const physical_grid *all;
  const tsr_axis *axes;
  int axis_count;
  const tsr_axis_traffic *traffic;
  int order[TSR_MAX_AXES];     // most traffic first
  int64_t rest[TSR_MAX_AXES];  // of each axis, not placed yet
  layout tried, best;
  double best_seconds;
  bool found;
  int tries;
} layout_search;

static double chain_seconds(const layout_search *state, int axis, const chain *own) {
  const tsr_steps steps = steps_of(state->all, own);
  const int64_t size = state->axes[axis].size;
  const tsr_axis_cost cost = tsr_axis_cost_of(state->all->topology, size, &steps);
  double seconds = 0;
  for (int op = 0; op < TSR_COLLECTIVE_COUNT; op++) {
    const int64_t bytes = state->traffic[axis].bytes[op];
    if (bytes)
      seconds += tsr_collective_seconds((tsr_collective)op, size, &cost.link, (double)bytes);
  }
  return seconds;
}

// Orders the pieces from `fixed` on so that they cost least, and returns the cost of the axis. The
// order affects no other axis, so the search need not try it.
static double order_pieces(const layout_search *state, int axis, chain *own, int fixed) {
  if (fixed >= own->count - 1) return chain_seconds(state, axis, own);
  chain best = *own;
  double least = order_pieces(state, axis, &best, fixed + 1);
  for (int i = fixed + 1; i < own->count; i++) {
    chain other = *own;
    other.pieces[fixed] = own->pieces[i];
    other.pieces[i] = own->pieces[fixed];
    const double seconds = order_pieces(state, axis, &other, fixed + 1);
    if (seconds >= least) continue;
    least = seconds;
    best = other;
  }
  *own = best;
  return least;
}

static void place_pieces(layout_search *state, int physical, int64_t room, int64_t stride,
                         unsigned used, double spent);

// Gives `size` of the rest of a physical axis to `axis` and continues.
static void place_piece(layout_search *state, axis_piece given, int64_t room, unsigned used,
                        double spent) {
  layout *tried = &state->tried;
  if (state->found && state->tries >= TRIES_MAX) return;
  state->tries++;
  assert(tried->count < PIECES_MAX);  // each piece is 2 or more, and 2^31 are too many devices
  tried->pieces[tried->count++] = given;
  state->rest[given.axis] /= given.size;
  if (state->rest[given.axis] == 1) {
    chain own = chain_of(tried, given.axis);
    spent += order_pieces(state, given.axis, &own, 0);
  }
  if (!state->found || spent < state->best_seconds)
    place_pieces(state, given.physical, room / given.size, given.stride * given.size,
                 used | 1u << given.axis, spent);
  state->rest[given.axis] *= given.size;
  tried->count--;
}

// Tries each size that divides `most`, the largest first.
static void try_sizes(layout_search *state, axis_piece given, int64_t most, int64_t room,
                      unsigned used, double spent) {
  int64_t low = 1;
  for (; low <= most / low; low++) {
    given.size = most / low;
    if (most % low == 0 && given.size > 1) place_piece(state, given, room, used, spent);
  }
  while (--low > 1) {
    given.size = low;
    if (most % low == 0 && most / low != low) place_piece(state, given, room, used, spent);
  }
}

// Distributes the rest of a physical axis, then the axes outside it. An axis gets at most one piece
// of each physical axis, since two would only be a worse one. Taking the greatest common divisor
// leaves coprime rests, so the first descent never gets stuck.
static void place_pieces(layout_search *state, int physical, int64_t room, int64_t stride,
                         unsigned used, double spent) {
  while (room == 1 && physical > 0) {
    room = state->all->dims[--physical];
    stride = 1;
    used = 0;
  }
  if (room == 1) {
    state->best = state->tried;
    state->best_seconds = spent;
    state->found = true;
    return;
  }
  for (int i = 0; i < state->axis_count; i++) {
    const int axis = state->order[i];
    if (used & 1u << axis) continue;
    const axis_piece given = {.axis = axis, .physical = physical, .stride = stride};
    try_sizes(state, given, tsr_gcd(room, state->rest[axis]), room, used, spent);
  }
}

static int64_t total_bytes(const tsr_axis_traffic *traffic) {
  int64_t total = 0;
  for (int op = 0; op < TSR_COLLECTIVE_COUNT; op++)
    if (__builtin_add_overflow(total, traffic->bytes[op], &total)) return INT64_MAX;
  return total;
}

// Most traffic first; of equals the later axis, since meshes are written from least to most
// intense.
static void sort_axes(layout_search *state) {
  for (int i = 0; i < state->axis_count; i++) {
    const int64_t bytes = total_bytes(&state->traffic[i]);
    int k = i;
    for (; k > 0 && bytes >= total_bytes(&state->traffic[state->order[k - 1]]); k--)
      state->order[k] = state->order[k - 1];
    state->order[k] = i;
  }
}

// The best layout's devices, in the order of the mesh: its pieces are strides on the grid.
static tsr_status build(const layout_search *state, tsr_mesh **out_mesh) {
  const tsr_nd grid = tsr_nd_rows(state->all->dims, state->all->rank);
  tsr_nd view = {0};
  for (int axis = 0; axis < state->axis_count; axis++) {
    chain own = chain_of(&state->best, axis);
    order_pieces(state, axis, &own, 0);
    for (int i = own.count - 1; i >= 0; i--) {
      view.dims[view.rank] = own.pieces[i].size;
      view.strides[view.rank++] = own.pieces[i].stride * grid.strides[own.pieces[i].physical];
    }
  }
  return tsr_mesh_from_view(state->all->topology, state->axes, state->axis_count, &view,
                            state->all->ids, out_mesh);
}

static tsr_status check_traffic(const tsr_axis_traffic *traffic, int axis_count) {
  if (axis_count && !traffic) return tsr_fail(BAD_ARGUMENT, "no traffic is given for the axes");
  for (int i = 0; i < axis_count; i++)
    for (int op = 0; op < TSR_COLLECTIVE_COUNT; op++)
      if (traffic[i].bytes[op] < 0)
        return tsr_fail(BAD_ARGUMENT, "axis %d has traffic of %lld bytes", i,
                        (long long)traffic[i].bytes[op]);
  return NULL;
}

tsr_status tsr_mesh_search(const tsr_topology *topology, const tsr_axis *axes, int axis_count,
                           const tsr_axis_traffic *traffic, tsr_mesh **out_mesh,
                           double *out_seconds) {
  TSR_TRY(tsr_rank_check(axis_count));
  TSR_TRY(tsr_list_check(axes, axis_count, "axes"));
  tsr_axis complete[TSR_MAX_AXES];
  for (int i = 0; i < axis_count; i++) complete[i] = axes[i];
  TSR_TRY(tsr_axes_complete(complete, axis_count, tsr_topology_device_count(topology)));
  TSR_TRY(check_traffic(traffic, axis_count));
  physical_grid all;
  TSR_TRY(machine_init(&all, topology));
  layout_search state = {
      .all = &all, .axes = complete, .axis_count = axis_count, .traffic = traffic};
  for (int i = 0; i < axis_count; i++) state.rest[i] = complete[i].size;
  sort_axes(&state);
  place_pieces(&state, all.rank, 1, 1, 0, 0);
  const tsr_status status = build(&state, out_mesh);
  free(all.ids);
  if (!status && out_seconds) *out_seconds = state.best_seconds;
  return status;
}
