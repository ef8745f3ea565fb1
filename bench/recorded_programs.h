// The recorded programs of tests/programs that one device runs, for benchmarks over all of them. A
// round is a geometric mean of seconds, so a ratio of rounds is the mean of ratios.
#ifndef TESSERA_BENCH_RECORDED_PROGRAMS_H
#define TESSERA_BENCH_RECORDED_PROGRAMS_H

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "rounds.h"
#include "tessera/program.h"
#include "tessera/program/executable.h"
#include "trial/trial.h"

enum { MOST_RECORDED = 256 };

typedef struct recorded_program {
  char folder[512];
  char *text;
  size_t length;
  tsr_executable *executable;
  tsr_trial_values inputs, outputs;
} recorded_program;

typedef struct recorded_programs {
  int count;
  recorded_program items[MOST_RECORDED];
} recorded_programs;

static inline int recorded_compare(const void *a, const void *b) {
  return strcmp(((const recorded_program *)a)->folder, ((const recorded_program *)b)->folder);
}

// Programs with manual computations are for as many devices as their mesh has.
static inline tsr_status recorded_read(const char *name, recorded_programs *all) {
  recorded_program program = {0};
  char path[600];
  snprintf(program.folder, sizeof program.folder, TSR_RECORDED_PROGRAMS "/%.200s", name);
  snprintf(path, sizeof path, "%s/program.mlir", program.folder);
  if (access(path, R_OK) || all->count == MOST_RECORDED) return NULL;
  TSR_TRY(tsr_file_read(path, &program.text, &program.length));
  if (strstr(program.text, "manual_computation"))
    free(program.text);
  else
    all->items[all->count++] = program;
  return NULL;
}

static inline tsr_status recorded_list(recorded_programs *all) {
  tsr_status status = NULL;
  DIR *listing = opendir(TSR_RECORDED_PROGRAMS);
  if (!listing) return tsr_fail(NOT_FOUND, "there is no " TSR_RECORDED_PROGRAMS);
  for (const struct dirent *entry; !status && (entry = readdir(listing));)
    if (entry->d_name[0] != '.') status = recorded_read(entry->d_name, all);
  closedir(listing);
  qsort(all->items, (size_t)all->count, sizeof *all->items, recorded_compare);
  return status;
}

static inline tsr_status recorded_compile(recorded_program *program, tsr_executable **out) {
  tsr_program *read = NULL;
  TSR_TRY(tsr_program_read(program->folder, program->text, program->length, NULL, &read));
  tsr_status status = tsr_executable_compile(read, NULL, out);
  tsr_program_release(read);
  return status ? tsr_note(status, "%s", program->folder) : NULL;
}

static inline tsr_status recorded_fill(recorded_program *program) {
  tsr_trial_case trial;
  TSR_TRY(recorded_compile(program, &program->executable));
  TSR_TRY(tsr_trial_values_create(program->executable, false, &program->inputs));
  TSR_TRY(tsr_trial_values_create(program->executable, true, &program->outputs));
  TSR_TRY(tsr_trial_case_open(program->folder, false, &trial));
  tsr_status status = tsr_trial_case_fill(&trial, &program->inputs);
  tsr_trial_case_deinit(&trial);
  return status;
}

static inline void recorded_free(recorded_programs *all) {
  for (int i = 0; i < all->count; i++) {
    tsr_trial_values_deinit(&all->items[i].inputs);
    tsr_trial_values_deinit(&all->items[i].outputs);
    tsr_executable_release(all->items[i].executable);
    free(all->items[i].text);
  }
}

// Answers every line of input with geometric means of the seconds of `work` on each program.
static inline int recorded_serve(recorded_programs *all, tsr_status (*work)(recorded_program *)) {
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    double wall_logs = 0, cpu_logs = 0;
    for (int i = 0; i < all->count; i++) {
      const double wall = rounds_clock(CLOCK_MONOTONIC);
      const double cpu = rounds_clock(CLOCK_PROCESS_CPUTIME_ID);
      tsr_status status = work(&all->items[i]);
      const double wall_end = rounds_clock(CLOCK_MONOTONIC);
      const double cpu_end = rounds_clock(CLOCK_PROCESS_CPUTIME_ID);
      if (status) return rounds_fail(status);
      wall_logs += log(wall_end - wall);
      cpu_logs += log(cpu_end - cpu);
    }
    printf("%.9f %.9f\n", exp(wall_logs / all->count), exp(cpu_logs / all->count));
    fflush(stdout);
  }
  return 0;
}

#endif
