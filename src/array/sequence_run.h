// Another layout by a sequence of collectives.
#ifndef TESSERA_ARRAY_SEQUENCE_RUN_H
#define TESSERA_ARRAY_SEQUENCE_RUN_H

#include "tessera/array.h"

// Collective. Fails with no_sequence where there is none. `targets` is NULL, or an array of the
// same layout on the same devices whose leaders' buffers take the result of the last step, where it
// is not one of the buffers before it; the others' are not used.
TSR_MUST_USE tsr_status tsr_array_by_sequence(tsr_array *array, const tsr_layout *layout,
                                              const tsr_array *targets, tsr_array **out_array);

#endif
