// Arrays that hold a pattern of bytes, which tells every place of a tensor from most others: what
// was placed, moved and gathered can be held against it. Types of whole bytes only.
#ifndef TESSERA_TESTS_SUPPORT_PATTERN_H
#define TESSERA_TESTS_SUPPORT_PATTERN_H

#include "tessera/array.h"

void pattern_fill(void *data, int64_t bytes);
bool pattern_holds(const void *data, int64_t bytes);
// An array in this layout.
TSR_MUST_USE tsr_status pattern_array(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                                      tsr_array **out_array);
// An array on the first device alone, as JAX makes one that nobody has placed.
TSR_MUST_USE tsr_status pattern_unplaced(tsr_comm *comm, tsr_dtype dtype, const tsr_shape *shape,
                                         tsr_array **out_array);
// Proves that every device here has the part of the pattern that it should have.
TSR_MUST_USE tsr_status pattern_check(const tsr_array *array);
// A comm with the devices of a mesh, or with one device.
TSR_MUST_USE tsr_status pattern_comm(const tsr_mesh *mesh, tsr_comm **out_comm);

#endif
