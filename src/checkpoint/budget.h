// How many workers fit into the memory that a job may take.
#ifndef TESSERA_CHECKPOINT_BUDGET_H
#define TESSERA_CHECKPOINT_BUDGET_H

#include <stdint.h>

#include "tessera/status.h"

typedef struct tsr_budget {
  int workers;
  int64_t worker_bytes;  // that each of them may take
} tsr_budget;

// `cap` bytes for all (0 = 1 GiB), of which `tables` are taken already, `least` for each worker,
// and at most `jobs` of these (0 = tsr_cpu_count()). Fails with does_not_fit when not even one
// fits.
TSR_MUST_USE tsr_status tsr_budget_init(tsr_budget *budget, int64_t cap, int64_t tables,
                                        int64_t least, int jobs);

#endif
