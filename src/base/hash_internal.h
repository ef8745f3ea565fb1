// Hashes of lists, hashes as text, and message digests as Python's integers. Hashing itself is in
// tessera/engine/hash.h.
#ifndef TESSERA_BASE_HASH_INTERNAL_H
#define TESSERA_BASE_HASH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/api.h"
#include "tessera/engine/hash.h"
#include "tessera/status.h"
#include "tessera/text.h"

#define TSR_HASH128_EMPTY ((tsr_hash128){0, 0})
// The hash of a list after these bytes are added to it. Keeps all 128 bits.
tsr_hash128 tsr_hash128_add(tsr_hash128 hash, const void *bytes, size_t length);
// The same for a text. NULL differs from "".
tsr_hash128 tsr_hash128_add_text(tsr_hash128 hash, const char *text);

bool tsr_hash128_equal(tsr_hash128 a, tsr_hash128 b);
// 32 hexadecimal digits, highest first.
void tsr_hash128_print(tsr_hash128 hash, tsr_text *out);
TSR_MUST_USE tsr_status tsr_hash128_parse(const char *text, tsr_hash128 *out_hash);

#endif
