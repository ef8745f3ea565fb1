// What other rooms and the tests use of tessera/compat/hlo.h and torch.h beside what is public.
#ifndef TESSERA_SPEC_NOTATION_INTERNAL_H
#define TESSERA_SPEC_NOTATION_INTERNAL_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/compat/hlo.h"
#include "tessera/compat/torch.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/status.h"
#include "tessera/topology.h"

typedef enum tsr_tiling_kind {
  TSR_TILING_REPLICATED,  // {replicated}
  TSR_TILING_MAXIMAL,     // {maximal device=3}
  TSR_TILING_MANUAL,      // {manual}
  TSR_TILING_UNKNOWN,     // {unknown}
  TSR_TILING_UNREDUCED,   // {unreduced}
  TSR_TILING_TILED,       // {devices=[...]...}
  TSR_TILING_TUPLE        // {{...}, {...}}
} tsr_tiling_kind;

// What a trailing subgroup dimension of a tiling means.
typedef enum tsr_subgroup {
  TSR_SUBGROUP_REPLICATED,
  TSR_SUBGROUP_MANUAL,
  TSR_SUBGROUP_UNREDUCED
} tsr_subgroup;

tsr_tiling *tsr_tiling_retain(const tsr_tiling *tiling);
tsr_tiling_kind tsr_tiling_kind_of(const tsr_tiling *tiling);
// As values: a list of devices equals the counted form of the same; metadata does not matter.
bool tsr_tiling_equal(const tsr_tiling *a, const tsr_tiling *b);
// Elements of a tuple; 0 for other kinds.
int tsr_tiling_element_count(const tsr_tiling *tiling);
const tsr_tiling *tsr_tiling_element(const tsr_tiling *tiling, int index);

// What PyTorch prints of a DTensor and of its spec.
typedef struct tsr_dtensor {
  tsr_placements placements;
  tsr_mesh *mesh;      // owned; NULL = the text has none
  bool lists_devices;  // of the mesh; otherwise they are those that its strides reach from 0 on
  bool has_shape;
  tsr_shape shape;
} tsr_dtensor;

// Reads "(Shard(dim=0), Replicate())", also in square brackets, after "placements=", and with
// qualified names; "S(0)R", where "S(0)[1]S(0)[0]" numbers the shards of a dimension in the order
// of their cuts; "DTensor(local_tensor=..., device_mesh=..., placements=...)";
// "DTensorSpec(mesh=..., placements=..., ...)"; "Spec((Shard(dim=0), Replicate()) on (8, 8))" and
// "Spec(f32[8, 8](S(0)R))". Meshes are read by tsr_mesh_parse. Partial results that combine
// otherwise than by sum, max or min are refused.
TSR_MUST_USE tsr_status tsr_dtensor_parse(const char *text, const tsr_topology *topology,
                                          tsr_dtensor *out);
void tsr_dtensor_deinit(tsr_dtensor *dtensor);
// Whether a text is meant for tsr_dtensor_parse, not for tsr_spec_parse.
bool tsr_dtensor_looks_like(const char *text);
// Fails where the text speaks of another mesh or shape than these; NULL is not compared.
TSR_MUST_USE tsr_status tsr_dtensor_check(const tsr_dtensor *dtensor, const tsr_mesh *mesh,
                                          const tsr_shape *shape);

#endif
