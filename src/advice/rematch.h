// The rules of a plan matched again, for another mesh. Rules that compute where a dimension may be
// cut (between heads) must do so for the new number of shards.
#ifndef TESSERA_ADVICE_REMATCH_H
#define TESSERA_ADVICE_REMATCH_H

#include "advice/roles.h"
#include "plan/plan.h"

typedef struct tsr_rematch {
  tsr_rules *rules;  // for the new mesh; NULL = the plan's rules compute nothing
  tsr_plan *plan;    // the model by these rules; NULL = no row needs it
  bool *affected;    // owned: for each rule whether its rows are matched again
} tsr_rematch;

TSR_MUST_USE tsr_status tsr_rematch_init(tsr_rematch *rematch, const tsr_plan *plan,
                                         const tsr_mesh *mesh,
                                         const tsr_axis_successors *successors);
void tsr_rematch_deinit(tsr_rematch *rematch);
// Whether a row was matched again.
bool tsr_rematch_has(const tsr_rematch *rematch, const tsr_plan_row *row);

#endif
