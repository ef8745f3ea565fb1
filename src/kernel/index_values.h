// Integers of any type as indices.
#ifndef TESSERA_KERNEL_INDEX_VALUES_H
#define TESSERA_KERNEL_INDEX_VALUES_H

#include "tessera/dtype.h"

// Reads `count` integers, `stride` elements apart, as they are in the memory of a run. Numbers
// above the range of int64_t become its largest.
void tsr_read_indices(tsr_dtype dtype, const char *from, int64_t stride, int64_t count,
                      int64_t *out);

#endif
