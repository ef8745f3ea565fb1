// Rows of a plan decided on again by its own rules, for another mesh. Rules that compute where a
// dimension may be cut (between heads) do it again for the new number of shards; numbers alone
// would not say.
#ifndef TESSERA_ADVICE_REMATCH_H
#define TESSERA_ADVICE_REMATCH_H

#include "advice/roles.h"
#include "plan/plan.h"

typedef struct tsr_rematch {
  tsr_rules *rules;  // for the new mesh; NULL = the plan's rules compute nothing
  tsr_plan *plan;    // the model by these rules; NULL = no row asks for it
  bool *serves;      // owned: for each rule whether its rows are decided on again
} tsr_rematch;

TSR_MUST_USE tsr_status tsr_rematch_init(tsr_rematch *again, const tsr_plan *plan,
                                         const tsr_mesh *mesh, const tsr_heirs *heirs);
void tsr_rematch_deinit(tsr_rematch *again);
// Whether a row is one of those.
bool tsr_rematch_has(const tsr_rematch *again, const tsr_plan_row *row);

#endif
