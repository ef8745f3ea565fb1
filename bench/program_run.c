// Runs compiled programs: StableHLO that JAX made, inputs by a formula, results checked once.
//
// bench: programs compiled and run on this machine
// rival: XLA on CPU, one device
// case: matmul_2048_rows 1.0 x
// case: matmul_2048_contract 1.0 x
// case: gpt_block_d1024_s512_fwd_bwd 1.0 x
// case: mlp_dp_train_step 1.0 x
// case: elementwise_chain_64m 1.2 x
// case: softmax_8192_sharded_dim 1.2 x
// case: layer_scan_train 1.2 x
// case: reshard_rows_to_cols_8192
// case: gather_rows_8192
// case: psum_64mb
// case: gpt2_small_prefill 1.0 x
// case: gpt2_small_decode 1.0 x
// case: resnet50_infer 1.0 x
// case: vit_base_infer 1.0 x
// case: bert_base_infer 1.0 x
// case: llama_tiny_train_step 1.0 x
//
// A donated argument takes the result in its memory, as in training; so does the rival. Memory is
// compared as XLA counts it: arguments, results and values between steps, but not what a product
// packs or a worker keeps while a step runs, which XLA's libraries take uncounted. That of ours
// stands in a column of its own. With "limits" instead of a case it answers with what the machine
// can do at most (machine_limits.h).
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "machine_limits.h"
#include "rounds.h"
#include "tessera/program.h"
#include "trial/trial.h"

typedef struct bench_run {
  tsr_executable *executable;
  tsr_trial_values inputs, outputs;
  tsr_buffer **from, **to;
  rounds_costs costs;
} bench_run;

static tsr_status compile(const tsr_trial_case *trial, tsr_executable **out) {
  tsr_program *program = NULL;
  TSR_TRY(tsr_program_open(trial->program, NULL, &program));
  tsr_status status = tsr_executable_compile(program, NULL, out);
  tsr_program_release(program);
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

static tsr_status prepare(const char *folder, bench_run *b) {
  tsr_trial_case trial;
  TSR_TRY(tsr_trial_case_open(folder, false, &trial));
  tsr_status status = compile(&trial, &b->executable);
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

int main(int argc, char **argv) {
  bench_run b = {0};
  char folder[512];
  if (argc > 1 && !strcmp(argv[1], "limits")) return machine_limits_print();
  snprintf(folder, sizeof folder, TSR_BENCH_PROGRAMS "/%s",
           argc > 1 ? argv[1] : "layer_scan_train");
  tsr_status status = prepare(folder, &b);
  if (status) {
    release_all(&b);
    return rounds_fail(status);
  }
  const int code = rounds_serve_costs(take_results, run_once, &b, &b.costs);
  release_all(&b);
  return code;
}
