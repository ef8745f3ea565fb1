// Compares two checkpoints of one model, element by element: 0.5 GB in 50 tensors, once in 4 files
// of rows and once in 8 files of columns. The rival reads the same files as fast as anyone who is
// to say something about every byte: mapped, and hashed by as many threads. The page cache is warm.
//
// bench: verify 4 row shards against 8 column shards, 1 GB in all
// rival: XXH3 over the same files, mapped, with as many threads
// bar: 0.7 x
// rounds: 11
#define XXH_INLINE_ALL
#include <fcntl.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "checkpoint_rounds.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/pool.h"

static tsr_status open_both(const checkpoint_bench *b, tsr_checkpoint *out[2]) {
  const tsr_checkpoint_options opening[2] = {{.size = sizeof *opening, .plan = b->rows},
                                             {.size = sizeof *opening, .plan = b->columns}};
  TSR_TRY(tsr_checkpoint_open(b->in, &opening[0], &out[0]));
  return tsr_checkpoint_open(b->out, &opening[1], &out[1]);
}

static tsr_status verify(void *context) {
  const checkpoint_bench *b = context;
  tsr_checkpoint *both[2] = {NULL, NULL};
  tsr_verification *result = NULL;
  tsr_status status = open_both(b, both);
  if (!status) status = tsr_checkpoint_verify(both[0], both[1], NULL, &result);
  if (!status && !tsr_verification_equal(result)) status = tsr_fail(IO, "they are not equal");
  tsr_verification_destroy(result);
  for (int w = 0; w < 2; w++) tsr_checkpoint_release(both[w]);
  return status;
}

// ---- the rival ----

enum { PIECE = 4 << 20 };

typedef struct mapped_file {
  char *bytes;
  size_t size, first_piece;
} mapped_file;

typedef struct mapped_files {
  int count;
  mapped_file files[16];
  size_t pieces;
} mapped_files;

static tsr_status map_file(mapped_files *all, const char *folder, int rank) {
  char path[128];
  struct stat info;
  snprintf(path, sizeof path, "%s/model-rank-%d-part-0.safetensors", folder, rank);
  const int fd = open(path, O_RDONLY);
  if (fd < 0 || fstat(fd, &info)) return tsr_fail(IO, "%s: it cannot be read", path);
  const size_t size = (size_t)info.st_size;
  void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) return tsr_fail(IO, "%s: it cannot be mapped", path);
  all->files[all->count++] =
      (mapped_file){.bytes = bytes, .size = size, .first_piece = all->pieces};
  all->pieces += (size + PIECE - 1) / PIECE;
  return NULL;
}

static tsr_status hash_piece(void *context, int64_t index, int worker) {
  const mapped_files *all = context;
  int file = all->count - 1;
  (void)worker;
  while (all->files[file].first_piece > (size_t)index) file--;
  const size_t start = ((size_t)index - all->files[file].first_piece) * PIECE;
  const size_t left = all->files[file].size - start;
  const XXH64_hash_t hash =
      XXH3_64bits(all->files[file].bytes + start, left < PIECE ? left : PIECE);
  return hash == 0 ? tsr_fail(IO, "a hash of 0") : NULL;  // so that it is not left out
}

static tsr_status hash_all(void *context) {
  const checkpoint_bench *b = context;
  mapped_files all = {0};
  tsr_pool *pool = NULL;
  tsr_status status = tsr_pool_create(0, &pool);
  for (int i = 0; i < 4 && !status; i++) status = map_file(&all, b->in, i);
  for (int i = 0; i < 8 && !status; i++) status = map_file(&all, b->out, i);
  if (!status) status = tsr_pool_run(pool, (int64_t)all.pieces, hash_piece, &all);
  for (int i = 0; i < all.count; i++) munmap(all.files[i].bytes, all.files[i].size);
  tsr_pool_destroy(pool);
  return status;
}

// ---- both ----

int main(int argc, char **argv) {
  const bool rival = argc > 1 && !strcmp(argv[1], "rival");
  checkpoint_bench b = {.sync = false};
  tsr_status status = checkpoint_set_up(&b, 50);
  if (!status) status = checkpoint_reshard(&b);
  const int code = status ? rounds_fail(status) : rounds_serve(rival ? hash_all : verify, &b);
  checkpoint_tear_down(&b);
  return code;
}
