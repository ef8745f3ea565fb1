// Elements as unsigned numbers of the same order.
#ifndef TESSERA_REDUCE_SORT_KEYS_H
#define TESSERA_REDUCE_SORT_KEYS_H

#include "tessera/dtype.h"

// How elements of one type are ordered.
typedef struct tsr_key_order {
  tsr_dtype dtype;
  bool descending;
  // For floats: -0 equals 0, and all NaNs are equal and above all numbers. Otherwise the total
  // order: -NaN < -infinity < -0 < 0 < infinity < NaN.
  bool joined;
} tsr_key_order;

// Whether a type has keys: integers, f16, bf16, f32, f64.
bool tsr_key_exists(tsr_dtype dtype);
int tsr_key_bits(tsr_dtype dtype);  // 8, 16, 32 or 64

// The keys of `count` elements that lie `stride` bytes apart: of at most 32 bits, or of 64.
void tsr_keys_narrow(const tsr_key_order *order, const char *elements, int64_t stride,
                     int64_t count, uint32_t *out_keys);
void tsr_keys_wide(const tsr_key_order *order, const char *elements, int64_t stride, int64_t count,
                   uint64_t *out_keys);
// Whether keys of these elements have their elements back exactly: none is a -0 or a NaN that was
// joined with others.
bool tsr_keys_are_exact(const tsr_key_order *order, const uint32_t *elements, int64_t count);
// The 4-byte elements of keys, in place; of int32, uint32 and f32 only.
void tsr_keys_back(const tsr_key_order *order, uint32_t *keys, int64_t count);

#endif
