// Shapes and tensors, for other rooms: checks and arithmetic beside those of tessera/shape.h.
#ifndef TESSERA_ELEMENT_SHAPE_INTERNAL_H
#define TESSERA_ELEMENT_SHAPE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/shape.h"
#include "tessera/status.h"

// A shape of these sizes, which must pass tsr_shape_check.
TSR_MUST_USE tsr_status tsr_shape_init(tsr_shape *shape, const int64_t *dims, int rank);
// No negative sizes, rank in bounds, and the product of the sizes that are not 0 at most 2^62, so
// that no product of some of them can overflow even when the tensor is empty.
TSR_MUST_USE tsr_status tsr_shape_check(const tsr_shape *shape);
bool tsr_shape_equal(const tsr_shape *a, const tsr_shape *b);
// Fails with shapes_differ unless both are equal: "`what` has shape (4, 8), `other` (8, 4)".
TSR_MUST_USE tsr_status tsr_shapes_check(const char *what, const tsr_shape *a, const char *other,
                                         const tsr_shape *b);
// How many elements apart neighbours along each dimension lie in a row-major tensor.
void tsr_shape_strides(const tsr_shape *shape, int64_t *out_strides);

// Of a tensor that was checked, as those of trees and files are: nothing overflows.
int64_t tsr_tensor_bytes(const tsr_tensor *tensor);
int64_t tsr_tensor_elements(const tsr_tensor *tensor);

#endif
