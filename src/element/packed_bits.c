// Packing and unpacking. Groups of elements that fill whole bytes (4 of 2 bits, 2 of 4, 4 of 6 in
// three bytes) are handled at once; elements before the first whole byte and after the last, one by
// one.
#include "element/packed_bits.h"

// ---- single elements, at any bit ----

static uint8_t get_one(int bits, const uint8_t *packed, int64_t index) {
  const int64_t bit = index * bits;
  const uint8_t *at = packed + bit / 8;
  const int shift = (int)(bit % 8);
  // An element of 6 bits may continue in the next byte, which then exists.
  const unsigned both = at[0] | (shift + bits > 8 ? (unsigned)at[1] << 8 : 0u);
  return (uint8_t)(both >> shift & ((1u << bits) - 1));
}

static void put_one(int bits, uint8_t *packed, int64_t index, uint8_t code) {
  const int64_t bit = index * bits;
  uint8_t *at = packed + bit / 8;
  const int shift = (int)(bit % 8);
  const unsigned mask = ((1u << bits) - 1) << shift;
  const unsigned value = (unsigned)code << shift & mask;
  at[0] = (uint8_t)((at[0] & ~mask) | value);
  if (shift + bits > 8) at[1] = (uint8_t)((at[1] & ~(mask >> 8)) | value >> 8);
}

// ---- whole groups ----

static void unpack_2(const uint8_t *packed, int64_t groups, uint8_t *out) {
  for (int64_t i = 0; i < groups; i++)
    for (int k = 0; k < 4; k++) out[4 * i + k] = packed[i] >> 2 * k & 3;
}

static void unpack_4(const uint8_t *packed, int64_t groups, uint8_t *out) {
  for (int64_t i = 0; i < groups; i++) {
    out[2 * i] = packed[i] & 15;
    out[2 * i + 1] = packed[i] >> 4;
  }
}

static void unpack_6(const uint8_t *packed, int64_t groups, uint8_t *out) {
  for (int64_t i = 0; i < groups; i++) {
    const unsigned all =
        packed[3 * i] | (unsigned)packed[3 * i + 1] << 8 | (unsigned)packed[3 * i + 2] << 16;
    for (int k = 0; k < 4; k++) out[4 * i + k] = all >> 6 * k & 63;
  }
}

static void pack_2(const uint8_t *codes, int64_t groups, uint8_t *packed) {
  for (int64_t i = 0; i < groups; i++) {
    unsigned all = 0;
    for (int k = 0; k < 4; k++) all |= (codes[4 * i + k] & 3u) << 2 * k;
    packed[i] = (uint8_t)all;
  }
}

static void pack_4(const uint8_t *codes, int64_t groups, uint8_t *packed) {
  for (int64_t i = 0; i < groups; i++)
    packed[i] = (uint8_t)((codes[2 * i] & 15u) | (codes[2 * i + 1] & 15u) << 4);
}

static void pack_6(const uint8_t *codes, int64_t groups, uint8_t *packed) {
  for (int64_t i = 0; i < groups; i++) {
    unsigned all = 0;
    for (int k = 0; k < 4; k++) all |= (codes[4 * i + k] & 63u) << 6 * k;
    for (int k = 0; k < 3; k++) packed[3 * i + k] = (uint8_t)(all >> 8 * k);
  }
}

// ---- a run: head, groups, tail ----

static int group_size(int bits) { return bits == 4 ? 2 : 4; }

static int64_t head_of(int bits, int64_t at, int64_t count) {
  const int64_t past = at % group_size(bits);
  const int64_t head = past ? group_size(bits) - past : 0;
  return head < count ? head : count;
}

void tsr_unpack(int bits, const void *packed, int64_t at, int64_t count, uint8_t *out_codes) {
  const int64_t head = head_of(bits, at, count), groups = (count - head) / group_size(bits);
  const int64_t whole = head + groups * group_size(bits);
  const uint8_t *first =
      (const uint8_t *)packed + (at + head) / group_size(bits) * bits * group_size(bits) / 8;
  for (int64_t i = 0; i < head; i++) out_codes[i] = get_one(bits, packed, at + i);
  if (bits == 2) unpack_2(first, groups, out_codes + head);
  if (bits == 4) unpack_4(first, groups, out_codes + head);
  if (bits == 6) unpack_6(first, groups, out_codes + head);
  for (int64_t i = whole; i < count; i++) out_codes[i] = get_one(bits, packed, at + i);
}

void tsr_pack(int bits, const uint8_t *codes, int64_t count, void *packed, int64_t at) {
  const int64_t head = head_of(bits, at, count), groups = (count - head) / group_size(bits);
  const int64_t whole = head + groups * group_size(bits);
  uint8_t *first = (uint8_t *)packed + (at + head) / group_size(bits) * bits * group_size(bits) / 8;
  for (int64_t i = 0; i < head; i++) put_one(bits, packed, at + i, codes[i]);
  if (bits == 2) pack_2(codes + head, groups, first);
  if (bits == 4) pack_4(codes + head, groups, first);
  if (bits == 6) pack_6(codes + head, groups, first);
  for (int64_t i = whole; i < count; i++) put_one(bits, packed, at + i, codes[i]);
}
