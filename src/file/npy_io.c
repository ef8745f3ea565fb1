// Arrays of .npy files: headers without the data, and data in this machine's byte order.
#include <stdlib.h>

#include "base/io.h"
#include "base/room.h"
#include "file/npy_header.h"
#include "file/npy_internal.h"
#include "file/replace.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"

// The components of a complex number are swapped separately.
void tsr_npy_swap(const tsr_npy *npy, void *elements, int64_t count) {
  if (!npy->swapped) return;
  const bool complex = npy->dtype == TSR_C64 || npy->dtype == TSR_C128;
  const int width = complex ? npy->width / 2 : npy->width;
  unsigned char *at = elements;
  for (int64_t i = 0; i < (complex ? 2 * count : count); i++, at += width)
    for (int k = 0; k < width / 2; k++) {
      const unsigned char byte = at[k];
      at[k] = at[width - 1 - k];
      at[width - 1 - k] = byte;
    }
}

static tsr_status open_header(int fd, const char *path, tsr_npy *out_npy) {
  int64_t size = 0;
  TSR_TRY(tsr_io_size(fd, path, &size));
  char bytes[TSR_NPY_MOST_BYTES];
  const int64_t length = size < (int64_t)sizeof bytes ? size : (int64_t)sizeof bytes;
  TSR_TRY(tsr_io_read(fd, path, bytes, length, 0));
  tsr_npy npy;
  TSR_TRY_NOTE(tsr_npy_parse(bytes, (size_t)length, &npy), "%s", path);
  if (npy.end > size)
    return tsr_fail(BROKEN_FILE, "%s: the file ends at byte %lld, its array at byte %lld", path,
                    (long long)size, (long long)npy.end);
  if (npy.end < size)
    return tsr_fail(BROKEN_FILE, "%s: bytes %lld to %lld at the end belong to no array", path,
                    (long long)npy.end, (long long)size);
  *out_npy = npy;
  return NULL;
}

tsr_status tsr_npy_open(const char *path, tsr_npy *out_npy) {
  int fd = -1;
  TSR_TRY(tsr_io_open(path, &fd));
  tsr_status status = open_header(fd, path, out_npy);
  tsr_status_free(tsr_io_close(fd, path));
  return status;
}

tsr_status tsr_npy_read(const char *path, const tsr_npy *npy, int64_t first, int64_t count,
                        void *out_elements, int64_t out_bytes) {
  const int64_t all = (npy->end - npy->begin) / npy->width;
  if (first < 0 || count < 0 || first > all || count > all - first)
    return tsr_fail(BAD_ARGUMENT, "%s: %lld elements from number %lld on, but there are %lld", path,
                    (long long)count, (long long)first, (long long)all);
  TSR_TRY_NOTE(tsr_room_check(out_elements, out_bytes, count * npy->width), "%s", path);
  int fd = -1;
  TSR_TRY(tsr_io_open(path, &fd));
  tsr_status status =
      tsr_io_read(fd, path, out_elements, count * npy->width, npy->begin + first * npy->width);
  tsr_status_free(tsr_io_close(fd, path));
  if (!status) tsr_npy_swap(npy, out_elements, count);
  return status;
}

tsr_status tsr_npy_write(const char *path, tsr_dtype dtype, const tsr_shape *shape, bool fortran,
                         const void *elements) {
  char *header = NULL;
  size_t length = 0;
  int64_t bytes = 0;
  TSR_TRY_NOTE(tsr_npy_header(dtype, shape, fortran, &header, &length), "%s", path);
  tsr_replacement file;
  tsr_status status = tsr_note(tsr_shape_bytes(shape, dtype, &bytes), "%s", path);
  if (!status) status = tsr_replacement_begin(&file, path);
  if (!status) {
    status = tsr_replacement_write(&file, header, (int64_t)length, 0);
    if (!status) status = tsr_replacement_write(&file, elements, bytes, (int64_t)length);
    status = tsr_replacement_end(&file, status);
  }
  free(header);
  return status;
}
