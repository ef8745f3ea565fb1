// NumPy's arrays as tensors, for archives (format_npz.c) and single files (format_npy.c).
#ifndef TESSERA_FORMAT_NUMPY_ARRAYS_H
#define TESSERA_FORMAT_NUMPY_ARRAYS_H

#include "file/npy_internal.h"
#include "file/npz.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"

typedef struct tsr_numpy_array {
  const char *name;  // in the arena of the checkpoint
  tsr_npy npy;
  int file;
  const tsr_zip_member *member;  // of an archive; NULL = a file of its own
} tsr_numpy_array;

typedef struct tsr_numpy_arrays {
  tsr_checkpoint *checkpoint;
  const tsr_checkpoint_options *options;
  tsr_numpy_array *items;  // owned
  int64_t count, capacity;
} tsr_numpy_arrays;

// Adds an array under a name. `noted` is the dtype recorded beside it; TSR_DTYPE_NONE = none.
TSR_MUST_USE tsr_status tsr_numpy_arrays_add(tsr_numpy_arrays *list, const char *name,
                                             size_t name_length, tsr_dtype noted,
                                             const tsr_numpy_array *found);
// Makes the tensors of the checkpoint from all arrays.
TSR_MUST_USE tsr_status tsr_numpy_arrays_finish(const tsr_numpy_arrays *list);

// The name of the file of a tensor: its own, with %2F and the like for characters that file names
// cannot have. A name that is too long keeps its beginning and gets a hash.
enum { TSR_NPY_FILE_NAME = 256 };
void tsr_npy_file_name(const char *tensor, char out[TSR_NPY_FILE_NAME]);

#endif
