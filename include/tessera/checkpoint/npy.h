// NumPy's files of one array (.npy), read and written by all devices at once.
//
//   TSR_OWN(array, weights);  // tessera/own.h
//   TSR_TRY(tsr_array_load_npy(comm, layout, "weights.npy", TSR_DTYPE_NONE, &weights));
//   TSR_TRY(tsr_array_save_npy(weights, "copy.npy"));
//
// Archives (.npz) and folders of arrays are checkpoints: tessera/checkpoint/open.h. "Collective" is
// meant as in tessera/comm.h; ranks compare the array's type, layout and path.
#ifndef TSR_CHECKPOINT_NPY_H
#define TSR_CHECKPOINT_NPY_H

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/layout.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Reads an array from a .npy file, each device's part only, wherever it lies; arrays in Fortran's
// or in the other byte order too. `dtype` is wanted for types that such files do not record (those
// of ml_dtypes, such as bfloat16, which NumPy writes as '<V2') and checked otherwise;
// TSR_DTYPE_NONE takes what the file says.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_load_npy(tsr_comm *comm,
                                                               const tsr_layout *layout,
                                                               const char *path, tsr_dtype dtype,
                                                               tsr_array **out_array);
// Collective. One .npy file, which all owners write at once, each at its place (all ranks must see
// the same folder); a file of that name is replaced in one step at the end.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_save_npy(tsr_array *array, const char *path);

TSR_END_DECLS

#endif
