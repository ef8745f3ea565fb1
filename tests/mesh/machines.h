// Machines and meshes that the tests of this room use again and again. They fail the test on error.
#ifndef TESSERA_TESTS_MESH_MACHINES_H
#define TESSERA_TESTS_MESH_MACHINES_H

#include "support/test.h"
#include "tessera/mesh.h"

// CPU devices with these ids in this order, two per process.
tsr_topology *listed_topology(const int64_t *ids, int count);
tsr_topology *parsed_topology(const char *text);
tsr_mesh *parsed_mesh(const char *text, const tsr_topology *topology);
// A mesh of up to `max_axes` (at most 8) axes and `max_devices` devices, in random order.
tsr_mesh *random_mesh(test_random *random, int max_axes, int64_t max_devices);
// The mesh prints as `text`.
void assert_mesh_prints(const tsr_mesh *mesh, const char *text);
// Each first text is read, and prints as the second.
void assert_meshes_print(const char *const (*texts)[2], size_t count);

#endif
