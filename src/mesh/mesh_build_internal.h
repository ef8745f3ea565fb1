// What other rooms and the tests use of the mesh builders of JAX, t5x and eformer
// (tessera/compat/jax_mesh.h, t5x_mesh.h, eformer_mesh.h) beside what is public.
#ifndef TESSERA_MESH_MESH_BUILD_INTERNAL_H
#define TESSERA_MESH_MESH_BUILD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/mesh.h"
#include "tessera/status.h"
#include "tessera/topology.h"

// Sizes with at most one -1, filled so that the product is `device_count`.
TSR_MUST_USE tsr_status tsr_sizes_complete(int64_t *sizes, int count, int64_t device_count);
// Ascending prime factors of n >= 1 into `out_factors` (room for 62); gives their number.
TSR_MUST_USE tsr_status tsr_prime_factors(int64_t n, int64_t *out_factors, int *out_count);

// The answer of tsr_jax_make_mesh where there is one. Where the first devices form no box, or one
// that does not fit, takes others: of the boxes in the first slice one that fits the mesh, keeps
// whole axes of the torus, and is compact.
TSR_MUST_USE tsr_status tsr_jax_make_mesh_in_box(const tsr_topology *topology, const tsr_axis *axes,
                                                 int axis_count, bool use_types,
                                                 tsr_mesh **out_mesh);

// bounds_from_last_device and get_coords for a device of the topology (by position in its list).
bool tsr_t5x_bounds_from_last_device(const tsr_topology *topology, int64_t device,
                                     tsr_hardware_mesh *out_bounds);
bool tsr_t5x_get_coords(const tsr_topology *topology, int64_t device,
                        tsr_hardware_mesh *out_coords);

// get_mesh: axes data and model. `local_process` is whose devices are the host tile (t5x: 0).
TSR_MUST_USE tsr_status tsr_t5x_get_mesh(const tsr_topology *topology,
                                         const tsr_hardware_mesh *submesh, int64_t local_process,
                                         bool tile_by_host_if_needed, tsr_mesh **out_mesh);
TSR_MUST_USE tsr_status tsr_t5x_get_cpu_mesh(const tsr_topology *topology, tsr_mesh **out_mesh);
TSR_MUST_USE tsr_status tsr_t5x_get_gpu_mesh(const tsr_topology *topology, int64_t num_partitions,
                                             tsr_mesh **out_mesh);

// parse_mesh_from_string: "dp:2,tp:4" or "2,4", completed to all devices.
TSR_MUST_USE tsr_status tsr_eformer_parse_mesh(const tsr_topology *topology, const char *text,
                                               const char *const *names, int name_count,
                                               tsr_mesh **out_mesh);
// calculate_host_mesh_shape: the part of `global_shape` that one of `num_processes` hosts with
// `devices_per_host` devices each holds, so that outer axes go over hosts first.
TSR_MUST_USE tsr_status tsr_eformer_host_mesh_shape(const int64_t *global_shape, int rank,
                                                    int64_t devices_per_host, int64_t num_processes,
                                                    int64_t *out_shape);

// ---- text forms of Python libraries ----

// Spaces around, a sign, and single underscores between digits are fine: " +1_000 ". Numbers beyond
// 64 bits become the nearest there is: they are too large for what any caller wants. Fails with
// not_an_integer.
TSR_MUST_USE tsr_status tsr_python_int(const char *text, size_t length, int64_t *out_value);

#endif
