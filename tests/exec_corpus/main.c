// Every recorded program, from text and from bytecode, whole and partitioned: results within the
// tolerances of its case, the same bits for 1, 2 and 5 workers.
//
// Those that fail are listed by name; arguments choose some of them.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "tessera/program.h"
#include "tessera/program/executable.h"
#include "trial/trial.h"

enum { WORKER_COUNTS = 3, MOST_CASES = 400 };
static const int worker_counts[WORKER_COUNTS] = {1, 2, 5};

static tsr_status compile(const tsr_program *program, int workers, tsr_executable **out) {
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.workers = workers;
  return tsr_executable_compile(program, &options, out);
}

static tsr_status run_with(const tsr_executable *executable, const tsr_trial_case *trial,
                           tsr_trial_values *outputs) {
  tsr_trial_values inputs = {0};
  tsr_status status = tsr_trial_values_create(executable, false, &inputs);
  if (!status) status = tsr_trial_case_fill(trial, &inputs);
  if (!status) status = tsr_trial_values_create(executable, true, outputs);
  if (!status) status = tsr_trial_run(executable, &inputs, outputs);
  tsr_trial_values_deinit(&inputs);
  return status;
}

static tsr_status check_values(const tsr_trial_case *trial, const tsr_trial_values *outputs) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_trial_verdict verdict = {0};
  tsr_status status = tsr_trial_case_compare(trial, outputs, &text, &verdict);
  if (!status && verdict.differing)
    status =
        tsr_fail(CHECK_FAILED, "%lld results differ: %.*s", (long long)verdict.differing_values,
                 (int)strcspn(tsr_text_string(&text), "\n"), tsr_text_string(&text));
  if (!status && !verdict.elements && outputs->count)
    status = tsr_fail(CHECK_FAILED, "nothing was compared");
  tsr_text_deinit(&text);
  return status;
}

static tsr_status check_same_bits(const tsr_trial_values *first, const tsr_trial_values *other,
                                  int workers) {
  for (int64_t i = 0; i < first->count; i++)
    if (memcmp(tsr_buffer_data(first->items[i].data), tsr_buffer_data(other->items[i].data),
               (size_t)first->items[i].bytes) != 0)
      return tsr_fail(CHECK_FAILED, "out%lld has other bits on %d workers than on one",
                      (long long)i, workers);
  return NULL;
}

static tsr_status run_on(const tsr_program *program, const tsr_trial_case *trial, int workers,
                         tsr_trial_values *outputs) {
  tsr_executable *executable = NULL;
  TSR_TRY(compile(program, workers, &executable));
  tsr_status status = run_with(executable, trial, outputs);
  tsr_executable_release(executable);
  return status;
}

static tsr_status check_workers(const tsr_program *program, const tsr_trial_case *trial) {
  tsr_trial_values outputs[WORKER_COUNTS] = {{0}};
  tsr_status status = NULL;
  for (int i = 0; !status && i < WORKER_COUNTS; i++) {
    status = run_on(program, trial, worker_counts[i], &outputs[i]);
    if (!status)
      status = i ? check_same_bits(&outputs[0], &outputs[i], worker_counts[i])
                 : check_values(trial, &outputs[0]);
  }
  for (int i = 0; i < WORKER_COUNTS; i++) tsr_trial_values_deinit(&outputs[i]);
  return status;
}

// The program partitioned for the devices of its mesh.
static tsr_status check_partitioned(const tsr_program *program, const tsr_trial_case *trial) {
  tsr_program *partitioned = NULL;
  TSR_TRY(tsr_program_transform(program, "partition,lanes", &partitioned));
  tsr_status status = check_workers(partitioned, trial);
  tsr_program_release(partitioned);
  return tsr_note(status, "partitioned");
}

static tsr_status check_case(const char *folder, bool artifact) {
  tsr_trial_case trial;
  tsr_program *program = NULL;
  TSR_TRY(tsr_trial_case_open(folder, artifact, &trial));
  tsr_status status = tsr_program_open(trial.program, NULL, &program);
  if (!status) status = check_workers(program, &trial);
  if (!status && !artifact && tsr_program_mesh_count(program))
    status = check_partitioned(program, &trial);
  tsr_program_release(program);
  tsr_trial_case_deinit(&trial);
  return status;
}

// ---- all cases ----

static bool is_wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], name)) return true;
  return argc < 2;
}

static int check_folder(const char *name) {
  char folder[512];
  int failed = 0;
  snprintf(folder, sizeof folder, "tests/programs/%s", name);
  for (int artifact = 0; artifact < 2; artifact++) {
    tsr_status status = check_case(folder, artifact);
    if (status)
      printf("FAIL %s (%s): %s\n", name, artifact ? "bytecode" : "text", tsr_status_text(status));
    failed += status != NULL;
    tsr_status_free(status);
  }
  return failed;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_cases(char **names) {
  int count = 0;
  DIR *listing = opendir("tests/programs");
  for (const struct dirent *entry; listing && (entry = readdir(listing));) {
    char folder[512];
    snprintf(folder, sizeof folder, "tests/programs/%s", entry->d_name);
    if (entry->d_name[0] != '.' && count < MOST_CASES && tsr_trial_is_case(folder))
      names[count++] = strdup(entry->d_name);
  }
  if (listing) closedir(listing);
  qsort(names, (size_t)count, sizeof *names, compare_names);
  return count;
}

int main(int argc, char **argv) {
  char *names[MOST_CASES];
  const int count = list_cases(names);
  int runs = 0, failed = 0;
  for (int i = 0; i < count; i++) {
    if (is_wanted(names[i], argc, argv)) {
      runs += 2;
      failed += check_folder(names[i]);
    }
    free(names[i]);
  }
  printf("%d of %d runs failed\n", failed, runs);
  return failed || runs < (argc < 2 ? 230 : 1);
}
