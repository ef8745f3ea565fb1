// NumPy's files: one array (.npy) or several in a zip archive (.npz), read strictly and written as
// numpy.save writes them.
//
// Headers can be read without the data. NumPy does not record the types of ml_dtypes: bfloat16
// becomes '<V2' and most others '<V1', so the reader must name them (tsr_npy_set_dtype);
// float8_e5m2 becomes '<f1', which NumPy cannot read back, but we can.
#ifndef TESSERA_FILE_NPY_INTERNAL_H
#define TESSERA_FILE_NPY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"
#include "tessera/status.h"

// The header of an array. Sizes are checked: the elements take exactly the bytes from begin to end.
typedef struct tsr_npy {
  tsr_dtype dtype;  // TSR_DTYPE_NONE: elements of `width` bytes of unrecorded type
  int width;        // bytes of an element
  bool swapped;     // stored in the other byte order; reading swaps it
  bool fortran;     // the first index runs fastest
  tsr_shape shape;
  int64_t begin, end;  // the data's bytes, counted from the start of the file
} tsr_npy;

// Reads the header of an array, versions 1.0 to 3.0, from the first bytes of a file. Structured
// types, strings, dates and Python objects are unsupported; other errors name the byte.
TSR_MUST_USE tsr_status tsr_npy_parse(const char *bytes, size_t length, tsr_npy *out_npy);
// The same for a file, whose size must agree with the header.
TSR_MUST_USE tsr_status tsr_npy_open(const char *path, tsr_npy *out_npy);
// Sets the dtype of elements of unrecorded type; it must be as wide, and not narrower than a byte.
TSR_MUST_USE tsr_status tsr_npy_set_dtype(tsr_npy *npy, tsr_dtype dtype);
// The stride of each dimension, in elements, in the order of the data.
void tsr_npy_strides(const tsr_npy *npy, int64_t out_strides[TSR_MAX_RANK]);

// Reads `count` elements from number `first` on, in the order of the data and the byte order of
// this machine; fails with bad_argument if `out_bytes` is too small. The header comes from
// tsr_npy_open.
TSR_MUST_USE tsr_status tsr_npy_read(const char *path, const tsr_npy *npy, int64_t first,
                                     int64_t count, void *out_elements, int64_t out_bytes);

// The bytes that numpy.save (NumPy 2) writes before the data, for the caller to free. Types
// narrower than a byte are an error: NumPy stores one per byte.
TSR_MUST_USE tsr_status tsr_npy_header(tsr_dtype dtype, const tsr_shape *shape, bool fortran,
                                       char **out_bytes, size_t *out_length);
// Writes a whole file of dense elements. An existing file is replaced atomically at the end.
TSR_MUST_USE tsr_status tsr_npy_write(const char *path, tsr_dtype dtype, const tsr_shape *shape,
                                      bool fortran, const void *elements);

// The arrays of an archive, which stays open. Members may be stored or deflated, and the archive
// may exceed 4 GB. Damaged directories, members that overlap or are no arrays, and wrong checksums
// (when an array is read) are errors.
typedef struct tsr_npz tsr_npz;

TSR_MUST_USE tsr_status tsr_npz_open(const char *path, tsr_npz **out_npz);
void tsr_npz_destroy(tsr_npz *npz);  // NULL is fine
int64_t tsr_npz_count(const tsr_npz *npz);
const char *tsr_npz_name(const tsr_npz *npz, int64_t index);  // without .npy
// The header of an array. If it is stored, begin and end are offsets in the archive.
const tsr_npy *tsr_npz_array(const tsr_npz *npz, int64_t index);
bool tsr_npz_is_stored(const tsr_npz *npz, int64_t index);
// Reads all elements, in the order of the data and the byte order of this machine; fails with
// bad_argument if `out_bytes` is too small.
TSR_MUST_USE tsr_status tsr_npz_read(const tsr_npz *npz, int64_t index, void *out_elements,
                                     int64_t out_bytes);
// Reads all of it to verify the checksum, in little memory.
TSR_MUST_USE tsr_status tsr_npz_check(const tsr_npz *npz, int64_t index);

typedef struct tsr_npz_item {
  tsr_tensor tensor;  // its path is the member's name without .npy
  bool fortran;
  const void *elements;  // dense
} tsr_npz_item;

// Writes an archive of stored arrays like numpy.savez; equal arrays make equal archives. An
// existing file is replaced atomically at the end. With `always_64` all numbers have 64 bits, as in
// archives beyond 4 GB.
TSR_MUST_USE tsr_status tsr_npz_write(const char *path, const tsr_npz_item *items, int64_t count,
                                      bool always_64);

#endif
