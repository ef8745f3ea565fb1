// What the readers, the writers and the checks of NumPy's files share.
#ifndef TESSERA_FORMAT_NUMPY_H
#define TESSERA_FORMAT_NUMPY_H

#include "tessera/api.h"
#include "tessera/checkpoint/open.h"
#include "tessera/status.h"

// Beside a folder's arrays: which file holds which tensor, and of what type it is. NumPy's headers
// forget some types, and names of files cannot say all that names of tensors can.
#define TSR_NPY_INDEX "tessera-npy.json"
#define TSR_NPY_SCHEMA "tessera-npy/1"

// Whether a file is one of NumPy's, by its first bytes, or else by its name; ANY = it is not.
TSR_MUST_USE tsr_status tsr_checkpoint_numpy_kind(const char *path,
                                                  tsr_checkpoint_format *out_format);
// Whether a folder has NumPy's arrays, and no other model.
TSR_MUST_USE tsr_status tsr_checkpoint_has_npy(const char *folder, bool *out_found);

// The name of the file for a tensor: its own, with what names of files cannot have written as %2F;
// where that is too long, its beginning and a hash.
enum { TSR_NPY_FILE_NAME = 256 };
void tsr_npy_file_name(const char *tensor, char out[TSR_NPY_FILE_NAME]);

#endif
