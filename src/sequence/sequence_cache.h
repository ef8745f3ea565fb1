// Asking a cache of sequences, and telling it.
#ifndef TESSERA_SEQUENCE_SEQUENCE_CACHE_H
#define TESSERA_SEQUENCE_SEQUENCE_CACHE_H

#include "sequence/sequence.h"
#include "sequence/sequence_internal.h"
#include "tessera/api.h"
#include "tessera/engine/sequence.h"
#include "tessera/status.h"

// A copy of the route that was told for a job like this.
TSR_MUST_USE tsr_status tsr_sequence_cache_find(tsr_sequence_cache *cache,
                                                const tsr_change_job *job,
                                                tsr_sequence_method method, tsr_route *out_route,
                                                bool *out_found);
TSR_MUST_USE tsr_status tsr_sequence_cache_add(tsr_sequence_cache *cache, const tsr_change_job *job,
                                               tsr_sequence_method method, const tsr_route *route);

#endif
