// Mesh: devices arranged on named axes. Immutable once made, hence safe to share.
//
// A device has an id (its name in the runtime), and a *position* in the mesh: its row-major index,
// last axis fastest. A mesh without device ids is abstract: positions stand for the devices. Meshes
// that fit the hardware come from tsr_mesh_search (tessera/engine/mesh.h), and from the builders of
// JAX, t5x and eformer (tessera/compat/).
//
//   TSR_OWN(mesh, mesh);  // given back at the end of the block: tessera/own.h
//   TSR_TRY(tsr_mesh_parse("data=4,model=2", NULL, &mesh));
#ifndef TESSERA_MESH_H
#define TESSERA_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/topology.h"

TSR_BEGIN_DECLS

#define TSR_MAX_AXES 16

typedef enum tsr_axis_type { TSR_AXIS_AUTO, TSR_AXIS_EXPLICIT, TSR_AXIS_MANUAL } tsr_axis_type;

typedef struct tsr_axis {
  const char *name;
  int64_t size;
  tsr_axis_type type;
} tsr_axis;

typedef struct tsr_mesh tsr_mesh;  // immutable, shared by any threads

typedef struct tsr_mesh_desc {
  size_t size;  // sizeof(tsr_mesh_desc)
  int axis_count;
  const tsr_axis *axes;  // outermost first; one size may be -1 when the number of devices is known
  int64_t device_count;  // of `devices`; 0 = as the axes say
  const int64_t *devices;        // ids, 0 to 2^31 - 1, row-major; NULL = 0, 1, 2, ...
  const tsr_topology *topology;  // the machine they belong to; NULL = none
  bool abstract;                 // no devices at all, only axes
} tsr_mesh_desc;
#define TSR_MESH_DESC TSR_SIZED(tsr_mesh_desc)

// Refuses repeated axis names and devices, sizes below 1, and ids the topology does not have.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_mesh_create(const tsr_mesh_desc *desc,
                                                            tsr_mesh **out_mesh);
// "data=4,model=2", axis types after a colon as in "data=4:explicit"; one size may be -1 when a
// topology is given, whose first devices are then taken in list order (NULL = none). Other devices
// follow as " devices=[3,1,0,2]", and " abstract" says that there are none. Exact inverse of
// tsr_mesh_print. Names that are not plain words stand in double quotes. Every text that PyTorch
// prints of a DeviceMesh is read too, and "(dp=2, tp=2)": axes without names are dim_0, dim_1, ...;
// where the text lists no devices, those of rank 0's mesh, which the strides reach.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_mesh_parse(const char *text, const tsr_topology *topology, tsr_mesh **out_mesh);
TSR_API TSR_NONNULL void tsr_mesh_print(const tsr_mesh *mesh, tsr_text *out);
TSR_API TSR_NONNULL tsr_mesh *tsr_mesh_retain(const tsr_mesh *mesh);
TSR_API void tsr_mesh_release(const tsr_mesh *mesh);  // NULL is fine
// The same axes (names, sizes, types) over the same devices in the same order.
TSR_API TSR_NONNULL bool tsr_mesh_equal(const tsr_mesh *a, const tsr_mesh *b);

// ---- axes ----

TSR_API TSR_NONNULL int tsr_mesh_axis_count(const tsr_mesh *mesh);
TSR_API TSR_NONNULL const tsr_axis *tsr_mesh_axis_at(const tsr_mesh *mesh, int axis);
// The index of an axis; -1 if there is none.
TSR_API TSR_NONNULL int tsr_mesh_axis_find(const tsr_mesh *mesh, const char *name);

// ---- devices ----

// Product of the sizes, at least 1.
TSR_API TSR_NONNULL int64_t tsr_mesh_device_count(const tsr_mesh *mesh);
// The machine that the devices belong to; borrowed, NULL if there is none.
TSR_API TSR_NONNULL const tsr_topology *tsr_mesh_topology(const tsr_mesh *mesh);
// The id of the device at a position; the position itself in an abstract mesh.
TSR_API TSR_NONNULL int64_t tsr_mesh_device_at(const tsr_mesh *mesh, int64_t position);
// The position of a device by its id; -1 if there is none.
TSR_API TSR_NONNULL int64_t tsr_mesh_device_find(const tsr_mesh *mesh, int64_t id);

TSR_END_DECLS

#endif
