// The journal of a transform: which blocks are written, so that a killed job can be resumed.
//
// A text file whose lines end with a checksum. The first line identifies the job by a hash of
// everything that decides the result. Each further line is a run of written blocks, with their
// hashes if the format needs them, or the hash of a source block that was read. The last line says
// that all is written and what will replace the destination. A torn line and all after it are
// ignored. An open journal is locked: one job at a time writes to a destination.
#ifndef TESSERA_JOB_JOURNAL_H
#define TESSERA_JOB_JOURNAL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

typedef struct tsr_journal tsr_journal;

enum { TSR_JOURNAL_BLOCKS = 64 };  // the most of one line

// Blocks of the result, and blocks of the source.
typedef enum tsr_journal_kind {
  TSR_JOURNAL_WRITTEN = 'w',
  TSR_JOURNAL_READ = 'r'
} tsr_journal_kind;

// Receives each run of blocks in a journal.
typedef tsr_status tsr_journal_fn(void *context, tsr_journal_kind kind, int64_t first, int count,
                                  const tsr_hash128 *hashes, int hash_count);

// Identifies a file or folder after a rename: inodes are reused, but not with the same time of the
// last change.
typedef struct tsr_mark {
  uint64_t inode;  // 0 = there is none
  int64_t seconds, nanoseconds;
} tsr_mark;
static inline bool tsr_mark_equal(const tsr_mark *a, const tsr_mark *b) {
  return a->inode == b->inode && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

typedef struct tsr_journal_state {
  bool foreign;  // there is a first line, but not of a journal of this version
  bool other;    // it is not a journal of any version
  bool begun;    // the first line is valid; otherwise nothing below is known
  bool replaces;
  tsr_hash128 job;
  tsr_mark committed;  // what replaces the destination, once all is written
} tsr_journal_state;

// Reads the state of a file that may be missing, or no journal.
TSR_MUST_USE tsr_status tsr_journal_look(const char *path, tsr_journal_state *out_state);

// Opens or creates it. Fails with already_there while another job has it open.
TSR_MUST_USE tsr_status tsr_journal_open(const char *path, tsr_journal **out_journal);
TSR_MUST_USE tsr_status tsr_journal_close(tsr_journal *journal);  // NULL is fine
// Removes the file and closes it.
TSR_MUST_USE tsr_status tsr_journal_remove(tsr_journal *journal);
bool tsr_journal_is_empty(const tsr_journal *journal);

// Reads all lines; writing continues after them. Fails with journal_mismatch for another job.
TSR_MUST_USE tsr_status tsr_journal_read(tsr_journal *journal, tsr_hash128 job,
                                         tsr_journal_fn *found, void *context,
                                         tsr_journal_state *out_state);
// Empties it.
TSR_MUST_USE tsr_status tsr_journal_clear(tsr_journal *journal);
// Writes the first line.
TSR_MUST_USE tsr_status tsr_journal_begin(tsr_journal *journal, tsr_hash128 job, bool replaces,
                                          bool sync);
// Adds blocks; they are in the file after the next flush.
TSR_MUST_USE tsr_status tsr_journal_add(tsr_journal *journal, tsr_journal_kind kind, int64_t first,
                                        int count, const tsr_hash128 *hashes, int hash_count);
TSR_MUST_USE tsr_status tsr_journal_flush(tsr_journal *journal, bool sync);
// Writes the last line.
TSR_MUST_USE tsr_status tsr_journal_commit(tsr_journal *journal, const tsr_mark *mark, bool sync);

#endif
