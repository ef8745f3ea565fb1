// Files are read by plain calls, since a mapped file that shrinks kills its reader. All text forms
// are read here, so that a file that is missing, too large or no text is refused in one way.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"

// Pipes and devices may have no end: /dev/zero would take all memory.
#define MOST_STREAMED ((size_t)1 << 30)

// Reads to the end, also from pipes and devices, which do not know their length. Ends with '\0'.
static tsr_status read_all(int file, char **out_bytes, size_t *out_length) {
  struct stat about;
  const bool sized = !fstat(file, &about) && S_ISREG(about.st_mode) && about.st_size > 0;
  size_t capacity = sized ? (size_t)about.st_size + 1 : 1 << 16, length = 0;
  char *bytes = malloc(capacity);
  for (;;) {
    if (!bytes) return tsr_fail(NO_MEMORY, "file of %zu bytes", capacity);
    const ssize_t got = read(file, bytes + length, capacity - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      free(bytes);
      return tsr_fail(IO, "%s", strerror(error));
    }
    if (!got) break;
    length += (size_t)got;
    if (length < capacity) continue;
    if (!sized && capacity >= MOST_STREAMED) {
      free(bytes);
      return tsr_fail(TOO_LARGE, "more than %zu bytes from a pipe or device", MOST_STREAMED);
    }
    capacity *= 2;
    char *larger = realloc(bytes, capacity);
    if (!larger) free(bytes);
    bytes = larger;
  }
  bytes[length] = '\0';
  *out_bytes = bytes;
  *out_length = length;
  return NULL;
}

tsr_status tsr_file_read(const char *path, char **out_bytes, size_t *out_length) {
  int file = -1;
  do {
    file = open(path, O_RDONLY | O_CLOEXEC);
  } while (file < 0 && errno == EINTR);
  if (file < 0) return tsr_fail(IO, "%s: %s", path, strerror(errno));
  tsr_status status = read_all(file, out_bytes, out_length);
  close(file);
  return tsr_note(status, "%s", path);
}

static tsr_status check_text(const char *bytes, size_t length) {
  for (size_t i = 0, step; i < length; i += step) {
    step = tsr_utf8_length(bytes + i, length - i);
    if (!step || !bytes[i])
      return tsr_fail(SYNTAX, "byte %zu is %s, expected text", i, step ? "zero" : "not UTF-8");
  }
  return NULL;
}

tsr_status tsr_file_read_text(const char *path, char **out_text) {
  char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_file_read(path, &bytes, &length));
  tsr_status status = check_text(bytes, length);
  if (status)
    free(bytes);
  else
    *out_text = bytes;
  return tsr_note(status, "%s", path);
}
