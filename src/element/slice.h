// Slice: some of a tensor's elements, written as Python writes it.
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

// The indices start, start + step, ... of one dimension, `count` of them. One index has step 1, and
// so has none, from 0.
typedef struct tsr_slice_dim {
  int64_t start, step, count;
  bool single;  // written as one index: what is sliced lacks this dimension
} tsr_slice_dim;

typedef struct tsr_slice {
  int rank;  // of the tensor
  tsr_slice_dim dims[TSR_MAX_RANK];
} tsr_slice;

// Indices ("3", "-1"), ranges with steps (":", "2:", "0:8:2", "::-1") and one "..." for all that is
// not written, apart by commas, in brackets or not; dimensions left out at the end are whole. As in
// Python, an index outside of its dimension is an error (index_out_of_range), a range is cut off.
TSR_MUST_USE tsr_status tsr_slice_parse(const char *text, const tsr_shape *shape,
                                        tsr_slice *out_slice);
// "0:4, 7, 15::-1": reads back as the same slice of the same shape.
void tsr_slice_print(const tsr_slice *slice, tsr_text *out);
void tsr_slice_whole(const tsr_shape *shape, tsr_slice *out_slice);
// Of the result: single indices left out.
tsr_shape tsr_slice_shape(const tsr_slice *slice);
int64_t tsr_slice_elements(const tsr_slice *slice);  // at most 2^63 - 1

#endif
