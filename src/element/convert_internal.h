// Single elements as text; conversion in bulk is in tessera/engine/kernels.h.
#ifndef TESSERA_ELEMENT_CONVERT_INTERNAL_H
#define TESSERA_ELEMENT_CONVERT_INTERNAL_H

#include <stdint.h>

#include "tessera/dtype.h"
#include "tessera/text.h"

// Prints element `index` of a buffer: integers in decimal, floats as the shortest decimal that
// reads back as the same element of this type, "true", "nan", "-inf", "1.5-2j".
void tsr_element_print(tsr_dtype dtype, const void *elements, int64_t index, tsr_text *out);

#endif
