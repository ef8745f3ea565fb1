// Keys of elements. A signed integer moves up by half the range; a float of either sign becomes a
// signed integer by turning the bits of negative numbers over.
#include "reduce/sort_keys.h"

#include <string.h>

typedef struct key_format {
  int bits;
  bool is_signed, is_float;
  uint64_t infinity, nan;  // of a float
} key_format;

static bool format_of(tsr_dtype dtype, key_format *out) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info || info->kind == TSR_CLASS_COMPLEX) return false;
  *out = (key_format){.bits = info->bits < 8 ? 8 : info->bits,
                      .is_signed = info->kind == TSR_CLASS_SIGNED,
                      .is_float = info->kind == TSR_CLASS_FLOAT};
  if (!out->is_float) return true;
  static const struct {
    tsr_dtype dtype;
    uint64_t infinity, nan;
  } floats[] = {{TSR_F16, 0x7c00, 0x7e00},
                {TSR_BF16, 0x7f80, 0x7fc0},
                {TSR_F32, 0x7f800000, 0x7fc00000},
                {TSR_F64, 0x7ff0000000000000, 0x7ff8000000000000}};
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    if (floats[i].dtype == dtype) {
      out->infinity = floats[i].infinity;
      out->nan = floats[i].nan;
      return true;
    }
  return false;
}

bool tsr_key_exists(tsr_dtype dtype) {
  key_format format;
  return format_of(dtype, &format);
}

int tsr_key_bits(tsr_dtype dtype) {
  key_format format = {.bits = 0};
  return format_of(dtype, &format) ? format.bits : 0;
}

// How the bits of elements become keys.
typedef struct key_bits {
  uint64_t infinity, nan;
  uint64_t positive, negative;  // turned over: of numbers without and with the highest bit
  bool joined;
} key_bits;

static key_bits bits_of(const key_format *format, const tsr_key_order *order) {
  const uint64_t all = UINT64_MAX >> (64 - format->bits), half = all ^ (all >> 1);
  const uint64_t turn = order->descending ? all : 0;
  const uint64_t flip = format->is_signed || format->is_float ? half : 0;
  return (key_bits){.infinity = format->infinity,
                    .nan = format->nan,
                    .positive = flip ^ turn,
                    .negative = (format->is_float ? all : flip) ^ turn,
                    .joined = order->joined && format->is_float};
}

// One type of unsigned integer of the width of the elements. Elements side by side have a loop of
// their own, which becomes vectors.
#define KEYS_OF(name, type, key)                                                           \
  static inline void name##_loop(const key_bits *k, bool joined, const char *elements,     \
                                 int64_t stride, int64_t count, key *out) {                \
    const type half = (type)((type)1 << (8 * sizeof(type) - 1));                           \
    const type infinity = (type)k->infinity, nan = (type)k->nan;                           \
    const type positive = (type)k->positive, negative = (type)k->negative;                 \
    for (int64_t i = 0; i < count; i++) {                                                  \
      type bits;                                                                           \
      memcpy(&bits, elements + i * stride, sizeof bits);                                   \
      const type size = (type)(bits & (type)~half);                                        \
      bits = joined && size == 0 ? 0 : bits;                                               \
      bits = joined && size > infinity ? nan : bits;                                       \
      out[i] = (type)(bits ^ (bits & half ? negative : positive));                         \
    }                                                                                      \
  }                                                                                        \
  static void name(const key_bits *k, const char *elements, int64_t stride, int64_t count, \
                   key *out) {                                                             \
    const int64_t beside = (int64_t)sizeof(type);                                          \
    if (stride != beside)                                                                  \
      name##_loop(k, k->joined, elements, stride, count, out);                             \
    else if (k->joined)                                                                    \
      name##_loop(k, true, elements, beside, count, out);                                  \
    else                                                                                   \
      name##_loop(k, false, elements, beside, count, out);                                 \
  }
KEYS_OF(keys_8, uint8_t, uint32_t)
KEYS_OF(keys_16, uint16_t, uint32_t)
KEYS_OF(keys_32, uint32_t, uint32_t)
KEYS_OF(keys_64, uint64_t, uint64_t)

void tsr_keys_narrow(const tsr_key_order *order, const char *elements, int64_t stride,
                     int64_t count, uint32_t *out_keys) {
  key_format format;
  if (!format_of(order->dtype, &format)) return;
  const key_bits bits = bits_of(&format, order);
  if (format.bits == 8)
    keys_8(&bits, elements, stride, count, out_keys);
  else if (format.bits == 16)
    keys_16(&bits, elements, stride, count, out_keys);
  else
    keys_32(&bits, elements, stride, count, out_keys);
}

void tsr_keys_wide(const tsr_key_order *order, const char *elements, int64_t stride, int64_t count,
                   uint64_t *out_keys) {
  key_format format;
  if (!format_of(order->dtype, &format)) return;
  const key_bits bits = bits_of(&format, order);
  keys_64(&bits, elements, stride, count, out_keys);
}

bool tsr_keys_are_exact(const tsr_key_order *order, const uint32_t *elements, int64_t count) {
  if (!order->joined || order->dtype != TSR_F32) return true;
  uint32_t bad = 0;
  for (int64_t i = 0; i < count; i++) {
    const uint32_t bits = elements[i], size = bits & 0x7fffffff;
    bad |= (uint32_t)(bits == 0x80000000) | (uint32_t)(size > 0x7f800000 && bits != 0x7fc00000);
  }
  return !bad;
}

void tsr_keys_back(const tsr_key_order *order, uint32_t *keys, int64_t count) {
  key_format format;
  if (!format_of(order->dtype, &format)) return;
  const key_bits bits = bits_of(&format, order);
  const uint32_t positive = (uint32_t)bits.positive, negative = (uint32_t)bits.negative;
  // Numbers without the highest bit got keys with it, unless descending or unsigned.
  const uint32_t mark = positive & 0x80000000;
  for (int64_t i = 0; i < count; i++)
    keys[i] ^= (keys[i] & 0x80000000) == mark ? positive : negative;
}
