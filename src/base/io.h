// Whole reads and writes at a place of a file, whatever the kernel does in pieces.
//
// A call of the system may be interrupted, or do less than it was asked; here it is called again
// until all is done. What cannot be done is a failure that names the file and the byte. Nothing
// here maps files: a mapped file that shrinks kills its reader, and its pages count as our memory.
#ifndef TESSERA_BASE_IO_H
#define TESSERA_BASE_IO_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "tessera/status.h"

// Opens a regular file for reading. A missing one is TSR_CAUSE_NOT_FOUND.
TSR_MUST_USE tsr_status tsr_io_open(const char *path, int *out_fd);
// Opens for reading and writing; a file that is there already is kept as it is.
TSR_MUST_USE tsr_status tsr_io_create(const char *path, int *out_fd);
TSR_MUST_USE tsr_status tsr_io_make_folder(const char *path);
TSR_MUST_USE tsr_status tsr_io_size(int fd, const char *path, int64_t *out_size);
// Whether something has this name, a link to nothing too, and what it is. Only what is surely not
// there is missing: a disk that does not answer is a failure.
TSR_MUST_USE tsr_status tsr_io_look(const char *path, bool *out_there, struct stat *out_info);
// The next name in a folder, dots left out; NULL at its end, which is not that of a bad disk.
TSR_MUST_USE tsr_status tsr_io_next_name(DIR *listing, const char *path, const char **out_name);

// `path` is for messages. A file that ends too early is a failure.
TSR_MUST_USE tsr_status tsr_io_read(int fd, const char *path, void *bytes, int64_t length,
                                    int64_t offset);
TSR_MUST_USE tsr_status tsr_io_write(int fd, const char *path, const void *bytes, int64_t length,
                                     int64_t offset);
// The same from or into several places in turn. Changes the vectors.
TSR_MUST_USE tsr_status tsr_io_read_parts(int fd, const char *path, struct iovec *parts, int count,
                                          int64_t offset);
TSR_MUST_USE tsr_status tsr_io_write_parts(int fd, const char *path, struct iovec *parts, int count,
                                           int64_t offset);

// Gives the file this size with its space on the disk taken, so that a full disk shows now and not
// halfway; where the file system cannot, only the size is set.
TSR_MUST_USE tsr_status tsr_io_reserve(int fd, const char *path, int64_t size);
// Sends what was written on its way to the disk and does not wait for it: a later sync is then
// short. It is that sync which tells of failures.
void tsr_io_start_sync(int fd);
// Everything written reaches the disk before it returns: of a file, and of a folder's entries.
TSR_MUST_USE tsr_status tsr_io_sync(int fd, const char *path);
TSR_MUST_USE tsr_status tsr_io_sync_folder(const char *path);
// Replaces `to` by `from` in one step.
TSR_MUST_USE tsr_status tsr_io_rename(const char *from, const char *to);
// Removes a file that may be missing.
TSR_MUST_USE tsr_status tsr_io_remove(const char *path);
// Closes it, and says so when what was written earlier turns out to be lost. fd -1 is fine.
TSR_MUST_USE tsr_status tsr_io_close(int fd, const char *path);

#endif
