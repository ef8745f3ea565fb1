// What checkpoints ask of archives, and tests of their writer.
#ifndef TESSERA_FILE_NPZ_H
#define TESSERA_FILE_NPZ_H

#include "file/npy_internal.h"
#include "file/zip.h"
#include "file/zip_plan.h"

// Where an array's bytes lie, packed or not.
const tsr_zip_member *tsr_npz_member(const tsr_npz *npz, int64_t index);

// What tsr_npz_plan was given as a record, not terminated; NULL = none.
const char *tsr_npz_record(const tsr_npz *npz, size_t *out_length);

// Lays out an archive whose arrays are written later, and gives where each one's elements go; the
// items' own are not looked at. The record, "" for none, is for our own reader: others do not see
// it. `plan` must be deinitialised also when it fails.
TSR_MUST_USE tsr_status tsr_npz_plan(const tsr_npz_item *items, int64_t count, const char *record,
                                     tsr_zip_plan *plan, int64_t *out_begins);

// As tsr_npz_write; with `always_64` all numbers have 64 bits, as in archives beyond 4 GB.
TSR_MUST_USE tsr_status tsr_npz_write_as(const char *path, const tsr_npz_item *items, int64_t count,
                                         bool always_64);

#endif
