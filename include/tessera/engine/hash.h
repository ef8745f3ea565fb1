// Hashes of bytes, stable across machines and versions.
#ifndef TESSERA_ENGINE_HASH_H
#define TESSERA_ENGINE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"

TSR_BEGIN_DECLS

// XXH3 of the bytes, which may be NULL if `length` is 0. Not safe against adversaries.
TSR_API uint64_t tsr_hash64(const void *bytes, size_t length, uint64_t seed);

// A hash of 128 bits, for example of a tensor (tsr_checkpoint_hash of tessera/checkpoint/open.h).
// Written as 32 hexadecimal digits, highest first.
typedef struct tsr_hash128 {
  uint64_t low, high;
} tsr_hash128;

TSR_END_DECLS

#endif
