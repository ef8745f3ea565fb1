// Whole files in memory.
#ifndef TESSERA_BASE_FILE_H
#define TESSERA_BASE_FILE_H

#include "tessera/status.h"

// Reads a file, or a pipe or device of at most 1 GiB, to its end, and adds '\0'; the caller frees
// the bytes. Errors name the path.
TSR_MUST_USE tsr_status tsr_file_read(const char *path, char **out_bytes, size_t *out_length);
// The same for a text, which must be UTF-8 without zero bytes.
TSR_MUST_USE tsr_status tsr_file_read_text(const char *path, char **out_text);

#endif
