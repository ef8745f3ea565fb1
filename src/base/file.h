// Whole files in memory.
#ifndef TESSERA_BASE_FILE_H
#define TESSERA_BASE_FILE_H

#include "tessera/status.h"

// Reads a file, or a pipe or device of at most 1 GiB, to its end; the caller frees the bytes.
// Errors name the path. Not by mmap: a file that shrinks while it is mapped kills the reader.
TSR_MUST_USE tsr_status tsr_file_read(const char *path, char **out_bytes, size_t *out_length);

#endif
