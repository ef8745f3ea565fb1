// Spaces: the common atoms of two spreads.
//
// The sub-axes that both name cut every axis at some boundaries (1, 2, 4, ... members from the
// front). Refined at all of them, sub-axes of both sides are equal or disjoint. If there are few
// atoms, they are split into primes, so that a step may move a smaller sub-axis; and axes that
// neither spread names are included, since a detour over fast links may use them.
#include <string.h>

#include "base/arithmetic.h"
#include "mesh/mesh.h"
#include "sequence/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/shape.h"

// ---- refinement ----

// The boundaries of one axis: ascending, each divides the next, from 1 to the axis's size.
typedef struct marks {
  int count;
  int64_t at[2 * TSR_MAX_SUB_AXES + 2];
} marks;

static void add_mark(marks *to, int64_t at) {
  int place = to->count;
  for (; place && to->at[place - 1] >= at; place--)
    if (to->at[place - 1] == at) return;
  memmove(to->at + place + 1, to->at + place, sizeof at * (size_t)(to->count - place));
  to->at[place] = at;
  to->count++;
}

static void add_marks(marks *to, const tsr_spread *spread, int axis) {
  for (int i = 0; i < spread->first[spread->rank + 1]; i++)
    if (spread->sub_axes[i].axis == axis) {
      add_mark(to, spread->sub_axes[i].pre);
      add_mark(to, spread->sub_axes[i].pre * spread->sub_axes[i].size);
    }
}

static tsr_status find_marks(const tsr_mesh *mesh, const tsr_spread *from, const tsr_spread *to,
                             int axis, marks *out) {
  const tsr_axis *whole = tsr_mesh_axis_at(mesh, axis);
  out->count = 0;
  add_mark(out, 1);
  add_mark(out, whole->size);
  add_marks(out, from, axis);
  add_marks(out, to, axis);
  for (int i = 1; i < out->count; i++)
    if (out->at[i] % out->at[i - 1])
      return tsr_fail(
          NO_SEQUENCE,
          "the sub-axes of axis \"%s\" of size %lld have no common refinement: one ends "
          "at %lld, another at %lld; only direct copies are possible",
          whole->name, (long long)whole->size, (long long)out->at[i - 1], (long long)out->at[i]);
  return NULL;
}

static bool names_sub_axis(const tsr_spread *spread, int axis, int64_t pre) {
  for (int i = 0; i < spread->first[spread->rank + 1]; i++) {
    const tsr_sub_axis *sub_axis = &spread->sub_axes[i];
    if (sub_axis->axis == axis && sub_axis->pre <= pre && pre < sub_axis->pre * sub_axis->size)
      return true;
  }
  return false;
}

static void add_atom(tsr_space *space, int axis, int64_t pre, int64_t size) {
  space->atoms[space->atom_count++] = (tsr_sub_axis){axis, pre, size};
}

// The largest prime factor of a number of 2 or more. What is left after all small ones counts as a
// prime: no axis of a real machine has two larger factors.
static int64_t largest_prime(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n && p < 1 << 16; p++)
    for (; n % p == 0; n /= p) largest = p;
  return n > 1 ? n : largest;
}

// Larger primes first: steps move the minor end of a list, and most sizes are divisible by 2.
static void add_primes(tsr_space *space, int axis, int64_t pre, int64_t size) {
  while (size > 1) {
    const int64_t prime = largest_prime(size);
    add_atom(space, axis, pre, prime);
    pre *= prime;
    size /= prime;
  }
}

typedef enum grain { NAMED_PARTS, NAMED_PRIMES, ALL_PARTS, ALL_PRIMES } grain;

static tsr_status fill_atoms(tsr_space *space, const tsr_spread *from, const tsr_spread *to,
                             grain wanted) {
  space->atom_count = 0;
  for (int axis = 0; axis < tsr_mesh_axis_count(space->mesh); axis++) {
    marks cut;
    TSR_TRY(find_marks(space->mesh, from, to, axis, &cut));
    for (int i = 1; i < cut.count; i++) {
      const int64_t pre = cut.at[i - 1], size = cut.at[i] / pre;
      const bool named = names_sub_axis(from, axis, pre) || names_sub_axis(to, axis, pre);
      if (!named && (wanted == NAMED_PARTS || wanted == NAMED_PRIMES)) continue;
      if (wanted == ALL_PRIMES || (named && wanted == NAMED_PRIMES))
        add_primes(space, axis, pre, size);
      else
        add_atom(space, axis, pre, size);
    }
  }
  return NULL;
}

// As finely as the limit allows.
static tsr_status choose_atoms(tsr_space *space, const tsr_spread *from, const tsr_spread *to,
                               int most_atoms) {
  static const grain order[] = {ALL_PRIMES, NAMED_PRIMES, ALL_PARTS};
  for (size_t i = 0; most_atoms && i < sizeof order / sizeof *order; i++) {
    TSR_TRY(fill_atoms(space, from, to, order[i]));
    space->fine = order[i] == ALL_PRIMES;
    if (space->atom_count <= most_atoms) return NULL;
  }
  space->fine = false;
  return fill_atoms(space, from, to, NAMED_PARTS);
}

// ---- dimensions in play ----

static bool is_cut(const tsr_spread *spread, int dim) {
  return spread->first[dim] < spread->first[dim + 1];
}

static void choose_dims(tsr_space *space, const tsr_spread *from, const tsr_spread *to,
                        const tsr_shape *shape, int spare_dims) {
  bool chosen[TSR_MAX_RANK] = {false};
  const int64_t devices = tsr_mesh_device_count(space->mesh);
  for (int d = 0; d < shape->rank; d++) chosen[d] = is_cut(from, d) || is_cut(to, d);
  for (; spare_dims > 0; spare_dims--) {
    int best = -1;
    int64_t room = 1;
    for (int d = 0; d < shape->rank; d++) {
      const int64_t can = tsr_gcd(shape->dims[d], devices);
      if (chosen[d] || can <= room) continue;
      best = d;
      room = can;
    }
    if (best < 0) break;
    chosen[best] = true;
  }
  int count = 0;
  for (int d = 0; d < shape->rank; d++)
    if (chosen[d]) space->dims[count++] = d;
  space->list_count = count + 1;
}

// ---- spots ----

static int spot_add(const tsr_space *space, tsr_spot *spot, int list, int at,
                    const tsr_sub_axis *sub_axis) {
  for (int a = 0; a < space->atom_count; a++) {
    const tsr_sub_axis *atom = &space->atoms[a];
    if (atom->axis != sub_axis->axis || atom->pre < sub_axis->pre ||
        atom->pre >= sub_axis->pre * sub_axis->size)
      continue;
    spot->atoms[at++] = (uint8_t)a;
    spot->count[list]++;
  }
  return at;
}

static tsr_spot spot_of(const tsr_space *space, const tsr_spread *spread) {
  tsr_spot spot = {0};
  int at = 0;
  for (int l = 0; l < space->list_count; l++) {
    const int list = l + 1 < space->list_count ? space->dims[l] : spread->rank;
    for (int i = spread->first[list]; i < spread->first[list + 1]; i++)
      at = spot_add(space, &spot, l, at, &spread->sub_axes[i]);
  }
  return spot;
}

void tsr_spot_spread(const tsr_space *space, const tsr_spot *spot, int rank, tsr_spread *out) {
  *out = (tsr_spread){.rank = rank};
  int list = 0, at = 0;
  for (int d = 0; d <= rank; d++) {
    tsr_sub_axis sub_axes[TSR_MAX_SUB_AXES];
    int count = 0;
    if (d == rank || (list + 1 < space->list_count && space->dims[list] == d)) {
      for (; count < spot->count[list]; count++) sub_axes[count] = space->atoms[spot->atoms[at++]];
      list++;
    }
    tsr_spread_add(out, d, sub_axes, count);
  }
}

// The list of an atom and its weight there; the unreduced set has no order.
typedef struct atom_place {
  int list;  // 0 = in none
  int64_t weight;
} atom_place;

static void find_places(const tsr_space *space, const tsr_spot *spot, atom_place *out) {
  int end = 0;
  for (int l = 0; l < space->list_count; l++) {
    int64_t weight = 1;
    const int start = end;
    end += spot->count[l];
    for (int i = end; i-- > start;) {
      out[spot->atoms[i]] = (atom_place){l + 1, l + 1 < space->list_count ? weight : 0};
      weight *= tsr_space_size(space, spot->atoms[i]);
    }
  }
}

uint64_t tsr_space_moved(const tsr_space *space, const tsr_spot *a, const tsr_spot *b) {
  atom_place x[TSR_MAX_SUB_AXES] = {{0}}, y[TSR_MAX_SUB_AXES] = {{0}};
  find_places(space, a, x);
  find_places(space, b, y);
  uint64_t moved = 0;
  for (int i = 0; i < space->atom_count; i++)
    if (x[i].list != y[i].list || x[i].weight != y[i].weight) moved |= UINT64_C(1) << i;
  return moved;
}

tsr_status tsr_space_init(tsr_space *space, const tsr_mesh *mesh, const tsr_spread *from,
                          const tsr_spread *to, const tsr_shape *shape, int most_atoms,
                          int spare_dims) {
  *space = (tsr_space){.mesh = mesh, .devices = (double)tsr_mesh_device_count(mesh)};
  TSR_TRY(choose_atoms(space, from, to, most_atoms));
  choose_dims(space, from, to, shape, spare_dims);
  space->from = spot_of(space, from);
  space->to = spot_of(space, to);
  return NULL;
}
