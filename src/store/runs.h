// Runs: bytes of files and where in memory they go or come from, moved in the fewest calls.
//
// Runs are added in the order of the file. Those that follow each other go in one call of the
// system, by vectors where they are long and through a staging buffer where they are short: a call
// costs about as much as copying a few kilobytes, a vector as much as a few hundred bytes.
#ifndef TESSERA_STORE_RUNS_H
#define TESSERA_STORE_RUNS_H

#include <sys/uio.h>

#include "store/files.h"
#include "store/packed_members.h"

typedef enum tsr_runs_mode {
  TSR_RUNS_READ,
  TSR_RUNS_WRITE,
  TSR_RUNS_COMPARE,  // what is stored with what is in memory
} tsr_runs_mode;

enum {
  TSR_MOST_STAGED = 1 << 20,                     // bytes; no run that is compared may be longer
  TSR_RUNS_MEMORY = TSR_MOST_STAGED + (1 << 17)  // bytes that it takes
};

// One run that is compared, and the bytes that the file has.
typedef tsr_status tsr_runs_compare_fn(void *context, int file, const struct iovec *run,
                                       const char *stored);

typedef struct tsr_runs {
  tsr_files *files;
  tsr_runs_mode mode;
  tsr_runs_compare_fn *compare;  // and its context, where that is the mode
  void *context;
  tsr_packed_set
      *packed;   // what is read from: offsets are those in the unpacked `item` of the file;
  int64_t item;  // NULL = plain bytes of files
  int64_t calls, bytes_moved;  // so far; bytes with those between short runs
  // Gathered and not moved yet.
  int file, count;
  int64_t offset, end;  // in the file
  int64_t bytes;        // without gaps
  struct iovec *items;  // owned
  int64_t *offsets;     // owned: of each in the file
  char *staging;        // owned; NULL until needed
} tsr_runs;

// After the mode is set. Deinit also after a failure.
TSR_MUST_USE tsr_status tsr_runs_init(tsr_runs *runs);
TSR_MUST_USE tsr_status tsr_runs_add(tsr_runs *runs, int file, int64_t offset, char *place,
                                     int64_t length);
// Moves what is gathered: after the last run.
TSR_MUST_USE tsr_status tsr_runs_flush(tsr_runs *runs);
void tsr_runs_deinit(tsr_runs *runs);

#endif
