// The journal of a transform: what of it is written, so that a job that was killed can go on.
//
// A text file, each of whose lines ends with a check. The first tells which job it is of, by a hash
// of everything that decides about the result. Each further line is a run of blocks that are
// written, with their hashes where those are kept, or the hash of a block of the source where that
// carries hashes; the last one says that all is written and what
// will take the destination's place. A line that was torn by the end of the job is ignored, and all
// after it. Whoever has the journal open holds its lock: there is one job on a destination.
#ifndef TESSERA_JOB_JOURNAL_H
#define TESSERA_JOB_JOURNAL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

typedef struct tsr_journal tsr_journal;

enum { TSR_JOURNAL_BLOCKS = 64 };  // of one line at most

// Blocks of the result that are written, and blocks of the source as they were read.
typedef enum tsr_journal_kind {
  TSR_JOURNAL_WRITTEN = 'w',
  TSR_JOURNAL_READ = 'r'
} tsr_journal_kind;

// Called for each run of blocks found in a journal.
typedef tsr_status tsr_journal_fn(void *context, tsr_journal_kind kind, int64_t first, int count,
                                  const tsr_hash128 *hashes, int hash_count);

// A file or folder as it is known again under another name: its number could be that of another one
// made later, but not with the time of its last change too.
typedef struct tsr_mark {
  uint64_t inode;  // 0 = there is none
  int64_t seconds, nanoseconds;
} tsr_mark;
static inline bool tsr_mark_equal(const tsr_mark *a, const tsr_mark *b) {
  return a->inode == b->inode && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

typedef struct tsr_journal_state {
  bool foreign;  // the first line is whole, but not one of ours
  bool other;    // and not one of another version either
  bool begun;    // the first line is whole and ours; otherwise nothing below is known
  bool replaces;
  tsr_hash128 job;
  tsr_mark committed;  // what takes the destination's place, if it is ready for it
} tsr_journal_state;

// Looks at a journal that may be missing, or another's.
TSR_MUST_USE tsr_status tsr_journal_look(const char *path, tsr_journal_state *out_state);

// Opens it, or makes an empty one. Fails with already_there while another job has it open.
TSR_MUST_USE tsr_status tsr_journal_open(const char *path, tsr_journal **out_journal);
TSR_MUST_USE tsr_status tsr_journal_close(tsr_journal *journal);  // NULL is fine
// Closes it with the file gone.
TSR_MUST_USE tsr_status tsr_journal_remove(tsr_journal *journal);
bool tsr_journal_is_empty(const tsr_journal *journal);

// Tells what is there, and goes on after it. One of another job is refused with journal_mismatch.
TSR_MUST_USE tsr_status tsr_journal_read(tsr_journal *journal, tsr_hash128 job,
                                         tsr_journal_fn *found, void *context,
                                         tsr_journal_state *out_state);
// Throws away what is there.
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
