// A file replaced atomically: the new bytes go to a file beside it, which is synced and renamed
// over the old one. A failure removes it and leaves the old file as it was.
#include "file/replace.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/status_internal.h"
#include "base/text_internal.h"
#include "tessera/text.h"

tsr_status tsr_replacement_begin(tsr_replacement *file, const char *path) {
  tsr_text name = TSR_TEXT_EMPTY;
  // The process id keeps writers of the same file apart.
  tsr_text_addf(&name, "%s.%lld.part", path, (long long)getpid());
  *file = (tsr_replacement){.path = path, .fd = -1};
  TSR_TRY(tsr_text_take(&name, &file->temporary));
  unlink(file->temporary);  // left by a dead process with our id
  tsr_status status = tsr_io_create(file->temporary, &file->fd);
  if (status) free(file->temporary);
  return status;
}

tsr_status tsr_replacement_write(tsr_replacement *file, const void *bytes, int64_t length,
                                 int64_t offset) {
  return tsr_io_write(file->fd, file->path, bytes, length, offset);
}

tsr_status tsr_replacement_end(tsr_replacement *file, tsr_status status) {
  if (!status) status = tsr_io_sync(file->fd, file->path);
  status = tsr_status_first(status, tsr_io_close(file->fd, file->path));
  if (!status) status = tsr_io_rename(file->temporary, file->path);
  if (status) unlink(file->temporary);
  free(file->temporary);
  return status;
}
