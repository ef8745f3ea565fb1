// What the tests of layouts share: random layouts, with an oracle that knows what each mesh
// position holds because it looks at every element.
#ifndef TESSERA_TESTS_SUPPORT_LAYOUTS_H
#define TESSERA_TESTS_SUPPORT_LAYOUTS_H

#include "support/cuts.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"

enum { MAX_AXES = 3, MAX_DIMS = 3, MAX_USES = 4, MAX_DEVICES = 48, MAX_SIZE = 12 };

// A part of an axis that cuts a dimension.
typedef struct test_use {
  int axis;
  int64_t pre, size;
} test_use;

typedef struct test_layout {
  tsr_mesh *mesh;
  tsr_sharding *sharding;
  tsr_shape shape;
  test_cut cuts[MAX_DIMS];
  int use_counts[MAX_DIMS];
  test_use uses[MAX_DIMS][MAX_USES];  // major to minor
} test_layout;

// A mesh of up to 48 devices of several processes, parts of whose axes cut the dimensions in all
// ways there are, or only in single even stages if `plain`.
void test_layout_make(test_random *random, bool plain, test_layout *out);
// The same tensor over as many devices, laid out in another way.
void test_layout_make_other(test_random *random, bool plain, const test_layout *made,
                            test_layout *out);
void test_layout_free(test_layout *made);

// The shard index along a dimension that a position holds, from its coordinates.
int64_t test_layout_index(const test_layout *made, int dim, int64_t position);

// From text: mesh, spec, shape and policy; fails as the library does.
TSR_MUST_USE tsr_status test_layout_read(const char *mesh, const char *spec, const char *shape,
                                         tsr_policy policy, tsr_layout **out_layout);
// The same when it must succeed.
tsr_layout *test_layout_of(const char *mesh, const char *spec, const char *shape,
                           tsr_policy policy);

#endif
