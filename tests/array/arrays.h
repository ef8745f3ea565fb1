// What the tests of arrays share: tensors whose every element tells where it belongs, and an oracle
// that looks at them one by one.
#ifndef TESSERA_TESTS_ARRAY_ARRAYS_H
#define TESSERA_TESTS_ARRAY_ARRAYS_H

#include "support/layouts.h"
#include "support/test.h"
#include "tessera/array.h"

// A tensor in host memory, row-major, to free(); `seed` tells tensors apart.
void *test_tensor(const tsr_shape *shape, tsr_dtype dtype, uint64_t seed);
int64_t test_tensor_bytes(const tsr_shape *shape, tsr_dtype dtype);

// Whether every part that is here holds what the layout says, of a tensor made by test_tensor;
// padding and the bits after the last element are zero.
TSR_MUST_USE tsr_status test_array_check(const tsr_array *array, uint64_t seed);

// An array whose every element is `*element` (in the lowest bits of a byte if it is narrower).
TSR_MUST_USE tsr_status test_array_full(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                                        const void *element, tsr_array **out_array);

tsr_comm *test_comm(int64_t devices, int workers);
// A layout of the grid kind, or, by chance, boxes or flat ranges of the same shape on 1 to 12
// devices.
tsr_layout *test_random_layout(test_random *random, const tsr_shape *shape);

#endif
