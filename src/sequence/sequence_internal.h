// Sequences for other rooms: their ends, and JSON. The rest is in tessera/engine/sequence.h.
#ifndef TESSERA_SEQUENCE_SEQUENCE_INTERNAL_H
#define TESSERA_SEQUENCE_SEQUENCE_INTERNAL_H

#include <stdint.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/status.h"

const tsr_sharding *tsr_sequence_from(const tsr_sequence *sequence);
const tsr_sharding *tsr_sequence_to(const tsr_sequence *sequence);
tsr_shape tsr_sequence_shape(const tsr_sequence *sequence);  // of the whole tensor
tsr_dtype tsr_sequence_dtype(const tsr_sequence *sequence);
// How partial results combine in reduce and reduce-scatter steps.
tsr_reduction tsr_sequence_reduction(const tsr_sequence *sequence);

// {"from", "to", "shape", "dtype", "steps": [{"kind", "axes": [[name, pre, size], ...], ...}],
//  "certificate": {...}}
void tsr_sequence_to_json(const tsr_sequence *sequence, tsr_json_writer *writer);

#endif
