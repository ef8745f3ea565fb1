// Loads a checkpoint of 512 MB, 32 tensors in files of rows for 4 ranks, as arrays cut in columns
// for 8 devices of this process. The rival reads the same files whole by plain pread of 8 MB into
// memory of its own, which it keeps from round to round as the comm's pool of buffers keeps the
// arrays'. Both use all cores. Page cache warm.
//
// bench: load a checkpoint of 512 MB, 4 row shards, as 8 column shards
// rival: pread of the same bytes
// bar: 0.8 x
// rounds: 21
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "large.h"
#include "rounds.h"
#include "sharded_model.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/pool.h"
#include "tessera/place.h"

enum { CALL = 8 << 20, RANKS = 4 };

typedef struct bench {
  sharded_model model;
  char folder[64];
  tsr_plan *rows, *columns;
  tsr_comm *comm;
  char *memory;
  int64_t file_bytes;
} bench;

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path);
}

static tsr_status load(void *context) {
  const bench *b = context;
  const tsr_checkpoint_options opening = {.size = sizeof opening, .plan = b->rows};
  tsr_checkpoint *source = NULL;
  tsr_array_tree *tree = NULL;
  TSR_TRY(tsr_checkpoint_open(b->folder, &opening, &source));
  tsr_status status = tsr_checkpoint_load(source, b->columns, b->comm, NULL, &tree);
  tsr_array_tree_release(tree);
  tsr_checkpoint_release(source);
  return status;
}

static tsr_status read_piece(void *context, int64_t index, int worker) {
  const bench *b = context;
  const int64_t pieces = (b->file_bytes + CALL - 1) / CALL;
  char path[128];
  (void)worker;
  snprintf(path, sizeof path, "%s/model-rank-%d-part-0.safetensors", b->folder,
           (int)(index / pieces));
  const int file = open(path, O_RDONLY);
  const int64_t offset = index % pieces * CALL, left = b->file_bytes - offset;
  const size_t bytes = (size_t)(left < CALL ? left : CALL);
  char *to = b->memory + index / pieces * b->file_bytes + offset;
  const bool good = file >= 0 && pread(file, to, bytes, offset) == (ssize_t)bytes;
  if (file >= 0) close(file);
  return good ? NULL : tsr_fail(IO, "%s cannot be read", path);
}

static tsr_status read_plainly(void *context) {
  const bench *b = context;
  const int64_t pieces = (b->file_bytes + CALL - 1) / CALL;
  return tsr_pool_run(tsr_comm_pool(b->comm), RANKS * pieces, read_piece, context);
}

static tsr_status prepare(bench *b) {
  char path[128];
  struct stat info;
  TSR_TRY(sharded_plan(&b->model, "x=4", "t -> x, _\n", &b->rows));
  TSR_TRY(sharded_plan(&b->model, "x=8", "t -> _, x\n", &b->columns));
  TSR_TRY(tsr_comm_create(8, NULL, &b->comm));
  if (sharded_write(&b->model, b->folder))
    return tsr_fail(IO, "%s: the model cannot be written", b->folder);
  snprintf(path, sizeof path, "%s/model-rank-0-part-0.safetensors", b->folder);
  if (stat(path, &info)) return tsr_fail(IO, "%s is not there", path);
  b->file_bytes = info.st_size;
  b->memory = large_alloc((size_t)((RANKS * b->file_bytes + (2 << 20)) >> 21 << 21), 1);
  return NULL;
}

int main(int argc, char **argv) {
  const bool rival = argc > 1 && !strcmp(argv[1], "rival");
  const char *tensors = getenv("BENCH_TENSORS");
  bench b = {.model = {.tensors = tensors ? atoi(tensors) : 32,
                       .ranks = RANKS,
                       .rows = 1024,
                       .columns = 4096},
             .folder = "/var/tmp/tessera-bench.XXXXXX"};
  if (!mkdtemp(b.folder)) return 1;
  tsr_status status = prepare(&b);
  const int code = status ? rounds_fail(status) : rounds_serve(rival ? read_plainly : load, &b);
  nftw(b.folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  tsr_plan_release(b.rows);
  tsr_plan_release(b.columns);
  tsr_comm_release(b.comm);
  free(b.memory);
  return code;
}
