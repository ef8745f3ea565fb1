// Another layout by a sequence of collectives.
#ifndef TESSERA_ARRAY_SEQUENCE_H
#define TESSERA_ARRAY_SEQUENCE_H

#include "tessera/array.h"

// Collective. Fails with no_sequence where there is none.
TSR_MUST_USE tsr_status tsr_array_by_sequence(tsr_array *array, const tsr_layout *layout,
                                              tsr_array **out_array);

#endif
