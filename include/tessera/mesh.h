// Mesh: devices arranged on named axes. Immutable once made, hence safe to share.
//
// A device has an id (its name in the runtime), and a *position* in the mesh: its row-major index,
// last axis fastest. A mesh without device ids is abstract: its devices are the positions. Meshes
// that fit the hardware come from tsr_mesh_search (tessera/engine/mesh.h) and from the builders of
// JAX, t5x and eformer (tessera/compat/).
//
//   TSR_OWN(mesh, mesh);  // released at the end of the block: tessera/own.h
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
// "data=4,model=2", with axis types after a colon as in "data=4:explicit". With a topology (NULL =
// none) one size may be -1, and the mesh takes the topology's first devices in list order. Other
// devices follow as " devices=[3,1,0,2]"; " abstract" means no devices. Names that are not plain
// words are in double quotes. The exact inverse of tsr_mesh_print.
//
// The text of PyTorch's DeviceMesh is read too, and "(dp=2, tp=2)". Axes without names are dim_0,
// dim_1, ...; without a list of devices, the strides say which ranks the mesh of rank 0 has.
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
