// The files of a checkpoint, opened when first needed. There may be more of them than a process may
// have open, so that those out of use are closed again.
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
  int older, newer;  // neighbours among those that are open and out of use; -1 = none
  int64_t unsent;    // bytes written since they were last sent to the disk
} tsr_open_file;

typedef struct tsr_files {
  pthread_mutex_t lock;
  bool writable;
  bool sends;  // what is written goes to the disk while more is: for those who will wait for it
  bool lost;   // what was written to a file that has been closed since
  int count, open_count, open_limit;
  int oldest, newest;    // of those that are open and out of use; -1 = there are none
  tsr_open_file *items;  // owned
} tsr_files;

// `paths` are borrowed. Writable files are created where they are missing.
TSR_MUST_USE tsr_status tsr_files_create(const char *const *paths, int count, bool writable,
                                         tsr_files **out_files);
// Closes all; says so when what was written turns out to be lost. NULL is fine.
TSR_MUST_USE tsr_status tsr_files_close(tsr_files *files);

// A file's descriptor, open until it is given back. From any thread.
TSR_MUST_USE tsr_status tsr_files_take(tsr_files *files, int file, int *out_fd);
void tsr_files_give_back(tsr_files *files, int file);
// Between these two: so many bytes were written.
void tsr_files_wrote(tsr_files *files, int file, int64_t bytes);
const char *tsr_files_path(const tsr_files *files, int file);

#endif
