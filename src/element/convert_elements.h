// Conversion at element offsets, for callers that have checked the types.
#ifndef TESSERA_ELEMENT_CONVERT_ELEMENTS_H
#define TESSERA_ELEMENT_CONVERT_ELEMENTS_H

#include "tessera/dtype.h"

// tsr_convert for a convertible pair: elements of `source` from `source_at` become those of
// `target` from `target_at`.
void tsr_convert_run(tsr_dtype from, const void *source, int64_t source_at, tsr_dtype to,
                     void *target, int64_t target_at, int64_t count);

#endif
