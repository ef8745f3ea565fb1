// Hashes of bytes, stable across machines and versions.
#ifndef TESSERA_ENGINE_HASH_H
#define TESSERA_ENGINE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// XXH3 of the bytes, which may be NULL if `length` is 0. Not safe against adversaries.
TSR_API uint64_t tsr_hash64(const void *bytes, size_t length, uint64_t seed);

// A hash of 128 bits, for example of a tensor (tsr_checkpoint_hash of tessera/checkpoint/open.h).
// Written as 32 hexadecimal digits, highest first.
typedef struct tsr_hash128 {
  uint64_t low, high;
} tsr_hash128;

// get_safe_hash_int: the digest of `text` as a big-endian unsigned integer, in decimal. `algorithm`
// is a name of Python's hashlib ("md5", "sha256", "blake2b", "sha3_512", ...), case-sensitive;
// NULL is md5. Names that hashlib has but that give no fixed digest (shake_128) fail.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_hash_decimal(const char *text, size_t length, const char *algorithm, tsr_text *out_decimal);

TSR_END_DECLS

#endif
