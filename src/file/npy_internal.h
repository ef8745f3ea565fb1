// NumPy's files: one array (.npy) or several in a zip archive (.npz), read strictly and written as
// numpy.save writes them.
//
// A header can be had without the data. NumPy writes the types of ml_dtypes without their names:
// bfloat16 as '<V2' and most others as '<V1', so that whoever reads them must say what they are
// (tsr_npy_set_dtype); float8_e5m2 as '<f1', which NumPy itself cannot read again, but we can.
#ifndef TESSERA_FILE_NPY_INTERNAL_H
#define TESSERA_FILE_NPY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"
#include "tessera/status.h"

// What a header says. Sizes are checked: the elements take exactly the bytes from begin to end.
typedef struct tsr_npy {
  tsr_dtype dtype;  // TSR_DTYPE_NONE: elements of `width` bytes whose type the file forgot
  int width;        // bytes of an element
  bool swapped;     // stored in the other byte order; reading puts that right
  bool fortran;     // the first index runs fastest
  tsr_shape shape;
  int64_t begin, end;  // the data's bytes, counted from the start of the file
} tsr_npy;

// Reads the header of an array, versions 1.0 to 3.0, from the first bytes of a file. Structured
// types, strings, dates and Python objects are refused as unsupported; every other fault names its
// byte.
TSR_MUST_USE tsr_status tsr_npy_parse(const char *bytes, size_t length, tsr_npy *out_npy);
// The same of a file, whose size must be what the header says.
TSR_MUST_USE tsr_status tsr_npy_open(const char *path, tsr_npy *out_npy);
// Says what elements of a forgotten type are; the type must be as wide, and not narrower than a
// byte.
TSR_MUST_USE tsr_status tsr_npy_set_dtype(tsr_npy *npy, tsr_dtype dtype);
// How many elements lie between neighbours of each dimension, in the order of the data.
void tsr_npy_strides(const tsr_npy *npy, int64_t out_strides[TSR_MAX_RANK]);

// Reads `count` elements from number `first` on, in the order of the data and the byte order of
// this machine; fails with bad_argument where `out_bytes` are too few. The header is one that
// tsr_npy_open gave.
TSR_MUST_USE tsr_status tsr_npy_read(const char *path, const tsr_npy *npy, int64_t first,
                                     int64_t count, void *out_elements, int64_t out_bytes);

// The bytes numpy.save writes before the data (NumPy 2), for the caller to free. Types narrower
// than a byte are refused: NumPy has one a byte.
TSR_MUST_USE tsr_status tsr_npy_header(tsr_dtype dtype, const tsr_shape *shape, bool fortran,
                                       char **out_bytes, size_t *out_length);
// Writes a whole file of dense elements. A file of that name is replaced in one step when all is
// written; until then it stays as it was.
TSR_MUST_USE tsr_status tsr_npy_write(const char *path, tsr_dtype dtype, const tsr_shape *shape,
                                      bool fortran, const void *elements);

// The arrays of an archive, which stays open. Members may be stored or deflated, and the archive
// may be larger than 4 GB. Damaged directories, members that overlap or are no arrays, and
// checksums that do not agree (when an array is read) are errors.
typedef struct tsr_npz tsr_npz;

TSR_MUST_USE tsr_status tsr_npz_open(const char *path, tsr_npz **out_npz);
void tsr_npz_destroy(tsr_npz *npz);  // NULL is fine
int64_t tsr_npz_count(const tsr_npz *npz);
const char *tsr_npz_name(const tsr_npz *npz, int64_t index);  // without .npy
int64_t tsr_npz_find(const tsr_npz *npz, const char *name);   // -1 if there is none
// What its header says. If it is stored, its bytes are where begin and end tell in the archive.
const tsr_npy *tsr_npz_array(const tsr_npz *npz, int64_t index);
bool tsr_npz_is_stored(const tsr_npz *npz, int64_t index);
// Reads all elements, in the order of the data and the byte order of this machine; fails with
// bad_argument where `out_bytes` are too few.
TSR_MUST_USE tsr_status tsr_npz_read(const tsr_npz *npz, int64_t index, void *out_elements,
                                     int64_t out_bytes);
// Reads all of it for its checksum only, in little memory.
TSR_MUST_USE tsr_status tsr_npz_check(const tsr_npz *npz, int64_t index);

typedef struct tsr_npz_item {
  tsr_tensor tensor;  // its path is the member's name without .npy
  bool fortran;
  const void *elements;  // dense
} tsr_npz_item;

// Writes an archive of stored arrays, as numpy.savez does; equal arrays make equal archives. A file
// of that name is replaced in one step when all is written.
TSR_MUST_USE tsr_status tsr_npz_write(const char *path, const tsr_npz_item *items, int64_t count);

#endif
