// Reshards a checkpoint of 1 GB on disk, 100 tensors, from 4 files of rows to 8 files of columns,
// whose rows are of 2 KiB. The rival copies the files as `cp --reflink=never` does: by read and
// write of 256 KiB each. Page cache warm, same disk, and neither waits for it (no fsync). Each
// round first removes what the round before has written.
//
// bench: reshard a checkpoint of 1 GB, 4 row shards to 8 column shards
// rival: cp --reflink=never of the same bytes
// bar: 0.8 x
// rounds: 11
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rounds.h"
#include "sharded_model.h"
#include "tessera/transform.h"

typedef struct bench {
  sharded_model model;
  char folder[64], in[80], out[80];
  tsr_plan *rows, *columns;
} bench;

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path);
}

static tsr_status reshard(void *context) {
  const bench *b = context;
  const tsr_checkpoint_options opening = {.size = sizeof opening, .plan = b->rows};
  const tsr_transform_options options = {.size = sizeof options,
                                         .format = TSR_FORMAT_RANKS,
                                         .plan = b->columns,
                                         .max_memory = 256 << 20,
                                         .no_sync = true};
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  nftw(b->out, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  TSR_TRY(tsr_checkpoint_open(b->in, &opening, &source));
  tsr_status status = tsr_transform_create(source, b->out, &options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  return status;
}

static tsr_status copy_file(const bench *b, int rank, char *buffer, size_t size) {
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
  close(from);
  close(to);
  return got == 0 ? NULL : tsr_fail(IO, "%s: it could not be copied", path);
}

static tsr_status copy(void *context) {
  const bench *b = context;
  static char buffer[256 << 10];
  nftw(b->out, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  if (mkdir(b->out, 0777)) return tsr_fail(IO, "%s: the folder cannot be made", b->out);
  for (int i = 0; i < b->model.ranks; i++) TSR_TRY(copy_file(b, i, buffer, sizeof buffer));
  return NULL;
}

static tsr_status set_up(bench *b) {
  // ctest wants to know only whether it works.
  const char *few = getenv("BENCH_TENSORS");
  b->model =
      (sharded_model){.tensors = few ? atoi(few) : 100, .ranks = 4, .rows = 640, .columns = 4096};
  strcpy(b->folder, "/tmp/tessera-bench-XXXXXX");
  if (!mkdtemp(b->folder)) return tsr_fail(IO, "%s: the folder cannot be made", b->folder);
  snprintf(b->in, sizeof b->in, "%s/in", b->folder);
  snprintf(b->out, sizeof b->out, "%s/out", b->folder);
  if (mkdir(b->in, 0777) || sharded_write(&b->model, b->in))
    return tsr_fail(IO, "%s: the model cannot be written", b->in);
  TSR_TRY(sharded_plan(&b->model, "x=4", "t -> x, _\n", &b->rows));
  return sharded_plan(&b->model, "x=8", "t -> _, x\n", &b->columns);
}

int main(int argc, char **argv) {
  bench b = {0};
  tsr_status status = set_up(&b);
  const bool rival = argc > 1 && !strcmp(argv[1], "rival");
  const int code = status ? rounds_fail(status) : rounds_serve(rival ? copy : reshard, &b);
  tsr_plan_release(b.rows);
  tsr_plan_release(b.columns);
  nftw(b.folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  return code;
}
