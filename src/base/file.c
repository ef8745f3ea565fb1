#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What does not know its length may have no end: /dev/zero would take all memory.
#define MOST_STREAMED ((size_t)1 << 30)

// Reads all there is, also from pipes and devices, which do not know their length.
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
      return tsr_fail(TOO_LARGE, "no file, and more than %zu bytes", MOST_STREAMED);
    }
    capacity *= 2;
    char *larger = realloc(bytes, capacity);
    if (!larger) free(bytes);
    bytes = larger;
  }
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
