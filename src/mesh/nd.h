// Views of a row-major array: NumPy's reshape, transpose and slicing as arithmetic on strides.
// Nothing moves until a view is gathered.
#ifndef TESSERA_MESH_ND_H
#define TESSERA_MESH_ND_H

#include <stdint.h>

#include "tessera/mesh.h"

// Below 2^31 devices there are at most 30 axes longer than 1.
enum { TSR_ND_MAX = 32 };

typedef struct tsr_nd {
  int rank;
  int64_t offset;
  int64_t dims[TSR_ND_MAX];
  int64_t strides[TSR_ND_MAX];
} tsr_nd;

// A whole row-major array.
tsr_nd tsr_nd_rows(const int64_t *dims, int rank);
// Splits an axis in two: `major`, which must divide its size, times the rest.
void tsr_nd_split(tsr_nd *view, int axis, int64_t major);
// New axis i is old axis order[i].
void tsr_nd_transpose(tsr_nd *view, const int *order);
int64_t tsr_nd_count(const tsr_nd *view);
// Writes the elements of the view, last axis fastest. `source` NULL = 0, 1, 2, ...
void tsr_nd_gather(const tsr_nd *view, const int64_t *source, int64_t *out);
// The inverse: writes `source`, last axis fastest, to the places of the view.
void tsr_nd_scatter(const tsr_nd *view, const int64_t *source, int64_t *out);
// The mesh whose device ids are those of `source` (NULL = 0, 1, 2, ...) in the order of the view.
TSR_MUST_USE tsr_status tsr_mesh_from_view(const tsr_topology *topology, const tsr_axis *axes,
                                           int axis_count, const tsr_nd *view,
                                           const int64_t *source, tsr_mesh **out_mesh);

#endif
