// Conversion from any element of a buffer on, for callers that have checked the types.
#ifndef TESSERA_ELEMENT_CONVERT_ELEMENTS_H
#define TESSERA_ELEMENT_CONVERT_ELEMENTS_H

#include "tessera/dtype.h"

// As tsr_convert, of a convertible pair: elements from `source_at` on of `source` become those from
// `target_at` on of `target`.
void tsr_convert_run(tsr_dtype from, const void *source, int64_t source_at, tsr_dtype to,
                     void *target, int64_t target_at, int64_t count);

#endif
