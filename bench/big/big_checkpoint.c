// What tools/big_checkpoint runs: writes a checkpoint whose contents are a function of tensor and
// element, reshards it within 256 MB of memory, and holds every element of the result against the
// function. One step each, so that the memory of each is its own.
//
// usage: big_checkpoint make|reshard|verify GIGABYTES FOLDER
#include <sys/resource.h>
#include <sys/stat.h>

#include "../rounds.h"
#include "../sharded_model.h"
#include "tessera/transform.h"

enum { ROWS = 8192, COLUMNS = 8192 };

static tsr_status make(const sharded_model *m, const char *in) {
  if (mkdir(in, 0777) || sharded_write(m, in))
    return tsr_fail(IO, "%s: the model cannot be written", in);
  return NULL;
}

static tsr_status reshard(const sharded_model *m, const char *in, const char *out) {
  tsr_plan *from = NULL, *to = NULL;
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  tsr_status status = sharded_plan(m, "x=8", "t -> x, _\n", &from);
  if (!status) status = sharded_plan(m, "x=4,y=2", "t -> x, y\n", &to);
  const tsr_checkpoint_options opening = {.size = sizeof opening, .plan = from};
  const tsr_transform_options options = {
      .size = sizeof options, .plan = to, .max_memory = 256 << 20, .existing = TSR_EXISTING_RESUME};
  if (!status) status = tsr_checkpoint_open(in, &opening, &source);
  if (!status) status = tsr_transform_create(source, out, &options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  tsr_plan_release(from);
  tsr_plan_release(to);
  return status;
}

// A band of 256 rows of a tensor.
static tsr_status verify_band(const tsr_checkpoint *out, int tensor, int64_t row, uint32_t *words) {
  const tsr_range box[] = {{row, row + 256}, {0, COLUMNS}};
  char name[16];
  snprintf(name, sizeof name, "t.%03d", tensor);
  TSR_TRY(tsr_checkpoint_read(out, tsr_tree_find(tsr_checkpoint_tree(out), name), box, words));
  for (int64_t i = 0; i < 256 * COLUMNS; i++)
    if (words[i] != sharded_word(tensor, row * COLUMNS + i))
      return tsr_fail(IO, "element %lld of tensor \"%s\" is wrong", (long long)(row * COLUMNS + i),
                      name);
  return NULL;
}

static tsr_status verify(const sharded_model *m, const char *path) {
  tsr_checkpoint *out = NULL;
  uint32_t *words = malloc((size_t)256 * COLUMNS * sizeof *words);
  tsr_status status = words ? tsr_checkpoint_open(path, NULL, &out) : tsr_fail(NO_MEMORY, "a band");
  for (int i = 0; i < m->tensors && !status; i++)
    for (int64_t row = 0; row < ROWS && !status; row += 256)
      status = verify_band(out, i, row, words);
  tsr_checkpoint_release(out);
  free(words);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "usage: big_checkpoint STEP GIGABYTES FOLDER\n"), 2;
  const double wall = rounds_clock(CLOCK_MONOTONIC);
  const double tensor = (double)ROWS * COLUMNS * 4 / 1e9;
  const sharded_model m = {
      .tensors = (int)(atof(argv[2]) / tensor + 0.5), .ranks = 8, .rows = ROWS, .columns = COLUMNS};
  char in[512], out[512];
  snprintf(in, sizeof in, "%s/in", argv[3]);
  snprintf(out, sizeof out, "%s/out", argv[3]);
  tsr_status status = !strcmp(argv[1], "make")      ? make(&m, in)
                      : !strcmp(argv[1], "reshard") ? reshard(&m, in, out)
                                                    : verify(&m, out);
  if (status) return rounds_fail(status);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("%-8s %.2f GB in %.1f s, ru_maxrss %.1f MB\n", argv[1], (double)sharded_bytes(&m) / 1e9,
         rounds_clock(CLOCK_MONOTONIC) - wall, (double)used.ru_maxrss * 1024 / 1e6);
  if (!strcmp(argv[1], "reshard") && used.ru_maxrss * 1024 >= 320000000)
    return fprintf(stderr, "big_checkpoint: that is more than 320 MB\n"), 1;
  return 0;
}
