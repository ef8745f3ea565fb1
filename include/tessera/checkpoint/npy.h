// checkpoint/npy.h
#ifndef TSR_CHECKPOINT_NPY_H
#define TSR_CHECKPOINT_NPY_H

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/layout.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- NumPy's files ----

// Reads an array from a .npy file, each device's part only, wherever it lies; arrays in Fortran's
// or in the other byte order too. `dtype` is wanted for types that such files forget
// (tessera/npy.h) and checked otherwise; TSR_DTYPE_NONE takes what the file says.
TSR_API TSR_MUST_USE tsr_status tsr_array_load_npy(tsr_comm *comm, const tsr_layout *layout,
                                                   const char *path, tsr_dtype dtype,
                                                   tsr_array **out_array);
// Collective. One .npy file, which all owners write at once, each at its place (all ranks must see
// the same folder); a file of that name is replaced in one step at the end.
TSR_API TSR_MUST_USE tsr_status tsr_array_save_npy(tsr_array *array, const char *path);

TSR_END_DECLS

#endif
