#include "file/replace.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text_internal.h"
#include "tessera/text.h"

tsr_status tsr_replacement_begin(tsr_replacement *file, const char *path) {
  tsr_text part = TSR_TEXT_EMPTY;
  // Two processes that write one file do not write one part.
  tsr_text_addf(&part, "%s.%lld.part", path, (long long)getpid());
  *file = (tsr_replacement){.path = path, .fd = -1};
  TSR_TRY(tsr_text_take(&part, &file->part));
  unlink(file->part);  // of a process that died and had our number
  tsr_status status = tsr_io_create(file->part, &file->fd);
  if (status) free(file->part);
  return status;
}

tsr_status tsr_replacement_write(tsr_replacement *file, const void *bytes, int64_t length,
                                 int64_t offset) {
  return tsr_io_write(file->fd, file->path, bytes, length, offset);
}

tsr_status tsr_replacement_end(tsr_replacement *file, tsr_status status) {
  if (!status) status = tsr_io_sync(file->fd, file->path);
  tsr_status closed = tsr_io_close(file->fd, file->path);
  if (status)
    tsr_status_free(closed);
  else
    status = closed;
  if (!status) status = tsr_io_rename(file->part, file->path);
  if (status) unlink(file->part);
  free(file->part);
  return status;
}
