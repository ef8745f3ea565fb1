// What tests ask of the writer of archives.
#ifndef TESSERA_FILE_NPZ_H
#define TESSERA_FILE_NPZ_H

#include "tessera/npy.h"

// As tsr_npz_write; with `always_64` all numbers have 64 bits, as in archives beyond 4 GB.
TSR_MUST_USE tsr_status tsr_npz_write_as(const char *path, const tsr_npz_item *items, int64_t count,
                                         bool always_64);

#endif
