// Functions on comparisons that are not public.
#ifndef TESSERA_INSPECT_VERIFY_INTERNAL_H
#define TESSERA_INSPECT_VERIFY_INTERNAL_H

#include <stdint.h>

#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/status.h"

const char *tsr_verdict_text(tsr_verdict verdict);  // "the values differ"

// Adds `more` to `stats`; statistics of no elements are all 0.
void tsr_tensor_stats_join(tsr_tensor_stats *stats, const tsr_tensor_stats *more);

// The number of rows with a verdict.
int64_t tsr_verification_total(const tsr_verification *verification, tsr_verdict verdict);
int64_t tsr_verification_bytes_read(const tsr_verification *verification);

#endif
