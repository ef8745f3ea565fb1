// Arrays for other rooms. The rest is in tessera/array.h and tessera/engine/array.h.
#ifndef TESSERA_ARRAY_ARRAY_INTERNAL_H
#define TESSERA_ARRAY_ARRAY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/buffer.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/status.h"

const tsr_sharding *tsr_array_sharding(const tsr_array *array);   // NULL unless a grid
bool tsr_array_is_deleted(const tsr_array *array);                // it was donated
bool tsr_array_is_fully_addressable(const tsr_array *array);      // all its devices are here
int64_t tsr_array_device(const tsr_array *array, int64_t index);  // of a local shard
// The buffer of a local shard, and the offset of its data. Borrowed.
tsr_buffer *tsr_array_buffer(const tsr_array *array, int64_t index, int64_t *out_offset);
// Collective. Fails with replicas_differ, naming two devices and an element, unless replicas hold
// the same bytes.
TSR_MUST_USE tsr_status tsr_array_check_replicas(const tsr_array *array);

#endif
