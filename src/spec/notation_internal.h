// PyTorch's DTensor texts, for other rooms and tests.
#ifndef TESSERA_SPEC_NOTATION_INTERNAL_H
#define TESSERA_SPEC_NOTATION_INTERNAL_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/compat/torch.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/status.h"
#include "tessera/topology.h"

// The contents of a printed DTensor or DTensorSpec.
typedef struct tsr_dtensor {
  tsr_placements placements;
  tsr_mesh *mesh;      // owned; NULL = the text has none
  bool lists_devices;  // the text lists the mesh's devices; otherwise strides from 0 give them
  bool has_shape;
  tsr_shape shape;
} tsr_dtensor;

// Reads "(Shard(dim=0), Replicate())", also in square brackets, after "placements=", and with
// qualified names; "S(0)R", where "S(0)[1]S(0)[0]" numbers the shards of a dimension in the order
// of their cuts; "DTensor(local_tensor=..., device_mesh=..., placements=...)";
// "DTensorSpec(mesh=..., placements=..., ...)"; "Spec((Shard(dim=0), Replicate()) on (8, 8))" and
// "Spec(f32[8, 8](S(0)R))". Meshes are read by tsr_mesh_parse. Partial results must
// combine by sum, max or min.
TSR_MUST_USE tsr_status tsr_dtensor_parse(const char *text, const tsr_topology *topology,
                                          tsr_dtensor *out);
void tsr_dtensor_deinit(tsr_dtensor *dtensor);
// Whether a text is for tsr_dtensor_parse and not for tsr_spec_parse.
bool tsr_dtensor_looks_like(const char *text);
// Fails if the text has another mesh or shape than these; NULL is not compared.
TSR_MUST_USE tsr_status tsr_dtensor_check(const tsr_dtensor *dtensor, const tsr_mesh *mesh,
                                          const tsr_shape *shape);

#endif
