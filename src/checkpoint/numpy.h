// What the readers, the writers and the checks of NumPy's files share.
#ifndef TESSERA_CHECKPOINT_NUMPY_H
#define TESSERA_CHECKPOINT_NUMPY_H

#include "tessera/status.h"

// Beside a folder's arrays: which file holds which tensor, and of what type it is. NumPy's headers
// forget some types, and names of files cannot say all that names of tensors can.
#define TSR_NPY_INDEX "tessera-npy.json"
#define TSR_NPY_SCHEMA "tessera-npy/1"

// Whether a folder has NumPy's arrays, and no other model.
TSR_MUST_USE tsr_status tsr_checkpoint_has_npy(const char *folder, bool *out_found);

#endif
