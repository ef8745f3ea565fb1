// What tools/big_checkpoint runs besides the command itself: a checkpoint cut by rows over 8 ranks
// whose contents are a function of tensor and element; a look at every element of what became of
// it, read from the bytes of the files and held against the function; and the memory that a command
// takes. Only `make` uses the library.
//
// usage: big_checkpoint make|verify GIGABYTES FOLDER
//        big_checkpoint watch MEGABYTES COMMAND ARGUMENT...
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../rounds.h"
#include "../sharded_model.h"
#include "base/progress_internal.h"
#include "json/json.h"
#include "plan/plan_internal.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/plan.h"
#include "tessera/status.h"
#include "tessera/text.h"

enum { ROWS = 8192, COLUMNS = 8192, RANKS = 8, DOWN = 4, ACROSS = 2 };

static int complain(const char *path, const char *what) {
  fprintf(stderr, "big_checkpoint: %s: %s\n", path, what);
  return -1;
}

// ---- make ----

// How the files are cut, as options of the command.
static int write_plan(const sharded_model *m, const char *folder) {
  char path[512];
  tsr_plan *plan = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer json;
  tsr_status status = sharded_plan(m, "x=8", "t -> x, _\n", &plan);
  if (status) return -rounds_fail(status);
  tsr_json_writer_init(&json, &text, 2);
  tsr_plan_to_json(plan, &json);
  tsr_plan_release(plan);
  snprintf(path, sizeof path, "%.480s/tessera-plan.json", folder);
  FILE *file = fopen(path, "wb");
  int bad = !file || fwrite(text.data, 1, text.length, file) != text.length;
  if (file && fclose(file)) bad = 1;
  tsr_text_deinit(&text);
  return bad ? complain(path, "cannot be written") : 0;
}

static int make(const sharded_model *m, const char *folder, tsr_progress *progress) {
  if (mkdir(folder, 0777)) return complain(folder, "cannot be made");
  for (int rank = 0; rank < m->ranks; rank++) {
    if (sharded_write_rank(m, folder, rank)) return complain(folder, "a file cannot be written");
    tsr_progress_add(progress, sharded_bytes(m) / m->ranks);
  }
  return write_plan(m, folder);
}

// ---- verify ----

// The header of a safetensors file, as text; NULL if there is none.
static char *read_header(FILE *file, uint64_t *out_length) {
  if (fread(out_length, 8, 1, file) != 1 || *out_length > 100000000) return NULL;
  char *text = calloc(*out_length + 1, 1);
  if (text && fread(text, 1, *out_length, file) == *out_length) return text;
  free(text);
  return NULL;
}

// Where the bytes of a tensor begin; -1 = it is not there, or not of the type and shape it should
// be.
static int64_t find_tensor(const char *header, uint64_t length, int tensor) {
  char name[24];
  int64_t rows = 0, columns = 0, begin = 0, end = 0;
  snprintf(name, sizeof name, "\"t.%03d\":", tensor);
  const char *entry = strstr(header, name);
  const int found = !entry ? 0
                           : sscanf(entry + strlen(name),
                                    "{\"dtype\":\"F32\",\"shape\":[%" SCNd64 ",%" SCNd64
                                    "],\"data_offsets\":[%" SCNd64 ",%" SCNd64 "]}",
                                    &rows, &columns, &begin, &end);
  const bool right = found == 4 && rows == ROWS / DOWN && columns == COLUMNS / ACROSS &&
                     end - begin == rows * columns * 4;
  return right ? 8 + (int64_t)length + begin : -1;
}

// A tensor's slice on the device at `down`, `across`, row by row.
static int verify_slice(FILE *file, int tensor, int down, int across) {
  static uint32_t words[COLUMNS / ACROSS];
  for (int64_t row = 0; row < ROWS / DOWN; row++) {
    const int64_t first = (down * (ROWS / DOWN) + row) * COLUMNS + across * (COLUMNS / ACROSS);
    if (fread(words, sizeof words, 1, file) != 1) return -1;
    for (int i = 0; i < COLUMNS / ACROSS; i++)
      if (words[i] != sharded_word(tensor, first + i))
        return fprintf(stderr, "big_checkpoint: element %lld of tensor %d is wrong\n",
                       (long long)(first + i), tensor),
               -1;
  }
  return 0;
}

static int verify_file(const sharded_model *m, const char *path, int device,
                       tsr_progress *progress) {
  uint64_t length = 0;
  FILE *file = fopen(path, "rb");
  char *header = file ? read_header(file, &length) : NULL;
  int bad = !header;
  for (int i = 0; i < m->tensors && !bad; i++) {
    const int64_t at = find_tensor(header, length, i);
    bad = at < 0 || fseeko(file, at, SEEK_SET) ||
          verify_slice(file, i, device / ACROSS, device % ACROSS);
    tsr_progress_add(progress, sharded_bytes(m) / m->tensors / (DOWN * ACROSS));
  }
  free(header);
  if (file) fclose(file);
  return bad ? complain(path, "it is not what it should be") : 0;
}

static int verify(const sharded_model *m, const char *folder, tsr_progress *progress) {
  for (int device = 0; device < DOWN * ACROSS; device++) {
    char path[512];
    snprintf(path, sizeof path, "%.400s/data-%05d-of-%05d.safetensors", folder, device + 1,
             DOWN * ACROSS);
    if (verify_file(m, path, device, progress)) return -1;
  }
  printf("verify   all %lld elements are right\n", (long long)sharded_bytes(m) / 4);
  return 0;
}

// ---- watch ----

// Runs a command; fails when it does, or when it takes as many megabytes as are given.
static int watch(char **argv) {
  int code = 0;
  struct rusage used;
  const double began = rounds_clock(CLOCK_MONOTONIC);
  const pid_t child = fork();
  if (child == 0) {
    execv(argv[1], argv + 1);
    _exit(127);
  }
  if (child < 0 || wait4(child, &code, 0, &used) != child || !WIFEXITED(code) || WEXITSTATUS(code))
    return complain(argv[1], "it failed");
  const double megabytes = (double)used.ru_maxrss * 1024 / 1e6;
  printf("%-8s %.1f s, ru_maxrss %.1f MB\n", argv[2], rounds_clock(CLOCK_MONOTONIC) - began,
         megabytes);
  return megabytes < atof(argv[0]) ? 0 : complain(argv[1], "that is too much memory");
}

int main(int argc, char **argv) {
  if (argc > 4 && !strcmp(argv[1], "watch")) return watch(argv + 2) ? 1 : 0;
  const bool makes = argc == 4 && !strcmp(argv[1], "make");
  if (!makes && (argc != 4 || strcmp(argv[1], "verify") != 0)) {
    fprintf(stderr, "usage: big_checkpoint make|verify GIGABYTES FOLDER\n");
    return 2;
  }
  const double began = rounds_clock(CLOCK_MONOTONIC), tensor = (double)ROWS * COLUMNS * 4 / 1e9;
  const sharded_model m = {.tensors = (int)(atof(argv[2]) / tensor + 0.5),
                           .ranks = RANKS,
                           .rows = ROWS,
                           .columns = COLUMNS};
  tsr_progress *progress = NULL;
  tsr_status status = tsr_progress_create(argv[1], "B", sharded_bytes(&m), 0.1, tsr_progress_bar,
                                          stderr, &progress);
  if (status) return rounds_fail(status);
  const int bad = makes ? make(&m, argv[3], progress) : verify(&m, argv[3], progress);
  tsr_progress_finish(progress);
  if (!bad)
    printf("%-8s %.1f s, %d tensors, %.2f GB\n", argv[1], rounds_clock(CLOCK_MONOTONIC) - began,
           m.tensors, (double)sharded_bytes(&m) / 1e9);
  return bad ? 1 : 0;
}
