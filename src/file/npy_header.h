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

// Swaps the bytes of elements stored in the other byte order.
void tsr_npy_swap(const tsr_npy *npy, void *elements, int64_t count);

#endif
