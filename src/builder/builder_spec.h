// What Shardy and JAX write into programs: specs, meshes, numbers of devices, names of arguments,
// constants.
#ifndef TESSERA_BUILDER_BUILDER_SPEC_H
#define TESSERA_BUILDER_BUILDER_SPEC_H

#include "ir/ir.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

typedef struct tsr_builder_mesh {
  const char *name;
  tsr_mesh *mesh;
} tsr_builder_mesh;

// Adds "#sdy.sharding<@mesh, [{"data"}, {}]>". The spec must name one of the meshes, axes of it,
// and at most `rank` dimensions; those it leaves out are not cut.
TSR_MUST_USE tsr_status tsr_spec_to_shardy(const char *spec, int rank,
                                           const tsr_builder_mesh *meshes, int mesh_count,
                                           tsr_text *out);
// The same of a spec on one mesh, whatever mesh it names.
TSR_MUST_USE tsr_status tsr_spec_on_mesh(const tsr_spec *spec, int rank,
                                         const tsr_builder_mesh *mesh, tsr_text *out);

// The SDY_MESH of a mesh. NULL without memory.
const tsr_attr *tsr_mesh_attr(tsr_ir *ir, const tsr_mesh *mesh);
// Writes on the module that it runs on `count` devices, as JAX does.
TSR_MUST_USE tsr_status tsr_device_count_write(tsr_ir *ir, int64_t count);
// The location that names an argument. NULL without memory.
const tsr_attr *tsr_name_location(tsr_ir *ir, const char *name);
// The DENSE of a caller's elements, row-major: a bool takes a byte, narrower elements are packed.
TSR_MUST_USE tsr_status tsr_dense_of_data(tsr_ir *ir, const tsr_type *type, const void *data,
                                          const tsr_attr **out_attr);

#endif
