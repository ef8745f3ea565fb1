// NumPy's .npy files, read and written by all devices in parallel.
//
//   TSR_OWN(array, weights);  // tessera/own.h
//   TSR_TRY(tsr_array_load_npy(comm, layout, "weights.npy", TSR_DTYPE_NONE, &weights));
//   TSR_TRY(tsr_array_save_npy(weights, "copy.npy"));
//
// Archives (.npz) and folders of arrays are checkpoints: tessera/checkpoint/open.h. "Collective"
// means what tessera/comm.h says; ranks compare the array's dtype, layout and path.
#ifndef TSR_CHECKPOINT_NPY_H
#define TSR_CHECKPOINT_NPY_H

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/layout.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Reads a .npy file; each device reads only its own shard. Fortran order and either byte order are
// supported. `dtype` is required for types that .npy files do not record (those of ml_dtypes, such
// as bfloat16, which NumPy writes as '<V2') and checked otherwise; TSR_DTYPE_NONE takes the file's.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_load_npy(tsr_comm *comm,
                                                               const tsr_layout *layout,
                                                               const char *path, tsr_dtype dtype,
                                                               tsr_array **out_array);
// Collective. Writes one .npy file; all owners write their shards in parallel, so all ranks must
// see the same folder. An existing file is replaced atomically at the end.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_save_npy(tsr_array *array, const char *path);

TSR_END_DECLS

#endif
