// Shapes and tensors, for other rooms: checks and arithmetic beyond tessera/shape.h.
#ifndef TESSERA_ELEMENT_SHAPE_INTERNAL_H
#define TESSERA_ELEMENT_SHAPE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/shape.h"
#include "tessera/status.h"

// A shape of these sizes, which must pass tsr_shape_check.
TSR_MUST_USE tsr_status tsr_shape_init(tsr_shape *shape, const int64_t *dims, int rank);
// No negative sizes, rank in bounds, and the product of nonzero sizes at most 2^62, so that no
// product of some sizes overflows even if the tensor is empty.
TSR_MUST_USE tsr_status tsr_shape_check(const tsr_shape *shape);
bool tsr_shape_equal(const tsr_shape *a, const tsr_shape *b);
// Fails with shapes_differ unless both are equal: "`what` has shape (4, 8), `other` (8, 4)".
TSR_MUST_USE tsr_status tsr_shapes_check(const char *what, const tsr_shape *a, const char *other,
                                         const tsr_shape *b);
// The stride of each dimension of a row-major tensor, in elements.
void tsr_shape_strides(const tsr_shape *shape, int64_t *out_strides);

// For a checked tensor, such as those of trees and files: nothing overflows.
int64_t tsr_tensor_bytes(const tsr_tensor *tensor);
int64_t tsr_tensor_elements(const tsr_tensor *tensor);

#endif
