// Elements of 2, 4 and 6 bits: packed with the first in the lowest bits, and unpacked to one per
// byte.
#ifndef TESSERA_ELEMENT_PACKED_BITS_H
#define TESSERA_ELEMENT_PACKED_BITS_H

#include <stdint.h>

// Unpacks elements `at` to before `at + count`, one per byte, upper bits 0.
void tsr_unpack(int bits, const void *packed, int64_t at, int64_t count, uint8_t *out_codes);
// The reverse; upper bits of the codes are dropped, other elements of `packed` stay unchanged.
void tsr_pack(int bits, const uint8_t *codes, int64_t count, void *packed, int64_t at);

#endif
