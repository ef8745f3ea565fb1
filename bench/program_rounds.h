// One program of bench/programs, compiled and run round by round: StableHLO that JAX made, inputs
// by a formula, results checked once by their sums.
//
// A donated argument takes the result in its memory, as in training.
#ifndef TESSERA_BENCH_PROGRAM_ROUNDS_H
#define TESSERA_BENCH_PROGRAM_ROUNDS_H

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "rounds.h"
#include "tessera/program.h"
#include "trial/trial.h"

typedef struct bench_run {
  tsr_executable *executable;
  tsr_trial_values inputs, outputs;
  tsr_buffer **from, **to;
  rounds_costs costs;
} bench_run;

static tsr_status compile(const char *path, const char *passes, tsr_executable **out) {
  tsr_program *read = NULL, *program = NULL;
  TSR_TRY(tsr_program_open(path, NULL, &read));
  tsr_status status = NULL;
  if (passes)
    status = tsr_program_transform(read, passes, &program);
  else
    program = tsr_program_retain(read);
  if (!status) status = tsr_executable_compile(program, NULL, out);
  tsr_program_release(program);
  tsr_program_release(read);
  return status;
}

// Steps are counted as they run: a description counts those in loops once.
static tsr_status count_costs(bench_run *b) {
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  tsr_trial_profile profile;
  TSR_TRY(tsr_executable_describe(b->executable, &info));
  TSR_TRY(tsr_trial_profile_run(b->executable, &b->inputs, &b->outputs, &profile));
  b->costs = (rounds_costs){.value_bytes = (double)(info.peak_bytes - info.work_bytes),
                            .work_bytes = (double)info.work_bytes};
  for (int64_t i = 0; i < profile.count; i++) {
    b->costs.flops += (double)profile.steps[i].flops;
    b->costs.bytes += (double)profile.steps[i].bytes;
  }
  tsr_trial_profile_deinit(&profile);
  return NULL;
}

// Results that are fast and wrong count for nothing.
static tsr_status check_once(const tsr_trial_case *trial, bench_run *b) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_trial_verdict verdict = {0};
  tsr_status status = tsr_trial_run(b->executable, &b->inputs, &b->outputs);
  if (!status) status = tsr_trial_case_compare(trial, &b->outputs, &text, &verdict);
  if (!status && verdict.differing)
    status = tsr_fail(CHECK_FAILED, "%s: %s", trial->program, tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
}

static tsr_status prepare(const char *folder, const char *passes, bench_run *b) {
  tsr_trial_case trial;
  TSR_TRY(tsr_trial_case_open(folder, false, &trial));
  tsr_status status = compile(trial.program, passes, &b->executable);
  if (!status) status = tsr_trial_values_create(b->executable, false, &b->inputs);
  if (!status) status = tsr_trial_values_create(b->executable, true, &b->outputs);
  if (!status) status = tsr_trial_case_fill(&trial, &b->inputs);
  if (!status) status = check_once(&trial, b);
  if (!status) status = count_costs(b);
  tsr_trial_case_deinit(&trial);
  if (status) return status;
  b->from = calloc((size_t)b->inputs.count + 1, sizeof(tsr_buffer *));
  b->to = calloc((size_t)b->outputs.count + 1, sizeof(tsr_buffer *));
  return b->from && b->to ? NULL : tsr_fail(NO_MEMORY, "%s", folder);
}

// What the last round gave is released before the clock starts: memory of results is taken again.
static void take_results(void *context) {
  bench_run *b = context;
  for (int64_t i = 0; i < b->inputs.count; i++) {
    const int64_t next = b->inputs.items[i].next;
    if (next < 0 || !b->to[next]) continue;
    tsr_buffer_release(b->inputs.items[i].data);
    b->inputs.items[i].data = b->to[next];
    b->to[next] = NULL;
  }
  for (int64_t i = 0; i < b->inputs.count; i++) b->from[i] = b->inputs.items[i].data;
  for (int64_t i = 0; i < b->outputs.count; i++) {
    tsr_buffer_release(b->to[i]);
    b->to[i] = NULL;
  }
}

static tsr_status run_once(void *context) {
  bench_run *b = context;
  return tsr_executable_call(b->executable, b->from, b->to);
}

static void release_all(bench_run *b) {
  if (b->to) take_results(b);
  free(b->from);
  free(b->to);
  tsr_trial_values_deinit(&b->inputs);
  tsr_trial_values_deinit(&b->outputs);
  tsr_executable_release(b->executable);
}

// Serves rounds of a program after the passes that are named (NULL = none), with what they cost if
// that is asked for. The exit code.
static inline int program_rounds(const char *name, const char *passes, bool with_costs) {
  bench_run b = {0};
  char folder[512];
  snprintf(folder, sizeof folder, TSR_BENCH_PROGRAMS "/%s", name);
  tsr_status status = prepare(folder, passes, &b);
  if (status) {
    release_all(&b);
    return rounds_fail(status);
  }
  const int code = rounds_serve_costs(take_results, run_once, &b, with_costs ? &b.costs : NULL);
  release_all(&b);
  return code;
}

#endif
