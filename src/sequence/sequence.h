// Shared by the files about collective sequences.
//
// A *spread* is the place of every sub-axis of a mesh: its dimension and its position there, or the
// unreduced set. A sequence is a route from one spread to another. Two spreads are compared in a
// *space*: all sub-axes refined to common *atoms*, so that a spread is a few short lists of small
// numbers, a *spot*.
#ifndef TESSERA_SEQUENCE_SEQUENCE_H
#define TESSERA_SEQUENCE_SEQUENCE_H

#include "spec/normal.h"
#include "tessera/api.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/status.h"

// ---- spreads ----

// Lists 0 .. rank-1 are the dimensions, list `rank` the unreduced set in mesh order. Adjacent sub-
// axes are joined, those of size 1 are dropped.
typedef struct tsr_spread {
  int rank;
  int first[TSR_MAX_RANK + 2];  // list l has sub_axes first[l] .. first[l + 1] - 1
  tsr_sub_axis sub_axes[TSR_MAX_SUB_AXES];
} tsr_spread;

// Fails with no_sequence if a cut is not plain or does not divide its size.
TSR_MUST_USE tsr_status tsr_spread_init(tsr_spread *spread, const tsr_sharding *sharding,
                                        const tsr_shape *shape);
// The equivalent sharding; reduction and mesh name are those of `like`.
TSR_MUST_USE tsr_status tsr_spread_bind(const tsr_spread *spread, const tsr_sharding *like,
                                        tsr_sharding **out_sharding);
bool tsr_spread_equal(const tsr_spread *a, const tsr_spread *b);
int64_t tsr_spread_shards(const tsr_spread *spread, int list);  // product of a list
// Appends list `list` to a spread that is built list by list; sets first[list + 1].
void tsr_spread_add(tsr_spread *spread, int list, const tsr_sub_axis *sub_axes, int count);
// The shape of a buffer; all sizes divide.
tsr_shape tsr_spread_local(const tsr_spread *spread, const tsr_shape *shape);

// ---- routes ----

typedef struct tsr_sequence_move {
  tsr_step_kind kind;
  int split_dim, concat_dim;  // -1 = none
  int axis_count;
  tsr_sub_axis axes[TSR_MAX_SUB_AXES];
  tsr_spread after;
} tsr_sequence_move;

typedef struct tsr_route {
  tsr_sequence_move *moves;  // owned
  int64_t count, capacity;
  bool optimal;
  int64_t expansions;
} tsr_route;

#define TSR_ROUTE_EMPTY \
  { .moves = NULL }

TSR_MUST_USE tsr_status tsr_route_add(tsr_route *route, const tsr_sequence_move *move);
void tsr_route_deinit(tsr_route *route);

// ---- jobs ----

typedef struct tsr_change_job {
  const tsr_mesh *mesh;
  tsr_shape shape;
  int64_t elements;
  int bits;            // of an element
  int64_t memory_cap;  // bytes; 0 = any
  int64_t expansion_cap;
  tsr_spread from, to;
} tsr_change_job;

// Whether a step sends nothing (slice, zero), and the collective that others are on a machine.
bool tsr_step_is_local(tsr_step_kind kind);
tsr_collective tsr_step_collective(tsr_step_kind kind);
// Elements that a device receives on average. `local` is what it holds before, `n` the size of a
// group, `share` the fraction of devices that get another buffer in a permute.
double tsr_step_elements(tsr_step_kind kind, double local, double n, double share);
// Bytes of `elements`, not rounded.
double tsr_job_bytes(const tsr_change_job *job, double elements);
// The cost of a route (seconds on a mesh with a topology, else elements moved), and whether all its
// states divide evenly and fit the memory cap.
TSR_MUST_USE tsr_status tsr_route_cost(const tsr_change_job *job, const tsr_route *route,
                                       double *out_cost, bool *out_legal);

// The shortest route of cost at most `bound`. `*out_found` is false if there is none or the search
// gave up.
TSR_MUST_USE tsr_status tsr_route_search(const tsr_change_job *job, double bound,
                                         tsr_route *out_route, bool *out_found);
// Shardy's greedy order. `*out_found` is false if it does not finish in two rounds.
TSR_MUST_USE tsr_status tsr_route_greedy(const tsr_change_job *job, tsr_route *out_route,
                                         bool *out_found);
// Gathers everything that is out of place and slices again: expensive, but always possible.
TSR_MUST_USE tsr_status tsr_route_plain(const tsr_change_job *job, tsr_route *out_route);

// ---- cost of a move ----

typedef struct tsr_move_cost {
  double elements;         // sent between all devices
  double device_elements;  // largest number that one device receives
  double seconds;          // 0 without a topology
} tsr_move_cost;
TSR_MUST_USE tsr_status tsr_move_count(const tsr_change_job *job, const tsr_spread *before,
                                       const tsr_sequence_move *move, tsr_move_cost *out_cost);

// ---- spaces ----

enum { TSR_MAX_LISTS = TSR_MAX_RANK + 1 };

// The atoms of all lists, one list after the other, the unreduced ones last and ascending. Spots
// are compared and hashed as bytes.
typedef struct tsr_spot {
  uint8_t count[TSR_MAX_LISTS];
  uint8_t atoms[TSR_MAX_SUB_AXES - 1];
} tsr_spot;

typedef struct tsr_space {
  const tsr_mesh *mesh;
  double devices;
  int list_count;          // dimensions considered, and the unreduced list last
  int dims[TSR_MAX_RANK];  // which dimension of the tensor a list is
  int atom_count;
  tsr_sub_axis atoms[TSR_MAX_SUB_AXES];  // in mesh order
  bool fine;                             // all atoms are prime, and all of the mesh is among them
  tsr_spot from, to;
} tsr_space;

// The common atoms of two spreads. Up to `most_atoms` of them, sub-axes are split into primes, and
// sub-axes that neither spread names are included; 0 refines no further than necessary. Includes up
// to `spare_dims` dimensions that neither cuts, the most divisible first. Fails with no_sequence if
// there is no common refinement.
TSR_MUST_USE tsr_status tsr_space_init(tsr_space *space, const tsr_mesh *mesh,
                                       const tsr_spread *from, const tsr_spread *to,
                                       const tsr_shape *shape, int most_atoms, int spare_dims);
void tsr_spot_spread(const tsr_space *space, const tsr_spot *spot, int rank, tsr_spread *out);
static inline int64_t tsr_space_size(const tsr_space *space, int atom) {
  return space->atoms[atom].size;
}
// Atoms with another weight in the other spot: the axes along which a permute moves buffers.
uint64_t tsr_space_moved(const tsr_space *space, const tsr_spot *a, const tsr_spot *b);

// How much devices hold under both of two spots.
typedef struct tsr_agreement {
  double same;    // share of the devices whose boxes (and partial results) are equal
  double shared;  // elements that a device holds under both, on average, as share of the tensor
} tsr_agreement;
// Exact if the atoms involved have at most `limit` combinations or the lists line up. Otherwise
// false, with `same` 0 and the largest possible overlap.
bool tsr_space_agree(const tsr_space *space, const tsr_spot *a, const tsr_spot *b, double limit,
                     tsr_agreement *out_agreement);
// The number of the box (and partial result) of a device with these digits, one for each atom,
// under either spot of a permute. Equal numbers mean equal contents.
void tsr_space_boxes(const tsr_space *space, const tsr_spot *a, const tsr_spot *b,
                     const int64_t *digits, int64_t *out_a, int64_t *out_b);
// Lower bound on elements sent between devices to get from one spot to the other.
double tsr_space_lower_bound(const tsr_space *space, const tsr_spot *from, const tsr_spot *to,
                             double elements, double limit);

#endif
