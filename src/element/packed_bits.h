// Elements of 2, 4 and 6 bits, packed with the first in the lowest bits, and the same one a byte.
#ifndef TESSERA_ELEMENT_PACKED_BITS_H
#define TESSERA_ELEMENT_PACKED_BITS_H

#include <stdint.h>

// Elements `at` to before `at + count` of `packed`, one a byte, upper bits 0.
void tsr_unpack(int bits, const void *packed, int64_t at, int64_t count, uint8_t *out_codes);
// The reverse; upper bits of the codes are dropped, and other elements of `packed` left alone.
void tsr_pack(int bits, const uint8_t *codes, int64_t count, void *packed, int64_t at);

#endif
