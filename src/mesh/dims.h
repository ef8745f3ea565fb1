// Sizes without names, as builders get them: checks and text.
#ifndef TESSERA_MESH_DIMS_H
#define TESSERA_MESH_DIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/status.h"

// Room for any list of TSR_MAX_AXES sizes as text.
#define TSR_DIMS_TEXT 384

// "4x2" with separator "x", "4, 2" with ", "; returns `buffer`.
const char *tsr_dims_text(const int64_t *dims, int rank, const char *separator,
                          char buffer[TSR_DIMS_TEXT]);
// Fails unless a mesh can have this many axes.
TSR_MUST_USE tsr_status tsr_rank_check(int rank);
// Fails unless all sizes are 1 or more; `what` names the mesh.
TSR_MUST_USE tsr_status tsr_dims_check(const int64_t *dims, int rank, const char *what);
// The product of the sizes, 1 for none; false if it overflows.
bool tsr_dims_product(const int64_t *dims, int rank, int64_t *out_product);

#endif
