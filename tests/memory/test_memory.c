// --max-memory is a cap on what the process takes, whatever the job. Each job here is asked how
// much it needs at least, by a cap of one byte; then it is run within just that, and within a
// little more, and the kernel's peak of its resident memory is held against the cap.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/models.h"

// ---- models: files of zeros that take no disk ----

static void write_model(const char *path, const char *name_format, int count, int64_t rows,
                        int64_t columns) {
  FILE *file = fopen(path, "wb");
  const int64_t size = rows * columns * 4;
  uint64_t length = 0;
  assert_non_null(file);
  assert_int_equal(fwrite(&length, 8, 1, file), 1);
  for (int i = 0; i < count; i++) {
    char name[256];
    snprintf(name, sizeof name, name_format, i);
    fprintf(file,
            "%c\"%s\":{\"dtype\":\"F32\",\"shape\":[%" PRId64 ",%" PRId64
            "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}",
            i ? ',' : '{', name, rows, columns, i * size, (i + 1) * size);
  }
  fputc('}', file);
  while (ftell(file) % 8) fputc(' ', file);
  length = (uint64_t)ftell(file) - 8;
  rewind(file);
  assert_int_equal(fwrite(&length, 8, 1, file), 1);
  assert_int_equal(fflush(file), 0);
  assert_int_equal(ftruncate(fileno(file), 8 + (int64_t)length + count * size), 0);
  fclose(file);
}

static const char long_name[] =
    "model.language_model.decoder.transformer.layers.0.block_sparse_mixture_of_experts.experts.%d."
    "feed_forward.down_projection.weight";

static void make_models(const test_folder *folder) {
  write_model(test_folder_path(folder, "one.safetensors"), "w%d", 1, 4096, 6144);
  write_model(test_folder_path(folder, "three.safetensors"), "w%d", 3, 3072, 2048);
  write_model(test_folder_path(folder, "many.safetensors"), "layers.%d.weight", 20000, 8, 4);
  write_model(test_folder_path(folder, "long.safetensors"), long_name, 20000, 8, 4);
  test_write_text(test_folder_path(folder, "none"), "w -> _, _\n");
  test_write_text(test_folder_path(folder, "rows"), "w -> x, _\n");
  test_write_text(test_folder_path(folder, "both"), "w -> x, y\n");
  test_write_text(test_folder_path(folder, "cyclic"), "w -> x/cyclic(5), y\n");
  test_write_text(test_folder_path(folder, "fused"), "w -> x/parts(q:4, k:2, v:2), y\n");
  test_write_text(test_folder_path(folder, "joined"), "w = transpose(concat(1, w0, w1, w2))\n");
  test_write_text(test_folder_path(folder, "renamed"), "new.{x} = {x:.*}\n");
}

// ---- jobs ----

// `before` makes what the job reads, if it is none of the models.
static const struct {
  const char *before, *job;
} jobs[] = {
    {NULL, "shard one.safetensors out --mesh x=4,y=2 --rules both"},
    {NULL, "shard one.safetensors out --mesh x=4,y=2 --rules both --dtype bf16"},
    {NULL, "shard one.safetensors out --mesh x=3,y=5 --rules both --policy uneven --format ranks"},
    {NULL, "shard one.safetensors out --mesh x=3,y=2 --rules cyclic --policy uneven"},
    {"shard one.safetensors in --mesh x=8 --rules rows",
     "reshard in out --mesh x=1,y=8 --rules both"},
    {"shard one.safetensors in --mesh x=8 --rules rows --format ranks",
     "gather in out --dtype f16"},
    {"shard three.safetensors in --mesh x=4 --rules none --format ranks", "gather in out"},
    {NULL, "merge three.safetensors out.safetensors --map joined"},
    {NULL, "shard three.safetensors out --map joined --mesh x=2,y=2 --rules both --dtype bf16"},
    {NULL, "merge many.safetensors out.safetensors"},
    {NULL, "merge long.safetensors out.safetensors --dtype bf16"},
    {NULL, "merge many.safetensors out.safetensors --map renamed --dtype f16"},
    {NULL, "split many.safetensors out --max-file-size 64K"},
    {NULL, "shard many.safetensors out --mesh x=4,y=2 --rules both"},
    {NULL, "shard many.safetensors out --mesh x=2,y=1 --rules fused"},
    {NULL, "shard long.safetensors out --mesh x=8,y=4 --rules both --format ranks"},
    {"shard long.safetensors in --mesh x=4,y=2 --rules both", "gather in out"},
    {"shard many.safetensors in --mesh x=8 --rules none --format ranks",
     "reshard in out --mesh x=4,y=4 --rules both"},
    {"shard one.safetensors in --mesh x=4,y=2 --rules both", "verify one.safetensors in"},
    {"shard many.safetensors in --mesh x=4,y=2 --rules both", "verify many.safetensors in"},
};

typedef struct ran {
  int code;
  int64_t peak;  // bytes
  char told[4096];
} ran;

// A command line in the folder, within a cap; 0 = none.
static ran run(const test_folder *folder, const char *line, int64_t cap) {
  char script[512], limit[64] = "";
  const bool writes = strncmp(line, "verify", 6) != 0;
  struct rusage used;
  ran result = {0};
  if (cap) snprintf(limit, sizeof limit, "--jobs 3 --max-memory %" PRId64, cap);
  snprintf(script, sizeof script, "exec tessera %s %s %s", line, writes ? "--force --no-sync" : "",
           limit);
  FILE *told = fopen(test_folder_path(folder, "told"), "wb+");
  assert_non_null(told);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (chdir(folder->path) || dup2(fileno(told), 1) < 0 || dup2(fileno(told), 2) < 0) _exit(126);
    execl("/bin/sh", "sh", "-c", script, (char *)NULL);
    _exit(127);
  }
  assert_int_equal(wait4(child, &result.code, 0, &used), child);
  result.peak = (int64_t)used.ru_maxrss * 1024;
  rewind(told);
  result.told[fread(result.told, 1, sizeof result.told - 1, told)] = '\0';
  fclose(told);
  return result;
}

static void run_within(const test_folder *folder, const char *line, int64_t cap) {
  const ran r = run(folder, line, cap);
  if (r.code) fail_msg("%s within %" PRId64 " bytes: %s", line, cap, r.told);
  if (r.peak > cap) fail_msg("%s took %" PRId64 " bytes, allowed %" PRId64, line, r.peak, cap);
}

// What a job that was refused says it needs.
static int64_t needed_by(const ran *r, const char *line) {
  int64_t needed = 0;
  const char *words = strstr(r->told, "too little: at least ");
  if (!r->code || !words || sscanf(words, "too little: at least %" SCNd64, &needed) != 1)
    fail_msg("%s does not say what it needs: %s", line, r->told);
  return needed;
}

// What the job asks for when it may take nothing. One with large tables is refused before they are
// made, and then again when they are counted.
static int64_t ask(const test_folder *folder, const char *line) {
  int64_t needed = 1;
  for (int tries = 0; tries < 2; tries++) {
    const ran r = run(folder, line, needed);
    if (tries && !r.code) break;
    needed = needed_by(&r, line);
  }
  return needed;
}

static void jobs_stay_within_their_memory(void **state) {
  (void)state;
  const int64_t mib = 1 << 20;
  test_folder folder;
  test_folder_make(&folder);
  make_models(&folder);
  for (size_t i = 0; i < COUNT_OF(jobs); i++) {
    if (jobs[i].before) assert_int_equal(run(&folder, jobs[i].before, 0).code, 0);
    const int64_t needed = ask(&folder, jobs[i].job);
    run_within(&folder, jobs[i].job, needed);
    run_within(&folder, jobs[i].job, needed + 50 * mib);
  }
  test_folder_remove(&folder);
}

// What a job is said to need is not far from what it takes: the model's tables count, and a guess
// that is safe by being wild would refuse what can be done.
static void jobs_do_not_ask_for_much_more_than_they_take(void **state) {
  (void)state;
  const int64_t mib = 1 << 20;
  test_folder folder;
  test_folder_make(&folder);
  make_models(&folder);
  const char *line = "shard long.safetensors out --mesh x=8,y=4 --rules both --format ranks";
  const int64_t needed = ask(&folder, line);
  const ran r = run(&folder, line, needed);
  assert_int_equal(r.code, 0);
  assert_true(r.peak > 100 * mib);
  assert_true(needed < r.peak * 3 / 2 + 32 * mib);
  test_folder_remove(&folder);
}

// A job that is refused has not taken the memory that it was refused.
static void refused_jobs_take_little(void **state) {
  (void)state;
  static const char *const lines[] = {
      "shard long.safetensors out --mesh x=8,y=8 --rules both --format ranks",
      "verify larger.safetensors larger.safetensors",
      "merge larger.safetensors out.safetensors",
  };
  const int64_t mib = 1 << 20;
  test_folder folder;
  test_folder_make(&folder);
  make_models(&folder);
  write_model(test_folder_path(&folder, "larger.safetensors"), "layers.%d.weight", 100000, 8, 4);
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    const ran r = run(&folder, lines[i], 16 * mib);
    const int64_t needed = needed_by(&r, lines[i]);
    if (r.peak > 80 * mib || needed < 64 * mib)
      fail_msg("%s was refused for %" PRId64 " bytes and took %" PRId64, lines[i], needed, r.peak);
  }
  test_folder_remove(&folder);
}

SUITE(memory, TEST(jobs_stay_within_their_memory), TEST(refused_jobs_take_little),
      TEST(jobs_do_not_ask_for_much_more_than_they_take))
