// Shared by memory_fit.c and fit_each.c.
#ifndef TESSERA_ADVICE_MEMORY_FIT_H
#define TESSERA_ADVICE_MEMORY_FIT_H

#include "advice/choice.h"
#include "plan/plan.h"

// Bytes of a number of elements; INT64_MAX where that overflows.
int64_t tsr_elements_bytes(tsr_dtype dtype, int64_t elements);
// The number of shards of a choice.
int64_t tsr_choice_split(const tsr_choice *choice, const tsr_mesh *mesh);
// Adds a note for each dimension that axes were added to, or one that the row fits.
TSR_MUST_USE tsr_status tsr_note_fit(tsr_plan_builder *builder, int64_t row,
                                     const tsr_choice *choice, int64_t limit);

#endif
