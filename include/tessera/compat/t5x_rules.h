// t5x's standard rules for logical axes, which tessera/logical.h maps.
//
//   tsr_logical_rules *rules = NULL;
//   TSR_TRY(tsr_logical_standard(1, 2, NULL, false, &rules));
#ifndef TESSERA_COMPAT_T5X_RULES_H
#define TESSERA_COMPAT_T5X_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/logical.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// standard_logical_axis_rules, for activations and parameters cut in 1 or 2 dimensions. The
// `additional` rules (may be NULL) come last and apply only if no rule before does; with
// `additional_first` they come first and override.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(5) tsr_status
    tsr_logical_standard(int64_t activation_dims, int64_t parameter_dims,
                         const tsr_logical_rules *additional, bool additional_first,
                         tsr_logical_rules **out_rules);

TSR_END_DECLS

#endif
