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

static inline tsr_status compile(const char *path, tsr_executable **out) {
  tsr_program *program = NULL;
  TSR_TRY(tsr_program_open(path, NULL, &program));
  tsr_status status = tsr_executable_compile(program, NULL, out);
  tsr_program_release(program);
  return status;
}

// Steps are counted as they run: a description counts those in loops once.
static inline tsr_status count_costs(const tsr_executable *executable,
                                     const tsr_trial_values *inputs,
                                     const tsr_trial_values *outputs, rounds_costs *out_costs) {
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  tsr_trial_profile profile;
  TSR_TRY(tsr_executable_describe(executable, &info));
  TSR_TRY(tsr_trial_profile_run(executable, inputs, outputs, &profile));
  *out_costs = (rounds_costs){.value_bytes = (double)(info.peak_bytes - info.work_bytes),
                              .work_bytes = (double)info.work_bytes};
  for (int64_t i = 0; i < profile.count; i++) {
    out_costs->flops += (double)profile.steps[i].flops;
    out_costs->bytes += (double)profile.steps[i].bytes;
  }
  tsr_trial_profile_deinit(&profile);
  return NULL;
}

// Results that are fast and wrong count for nothing.
static inline tsr_status compare_once(const tsr_trial_case *trial,
                                      const tsr_trial_values *outputs) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_trial_verdict verdict = {0};
  tsr_status status = tsr_trial_case_compare(trial, outputs, &text, &verdict);
  if (!status && verdict.differing)
    status = tsr_fail(CHECK_FAILED, "%s: %s", trial->program, tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
}

static inline tsr_status prepare(const char *folder, bench_run *b) {
  tsr_trial_case trial;
  TSR_TRY(tsr_trial_case_open(folder, false, &trial));
  tsr_status status = compile(trial.program, &b->executable);
  if (!status) status = tsr_trial_values_create(b->executable, false, &b->inputs);
  if (!status) status = tsr_trial_values_create(b->executable, true, &b->outputs);
  if (!status) status = tsr_trial_case_fill(&trial, &b->inputs);
  if (!status) status = tsr_trial_run(b->executable, &b->inputs, &b->outputs);
  if (!status) status = compare_once(&trial, &b->outputs);
  if (!status) status = count_costs(b->executable, &b->inputs, &b->outputs, &b->costs);
  tsr_trial_case_deinit(&trial);
  if (status) return status;
  b->from = calloc((size_t)b->inputs.count + 1, sizeof(tsr_buffer *));
  b->to = calloc((size_t)b->outputs.count + 1, sizeof(tsr_buffer *));
  return b->from && b->to ? NULL : tsr_fail(NO_MEMORY, "%s", folder);
}

// What the last round gave is released before the clock starts: memory of results is taken again.
static inline void take_results(void *context) {
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

static inline tsr_status run_once(void *context) {
  bench_run *b = context;
  return tsr_executable_call(b->executable, b->from, b->to);
}

static inline void release_all(bench_run *b) {
  if (b->to) take_results(b);
  free(b->from);
  free(b->to);
  tsr_trial_values_deinit(&b->inputs);
  tsr_trial_values_deinit(&b->outputs);
  tsr_executable_release(b->executable);
}

// Serves rounds, with what they cost if that is asked for. The exit code.
static inline int program_rounds(const char *name, bool with_costs) {
  bench_run b = {0};
  char folder[512];
  snprintf(folder, sizeof folder, TSR_BENCH_PROGRAMS "/%s", name);
  tsr_status status = prepare(folder, &b);
  if (status) {
    release_all(&b);
    return rounds_fail(status);
  }
  const int code = rounds_serve_costs(take_results, run_once, &b, with_costs ? &b.costs : NULL);
  release_all(&b);
  return code;
}

#endif
