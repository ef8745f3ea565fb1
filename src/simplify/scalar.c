// Elements as numbers: loading, storing, converting, comparing.
#include "simplify/scalar.h"

#include <math.h>
#include <string.h>

#include "element/convert_elements.h"
#include "element/float_format.h"

bool tsr_scalar_type_of(const tsr_type *type, tsr_scalar_type *out_type) {
  const tsr_type *element = tsr_type_element(type);
  const tsr_dtype_info *info = element->dtype ? tsr_dtype_info_of(element->dtype) : NULL;
  if (!info) return false;
  *out_type = (tsr_scalar_type){.dtype = element->dtype,
                                .kind = info->kind,
                                .bits = info->kind == TSR_CLASS_BOOL ? 1 : info->bits,
                                .bytes = (int)tsr_type_element_bytes(element)};
  return out_type->bytes > 0;
}

// ---- loading and storing ----

static int64_t load_integer(const tsr_scalar_type *type, const char *bytes) {
  uint64_t bits = 0;
  memcpy(&bits, bytes, (size_t)type->bytes);
  const int unused = 64 - type->bits;
  bits <<= unused;
  return type->kind == TSR_CLASS_SIGNED ? (int64_t)bits >> unused : (int64_t)(bits >> unused);
}

static void store_integer(const tsr_scalar_type *type, int64_t value, char *out_bytes) {
  uint64_t bits = (uint64_t)value;
  if (type->bits < 64) bits &= (UINT64_C(1) << type->bits) - 1;
  memcpy(out_bytes, &bits, (size_t)type->bytes);
}

static double load_float(tsr_dtype dtype, const char *bytes) {
  float narrow = 0;
  double value = 0;
  if (dtype == TSR_F32) {
    memcpy(&narrow, bytes, sizeof narrow);
    return (double)narrow;
  }
  if (dtype == TSR_F64)
    memcpy(&value, bytes, sizeof value);
  else
    tsr_convert_run(dtype, bytes, 0, TSR_F64, &value, 0, 1);
  return value;
}

// Formats without NaN make a number of it, and f8E8M0FNU has only positive numbers.
static bool has_number(tsr_dtype dtype, double value) {
  switch (dtype) {
    case TSR_F6E2M3FN:
    case TSR_F6E3M2FN:
    case TSR_F4E2M1FN:
      return !isnan(value);
    case TSR_F8E8M0FNU:
      return isnan(value) || value > 0;
    default:
      return true;
  }
}

static bool store_float(tsr_dtype dtype, double value, char *out_bytes) {
  if (!has_number(dtype, value)) return false;
  const float narrow = (float)value;
  if (dtype == TSR_F32)
    memcpy(out_bytes, &narrow, sizeof narrow);
  else if (dtype == TSR_F64)
    memcpy(out_bytes, &value, sizeof value);
  else
    tsr_convert_run(TSR_F64, &value, 0, dtype, out_bytes, 0, 1);
  return true;
}

static tsr_dtype component_of(tsr_dtype dtype) { return dtype == TSR_C64 ? TSR_F32 : TSR_F64; }

tsr_scalar tsr_scalar_load(const tsr_scalar_type *type, const char *bytes) {
  if (type->kind == TSR_CLASS_FLOAT) return (tsr_scalar){.f = load_float(type->dtype, bytes)};
  if (type->kind != TSR_CLASS_COMPLEX) return (tsr_scalar){.i = load_integer(type, bytes)};
  const tsr_dtype component = component_of(type->dtype);
  return (tsr_scalar){.f = load_float(component, bytes),
                      .imag = load_float(component, bytes + type->bytes / 2)};
}

bool tsr_scalar_store(const tsr_scalar_type *type, tsr_scalar scalar, char *out_bytes) {
  if (type->kind == TSR_CLASS_FLOAT) return store_float(type->dtype, scalar.f, out_bytes);
  if (type->kind != TSR_CLASS_COMPLEX) {
    store_integer(type, scalar.i, out_bytes);
    return true;
  }
  const tsr_dtype component = component_of(type->dtype);
  return store_float(component, scalar.f, out_bytes) &&
         store_float(component, scalar.imag, out_bytes + type->bytes / 2);
}

// ---- converting ----

static bool has_fraction_part(const tsr_scalar_type *type) {
  return type->kind == TSR_CLASS_FLOAT || type->kind == TSR_CLASS_COMPLEX;
}

// An integer as f64 such that rounding it again, to a format with less digits, is rounding it once:
// where digits are lost, the last one is made odd.
static double odd_double(uint64_t magnitude, bool negative) {
  const int length = magnitude ? 64 - __builtin_clzll(magnitude) : 0;
  if (length > 53) {
    const int drop = length - 53;
    const bool lost = magnitude & ((UINT64_C(1) << drop) - 1);
    magnitude = (magnitude >> drop | lost) << drop;
  }
  return negative ? -(double)magnitude : (double)magnitude;
}

static double integer_as_float(const tsr_scalar_type *from, tsr_dtype to, int64_t value) {
  const bool negative = from->kind == TSR_CLASS_SIGNED && value < 0;
  const uint64_t magnitude = negative ? 0 - (uint64_t)value : (uint64_t)value;
  if (to != TSR_F64 && to != TSR_C128) return odd_double(magnitude, negative);
  return negative ? -(double)magnitude : (double)magnitude;
}

static int64_t float_as_integer(const tsr_scalar_type *to, double value) {
  if (isnan(value)) return 0;
  const int bits = to->kind == TSR_CLASS_SIGNED ? to->bits - 1 : to->bits;
  const double limit = ldexp(1, bits);  // the first number above the range
  const uint64_t largest = UINT64_MAX >> (64 - bits);
  if (value >= limit) return (int64_t)largest;
  if (to->kind == TSR_CLASS_SIGNED) return value <= -limit ? -1 - (int64_t)largest : (int64_t)value;
  return value <= 0 ? 0 : (int64_t)(uint64_t)value;
}

bool tsr_scalar_convert(const tsr_scalar_type *from, const tsr_scalar_type *to, tsr_scalar in,
                        char *out_bytes) {
  tsr_scalar out = {.i = 0};
  if (!has_fraction_part(from)) {
    if (has_fraction_part(to))
      out.f = integer_as_float(from, to->dtype, in.i);
    else
      out.i = to->kind == TSR_CLASS_BOOL ? in.i != 0 : in.i;
  } else if (has_fraction_part(to)) {
    out.f = in.f;
    out.imag = from->kind == TSR_CLASS_COMPLEX && to->kind == TSR_CLASS_COMPLEX ? in.imag : 0;
  } else {
    out.i = to->kind == TSR_CLASS_BOOL ? in.f != 0 : float_as_integer(to, in.f);
  }
  return tsr_scalar_store(to, out, out_bytes);
}

// ---- comparing ----

// Numbers in the total order of IEEE 754: -NaN, -inf, ..., -0, 0, ..., inf, NaN.
static int64_t order_key(double value) {
  const int64_t bits = (int64_t)tsr_f64_bits(value);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

bool tsr_order_holds(int direction, bool less, bool equal, bool greater) {
  switch (direction) {
    case TSR_DIRECTION_EQ:
      return equal;
    case TSR_DIRECTION_NE:
      return !equal;
    case TSR_DIRECTION_GE:
      return greater || equal;
    case TSR_DIRECTION_GT:
      return greater;
    case TSR_DIRECTION_LE:
      return less || equal;
    default:
      return less;
  }
}

bool tsr_scalar_compare(const tsr_scalar_type *type, int direction, bool total,
                        const tsr_scalar *in, bool *out_truth) {
  const tsr_scalar a = in[0], b = in[1];
  bool less = false, equal = false, greater = false;
  if (type->kind == TSR_CLASS_COMPLEX) {
    if (direction != TSR_DIRECTION_EQ && direction != TSR_DIRECTION_NE) return false;
    equal = a.f == b.f && a.imag == b.imag;
  } else if (type->kind == TSR_CLASS_FLOAT && !total) {
    less = a.f<b.f, equal = a.f == b.f, greater = a.f> b.f;
  } else if (type->kind == TSR_CLASS_UNSIGNED) {
    less = (uint64_t)a.i < (uint64_t)b.i, equal = a.i == b.i, greater = !less && !equal;
  } else {
    const bool keys = type->kind == TSR_CLASS_FLOAT;
    const int64_t x = keys ? order_key(a.f) : a.i, y = keys ? order_key(b.f) : b.i;
    less = x<y, equal = x == y, greater = x> y;
  }
  *out_truth = tsr_order_holds(direction, less, equal, greater);
  return true;
}

// ---- reducing precision ----

// The mantissa bits of the formats that have infinities; 0 for the others, which are not reduced.
static int mantissa_bits(tsr_dtype dtype) {
  switch (dtype) {
    case TSR_F64:
      return 52;
    case TSR_F32:
      return 23;
    case TSR_F16:
      return 10;
    case TSR_BF16:
      return 7;
    default:
      return 0;
  }
}

static uint64_t rounded_to(uint64_t magnitude, int drop) {
  if (drop <= 0) return magnitude;
  const uint64_t odd = magnitude >> drop & 1, half = (UINT64_C(1) << (drop - 1)) - 1;
  return (magnitude + half + odd) >> drop << drop;
}

bool tsr_scalar_reduce_precision(const tsr_scalar_type *type, int exponent, int mantissa,
                                 const char *in, char *out) {
  const int own = mantissa_bits(type->dtype), own_exponent = type->bits - 1 - own;
  if (!own || exponent < 1 || mantissa < 0) return false;
  uint64_t bits = 0;
  memcpy(&bits, in, (size_t)type->bytes);
  const uint64_t sign = bits & UINT64_C(1) << (type->bits - 1),
                 infinity = ((UINT64_C(1) << own_exponent) - 1) << own;
  uint64_t magnitude = bits ^ sign;
  if (magnitude > infinity) {
    // A NaN stays; without mantissa bits there is only infinity to stand for it.
    if (mantissa == 0) bits = infinity;
    memcpy(out, &bits, (size_t)type->bytes);
    return true;
  }
  magnitude = rounded_to(magnitude, own - mantissa);
  if (exponent < own_exponent) {
    const uint64_t bias = (UINT64_C(1) << (own_exponent - 1)) - 1;
    const uint64_t reach = (UINT64_C(1) << (exponent - 1)) - 1;
    if (magnitude >> own > bias + reach)
      magnitude = infinity;
    else if (magnitude >> own <= bias - reach)
      magnitude = 0;
  }
  bits = sign | magnitude;
  memcpy(out, &bits, (size_t)type->bytes);
  return true;
}

// ---- the table of elementwise ops ----

typedef struct scalar_row {
  tsr_scalar_fn *by_class[TSR_CLASS_COMPLEX + 1];
} scalar_row;

tsr_scalar_fn *tsr_scalar_op(tsr_op_id id, tsr_dtype_class kind) {
  static const scalar_row rows[TSR_OP_COUNT] = {
#define SCALAR_OP(op, truth, integer, floating, complex)         \
  [TSR_OP_##op] = {{[TSR_CLASS_BOOL] = tsr_scalar_##truth,       \
                    [TSR_CLASS_SIGNED] = tsr_scalar_##integer,   \
                    [TSR_CLASS_UNSIGNED] = tsr_scalar_##integer, \
                    [TSR_CLASS_FLOAT] = tsr_scalar_##floating,   \
                    [TSR_CLASS_COMPLEX] = tsr_scalar_##complex}},
#include "simplify/scalars.def"
#undef SCALAR_OP
  };
  const scalar_row *row = &rows[id];
  return row->by_class[kind] == tsr_scalar_none ? NULL : row->by_class[kind];
}
