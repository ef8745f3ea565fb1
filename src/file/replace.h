// A file replaced atomically: written under another name, then renamed.
#ifndef TESSERA_FILE_REPLACE_H
#define TESSERA_FILE_REPLACE_H

#include <stdint.h>

#include "tessera/status.h"

typedef struct tsr_replacement {
  const char *path;  // borrowed
  char *temporary;   // the name it is written under
  int fd;
} tsr_replacement;

TSR_MUST_USE tsr_status tsr_replacement_begin(tsr_replacement *file, const char *path);
TSR_MUST_USE tsr_status tsr_replacement_write(tsr_replacement *file, const void *bytes,
                                              int64_t length, int64_t offset);
// Renames the file if `status` is NULL and everything was written; else removes it and returns the
// failure.
TSR_MUST_USE tsr_status tsr_replacement_end(tsr_replacement *file, tsr_status status);

#endif
