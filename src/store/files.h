// The files of a checkpoint, opened when first needed. A checkpoint may have more files than a
// process may open, so idle files are closed, the longest idle first.
#ifndef TESSERA_STORE_FILES_H
#define TESSERA_STORE_FILES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tessera/status.h"

typedef struct tsr_open_file {
  const char *path;  // borrowed
  int fd;            // -1 = closed
  int users;
  int older, newer;  // neighbours in the list of open idle files; -1 = none
  int64_t unsynced;  // bytes written since write-back was last started
} tsr_open_file;

typedef struct tsr_files {
  pthread_mutex_t lock;
  bool writable;
  bool early_sync;    // start write-back while writing, so that a later sync is short
  bool write_failed;  // closing an idle file failed: its written bytes may be lost
  int count, open_count, open_limit;
  int oldest, newest;    // of the open idle files; -1 = none
  tsr_open_file *items;  // owned
} tsr_files;

// `paths` are borrowed. Missing writable files are created.
TSR_MUST_USE tsr_status tsr_files_create(const char *const *paths, int count, bool writable,
                                         tsr_files **out_files);
// Closes all; fails if written bytes are lost. NULL is fine.
TSR_MUST_USE tsr_status tsr_files_close(tsr_files *files);

// The descriptor of a file, open until it is given back. From any thread.
TSR_MUST_USE tsr_status tsr_files_take(tsr_files *files, int file, int *out_fd);
void tsr_files_give_back(tsr_files *files, int file);
// Counts written bytes, between take and give_back.
void tsr_files_wrote(tsr_files *files, int file, int64_t bytes);
const char *tsr_files_path(const tsr_files *files, int file);

#endif
