// What checkpoints ask of archives, and tests of their writer.
#ifndef TESSERA_FILE_NPZ_H
#define TESSERA_FILE_NPZ_H

#include "file/zip.h"
#include "tessera/npy.h"

// Where an array's bytes lie, packed or not.
const tsr_zip_member *tsr_npz_member(const tsr_npz *npz, int64_t index);

// As tsr_npz_write; with `always_64` all numbers have 64 bits, as in archives beyond 4 GB.
TSR_MUST_USE tsr_status tsr_npz_write_as(const char *path, const tsr_npz_item *items, int64_t count,
                                         bool always_64);

#endif
