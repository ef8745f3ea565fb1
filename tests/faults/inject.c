#include "faults/inject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

// What the linker calls the functions that are wrapped.
int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_read(int fd, void *bytes, size_t length);
ssize_t __real_pread(int fd, void *bytes, size_t length, off_t offset);
ssize_t __real_preadv(int fd, const struct iovec *parts, int count, off_t offset);
ssize_t __real_pwritev(int fd, const struct iovec *parts, int count, off_t offset);
int __real_ftruncate(int fd, off_t size);
int __real_fallocate(int fd, int mode, off_t offset, off_t length);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __real_mkdir(const char *path, mode_t mode);
int __real_unlink(const char *path);
int __real_remove(const char *path);
int __real_rmdir(const char *path);
int __real_stat(const char *path, struct stat *info);
int __real_lstat(const char *path, struct stat *info);
int __real_fstat(int fd, struct stat *info);
DIR *__real_opendir(const char *path);
struct dirent *__real_readdir(DIR *listing);
int __real_nftw(const char *path, __nftw_func_t fn, int descriptors, int flags);
char *__real_realpath(const char *path, char *out);
int __real_statvfs(const char *path, struct statvfs *info);
int __real_flock(int fd, int operation);

static inject_kind kind;
static long at, calls;
static int error;
static bool interrupted;  // the call before was
static const char *hit;

void inject_begin(inject_kind new_kind, long new_at, int new_error) {
  kind = new_kind;
  at = new_at;
  error = new_error;
  calls = 0;
  hit = NULL;
  interrupted = false;
}

bool inject_end(const char **out_call) {
  kind = INJECT_NOTHING;
  if (out_call) *out_call = hit ? hit : "";
  return hit != NULL;
}

static bool kills(void) { return kind == INJECT_KILL_BEFORE || kind == INJECT_KILL_HALFWAY; }

// Whether the call is to fail, with errno set; or the process ends here.
static bool fails(const char *call, bool changes, bool interruptible) {
  if (kind == INJECT_INTERRUPT && interruptible) {
    interrupted = !interrupted;
    errno = EINTR;
    return interrupted;
  }
  if (kind != INJECT_ERROR && !(kills() && changes)) return false;
  if (++calls != at) return false;
  hit = call;
  if (kills()) _exit(INJECT_KILLED);
  errno = error;
  return true;
}

int __wrap_open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (fails("open", (flags & O_CREAT) != 0, true)) return -1;
  return __real_open(path, flags, mode);
}

int __wrap_close(int fd) {
  // A close that fails, or is interrupted, has closed all the same.
  if (!fails("close", false, true)) return __real_close(fd);
  const int reason = errno;
  __real_close(fd);
  errno = reason;
  return -1;
}

// ---- reading ----

// Half of it, at least one byte.
static size_t some_of(size_t length) { return length > 1 ? (length + 1) / 2 : length; }

ssize_t __wrap_read(int fd, void *bytes, size_t length) {
  if (fails("read", false, true)) return -1;
  return __real_read(fd, bytes, kind == INJECT_SHORT ? some_of(length) : length);
}

ssize_t __wrap_pread(int fd, void *bytes, size_t length, off_t offset) {
  if (fails("pread", false, true)) return -1;
  return __real_pread(fd, bytes, kind == INJECT_SHORT ? some_of(length) : length, offset);
}

ssize_t __wrap_preadv(int fd, const struct iovec *parts, int count, off_t offset) {
  if (fails("preadv", false, true)) return -1;
  if (kind != INJECT_SHORT) return __real_preadv(fd, parts, count, offset);
  return __real_pread(fd, parts->iov_base, some_of(parts->iov_len), offset);
}

// ---- writing ----

ssize_t __wrap_pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  if (kind == INJECT_KILL_HALFWAY && calls + 1 == at) {
    const struct iovec half = {parts->iov_base, parts->iov_len / 2};
    (void)!__real_pwritev(fd, &half, 1, offset);
  }
  if (fails("pwritev", true, true)) return -1;
  if (kind != INJECT_SHORT) return __real_pwritev(fd, parts, count, offset);
  const struct iovec half = {parts->iov_base, some_of(parts->iov_len)};
  return __real_pwritev(fd, &half, 1, offset);
}

int __wrap_ftruncate(int fd, off_t size) {
  if (fails("ftruncate", true, false)) return -1;
  return __real_ftruncate(fd, size);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t length) {
  if (fails("fallocate", true, true)) return -1;
  return __real_fallocate(fd, mode, offset, length);
}

int __wrap_fsync(int fd) {
  (void)fd;
  return fails("fsync", true, true) ? -1 : 0;
}

// ---- names ----

int __wrap_rename(const char *from, const char *to) {
  return fails("rename", true, false) ? -1 : __real_rename(from, to);
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
  if (fails("renameat2", true, false)) return -1;
  if (kind == INJECT_NO_EXCHANGE) return errno = EINVAL, -1;
  return __real_renameat2(from_fd, from, to_fd, to, flags);
}

int __wrap_mkdir(const char *path, mode_t mode) {
  return fails("mkdir", true, false) ? -1 : __real_mkdir(path, mode);
}

int __wrap_unlink(const char *path) {
  return fails("unlink", true, false) ? -1 : __real_unlink(path);
}

int __wrap_remove(const char *path) {
  return fails("remove", true, false) ? -1 : __real_remove(path);
}

int __wrap_rmdir(const char *path) { return fails("rmdir", true, false) ? -1 : __real_rmdir(path); }

// ---- looking ----

int __wrap_stat(const char *path, struct stat *info) {
  return fails("stat", false, false) ? -1 : __real_stat(path, info);
}

int __wrap_lstat(const char *path, struct stat *info) {
  return fails("lstat", false, false) ? -1 : __real_lstat(path, info);
}

int __wrap_fstat(int fd, struct stat *info) {
  return fails("fstat", false, false) ? -1 : __real_fstat(fd, info);
}

DIR *__wrap_opendir(const char *path) {
  return fails("opendir", false, false) ? NULL : __real_opendir(path);
}

struct dirent *__wrap_readdir(DIR *listing) {
  return fails("readdir", false, false) ? NULL : __real_readdir(listing);
}

int __wrap_nftw(const char *path, __nftw_func_t fn, int descriptors, int flags) {
  return fails("nftw", false, false) ? -1 : __real_nftw(path, fn, descriptors, flags);
}

char *__wrap_realpath(const char *path, char *out) {
  return fails("realpath", false, false) ? NULL : __real_realpath(path, out);
}

int __wrap_statvfs(const char *path, struct statvfs *info) {
  return fails("statvfs", false, false) ? -1 : __real_statvfs(path, info);
}

int __wrap_flock(int fd, int operation) {
  return fails("flock", false, true) ? -1 : __real_flock(fd, operation);
}
