// Runs: ranges of bytes in files and in memory, moved in the fewest system calls.
//
// Runs are added in the order of the file. Adjacent runs go in one call: as vectors if they are
// long, through a staging buffer if they are short. A call costs about as much as copying a few
// kilobytes, a vector as much as a few hundred bytes.
#ifndef TESSERA_STORE_RUNS_H
#define TESSERA_STORE_RUNS_H

#include <sys/uio.h>

#include "store/files.h"
#include "store/packed_members.h"

typedef enum tsr_runs_mode {
  TSR_RUNS_READ,
  TSR_RUNS_WRITE,
  TSR_RUNS_COMPARE,  // stored bytes with those in memory
} tsr_runs_mode;

enum {
  TSR_MOST_STAGED = 1 << 20,                     // bytes; compared runs are not longer
  TSR_RUNS_MEMORY = TSR_MOST_STAGED + (1 << 17)  // bytes of memory
};

// Compares one run with the bytes of the file.
typedef tsr_status tsr_runs_compare_fn(void *context, int file, const struct iovec *run,
                                       const char *stored);

typedef struct tsr_runs {
  tsr_files *files;
  tsr_runs_mode mode;
  tsr_runs_compare_fn *compare;  // and its context, for TSR_RUNS_COMPARE
  void *context;
  tsr_packed_set *packed;  // NULL = plain bytes; else offsets are in the unpacked `item`
  int64_t item;
  int64_t calls, bytes_moved;  // so far; bytes include gaps between short runs
  // Collected and not moved yet.
  int file, count;
  int64_t offset, end;  // in the file
  int64_t bytes;        // without gaps
  struct iovec *items;  // owned
  int64_t *offsets;     // owned: of each run in the file
  char *staging;        // owned; NULL until needed
} tsr_runs;

// The mode is set before. Deinit also after a failure.
TSR_MUST_USE tsr_status tsr_runs_init(tsr_runs *runs);
TSR_MUST_USE tsr_status tsr_runs_add(tsr_runs *runs, int file, int64_t offset, char *place,
                                     int64_t length);
// Moves the collected runs: call it after the last one.
TSR_MUST_USE tsr_status tsr_runs_flush(tsr_runs *runs);
void tsr_runs_deinit(tsr_runs *runs);

#endif
