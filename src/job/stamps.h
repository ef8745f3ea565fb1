// Stamps of a source's files: size and time of the last change, by which a file that changes while
// a job reads it is found out.
#ifndef TESSERA_JOB_STAMPS_H
#define TESSERA_JOB_STAMPS_H

#include "store/store.h"
#include "tessera/text.h"

typedef struct tsr_stamp {
  int64_t size, seconds;
  long nanoseconds;
} tsr_stamp;

// One for each file, in a block to free(). Fails with source_changed if a file is no longer as long
// as when the store was opened.
TSR_MUST_USE tsr_status tsr_stamps_take(const tsr_store *store, tsr_stamp **out_stamps);
// Fails with source_changed if a file is no longer the same.
TSR_MUST_USE tsr_status tsr_stamps_check(const tsr_stamp *stamps, const tsr_store *store);
void tsr_stamps_print(const tsr_stamp *stamps, const tsr_store *store, tsr_text *out);

#endif
