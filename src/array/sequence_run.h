// Another layout by a sequence of collectives.
#ifndef TESSERA_ARRAY_SEQUENCE_RUN_H
#define TESSERA_ARRAY_SEQUENCE_RUN_H

#include "tessera/array.h"

// Collective. Fails with no_sequence if there is none. `targets` is NULL, or an array of the same
// layout and devices whose leaders' buffers take the result of the last step, unless that shares an
// earlier buffer.
TSR_MUST_USE tsr_status tsr_array_by_sequence(tsr_array *array, const tsr_layout *layout,
                                              const tsr_array *targets, tsr_array **out_array);

#endif
