// Random meshes and specs for the property tests of notations.
#ifndef TESSERA_TESTS_SPEC_NOTATION_RANDOM_H
#define TESSERA_TESTS_SPEC_NOTATION_RANDOM_H

#include "support/test.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"

// 1 to 4 axes named a to d of sizes 1 to 6, at most `most` devices.
tsr_mesh *random_mesh(test_random *random, int64_t most);
// Axes dealt to `rank` dimensions or left over, some of them in halves where they are even; each
// stage of one axis if `nested`. Some leftovers are unreduced if `unreduced`.
tsr_sharding *random_sharding(test_random *random, const tsr_mesh *mesh, int rank, bool parts,
                              bool nested, bool unreduced);

#endif
