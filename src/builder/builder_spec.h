// Specs in Shardy's words.
#ifndef TESSERA_BUILDER_BUILDER_SPEC_H
#define TESSERA_BUILDER_BUILDER_SPEC_H

#include "tessera/mesh.h"
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

#endif
