#include "checkpoint/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/io.h"
#include "tessera/text.h"

enum { MOST_BLOCKS = 64 };

struct tsr_journal {
  char *path;  // owned
  int fd;
  int64_t end;  // of what is in the file
  tsr_text pending;
};

static void print_head(tsr_hash128 job, tsr_text *out) {
  tsr_text_add(out, "tessera-journal 1 ");
  tsr_hash128_print(job, out);
  tsr_text_add_char(out, '\n');
}

// A line without its check: "w 12 <hash> <hash>".
static void print_window(int64_t window, const tsr_hash128 *blocks, int count, tsr_text *out) {
  tsr_text_addf(out, "w %lld", (long long)window);
  for (int i = 0; i < count; i++) {
    tsr_text_add_char(out, ' ');
    tsr_hash128_print(blocks[i], out);
  }
}

static void print_checked(int64_t window, const tsr_hash128 *blocks, int count, tsr_text *out) {
  const size_t start = out->length;
  print_window(window, blocks, count, out);
  if (out->failed) return;
  const uint64_t check = tsr_hash64(out->data + start, out->length - start, 0);
  tsr_text_addf(out, " %016llx\n", (unsigned long long)check);
}

// ---- reading ----

// Whether the line is one that was written whole; then its window and blocks.
static bool read_line(const char *line, size_t length, int64_t *out_window, tsr_hash128 *blocks,
                      int *out_count) {
  char text[MOST_BLOCKS * 33 + 64], digits[33];
  if (length < 20 || length >= sizeof text) return false;
  snprintf(text, sizeof text, "%.*s", (int)length, line);
  const uint64_t check = tsr_hash64(text, length - 17, 0);
  if (text[length - 17] != ' ' || strtoull(text + length - 16, NULL, 16) != check) return false;
  text[length - 17] = '\0';
  char *at = NULL;
  *out_count = 0;
  *out_window = strtoll(text + 2, &at, 10);
  for (; *at == ' ' && strlen(at) >= 33 && *out_count < MOST_BLOCKS; at += 33) {
    memcpy(digits, at + 1, 32);
    digits[32] = '\0';
    tsr_status status = tsr_hash128_parse(digits, &blocks[(*out_count)++]);
    if (status) {
      tsr_status_free(status);
      return false;
    }
  }
  return *at == '\0';
}

static tsr_status read_lines(tsr_journal *journal, const char *bytes, size_t length, size_t head,
                             tsr_journal_fn *found, void *context) {
  size_t at = head;
  journal->end = (int64_t)head;
  while (at < length) {
    const char *newline = memchr(bytes + at, '\n', length - at);
    tsr_hash128 blocks[MOST_BLOCKS];
    int64_t window = -1;
    int count = 0;
    if (!newline) break;
    const size_t line = (size_t)(newline - (bytes + at));
    if (!read_line(bytes + at, line, &window, blocks, &count)) break;
    TSR_TRY(found(context, window, blocks, count));
    at += line + 1;
    journal->end = (int64_t)at;
  }
  return NULL;
}

static tsr_status read_journal(tsr_journal *journal, const tsr_text *head, tsr_journal_fn *found,
                               void *context) {
  char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_file_read(journal->path, &bytes, &length));
  tsr_status status = NULL;
  if (length < head->length && !memcmp(bytes, head->data, length))
    journal->end = 0;  // killed while it was begun
  else if (length < head->length || memcmp(bytes, head->data, head->length) != 0)
    status = tsr_fail(JOURNAL_MISMATCH,
                      "%s: it is of another job: the source, the plan or the options have changed",
                      journal->path);
  else
    status = read_lines(journal, bytes, length, head->length, found, context);
  free(bytes);
  return status;
}

// ---- life ----

static tsr_status begin(tsr_journal *journal, tsr_hash128 job, bool resume, tsr_journal_fn *found,
                        void *context) {
  tsr_text head = TSR_TEXT_EMPTY;
  print_head(job, &head);
  tsr_status status = tsr_text_check(&head);
  const bool there = !access(journal->path, F_OK);
  if (!status && resume && there) status = read_journal(journal, &head, found, context);
  if (!status) status = tsr_io_create(journal->path, &journal->fd);
  if (!status) status = tsr_io_reserve(journal->fd, journal->path, journal->end);
  if (!status && journal->end == 0) tsr_text_add_bytes(&journal->pending, head.data, head.length);
  tsr_text_deinit(&head);
  return status ? status : tsr_journal_flush(journal, false);
}

tsr_status tsr_journal_open(const char *path, tsr_hash128 job, bool resume, tsr_journal_fn *found,
                            void *context, tsr_journal **out_journal) {
  tsr_journal *journal = calloc(1, sizeof *journal);
  if (!journal) return tsr_fail(NO_MEMORY, "a journal");
  journal->fd = -1;
  journal->path = strdup(path);
  tsr_status status = journal->path ? begin(journal, job, resume, found, context)
                                    : tsr_fail(NO_MEMORY, "the path of a journal");
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

tsr_status tsr_journal_add(tsr_journal *journal, int64_t window, const tsr_hash128 *blocks,
                           int block_count) {
  print_checked(window, blocks, block_count, &journal->pending);
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
