// What the benchmarks that reshard a checkpoint share: 1 GB in 100 tensors, in 4 files of rows,
// that become 8 files of columns, whose rows are of 2 KiB. What a round has written is removed, and
// the disk has come to rest, before the clock of the next one starts. The page cache is warm.
#ifndef TESSERA_BENCH_CHECKPOINT_ROUNDS_H
#define TESSERA_BENCH_CHECKPOINT_ROUNDS_H

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rounds.h"
#include "sharded_model.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"

typedef struct checkpoint_bench {
  sharded_model model;
  char folder[64], in[80], out[80];
  tsr_plan *rows, *columns;
  bool sync;  // a round ends when all is on the disk
} checkpoint_bench;

static inline int checkpoint_remove_entry(const char *path, const struct stat *info, int kind,
                                          struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path);
}

static inline void checkpoint_remove(const char *path) {
  nftw(path, checkpoint_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void checkpoint_prepare(void *context) {
  checkpoint_remove(((const checkpoint_bench *)context)->out);
  sync();
}

static tsr_status checkpoint_reshard(void *context) {
  const checkpoint_bench *b = context;
  const tsr_checkpoint_options opening = {.size = sizeof opening, .plan = b->rows};
  const tsr_transform_options options = {.size = sizeof options,
                                         .format = TSR_FORMAT_RANKS,
                                         .plan = b->columns,
                                         .max_memory = 256 << 20,
                                         .no_sync = !b->sync};
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  TSR_TRY(tsr_checkpoint_open(b->in, &opening, &source));
  tsr_status status = tsr_transform_create(source, b->out, &options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  return status;
}

static tsr_status checkpoint_set_up(checkpoint_bench *b, int tensors) {
  // ctest wants to know only whether it works.
  const char *few = getenv("BENCH_TENSORS");
  b->model = (sharded_model){
      .tensors = few ? atoi(few) : tensors, .ranks = 4, .rows = 640, .columns = 4096};
  strcpy(b->folder, "/tmp/tessera-bench-XXXXXX");
  if (!mkdtemp(b->folder)) return tsr_fail(IO, "%s: the folder cannot be made", b->folder);
  snprintf(b->in, sizeof b->in, "%s/in", b->folder);
  snprintf(b->out, sizeof b->out, "%s/out", b->folder);
  if (mkdir(b->in, 0777) || sharded_write(&b->model, b->in))
    return tsr_fail(IO, "%s: the model cannot be written", b->in);
  TSR_TRY(sharded_plan(&b->model, "x=4", "t -> x, _\n", &b->rows));
  return sharded_plan(&b->model, "x=8", "t -> _, x\n", &b->columns);
}

static void checkpoint_tear_down(checkpoint_bench *b) {
  tsr_plan_release(b->rows);
  tsr_plan_release(b->columns);
  checkpoint_remove(b->folder);
}

// Sets up, serves rounds and removes all again. The exit code.
static inline int checkpoint_serve(bool sync, tsr_status (*round)(void *context)) {
  checkpoint_bench b = {.sync = sync};
  tsr_status status = checkpoint_set_up(&b, 100);
  const int code =
      status ? rounds_fail(status) : rounds_serve_prepared(checkpoint_prepare, round, &b);
  checkpoint_tear_down(&b);
  return code;
}

#endif
