// Checks and texts of sizes without names, as the builders get them.
#ifndef TESSERA_MESH_DIMS_H
#define TESSERA_MESH_DIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/status.h"

// Room for any list of TSR_MAX_AXES sizes as text.
#define TSR_DIMS_TEXT 384

// "4x2" with separator "x", "4, 2" with ", "; returns `buffer`, so that it can stand in a call.
const char *tsr_dims_text(const int64_t *dims, int rank, const char *separator,
                          char buffer[TSR_DIMS_TEXT]);
// The number of axes is one a mesh can have.
TSR_MUST_USE tsr_status tsr_rank_check(int rank);
// All sizes are 1 or more; `what` says whose they are.
TSR_MUST_USE tsr_status tsr_dims_check(const int64_t *dims, int rank, const char *what);
// Product of the sizes, 1 for none. False when it does not fit, and `*out_product` is untouched.
bool tsr_dims_product(const int64_t *dims, int rank, int64_t *out_product);

#endif
