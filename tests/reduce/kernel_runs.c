#include "reduce/kernel_runs.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

enum { MOST_WORKERS = 5, MOST_OUTPUTS = 8 };

static void run_once(const kernel_trial *trial, int workers, char *const *outputs) {
  tsr_pool *pool = NULL;
  const int64_t scratch = (trial->scratch_bytes + 63) / 64 * 64;
  char *memory = aligned_alloc(64, (size_t)(scratch * MOST_WORKERS + 64));
  char *temp = aligned_alloc(64, (size_t)((trial->temp_bytes + 63) / 64 * 64 + 64));
  assert_true(memory && temp);
  assert_ok(tsr_pool_create(workers, &pool));
  const tsr_kernel_call call = {.inputs = trial->inputs,
                                .outputs = outputs,
                                .temp = temp,
                                .scratch = memory,
                                .scratch_bytes = scratch,
                                .pool = pool};
  assert_ok(trial->run(trial->description, &call));
  tsr_pool_destroy(pool);
  free(memory);
  free(temp);
}

void run_kernel(const kernel_trial *trial) {
  static const int workers[] = {2, MOST_WORKERS};
  char *again[MOST_OUTPUTS];
  run_once(trial, 1, trial->outputs);
  for (size_t w = 0; w < COUNT_OF(workers); w++) {
    for (int i = 0; i < trial->output_count; i++) {
      again[i] = malloc(trial->output_bytes[i] + 1);
      assert_non_null(again[i]);
    }
    run_once(trial, workers[w], again);
    for (int i = 0; i < trial->output_count; i++) {
      assert_memory_equal(again[i], trial->outputs[i], trial->output_bytes[i]);
      free(again[i]);
    }
  }
}
