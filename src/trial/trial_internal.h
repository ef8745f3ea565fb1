// What the files of this room share.
#ifndef TESSERA_TRIAL_TRIAL_INTERNAL_H
#define TESSERA_TRIAL_TRIAL_INTERNAL_H

#include "trial/trial.h"

// The elements of a value as files and kernels of `element` have them: packed if they are narrower
// than a byte, in memory that the caller frees; otherwise those of the value itself.
TSR_MUST_USE tsr_status tsr_trial_pack(const tsr_trial_value *value, const void **out_elements,
                                       void **out_owned);

// The index in the whole tensor of an element of `data`.
int64_t tsr_trial_whole_index(const tsr_trial_value *value, int64_t element);

// "out0[3, 1]": an element by its flat index.
void tsr_trial_place_print(const tsr_trial_values *values, int64_t value, int64_t element,
                           tsr_text *out);

// Runs once; `hook` (may be NULL) is called after every step.
TSR_MUST_USE tsr_status tsr_trial_run_hooked(const tsr_executable *executable,
                                             const tsr_trial_values *inputs,
                                             const tsr_trial_values *outputs, tsr_step_hook *hook,
                                             void *context);

#endif
