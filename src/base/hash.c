// XXH3 is compiled in from its header: keys of tables are short, and a call would cost as much as
// the hash.
#include "tessera/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t tsr_hash64(const void *bytes, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}
