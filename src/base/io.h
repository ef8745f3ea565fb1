// Complete reads and writes at an offset of a file.
//
// System calls may be interrupted or do less than requested; they are repeated until all is done. A
// failure names the file and the byte. Nothing here maps files: a mapped file that shrinks kills
// its reader, and its pages count as our memory.
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
// Opens for reading and writing; an existing file is kept.
TSR_MUST_USE tsr_status tsr_io_create(const char *path, int *out_fd);
TSR_MUST_USE tsr_status tsr_io_make_folder(const char *path);
TSR_MUST_USE tsr_status tsr_io_size(int fd, const char *path, int64_t *out_size);
// Whether the name exists, also as a dangling link, and its kind. I/O errors are failures, not
// missing names.
TSR_MUST_USE tsr_status tsr_io_look(const char *path, bool *out_there, struct stat *out_info);
// The next name in a folder, without . and ..; NULL at the end of the folder. I/O errors are
// failures.
TSR_MUST_USE tsr_status tsr_io_next_name(DIR *listing, const char *path, const char **out_name);

// `path` is for messages. A file that ends early is a failure.
TSR_MUST_USE tsr_status tsr_io_read(int fd, const char *path, void *bytes, int64_t length,
                                    int64_t offset);
TSR_MUST_USE tsr_status tsr_io_write(int fd, const char *path, const void *bytes, int64_t length,
                                     int64_t offset);
// The same with several buffers in turn. Changes the vectors.
TSR_MUST_USE tsr_status tsr_io_read_vector(int fd, const char *path, struct iovec *vectors,
                                           int count, int64_t offset);
TSR_MUST_USE tsr_status tsr_io_write_vector(int fd, const char *path, struct iovec *vectors,
                                            int count, int64_t offset);

// Sets the size of the file and reserves its space, so that a full disk fails now and not halfway.
// If the file system cannot reserve, only the size is set.
TSR_MUST_USE tsr_status tsr_io_reserve(int fd, const char *path, int64_t size);
// Starts writing back without waiting, so that a later sync is short. That sync reports failures.
void tsr_io_start_sync(int fd);
// Waits until all that was written is on the disk: of a file, and of a folder's entries.
TSR_MUST_USE tsr_status tsr_io_sync(int fd, const char *path);
TSR_MUST_USE tsr_status tsr_io_sync_folder(const char *path);
// Replaces `to` by `from` in one step.
TSR_MUST_USE tsr_status tsr_io_rename(const char *from, const char *to);
// Removes a file that may be missing.
TSR_MUST_USE tsr_status tsr_io_remove(const char *path);
// Closes the file and reports lost writes. fd -1 is fine.
TSR_MUST_USE tsr_status tsr_io_close(int fd, const char *path);

#endif
