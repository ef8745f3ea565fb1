// Random specs and shardings for property tests.
#ifndef TESSERA_TESTS_SPEC_RANDOM_SPECS_H
#define TESSERA_TESTS_SPEC_RANDOM_SPECS_H

#include "support/test.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"

// Any spec that can be written: odd names, all kinds of cuts, sets, priorities. An axis may occur
// in several entries, but in one set only.
tsr_spec *test_random_spec(test_random *random);
// A mesh of `device_count` devices with up to four axes, some of size 1.
tsr_mesh *test_random_mesh(test_random *random, int64_t device_count);
// A sharding of up to `max_rank` dimensions: the mesh's axes, whole or in parts, are spread over
// even and cyclic stages and the unreduced set.
tsr_sharding *test_random_sharding(test_random *random, const tsr_mesh *mesh, int max_rank);

#endif
