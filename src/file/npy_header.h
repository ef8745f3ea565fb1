// Shared by the readers of .npy files and .npz archives.
#ifndef TESSERA_FILE_NPY_HEADER_H
#define TESSERA_FILE_NPY_HEADER_H

#include "file/npy_internal.h"
#include "tessera/api.h"
#include "tessera/status.h"

// NumPy's own limit.
#define TSR_NPY_LONGEST 10000
// The largest header with its prefix.
#define TSR_NPY_MOST_BYTES (12 + TSR_NPY_LONGEST)

// The start and end of the dictionary, from the first 12 bytes of a file (10 suffice for version
// 1).
TSR_MUST_USE tsr_status tsr_npy_prefix(const char *bytes, size_t length, size_t *out_start,
                                       size_t *out_end);
// Swaps the bytes of elements stored in the other byte order.
void tsr_npy_swap(const tsr_npy *npy, void *elements, int64_t count);

#endif
