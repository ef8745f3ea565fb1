// Values without an executable, for tests.
#ifndef TESSERA_TESTS_TRIAL_TRIAL_VALUES_H
#define TESSERA_TESTS_TRIAL_TRIAL_VALUES_H

#include "trial/trial.h"

// Values of these types, all of one shape; the caller deinits them.
tsr_trial_values test_trial_values(bool results, const tsr_dtype *dtypes, int64_t count,
                                   const tsr_shape *shape);

#endif
