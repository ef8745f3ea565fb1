// Reductions, for other rooms, beyond tessera/reduction.h.
#ifndef TESSERA_ELEMENT_REDUCTION_H
#define TESSERA_ELEMENT_REDUCTION_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/reduction.h"

const char *tsr_reduction_name(tsr_reduction op);  // "sum"; NULL for an invalid value
// Whether elements of this type can be reduced by `op`.
bool tsr_reduction_allows(tsr_reduction op, tsr_dtype dtype);

#endif
