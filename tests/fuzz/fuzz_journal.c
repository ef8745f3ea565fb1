// A journal of any bytes: what of it is whole is told, the rest is cut off, and what is added after
// it is found again.
#include "job/journal.h"

#include <inttypes.h>

#include "fuzz_folder.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

typedef struct told {
  int lines;
  int64_t blocks;
} told;

static tsr_status count_blocks(void *context, tsr_journal_kind kind, int64_t first, int count,
                               const tsr_hash128 *hashes, int hash_count) {
  told *t = context;
  (void)first, (void)hashes;
  assert(kind == TSR_JOURNAL_WRITTEN || kind == TSR_JOURNAL_READ);
  assert(hash_count >= 0 && hash_count <= TSR_JOURNAL_BLOCKS);
  t->lines++;
  t->blocks += count;
  return NULL;
}

// Lines with their checks, which nobody finds by chance, if the input opens with '+'.
static void write_journal(const char *path, const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file) abort();
  if (size && data[0] != '+') {
    fwrite(data, 1, size, file);
  } else {
    for (size_t at = 1; at < size;) {
      const uint8_t *newline = memchr(data + at, '\n', size - at);
      const size_t length = (newline ? (size_t)(newline - data) : size) - at;
      fwrite(data + at, 1, length, file);
      fprintf(file, " %016" PRIx64 "\n", tsr_hash64(data + at, length, 0));
      at += length + 1;
    }
  }
  fclose(file);
}

static void read_journal(tsr_journal *journal, tsr_hash128 job, told *out) {
  tsr_journal_state state;
  *out = (told){0};
  tsr_status status = tsr_journal_read(journal, job, count_blocks, out, &state);
  assert(!status && state.begun);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_folder folder;
  char path[512];
  tsr_journal_state state;
  tsr_journal *journal = NULL;
  told before, after;
  fuzz_folder_make((const uint8_t *)"", 0, &folder);
  fuzz_path(&folder, "journal", path);
  write_journal(path, data, size);
  tsr_status status = tsr_journal_look(path, &state);
  assert(!status && !(state.begun && state.foreign));
  status = tsr_journal_open(path, &journal);
  assert(!status);
  if (state.begun) {
    read_journal(journal, state.job, &before);
    status = tsr_journal_add(journal, TSR_JOURNAL_READ, 7, 1, &(tsr_hash128){1, 2}, 1);
    if (!status) status = tsr_journal_flush(journal, false);
    assert(!status);
    read_journal(journal, state.job, &after);
    assert(after.lines == before.lines + 1);
    status = tsr_journal_read(journal, (tsr_hash128){state.job.low + 1, state.job.high},
                              count_blocks, &after, &state);
    assert(tsr_status_cause(status) == TSR_CAUSE_JOURNAL_MISMATCH);
    tsr_status_free(status);
  }
  status = tsr_journal_remove(journal);
  assert(!status);
  fuzz_folder_remove(&folder);
  return 0;
}
