// Stamps of a source's files: size and time of the last change. They show when a file changes while
// a job reads it.
#ifndef TESSERA_JOB_STAMPS_H
#define TESSERA_JOB_STAMPS_H

#include "store/store.h"
#include "tessera/text.h"

typedef struct tsr_stamp {
  int64_t size, seconds;
  long nanoseconds;
} tsr_stamp;

// All zero for a source without files: every check passes.
typedef struct tsr_stamps {
  const tsr_store *store;  // borrowed
  int count;               // of its files
  tsr_stamp *items;        // owned
} tsr_stamps;

// Fails with source_changed if the size of a file is not the one seen when the store was opened.
TSR_MUST_USE tsr_status tsr_stamps_take(const tsr_store *store, tsr_stamps *out_stamps);
void tsr_stamps_deinit(tsr_stamps *stamps);
// Fails with source_changed if a file has changed since.
TSR_MUST_USE tsr_status tsr_stamps_check(const tsr_stamps *stamps);
void tsr_stamps_print(const tsr_stamps *stamps, tsr_text *out);

#endif
