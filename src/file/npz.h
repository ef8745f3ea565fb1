// Archives, for checkpoints and tests, beyond npy_internal.h.
#ifndef TESSERA_FILE_NPZ_H
#define TESSERA_FILE_NPZ_H

#include "file/npy_internal.h"
#include "file/zip.h"
#include "file/zip_plan.h"

// The member of an array, stored or deflated.
const tsr_zip_member *tsr_npz_member(const tsr_npz *npz, int64_t index);

// The record given to tsr_npz_plan, not terminated; NULL = none.
const char *tsr_npz_record(const tsr_npz *npz, size_t *out_length);

// Lays out an archive whose arrays are written later, and returns the offset of each array's
// elements; the items' elements are ignored. Only our reader sees the record ("" = none). `plan`
// must be deinitialised also after a failure.
TSR_MUST_USE tsr_status tsr_npz_plan(const tsr_npz_item *items, int64_t count, const char *record,
                                     tsr_zip_plan *plan, int64_t *out_begins);

#endif
