// System calls repeated until they are complete. EINTR and short transfers are normal; a transfer
// of no bytes is the end of the file. Every failure names the path and the byte.
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The kernel takes at most 2^31 bytes or so and IOV_MAX places in a call.
enum { MOST_BYTES = 1 << 30, MOST_VECTORS = 1024 };

static tsr_status failed(const char *path, const char *what) {
  const int error = errno;
  if (error == ENOENT) return tsr_fail(NOT_FOUND, "%s: there is no such file", path);
  if (error == ENOSPC || error == EDQUOT)
    return tsr_fail(DISK_FULL, "%s: the disk is full (%s)", path, what);
  return tsr_fail(IO, "%s: cannot %s: %s", path, what, strerror(error));
}

// -1 with errno set if it cannot be opened.
static int open_as(const char *path, int flags) {
  int fd = -1;
  do {
    fd = open(path, flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// Without waiting: a pipe would be opened only when someone writes to it.
tsr_status tsr_io_open(const char *path, int *out_fd) {
  struct stat info;
  const int fd = open_as(path, O_RDONLY | O_NONBLOCK);
  if (fd < 0) return failed(path, "open it");
  const bool asked = !fstat(fd, &info), regular = asked && S_ISREG(info.st_mode);
  if (regular) {
    *out_fd = fd;
    return NULL;
  }
  tsr_status status =
      asked ? tsr_fail(IO, "%s: not a regular file", path) : failed(path, "look at it");
  close(fd);
  return status;
}

static tsr_status not_made(const char *path, const char *what) {
  if (errno == ENOENT)
    return tsr_fail(NOT_FOUND, "%s: the folder that it should lie in is not there", path);
  return failed(path, what);
}

tsr_status tsr_io_create(const char *path, int *out_fd) {
  const int fd = open_as(path, O_RDWR | O_CREAT);
  if (fd < 0) return not_made(path, "create it");
  *out_fd = fd;
  return NULL;
}

tsr_status tsr_io_make_folder(const char *path) {
  return mkdir(path, 0777) ? not_made(path, "make the folder") : NULL;
}

tsr_status tsr_io_size(int fd, const char *path, int64_t *out_size) {
  struct stat info;
  if (fstat(fd, &info)) return failed(path, "ask for its size");
  *out_size = info.st_size;
  return NULL;
}

tsr_status tsr_io_look(const char *path, bool *out_there, struct stat *out_info) {
  *out_there = !lstat(path, out_info);
  return *out_there || errno == ENOENT || errno == ENOTDIR ? NULL : failed(path, "look at it");
}

tsr_status tsr_io_next_name(DIR *listing, const char *path, const char **out_name) {
  const struct dirent *entry = NULL;
  do {
    errno = 0;
    entry = readdir(listing);
    if (!entry && errno) return failed(path, "list the folder");
  } while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
  *out_name = entry ? entry->d_name : NULL;
  return NULL;
}

// ---- reading and writing ----

// Takes `done` bytes off the front of the vectors; gives the number of vectors left, moved to the
// front of the list.
static int advance(struct iovec **vectors, int count, size_t done) {
  while (count > 0 && done >= (*vectors)->iov_len) {
    done -= (*vectors)->iov_len;
    (*vectors)++;
    count--;
  }
  if (count > 0) {
    (*vectors)->iov_base = (char *)(*vectors)->iov_base + done;
    (*vectors)->iov_len -= done;
  }
  return count;
}

tsr_status tsr_io_read_vector(int fd, const char *path, struct iovec *vectors, int count,
                              int64_t offset) {
  count = advance(&vectors, count, 0);
  while (count > 0) {
    const int now = count < MOST_VECTORS ? count : MOST_VECTORS;
    const ssize_t got = preadv(fd, vectors, now, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path, "read");
    if (got == 0)
      return tsr_fail(BROKEN_FILE, "%s: the file ends at byte %lld, in the middle of its data",
                      path, (long long)offset);
    offset += got;
    count = advance(&vectors, count, (size_t)got);
  }
  return NULL;
}

tsr_status tsr_io_write_vector(int fd, const char *path, struct iovec *vectors, int count,
                               int64_t offset) {
  count = advance(&vectors, count, 0);
  while (count > 0) {
    const int now = count < MOST_VECTORS ? count : MOST_VECTORS;
    const ssize_t put = pwritev(fd, vectors, now, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed(path, "write");
    if (put == 0)
      return tsr_fail(IO, "%s: nothing could be written at byte %lld", path, (long long)offset);
    offset += put;
    count = advance(&vectors, count, (size_t)put);
  }
  return NULL;
}

tsr_status tsr_io_read(int fd, const char *path, void *bytes, int64_t length, int64_t offset) {
  for (int64_t done = 0; done < length;) {
    const int64_t left = length - done, now = left < MOST_BYTES ? left : MOST_BYTES;
    struct iovec vector = {(char *)bytes + done, (size_t)now};
    TSR_TRY(tsr_io_read_vector(fd, path, &vector, 1, offset + done));
    done += now;
  }
  return NULL;
}

tsr_status tsr_io_write(int fd, const char *path, const void *bytes, int64_t length,
                        int64_t offset) {
  for (int64_t done = 0; done < length;) {
    const int64_t left = length - done, now = left < MOST_BYTES ? left : MOST_BYTES;
    struct iovec vector = {(char *)(uintptr_t)bytes + done, (size_t)now};
    TSR_TRY(tsr_io_write_vector(fd, path, &vector, 1, offset + done));
    done += now;
  }
  return NULL;
}

// ---- what makes it last ----

tsr_status tsr_io_reserve(int fd, const char *path, int64_t size) {
  int error = 0;
  if (ftruncate(fd, size)) return failed(path, "set its size");
  if (size == 0) return NULL;
  // Not posix_fallocate: where the file system cannot, that writes to every block.
  do {
    error = fallocate(fd, 0, 0, size);
  } while (error && errno == EINTR);
  if (!error || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return NULL;
  return failed(path, "reserve its space");
}

void tsr_io_start_sync(int fd) { sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); }

static bool sync_now(int fd) {
  int result = 0;
  do {
    result = fsync(fd);
  } while (result && errno == EINTR);
  return !result;
}

tsr_status tsr_io_sync(int fd, const char *path) {
  return sync_now(fd) ? NULL : failed(path, "bring it to the disk");
}

tsr_status tsr_io_sync_folder(const char *path) {
  const int fd = open_as(path, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return failed(path, "open the folder");
  // Some network file systems know no such thing for folders, and see to names themselves.
  const bool done = sync_now(fd) || errno == EINVAL;
  tsr_status status = done ? NULL : failed(path, "bring it to the disk");
  close(fd);
  return status;
}

tsr_status tsr_io_rename(const char *from, const char *to) {
  return rename(from, to) ? failed(to, "put it in its place") : NULL;
}

tsr_status tsr_io_remove(const char *path) {
  return unlink(path) && errno != ENOENT ? failed(path, "remove it") : NULL;
}

tsr_status tsr_io_close(int fd, const char *path) {
  if (fd < 0) return NULL;
  // After EINTR the descriptor is gone on Linux: a second close could hit someone else's file.
  if (close(fd) && errno != EINTR) return failed(path, "close it");
  return NULL;
}
