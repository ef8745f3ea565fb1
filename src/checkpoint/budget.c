#include "checkpoint/budget.h"

#include "tessera/pool.h"

static const int64_t default_memory = INT64_C(1) << 30;
static const int64_t base_memory = INT64_C(24) << 20;  // of the program itself

tsr_status tsr_budget_init(tsr_budget *budget, int64_t cap, int64_t tables, int64_t least,
                           int jobs) {
  if (!cap) cap = default_memory;
  const int64_t left = cap - base_memory - tables, fit = left / least;
  if (fit < 1)
    return tsr_fail(DOES_NOT_FIT, "%lld bytes of memory are too little: at least %lld are needed",
                    (long long)cap, (long long)(base_memory + tables + least));
  const int wanted = jobs > 0 ? jobs : tsr_cpu_count();
  budget->workers = wanted < fit ? wanted : (int)fit;
  budget->worker_bytes = left / budget->workers;
  return NULL;
}
