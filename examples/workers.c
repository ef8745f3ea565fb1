// Numbered tasks shared out to the cores. The sums do not depend on the number of workers.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

enum { TASKS = 8, EACH = 1000 };

static tsr_status add_up(void *context, int64_t index, int worker) {
  (void)worker;  // 0 to workers - 1: which scratch memory is this worker's, where one needs some
  int64_t *sums = context;
  for (int64_t i = 0; i < EACH; i++) sums[index] += index * EACH + i;
  return NULL;  // a failure ends the run, which returns it
}

static tsr_status run(void) {
  int64_t sums[TASKS] = {0}, total = 0;
  TSR_OWN(pool, pool);
  TSR_TRY(tsr_pool_create(0, &pool));  // as many as there are cores
  TSR_TRY(tsr_pool_run(pool, TASKS, add_up, sums));
  for (int i = 0; i < TASKS; i++) total += sums[i];
  printf("the sum is %" PRId64 "\n", total);
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
