// A file that is replaced in one step: its new bytes are written beside it, under another name.
#ifndef TESSERA_FILE_REPLACE_H
#define TESSERA_FILE_REPLACE_H

#include <stdint.h>

#include "tessera/status.h"

typedef struct tsr_replacement {
  const char *path;  // borrowed
  char *part;        // the name it is written under
  int fd;
} tsr_replacement;

TSR_MUST_USE tsr_status tsr_replacement_begin(tsr_replacement *file, const char *path);
TSR_MUST_USE tsr_status tsr_replacement_write(tsr_replacement *file, const void *bytes,
                                              int64_t length, int64_t offset);
// Puts the file in place when `status` is NULL and all can be written; otherwise what was written
// is removed, and the failure given back.
TSR_MUST_USE tsr_status tsr_replacement_end(tsr_replacement *file, tsr_status status);

#endif
