// What `cp --reflink=never` does: read and write of 256 KiB each.
#ifndef TESSERA_BENCH_CHECKPOINT_COPY_H
#define TESSERA_BENCH_CHECKPOINT_COPY_H

#include <fcntl.h>

#include "checkpoint_rounds.h"

static tsr_status checkpoint_copy_file(const checkpoint_bench *b, int rank, char *buffer,
                                       size_t size) {
  char path[128];
  ssize_t got = 1, put = 0;
  snprintf(path, sizeof path, "%s/model-rank-%d-part-0.safetensors", b->in, rank);
  const int from = open(path, O_RDONLY);
  snprintf(path, sizeof path, "%s/model-rank-%d-part-0.safetensors", b->out, rank);
  const int to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
  while (from >= 0 && to >= 0 && got > 0 && put >= 0) {
    got = read(from, buffer, size);
    if (got > 0) put = write(to, buffer, (size_t)got);
    if (put < got) break;
  }
  if (b->sync && fsync(to)) got = -1;
  close(from);
  close(to);
  return got == 0 ? NULL : tsr_fail(IO, "%s: it could not be copied", path);
}

static tsr_status checkpoint_copy(void *context) {
  const checkpoint_bench *b = context;
  static char buffer[256 << 10];
  if (mkdir(b->out, 0777)) return tsr_fail(IO, "%s: the folder cannot be made", b->out);
  for (int i = 0; i < b->model.ranks; i++)
    TSR_TRY(checkpoint_copy_file(b, i, buffer, sizeof buffer));
  return NULL;
}

#endif
