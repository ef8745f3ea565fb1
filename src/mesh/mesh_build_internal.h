// The mesh builders of JAX, t5x and eformer, for other rooms and tests, beyond
// tessera/compat/jax_mesh.h, t5x_mesh.h and eformer_mesh.h.
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

// Fills a size of -1 so that the product is `device_count`.
TSR_MUST_USE tsr_status tsr_sizes_complete(int64_t *sizes, int count, int64_t device_count);
// Ascending prime factors of n >= 1 into `out_factors` (room for 62); gives their number.
TSR_MUST_USE tsr_status tsr_prime_factors(int64_t n, int64_t *out_factors, int *out_count);

// The answer of tsr_jax_make_mesh if it has one. If the first devices form no box, or one that does
// not fit, takes other devices: of the boxes in the first slice, one that fits the mesh, spans
// whole axes of the torus, and is compact.
TSR_MUST_USE tsr_status tsr_jax_make_mesh_in_box(const tsr_topology *topology, const tsr_axis *axes,
                                                 int axis_count, bool use_types,
                                                 tsr_mesh **out_mesh);

// get_mesh: axes data and model. The devices of `local_process` are the host tile (t5x: 0).
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
// calculate_host_mesh_shape: the block of `global_shape` on one of `num_processes` hosts with
// `devices_per_host` devices each; outer axes are divided over hosts first.
TSR_MUST_USE tsr_status tsr_eformer_host_mesh_shape(const int64_t *global_shape, int rank,
                                                    int64_t devices_per_host, int64_t num_processes,
                                                    int64_t *out_shape);

// ---- text forms of Python libraries ----

// An integer as Python's int() reads it: spaces around, a sign, single underscores between digits:
// " +1_000 ". Numbers beyond 64 bits are clamped, since they are too large for any caller. Fails
// with not_an_integer.
TSR_MUST_USE tsr_status tsr_python_int(const char *text, size_t length, int64_t *out_value);

#endif
