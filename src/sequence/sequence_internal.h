// Sequences, for other rooms: remembered ones, what one is for, and JSON. The rest is in
// tessera/engine/sequence.h.
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

// Remembers what was found, for many tensors that change in the same way. May be shared by threads.
typedef struct tsr_sequence_cache tsr_sequence_cache;
TSR_MUST_USE tsr_status tsr_sequence_cache_create(tsr_sequence_cache **out_cache);
void tsr_sequence_cache_destroy(tsr_sequence_cache *cache);  // NULL is fine
// How many sequences were asked of it, and how many of these it knew.
void tsr_sequence_cache_counts(tsr_sequence_cache *cache, int64_t *out_asked, int64_t *out_known);
// tsr_sequence_create that asks the cache first (NULL = none), and tells it what was found.
TSR_MUST_USE tsr_status tsr_sequence_create_cached(const tsr_sharding *from, const tsr_sharding *to,
                                                   const tsr_shape *shape, tsr_dtype dtype,
                                                   const tsr_sequence_options *options,
                                                   tsr_sequence_cache *cache,
                                                   tsr_sequence **out_sequence);

tsr_sequence *tsr_sequence_retain(const tsr_sequence *sequence);

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
