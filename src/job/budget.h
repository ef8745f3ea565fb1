// How many workers fit into the memory that a job may take, beside its tables.
#ifndef TESSERA_JOB_BUDGET_H
#define TESSERA_JOB_BUDGET_H

#include "format/target.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "view/view.h"

typedef struct tsr_budget {
  int workers;
  int64_t worker_bytes;  // that each of them may take
} tsr_budget;

// Bytes of tables, at the job's peak: what holds for every model is in tests/memory. Of a
// checkpoint that is open, of views of it, and of a destination (whose index may not be made yet).
int64_t tsr_budget_checkpoint(const tsr_checkpoint *checkpoint);
int64_t tsr_budget_views(const tsr_views *views, const tsr_mapping *map);
int64_t tsr_budget_target(const tsr_target *target);

// The same of what is not made yet, and at least: views of all its tensors, and a destination of
// all of them, for `ranks` devices where it is cut (0 = it is not).
int64_t tsr_budget_views_least(const tsr_checkpoint *checkpoint);
int64_t tsr_budget_target_least(const tsr_checkpoint *checkpoint, tsr_checkpoint_format format,
                                int64_t ranks);
// Fails with does_not_fit where tables that are yet to be made would take more than the cap for
// all, and more than little: a job that will be refused should not have taken the memory before.
TSR_MUST_USE tsr_status tsr_budget_check(int64_t cap, int64_t tables);

// Workers for reading a checkpoint, of those wanted: a packed member is unpacked from its start,
// and workers that take turns on one would begin anew each time. One goes through it in order.
int tsr_budget_jobs(const tsr_checkpoint *checkpoint, int jobs);

// `cap` bytes for all (0 = 1 GiB), of which `tables` are taken already, `least` for each worker,
// and at most `jobs` of these (0 = tsr_cpu_count()). Fails with does_not_fit when not even one
// fits, and says how much it would take.
TSR_MUST_USE tsr_status tsr_budget_init(tsr_budget *budget, int64_t cap, int64_t tables,
                                        int64_t least, int jobs);

#endif
