// The journal of a transform: which windows are written, so that a job that was killed can go on.
//
// A text file. Its first line tells which job it is of, by a hash of everything that decides about
// the result; each further line is a window that is written, with the hashes of its blocks and a
// check of the line. A line that was torn by the end of the job is ignored, and all after it.
#ifndef TESSERA_CHECKPOINT_JOURNAL_H
#define TESSERA_CHECKPOINT_JOURNAL_H

#include <stdint.h>

#include "tessera/hash.h"

typedef struct tsr_journal tsr_journal;

// What is told of each window found in a journal.
typedef tsr_status tsr_journal_fn(void *context, int64_t window, const tsr_hash128 *blocks,
                                  int block_count);

// Starts a journal, or goes on with the one that is there and tells what it holds. One of another
// job is refused with journal_mismatch.
TSR_MUST_USE tsr_status tsr_journal_open(const char *path, tsr_hash128 job, bool resume,
                                         tsr_journal_fn *found, void *context,
                                         tsr_journal **out_journal);
TSR_MUST_USE tsr_status tsr_journal_close(tsr_journal *journal);  // NULL is fine

// Adds a window; it is in the file after the next flush.
TSR_MUST_USE tsr_status tsr_journal_add(tsr_journal *journal, int64_t window,
                                        const tsr_hash128 *blocks, int block_count);
TSR_MUST_USE tsr_status tsr_journal_flush(tsr_journal *journal, bool sync);

#endif
