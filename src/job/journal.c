// Lines are collected in memory. A flush writes them, after the files whose blocks they list are
// synced. Reading stops at the first line whose checksum is wrong.
#include "job/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash_internal.h"
#include "base/io.h"
#include "base/status_internal.h"
#include "base/text_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/text.h"

#define HEAD "tessera-journal "
enum { CHECK = 17, MOST_LINE = TSR_JOURNAL_BLOCKS * 33 + 128 };

struct tsr_journal {
  char *path;  // owned
  int fd;
  int64_t end;  // of the valid lines in the file
  tsr_text pending;
};

// ---- lines ----

// Ends the line that began at `start` with its checksum.
static void end_line(tsr_text *out, size_t start) {
  if (out->failed) return;
  const uint64_t check = tsr_hash64(out->data + start, out->length - start, 0);
  tsr_text_addf(out, " %016" PRIx64 "\n", check);
}

// Copies a line without its checksum to `out`; false if that is wrong.
static bool check_line(const char *line, size_t length, char *out) {
  char digits[CHECK];
  if (length < CHECK || length >= MOST_LINE) return false;
  const uint64_t check = tsr_hash64(line, length - CHECK, 0);
  snprintf(digits, sizeof digits, "%016" PRIx64, check);
  if (line[length - CHECK] != ' ' || memcmp(line + length - 16, digits, 16) != 0) return false;
  memcpy(out, line, length - CHECK);
  out[length - CHECK] = '\0';
  return true;
}

static bool parse_hash(const char *text, tsr_hash128 *out_hash) {
  char digits[33];
  snprintf(digits, sizeof digits, "%.32s", text);
  tsr_status status = tsr_hash128_parse(digits, out_hash);
  tsr_status_free(status);
  return !status;
}

// "c 1234 1700000000 500000000": all is written, to the file or folder with this mark.
static bool parse_mark(const char *line, tsr_mark *out_mark) {
  return sscanf(line, "c %" SCNu64 " %" SCNd64 " %" SCNd64, &out_mark->inode, &out_mark->seconds,
                &out_mark->nanoseconds) == 3;
}

static bool parse_head(const char *line, tsr_journal_state *out_state) {
  char job[33], kind[8];
  if (sscanf(line, HEAD "3 %32s %7s", job, kind) != 2) return false;
  out_state->replaces = !strcmp(kind, "replace");
  out_state->begun = parse_hash(job, &out_state->job);
  return out_state->begun;
}

// "w 12 3 <hash> <hash> <hash>": blocks 12 to 14 are written; "r 5 1 <hash>": block 5 was read.
static bool parse_blocks(const char *line, int64_t *out_first, int *out_count, tsr_hash128 *hashes,
                         int *out_hash_count) {
  int used = 0;
  *out_hash_count = 0;
  if (*line != TSR_JOURNAL_WRITTEN && *line != TSR_JOURNAL_READ) return false;
  if (sscanf(line + 1, " %" SCNd64 " %d%n", out_first, out_count, &used) != 2) return false;
  used++;
  for (line += used; *line == ' ' && *out_hash_count < TSR_JOURNAL_BLOCKS; line += 33)
    if (strlen(line) < 33 || !parse_hash(line + 1, &hashes[(*out_hash_count)++])) return false;
  return *line == '\0';
}

// ---- reading ----

typedef struct journal_reader {
  tsr_journal_fn *found;
  void *context;
  tsr_journal_state *state;
} journal_reader;

// Takes in one line; `*out_known` is false for one that is not of a journal.
static tsr_status take_line(const journal_reader *r, const char *line, bool *out_known) {
  tsr_hash128 hashes[TSR_JOURNAL_BLOCKS];
  int64_t first = 0;
  int count = 0, hash_count = 0;
  *out_known = true;
  if (!r->state->begun)
    *out_known = parse_head(line, r->state);
  else if (parse_blocks(line, &first, &count, hashes, &hash_count))
    return r->found
               ? r->found(r->context, (tsr_journal_kind)*line, first, count, hashes, hash_count)
               : NULL;
  else
    *out_known = parse_mark(line, &r->state->committed);
  return NULL;
}

// Reads up to the first invalid line; gives where it starts.
static tsr_status read_lines(const journal_reader *r, const char *bytes, size_t length,
                             size_t *out_end) {
  char line[MOST_LINE];
  bool known = true;
  *out_end = 0;
  while (*out_end < length) {
    const char *newline = memchr(bytes + *out_end, '\n', length - *out_end);
    if (!newline) break;
    const size_t size = (size_t)(newline - (bytes + *out_end));
    if (!check_line(bytes + *out_end, size, line)) break;
    TSR_TRY(take_line(r, line, &known));
    if (!known) break;
    *out_end += size + 1;
  }
  return NULL;
}

static tsr_status read_file(const journal_reader *r, const char *path, size_t *out_end) {
  char *bytes = NULL;
  size_t length = 0;
  *r->state = (tsr_journal_state){0};
  TSR_TRY(tsr_file_read(path, &bytes, &length));
  tsr_status status = read_lines(r, bytes, length, out_end);
  r->state->foreign = !r->state->begun && memchr(bytes, '\n', length);
  r->state->other =
      !r->state->begun && strncmp(bytes, HEAD, length < strlen(HEAD) ? length : strlen(HEAD));
  free(bytes);
  return status;
}

tsr_status tsr_journal_look(const char *path, tsr_journal_state *out_state) {
  struct stat info;
  bool there = false;
  size_t end = 0;
  *out_state = (tsr_journal_state){0};
  TSR_TRY(tsr_io_look(path, &there, &info));
  return there ? read_file(&(journal_reader){.state = out_state}, path, &end) : NULL;
}

tsr_status tsr_journal_read(tsr_journal *journal, tsr_hash128 job, tsr_journal_fn *found,
                            void *context, tsr_journal_state *out_state) {
  size_t end = 0;
  TSR_TRY(tsr_journal_look(journal->path, out_state));
  if (out_state->foreign || (out_state->begun && !tsr_hash128_equal(out_state->job, job)))
    return tsr_fail(
        JOURNAL_MISMATCH,
        "%s: it belongs to another job: the source, the plan or the options have changed",
        journal->path);
  const journal_reader r = {.found = found, .context = context, .state = out_state};
  TSR_TRY(read_file(&r, journal->path, &end));
  journal->end = (int64_t)end;
  return tsr_io_reserve(journal->fd, journal->path, journal->end);
}

// ---- life ----

// Another job may have finished and removed its journal: then the locked file is not the one at the
// path.
static tsr_status check_same_file(int fd, const char *path, bool *out_same) {
  struct stat here, there;
  const bool found = !stat(path, &there);
  if ((!found && errno != ENOENT) || fstat(fd, &here))
    return tsr_fail(IO, "%s: cannot stat it: %s", path, strerror(errno));
  *out_same = found && here.st_ino == there.st_ino && here.st_dev == there.st_dev;
  return NULL;
}

static tsr_status lock(tsr_journal *journal) {
  for (;;) {
    int result = 0;
    bool same = false;
    TSR_TRY(tsr_io_create(journal->path, &journal->fd));
    do {
      result = flock(journal->fd, LOCK_EX | LOCK_NB);
    } while (result && errno == EINTR);
    // Some file systems have no locks, and work without.
    if (result && errno == EWOULDBLOCK)
      return tsr_fail(ALREADY_THERE, "%s: another job has it open", journal->path);
    TSR_TRY(check_same_file(journal->fd, journal->path, &same));
    if (same) break;
    tsr_status_free(tsr_io_close(journal->fd, journal->path));
    journal->fd = -1;
  }
  return tsr_io_size(journal->fd, journal->path, &journal->end);
}

tsr_status tsr_journal_open(const char *path, tsr_journal **out_journal) {
  tsr_journal *journal = calloc(1, sizeof *journal);
  if (!journal) return tsr_fail(NO_MEMORY, "a journal");
  journal->fd = -1;
  journal->path = strdup(path);
  tsr_status status = journal->path ? lock(journal) : tsr_fail(NO_MEMORY, "the path of a journal");
  if (status)
    tsr_status_free(tsr_journal_close(journal));
  else
    *out_journal = journal;
  return status;
}

tsr_status tsr_journal_close(tsr_journal *journal) {
  if (!journal) return NULL;
  tsr_status status = tsr_io_close(journal->fd, journal->path);
  tsr_text_deinit(&journal->pending);
  free(journal->path);
  free(journal);
  return status;
}

// The lock is held until the file is gone.
tsr_status tsr_journal_remove(tsr_journal *journal) {
  tsr_status status = tsr_io_remove(journal->path);
  return tsr_status_first(status, tsr_journal_close(journal));
}

bool tsr_journal_is_empty(const tsr_journal *journal) { return journal->end == 0; }

// ---- writing ----

tsr_status tsr_journal_clear(tsr_journal *journal) {
  journal->end = 0;
  tsr_text_clear(&journal->pending);
  return tsr_io_reserve(journal->fd, journal->path, 0);
}

tsr_status tsr_journal_begin(tsr_journal *journal, tsr_hash128 job, bool replaces, bool sync) {
  tsr_text_add(&journal->pending, HEAD "3 ");
  tsr_hash128_print(job, &journal->pending);
  tsr_text_add(&journal->pending, replaces ? " replace" : " new");
  end_line(&journal->pending, 0);
  return tsr_journal_flush(journal, sync);
}

tsr_status tsr_journal_add(tsr_journal *journal, tsr_journal_kind kind, int64_t first, int count,
                           const tsr_hash128 *hashes, int hash_count) {
  const size_t start = journal->pending.length;
  tsr_text_addf(&journal->pending, "%c %" PRId64 " %d", (char)kind, first, count);
  for (int i = 0; i < hash_count; i++) {
    tsr_text_add_char(&journal->pending, ' ');
    tsr_hash128_print(hashes[i], &journal->pending);
  }
  end_line(&journal->pending, start);
  return tsr_text_check(&journal->pending);
}

tsr_status tsr_journal_flush(tsr_journal *journal, bool sync) {
  TSR_TRY(tsr_text_check(&journal->pending));
  TSR_TRY(tsr_io_write(journal->fd, journal->path, tsr_text_string(&journal->pending),
                       (int64_t)journal->pending.length, journal->end));
  journal->end += (int64_t)journal->pending.length;
  tsr_text_clear(&journal->pending);
  return sync ? tsr_io_sync(journal->fd, journal->path) : NULL;
}

tsr_status tsr_journal_commit(tsr_journal *journal, const tsr_mark *mark, bool sync) {
  const size_t start = journal->pending.length;
  tsr_text_addf(&journal->pending, "c %" PRIu64 " %" PRId64 " %" PRId64, mark->inode, mark->seconds,
                mark->nanoseconds);
  end_line(&journal->pending, start);
  return tsr_journal_flush(journal, sync);
}
