// Runs are collected until one does not join the others; then all are moved by one call. Reading
// also joins short runs with small gaps: reading a gap costs less than another call.
#include "store/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"

enum {
  MOST_RUNS = 4096,   // in one call
  SHORT_RUN = 512,    // bytes; runs that are shorter on average are staged
  STAGED_GAP = 4096,  // bytes; the largest gap between short runs that is read
  STAGED_STEP = 4096  // bytes; the longest run, with the gap before it, that is staged
};

tsr_status tsr_runs_init(tsr_runs *runs) {
  runs->items = malloc(sizeof *runs->items * MOST_RUNS);
  runs->offsets = malloc(sizeof *runs->offsets * MOST_RUNS);
  if (!runs->items || !runs->offsets) return tsr_fail(NO_MEMORY, "a list of %d runs", MOST_RUNS);
  return NULL;
}

void tsr_runs_deinit(tsr_runs *runs) {
  free(runs->items);
  free(runs->offsets);
  free(runs->staging);
}

static tsr_status read_bytes(const tsr_runs *runs, int fd, const char *path, void *out,
                             int64_t length, int64_t offset) {
  if (!runs->packed) return tsr_io_read(fd, path, out, length, offset);
  return tsr_packed_read(runs->packed, runs->item, fd, path, out, length, offset);
}

static tsr_status move(tsr_runs *runs, int fd, const char *path) {
  if (runs->mode == TSR_RUNS_WRITE)
    return tsr_io_write_vector(fd, path, runs->items, runs->count, runs->offset);
  if (!runs->packed) return tsr_io_read_vector(fd, path, runs->items, runs->count, runs->offset);
  for (int i = 0; i < runs->count; i++) {
    const struct iovec *run = &runs->items[i];
    TSR_TRY(read_bytes(runs, fd, path, run->iov_base, (int64_t)run->iov_len, runs->offsets[i]));
  }
  return NULL;
}

static tsr_status move_staged(tsr_runs *runs, int fd, const char *path) {
  const bool writing = runs->mode == TSR_RUNS_WRITE;
  const int64_t bytes = runs->end - runs->offset;
  if (!runs->staging) runs->staging = malloc(TSR_MOST_STAGED);
  if (!runs->staging) return tsr_fail(NO_MEMORY, "a staging buffer");
  if (!writing) TSR_TRY(read_bytes(runs, fd, path, runs->staging, bytes, runs->offset));
  for (int i = 0; i < runs->count; i++) {
    const struct iovec *run = &runs->items[i];
    char *staged = runs->staging + (runs->offsets[i] - runs->offset);
    if (runs->mode == TSR_RUNS_COMPARE)
      TSR_TRY(runs->compare(runs->context, runs->file, run, staged));
    else if (writing)
      memcpy(staged, run->iov_base, run->iov_len);
    else
      memcpy(run->iov_base, staged, run->iov_len);
  }
  if (!writing) return NULL;
  return tsr_io_write(fd, path, runs->staging, bytes, runs->offset);
}

tsr_status tsr_runs_flush(tsr_runs *runs) {
  int fd = -1;
  if (runs->count == 0) return NULL;
  TSR_TRY(tsr_files_take(runs->files, runs->file, &fd));
  const char *path = tsr_files_path(runs->files, runs->file);
  const int64_t bytes = runs->end - runs->offset;
  const bool short_runs =
      runs->count > 1 && bytes <= TSR_MOST_STAGED && runs->bytes / runs->count < SHORT_RUN;
  const bool staged = runs->bytes < bytes || runs->mode == TSR_RUNS_COMPARE || short_runs;
  tsr_status status = staged ? move_staged(runs, fd, path) : move(runs, fd, path);
  if (!status && runs->mode == TSR_RUNS_WRITE) tsr_files_wrote(runs->files, runs->file, bytes);
  tsr_files_give_back(runs->files, runs->file);
  runs->calls++;
  runs->bytes_moved += bytes;
  runs->count = 0;
  runs->bytes = 0;
  return status;
}

// Whether reading the gap before a run costs less than another call.
static bool is_close(const tsr_runs *runs, int64_t offset, int64_t length) {
  const int64_t span = runs->end - runs->offset;
  const bool gaps = offset > runs->end || runs->bytes < span;
  return runs->mode == TSR_RUNS_READ && gaps && offset - runs->end + length <= STAGED_STEP &&
         span / runs->count <= STAGED_STEP;
}

// Whether a run joins the collected ones: it starts at their end, or, if short runs are read, soon
// after.
static bool joins(const tsr_runs *runs, int file, int64_t offset, int64_t length) {
  if (runs->count == 0) return true;
  if (runs->count == MOST_RUNS || file != runs->file || offset < runs->end) return false;
  const bool is_short = runs->mode == TSR_RUNS_COMPARE ||
                        (length < SHORT_RUN && runs->bytes / runs->count < SHORT_RUN) ||
                        is_close(runs, offset, length);
  if (is_short && offset + length - runs->offset > TSR_MOST_STAGED) return false;
  if (offset == runs->end) return is_short || runs->bytes == runs->end - runs->offset;
  return runs->mode != TSR_RUNS_WRITE && is_short && offset - runs->end <= STAGED_GAP;
}

tsr_status tsr_runs_add(tsr_runs *runs, int file, int64_t offset, char *place, int64_t length) {
  if (!joins(runs, file, offset, length)) TSR_TRY(tsr_runs_flush(runs));
  if (runs->count == 0) {
    runs->file = file;
    runs->offset = offset;
  }
  runs->items[runs->count] = (struct iovec){place, (size_t)length};
  runs->offsets[runs->count++] = offset;
  runs->end = offset + length;
  runs->bytes += length;
  return NULL;
}
