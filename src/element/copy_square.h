// Squares that transposes are made of, for particular processors.
#ifndef TESSERA_ELEMENT_COPY_SQUARE_H
#define TESSERA_ELEMENT_COPY_SQUARE_H

#include <stdint.h>

#if defined __x86_64__
#define TSR_COPY_AVX2
// 16 x 16 elements of 4 bytes: row i of the source becomes column i of the target. Steps in bytes.
void tsr_turn_4_avx2(const char *from, int64_t step, char *to, int64_t to_step);
#endif

#endif
