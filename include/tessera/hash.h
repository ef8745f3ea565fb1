// Hashing: a fast one for tables, and message digests as the integers Python makes of them.
#ifndef TESSERA_HASH_H
#define TESSERA_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// XXH3 of the bytes. Stable across machines and versions; not against adversaries.
TSR_API uint64_t tsr_hash64(const void *bytes, size_t length, uint64_t seed);

// A hash of 128 bits, such as tell two tensors apart. Printed as 32 digits, highest first.
typedef struct tsr_hash128 {
  uint64_t low, high;
} tsr_hash128;
TSR_API bool tsr_hash128_equal(tsr_hash128 a, tsr_hash128 b);
TSR_API void tsr_hash128_print(tsr_hash128 hash, tsr_text *out);
TSR_API TSR_MUST_USE tsr_status tsr_hash128_parse(const char *text, tsr_hash128 *out_hash);

// get_safe_hash_int: the digest of `text` as a big-endian unsigned integer, in decimal. `algorithm`
// is a name of Python's hashlib ("md5", "sha256", "blake2b", "sha3_512", ...), case-sensitive;
// NULL is md5. Names that hashlib has but that give no fixed digest (shake_128) fail.
TSR_API TSR_MUST_USE tsr_status tsr_hash_decimal(const char *text, size_t length,
                                                 const char *algorithm, tsr_text *out_decimal);

TSR_END_DECLS

#endif
