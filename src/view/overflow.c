// Casts are vectorised, and so is the first check of their results: one comparison an element, on
// chunks that are still in the cache. Only a chunk with a suspect is examined element by element.
#include "view/overflow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "element/float_format.h"
#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

enum { CHUNK = 1 << 13 };  // elements; whole bytes of every type
enum { LARGEST_F32 = 0x7f7fffff };

// ---- types ----

static const tsr_float_format *format_of(tsr_dtype dtype) {
  switch ((int)dtype) {
#define X(id, ...) \
  case TSR_##id:   \
    return &tsr_format_##id;
    TSR_FLOAT_FORMATS(X)
#undef X
    default:
      return NULL;
  }
}

static bool is_float(tsr_dtype dtype) { return tsr_dtype_info_of(dtype)->kind == TSR_CLASS_FLOAT; }

static double value_of(tsr_dtype dtype, uint32_t code) {
  double value = 0;
  tsr_status_free(tsr_convert(dtype, &code, TSR_F64, &value, 1));  // floats always can
  return value;
}

static double largest_of(tsr_dtype dtype) {
  const tsr_float_format *format = format_of(dtype);
  if (format) return value_of(dtype, format->largest);
  if (dtype == TSR_F8E8M0FNU) return 0x1p127;
  return dtype == TSR_F32 || dtype == TSR_C64 ? 0x1.fffffep127 : HUGE_VAL;
}

static bool is_finite_only(tsr_dtype dtype) {
  const tsr_float_format *format = format_of(dtype);
  return format && format->style == TSR_STYLE_FINITE;
}

// f8e8m0fnu has no zero and no negative numbers; finite-only dtypes have no NaN.
static bool may_overflow(tsr_dtype from, tsr_dtype to) {
  if (!is_float(from) || !(is_float(to) || to == TSR_C64) || from == to) return false;
  return to == TSR_F8E8M0FNU || is_finite_only(to) || largest_of(from) > largest_of(to);
}

// ---- the quick check ----

// Whether the magnitude of some code is above `largest`.
#define ANY_ABOVE(bits)                                                                       \
  static bool any_above_##bits(const void *elements, int64_t count, uint##bits##_t largest) { \
    const unsigned char *at = elements;                                                       \
    const uint##bits##_t magnitude = UINT##bits##_MAX >> 1;                                   \
    unsigned found = 0;                                                                       \
    for (int64_t i = 0; i < count; i++) {                                                     \
      uint##bits##_t code;                                                                    \
      memcpy(&code, at + i * (int64_t)sizeof code, sizeof code);                              \
      found |= (unsigned)((code & magnitude) > largest);                                      \
    }                                                                                         \
    return found;                                                                             \
  }
ANY_ABOVE(8)
ANY_ABOVE(16)
ANY_ABOVE(32)
#undef ANY_ABOVE

// Whether some element may be the result of an overflow.
static bool is_suspect(tsr_dtype to, const void *elements, int64_t count) {
  const tsr_float_format *format = format_of(to);
  if (to == TSR_F32) return any_above_32(elements, count, LARGEST_F32);
  if (to == TSR_C64) return any_above_32(elements, 2 * count, LARGEST_F32);
  if (to == TSR_F8E8M0FNU) return memchr(elements, 0xff, (size_t)count) != NULL;
  if (format->style == TSR_STYLE_FINITE) return true;
  if (format->style == TSR_STYLE_FNUZ) return memchr(elements, 0x80, (size_t)count) != NULL;
  if (format->bits == 16) return any_above_16(elements, count, (uint16_t)format->largest);
  return any_above_8(elements, count, (uint8_t)format->largest);
}

// ---- the exact check ----

// Numbers from here on are rounded beyond the largest: by half a unit in its last place.
static double limit_of(tsr_dtype dtype) {
  const tsr_float_format *format = format_of(dtype);
  const double largest = largest_of(dtype);
  return largest + (largest - value_of(dtype, format->largest - 1)) / 2;
}

// Converted numbers as doubles; of complex ones, the real parts.
static void read_back(tsr_dtype to, const char *target, int64_t count, double *out) {
  if (to != TSR_C64) {
    tsr_status_free(tsr_convert(to, target, TSR_F64, out, count));
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    float real;
    memcpy(&real, target + 8 * i, sizeof real);
    out[i] = (double)real;
  }
}

static bool overflowed(double before, double after, double limit) {
  if (limit > 0) return isnan(before) || fabs(before) >= limit;
  return isfinite(before) && !isfinite(after);
}

static void examine(tsr_dtype from, const char *source, tsr_dtype to, const char *target,
                    int64_t count, int64_t first, tsr_overflow *overflow) {
  enum { SOME = 256 };
  const int from_bits = tsr_dtype_info_of(from)->bits, to_bits = tsr_dtype_info_of(to)->bits;
  const double limit = is_finite_only(to) ? limit_of(to) : 0;
  for (int64_t at = 0; at < count; at += SOME) {
    double before[SOME], after[SOME];
    const int64_t some = count - at < SOME ? count - at : SOME;
    tsr_status_free(tsr_convert(from, source + at * from_bits / 8, TSR_F64, before, some));
    read_back(to, target + at * to_bits / 8, some, after);
    for (int64_t i = 0; i < some; i++) {
      if (!overflowed(before[i], after[i], limit)) continue;
      if (overflow->count++ > 0) continue;
      overflow->first = first + at + i;
      overflow->value = before[i];
    }
  }
}

// ---- casts ----

tsr_status tsr_convert_checked(tsr_dtype from, const void *source, tsr_dtype to, void *target,
                               int64_t count, tsr_overflow *overflow) {
  if (!may_overflow(from, to)) return tsr_convert(from, source, to, target, count);
  const int from_bits = tsr_dtype_info_of(from)->bits, to_bits = tsr_dtype_info_of(to)->bits;
  for (int64_t at = 0; at < count; at += CHUNK) {
    const char *in = (const char *)source + at * from_bits / 8;
    char *out = (char *)target + at * to_bits / 8;
    const int64_t some = count - at < CHUNK ? count - at : CHUNK;
    TSR_TRY(tsr_convert(from, in, to, out, some));
    if (is_suspect(to, out, some)) examine(from, in, to, out, some, at, overflow);
  }
  return NULL;
}

tsr_status tsr_overflow_fail(const tsr_overflow *overflow, int64_t place, tsr_dtype to) {
  char which[48] = "";
  if (place >= 0) snprintf(which, sizeof which, "element %lld is ", (long long)place);
  return tsr_fail(CAST_OVERFLOW, "%s%.9g%s does not fit into %s, whose largest number is %.9g",
                  which, overflow->value, *which ? ", which" : "",
                  tsr_dtype_name(to, TSR_NAMES_OWN), largest_of(to));
}
