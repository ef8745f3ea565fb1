// Meshes, for other rooms: JSON, axes and devices, and the current mesh, beyond tessera/mesh.h and
// tessera/engine/mesh.h.
#ifndef TESSERA_MESH_MESH_INTERNAL_H
#define TESSERA_MESH_MESH_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/mesh.h"
#include "tessera/status.h"
#include "tessera/topology.h"

// {"axes": [["data", 4], ...], "types": [...], "devices": [...], "abstract": true}; members with
// default values are left out.
TSR_MUST_USE tsr_status tsr_mesh_from_json(const tsr_json *value, const tsr_topology *topology,
                                           tsr_mesh **out_mesh);
void tsr_mesh_to_json(const tsr_mesh *mesh, tsr_json_writer *writer);

// ---- axes ----

const char *tsr_axis_type_name(tsr_axis_type type);  // "auto"
TSR_MUST_USE tsr_status tsr_axis_type_parse(const char *name, tsr_axis_type *out_type);
// Makes axes from names, sizes and types, which must be equally many; `types` NULL = all auto.
// `out_axes` has TSR_MAX_AXES elements and borrows the names.
TSR_MUST_USE tsr_status tsr_axes_zip(const char *const *names, int name_count, const int64_t *sizes,
                                     int size_count, const tsr_axis_type *types, int type_count,
                                     tsr_axis *out_axes);

// ---- devices ----

bool tsr_mesh_is_abstract(const tsr_mesh *mesh);
const int64_t *tsr_mesh_device_list(const tsr_mesh *mesh);  // NULL = 0, 1, 2, ...
int64_t tsr_mesh_process_count(const tsr_mesh *mesh);       // highest process + 1

// The smallest box of the mesh with all devices of `process`: its low corner and sizes, one per
// axis. Fails with process_not_in_mesh if there is none, and with local_devices_not_a_subcube if
// the box contains a device of another process.
TSR_MUST_USE tsr_status tsr_mesh_local_box(const tsr_mesh *mesh, int64_t process, int64_t *out_low,
                                           int64_t *out_sizes);
// That box as a mesh of its own.
TSR_MUST_USE tsr_status tsr_mesh_local(const tsr_mesh *mesh, int64_t process, tsr_mesh **out_mesh);

// ---- new meshes from old ones ----

// Only the axes, no devices.
TSR_MUST_USE tsr_status tsr_mesh_abstract(const tsr_mesh *mesh, tsr_mesh **out_mesh);

// ---- the current mesh (tsr_mesh_enter of tessera/compat/jax_mesh.h) ----

// tsr_mesh_current; an error if there is none.
TSR_MUST_USE tsr_status tsr_mesh_require(const tsr_mesh **out_mesh);
// names_in_current_mesh: whether the current mesh has them all; true for no names.
bool tsr_mesh_current_has(const char *const *names, int name_count);

#endif
