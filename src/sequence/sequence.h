// What the files about collective sequences share.
//
// A *spread* says where every part of a mesh axis is: on which dimension, and at which place among
// the axes there, or among the unreduced ones. A sequence is a route from one spread to another.
// Two spreads are compared in a *space*: all parts refined to common *atoms*, so that a spread is
// a few short lists of small numbers, a *spot*.
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

// Lists 0 .. rank-1 are the dimensions, list `rank` the unreduced set in mesh order. Parts that
// continue one another are joined, those of one member are left out.
typedef struct tsr_spread {
  int rank;
  int first[TSR_MAX_RANK + 2];  // list l has parts first[l] .. first[l + 1] - 1
  tsr_sub_axis parts[TSR_MAX_PARTS];
} tsr_spread;

// Fails with no_sequence where a cut is not plain or does not divide its size.
TSR_MUST_USE tsr_status tsr_spread_init(tsr_spread *spread, const tsr_sharding *sharding,
                                        const tsr_shape *shape);
// The sharding that says the same; reduction and the mesh's name are those of `like`.
TSR_MUST_USE tsr_status tsr_spread_bind(const tsr_spread *spread, const tsr_sharding *like,
                                        tsr_sharding **out_sharding);
bool tsr_spread_equal(const tsr_spread *a, const tsr_spread *b);
int64_t tsr_spread_shards(const tsr_spread *spread, int list);  // product of a list
// Appends a list's parts to a spread that is built list by list: first[list + 1] is set.
void tsr_spread_add(tsr_spread *spread, int list, const tsr_sub_axis *parts, int count);
// The shape of a buffer; all sizes divide.
tsr_shape tsr_spread_local(const tsr_spread *spread, const tsr_shape *shape);

// ---- routes ----

typedef struct tsr_sequence_move {
  tsr_step_kind kind;
  int split_dim, concat_dim;  // -1 = none
  int axis_count;
  tsr_sub_axis axes[TSR_MAX_PARTS];
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

// ---- what is to be done ----

typedef struct tsr_change_job {
  const tsr_mesh *mesh;
  tsr_shape shape;
  int64_t elements;
  int bits;            // of an element
  int64_t memory_cap;  // bytes; 0 = any
  int64_t expansion_cap;
  tsr_spread from, to;
} tsr_change_job;

// The collective that a step is on a machine; a slice and a zero are local and cost nothing.
bool tsr_step_is_local(tsr_step_kind kind);
tsr_collective tsr_step_collective(tsr_step_kind kind);
// Elements that a device receives on average: `local` is what it holds before, `n` the size of a
// group, `share` of the devices get another buffer in a permute.
double tsr_step_elements(tsr_step_kind kind, double local, double n, double share);
// Bytes of `elements`, not rounded.
double tsr_job_bytes(const tsr_change_job *job, double elements);
// What the route costs: seconds on a mesh with a topology, else elements moved; and whether all its
// states divide evenly and fit the memory cap.
TSR_MUST_USE tsr_status tsr_route_cost(const tsr_change_job *job, const tsr_route *route,
                                       double *out_cost, bool *out_legal);

// The shortest route that costs no more than `bound`; no moves and `optimal` false when there is
// none or the search was given up, which `*out_found` tells.
TSR_MUST_USE tsr_status tsr_route_search(const tsr_change_job *job, double bound,
                                         tsr_route *out_route, bool *out_found);
// Shardy's greedy order. `*out_found` is false where it does not come to an end in two rounds.
TSR_MUST_USE tsr_status tsr_route_greedy(const tsr_change_job *job, tsr_route *out_route,
                                         bool *out_found);
// Gathers whatever is not where it should be and slices anew: dear, but always possible.
TSR_MUST_USE tsr_status tsr_route_plain(const tsr_change_job *job, tsr_route *out_route);

// ---- one move, counted ----

typedef struct tsr_move_cost {
  double elements;         // sent between devices, all together
  double device_elements;  // received by the device that gets the most
  double seconds;          // 0 without a topology
} tsr_move_cost;
TSR_MUST_USE tsr_status tsr_move_count(const tsr_change_job *job, const tsr_spread *before,
                                       const tsr_sequence_move *move, tsr_move_cost *out_cost);

// ---- spaces ----

enum { TSR_MAX_LISTS = TSR_MAX_RANK + 1 };

// Where the atoms are: list after list, the unreduced ones last and ascending. All bytes count, so
// that spots can be compared and hashed as memory.
typedef struct tsr_spot {
  uint8_t count[TSR_MAX_LISTS];
  uint8_t atoms[TSR_MAX_PARTS - 1];
} tsr_spot;

typedef struct tsr_space {
  const tsr_mesh *mesh;
  double devices;
  int list_count;          // dimensions in play, and the unreduced list last
  int dims[TSR_MAX_RANK];  // which dimension of the tensor a list is
  int atom_count;
  tsr_sub_axis atoms[TSR_MAX_PARTS];  // in mesh order
  bool fine;                          // all atoms are prime, and all of the mesh is among them
  tsr_spot from, to;
} tsr_space;

// Atoms of both spreads. `most_atoms` bounds how finely: up to it, parts are split into primes, and
// parts of the mesh that neither spread names come in too; 0 asks for no more than needed. Up to
// `spare_dims` dimensions that neither cuts come in, those that can be cut most. Fails with
// no_sequence when there is no common refinement.
TSR_MUST_USE tsr_status tsr_space_init(tsr_space *space, const tsr_mesh *mesh,
                                       const tsr_spread *from, const tsr_spread *to,
                                       const tsr_shape *shape, int most_atoms, int spare_dims);
void tsr_spot_spread(const tsr_space *space, const tsr_spot *spot, int rank, tsr_spread *out);
static inline int64_t tsr_space_size(const tsr_space *space, int atom) {
  return space->atoms[atom].size;
}
// Atoms whose digit counts for something else in the other spot: along these a permute's buffers
// travel.
uint64_t tsr_space_moved(const tsr_space *space, const tsr_spot *a, const tsr_spot *b);

// How far devices hold the same under two spots.
typedef struct tsr_agreement {
  double same;    // share of the devices whose boxes (and partial results) are equal
  double shared;  // elements that a device holds under both, on average, as share of the tensor
} tsr_agreement;
// Exact when the atoms at stake make no more than `limit` combinations or the lists line up; else
// false, with no box equal and the largest overlap that could be.
bool tsr_space_agree(const tsr_space *space, const tsr_spot *a, const tsr_spot *b, double limit,
                     tsr_agreement *out_agreement);
// The number of the box (and partial result) that a device with these digits, one for each atom,
// has under either spot of a permute: equal numbers are equal contents.
void tsr_space_boxes(const tsr_space *space, const tsr_spot *a, const tsr_spot *b,
                     const int64_t *digits, int64_t *out_a, int64_t *out_b);
// Elements that must be sent between devices to get from one spot to the other, by any means.
double tsr_space_lower_bound(const tsr_space *space, const tsr_spot *from, const tsr_spot *to,
                             double elements, double limit);

#endif
