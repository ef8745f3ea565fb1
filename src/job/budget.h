// The memory that the tables of a job take.
#ifndef TESSERA_JOB_BUDGET_H
#define TESSERA_JOB_BUDGET_H

#include "format/target.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "view/view.h"

// Bytes of tables at the peak of a job (measured by tests/memory): of an open checkpoint, of views
// of it, and of a destination, whose index may not be made yet.
int64_t tsr_budget_checkpoint(const tsr_checkpoint *checkpoint);
int64_t tsr_budget_views(const tsr_views *views, const tsr_mapping *map);
int64_t tsr_budget_target(const tsr_target *target);

// Lower bounds before they are made: a checkpoint with views of all tensors, and a destination of
// all tensors, for `ranks` devices if it is cut (0 = it is not).
int64_t tsr_budget_source_least(const tsr_checkpoint *checkpoint);
int64_t tsr_budget_target_least(const tsr_checkpoint *checkpoint, tsr_checkpoint_format format,
                                int64_t ranks);
// `jobs`, or 1 for a checkpoint with compressed members: these are decompressed from the start, and
// workers that take turns would start over each time.
int tsr_budget_jobs(const tsr_checkpoint *checkpoint, int jobs);

#endif
