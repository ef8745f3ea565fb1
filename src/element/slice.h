// Slices: a selection of a tensor's elements, in Python's syntax.
//
//   tsr_slice slice;
//   TSR_TRY(tsr_slice_parse("-1, ..., 0:8:2", TSR_SHAPE(4, 16, 16), &slice));
//   const tsr_shape shape = tsr_slice_shape(&slice);  // (16, 4)
#ifndef TESSERA_ELEMENT_SLICE_H
#define TESSERA_ELEMENT_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/shape.h"
#include "tessera/status.h"
#include "tessera/text.h"

// The indices start, start + step, ... of one dimension, `count` of them. A single index, and an
// empty range, which starts at 0, have step 1.
typedef struct tsr_slice_dim {
  int64_t start, step, count;
  bool single;  // a single index: the result lacks this dimension
} tsr_slice_dim;

typedef struct tsr_slice {
  int rank;  // of the tensor
  tsr_slice_dim dims[TSR_MAX_RANK];
} tsr_slice;

// Indices ("3", "-1"), ranges with steps (":", "2:", "0:8:2", "::-1") and one "..." for the
// dimensions not written, separated by commas, with or without brackets; missing dimensions at the
// end are whole. As in Python, an index outside its dimension is an error (index_out_of_range), a
// range is clipped.
TSR_MUST_USE tsr_status tsr_slice_parse(const char *text, const tsr_shape *shape,
                                        tsr_slice *out_slice);
// "0:4, 7, 15::-1": reads back as the same slice of the same shape.
void tsr_slice_print(const tsr_slice *slice, tsr_text *out);
void tsr_slice_whole(const tsr_shape *shape, tsr_slice *out_slice);
// The shape of the result, without single indices.
tsr_shape tsr_slice_shape(const tsr_slice *slice);
int64_t tsr_slice_elements(const tsr_slice *slice);  // at most 2^63 - 1

#endif
