// All ways: every state of a small mesh, every collective between two of them, and the cheapest
// route between any two by Floyd and Warshall. Written apart from the library: states are strings,
// devices are walked over one by one.
#ifndef TESSERA_TESTS_TRANSFER_ORACLE_H
#define TESSERA_TESTS_TRANSFER_ORACLE_H

#include "support/test.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"

enum { ORACLE_ATOMS = 4 };

typedef struct oracle oracle;

typedef struct oracle_desc {
  const tsr_mesh *mesh;
  tsr_shape shape;
  bool unreduced;  // with partial results
  int64_t element_bytes;
  int64_t memory_cap;  // 0 = none
} oracle_desc;

// Axes are split into primes, larger ones first. With a topology, costs are seconds and the axes
// must be prime; without, bytes.
oracle *oracle_create(const oracle_desc *desc);
void oracle_destroy(oracle *all);

// States that cut whole axes, or leave them whole, are those a spec without sub-axes can name.
int oracle_count(const oracle *all);
bool oracle_is_whole(const oracle *all, int state);
bool oracle_is_partial(const oracle *all, int state);
tsr_sharding *oracle_sharding(const oracle *all, int at);
double oracle_cost(const oracle *all, int from, int to);  // HUGE_VAL: no way

#endif
