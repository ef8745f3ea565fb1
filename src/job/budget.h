// The memory that the tables of a job take.
#ifndef TESSERA_JOB_BUDGET_H
#define TESSERA_JOB_BUDGET_H

#include "format/target.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "view/view.h"

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
// Workers for reading a checkpoint, of those wanted: a packed member is unpacked from its start,
// and workers that take turns on one would begin anew each time. One goes through it in order.
int tsr_budget_jobs(const tsr_checkpoint *checkpoint, int jobs);

#endif
