// What fitting one by one and fitting all share.
#ifndef TESSERA_ADVICE_MEMORY_FIT_H
#define TESSERA_ADVICE_MEMORY_FIT_H

#include "advice/choice.h"
#include "plan/plan.h"

// Bytes of so many elements, known not to overflow.
int64_t tsr_elements_bytes(tsr_dtype dtype, int64_t elements);
// In how many shards a choice cuts.
int64_t tsr_choice_split(const tsr_choice *choice, const tsr_mesh *mesh);
// Why a row is cut like that: a note for each dimension that axes were added to, or one that it
// fits.
TSR_MUST_USE tsr_status tsr_note_fit(tsr_plan_builder *builder, int64_t row,
                                     const tsr_choice *choice, int64_t limit);

#endif
