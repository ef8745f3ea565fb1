// JAX's meshes: those that jax.make_mesh and jax.experimental.mesh_utils build for the hardware,
// and the current mesh.
//
// The order of the topology's devices matters, as in JAX. Where JAX's answer is a bug,
// docs/compatibility.md describes ours.
//
//   tsr_mesh *mesh = NULL;
//   const tsr_axis axes[] = {{.name = "data", .size = 4}, {.name = "model", .size = 2}};
//   TSR_TRY(tsr_jax_make_mesh(topology, axes, 2, false, &mesh));
//   tsr_scope scope;
//   TSR_TRY(tsr_mesh_enter(mesh, &scope));  // with mesh:
//   ...
//   tsr_scope_leave(scope);
#ifndef TESSERA_COMPAT_JAX_MESH_H
#define TESSERA_COMPAT_JAX_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/compat/scope.h"
#include "tessera/mesh.h"
#include "tessera/status.h"
#include "tessera/topology.h"

TSR_BEGIN_DECLS

// ---- the mesh in scope ----

// Makes it the current mesh of this thread until tsr_scope_leave.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_mesh_enter(const tsr_mesh *mesh,
                                                           tsr_scope *out_scope);
// get_incontext_mesh: borrowed; NULL = none.
TSR_API const tsr_mesh *tsr_mesh_current(void);

// The same axes with these types; one type for all, or one per axis.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_mesh_with_types(const tsr_mesh *mesh, const tsr_axis_type *types, int type_count,
                        tsr_mesh **out_mesh);

// ---- builders ----

// Device ids in mesh order, row-major, without axis names.
typedef struct tsr_device_array {
  int rank;
  int64_t dims[TSR_MAX_AXES];
  int64_t count;
  int64_t *ids;  // owned
} tsr_device_array;
TSR_API void tsr_device_array_deinit(tsr_device_array *array);

typedef struct tsr_jax_mesh_options {
  size_t size;                     // sizeof(tsr_jax_mesh_options)
  bool contiguous_submeshes;       // each process holds a contiguous block (few slices can)
  bool allow_split_physical_axes;  // several mesh axes on one torus axis, if nothing else fits
  bool process_is_granule;         // hybrid only: processes, not slices, are the granules
  bool keep_granule_order;         // hybrid only: first seen first, instead of sorted by key
  bool keep_list_order;            // GPUs as listed instead of by id, as in older JAX
  // Stricter than JAX.
  bool refuse_ignored_flags;  // fail where a kind's fixed order would ignore contiguous_submeshes
  bool check_fixed_orders;    // use a fixed order only if it is a ring of neighbours
} tsr_jax_mesh_options;
#define TSR_JAX_MESH_OPTIONS TSR_SIZED(tsr_jax_mesh_options)

// How a device mesh was found.
typedef enum tsr_mesh_path {
  TSR_PATH_LIST_ORDER,  // no known wiring: list order (GPUs by id)
  TSR_PATH_KIND_TABLE,  // a fixed order for this kind of device
  TSR_PATH_TORUS        // physical axes assigned to logical ones
} tsr_mesh_path;

// How the mesh was found. With TSR_PATH_TORUS: the factor of each physical axis (row) that each
// logical axis (column) got.
typedef struct tsr_mesh_reason {
  tsr_mesh_path path;
  int physical_rank;
  int64_t physical_dims[4];
  int64_t assignment[4][TSR_MAX_AXES];
} tsr_mesh_reason;

// create_device_mesh. Mesh axes run from least to most network-intensive. `options` and
// `out_reason` may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_jax_create_device_mesh(const tsr_topology *topology, const int64_t *mesh_shape, int rank,
                               const tsr_jax_mesh_options *options, tsr_device_array *out_array,
                               tsr_mesh_reason *out_reason);
// create_hybrid_device_mesh: `mesh_shape` inside a granule (slice or process), `dcn_mesh_shape`
// between granules.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 6) tsr_status
    tsr_jax_create_hybrid_device_mesh(const tsr_topology *topology, const int64_t *mesh_shape,
                                      const int64_t *dcn_mesh_shape, int rank,
                                      const tsr_jax_mesh_options *options,
                                      tsr_device_array *out_array);
// make_mesh: the first product(sizes) devices. `axes` has names, sizes and, if `use_types`, types;
// else all axes are Explicit.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_jax_make_mesh(const tsr_topology *topology, const tsr_axis *axes, int axis_count,
                      bool use_types, tsr_mesh **out_mesh);
// Names for a device array.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_mesh_from_array(const tsr_topology *topology, const tsr_device_array *array,
                        const char *const *names, tsr_mesh **out_mesh);

TSR_END_DECLS

#endif
