// Digests of lists: a hash of 128 bits that items are added to, one after the other.
#ifndef TESSERA_BASE_HASH_CHAIN_H
#define TESSERA_BASE_HASH_CHAIN_H

#include "tessera/engine/hash.h"

#define TSR_HASH128_EMPTY ((tsr_hash128){0, 0})

// The hash of what `hash` is of, followed by these bytes. Keeps all 128 bits.
tsr_hash128 tsr_hash128_add(tsr_hash128 hash, const void *bytes, size_t length);
// The same for a text, which may be NULL: that is not the empty one.
tsr_hash128 tsr_hash128_add_text(tsr_hash128 hash, const char *text);

#endif
