// Conversion by blocks that stay in the first cache: a block of the source is loaded as f32, f64 or
// i64, whichever is exact, and stored as the target.
//
// Nothing is rounded twice. Narrow floats are exact in f32; f64 is stored directly; integers too
// large for f64 are first rounded *to odd* (the last bit is set if anything was cut off), which
// makes a later rounding to a narrower type exact.
#include "element/convert_elements.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "element/convert_blocks.h"
#include "element/packed_bits.h"
#include "tessera/engine/kernels.h"

enum { BLOCK = 512 };

typedef union block {
  float f32[BLOCK];
  double f64[BLOCK];
  int64_t i64[BLOCK];
} block;

typedef struct pair {
  tsr_dtype from, to;
} pair;

static bool is_float(tsr_dtype dtype) { return tsr_dtype_info_of(dtype)->kind == TSR_CLASS_FLOAT; }

// ---- integers to floats ----

static double to_odd(uint64_t magnitude) {
  // Of 64 bits 11 are too many for f64.
  const int drop = magnitude >> 53 ? 11 : 0;
  const uint64_t cut = magnitude & ((UINT64_C(1) << drop) - 1);
  return (double)((magnitude - cut) | (uint64_t)(cut != 0) << drop);
}

static double odd_of(tsr_dtype from, int64_t value) {
  if (from == TSR_U64) return to_odd((uint64_t)value);
  return value < 0 ? -to_odd(-(uint64_t)value) : to_odd((uint64_t)value);
}

static void from_integers(pair types, const void *source, void *target, int64_t count) {
  int64_t wide[BLOCK];
  block floats;
  tsr_block_load_i64(types.from, source, wide, count);
  const bool is_u64 = types.from == TSR_U64;
  if (types.to == TSR_F32) {
    for (int64_t i = 0; i < count; i++)
      floats.f32[i] = is_u64 ? (float)(uint64_t)wide[i] : (float)wide[i];
    tsr_block_store_f32(types.to, floats.f32, target, count);
    return;
  }
  if (types.to == TSR_F64)
    for (int64_t i = 0; i < count; i++)
      floats.f64[i] = is_u64 ? (double)(uint64_t)wide[i] : (double)wide[i];
  else
    for (int64_t i = 0; i < count; i++) floats.f64[i] = odd_of(types.from, wide[i]);
  tsr_block_store_f64(types.to, floats.f64, target, count);
}

// ---- floats to integers and bools ----

// Numbers below the lowest, and from `above` on, are out of range. Both limits are exact in f64.
static double lowest_of(const tsr_dtype_info *info) {
  return info->kind == TSR_CLASS_SIGNED ? -ldexp(1, info->bits - 1) : 0;
}

static double above_of(const tsr_dtype_info *info) {
  return ldexp(1, info->bits - (info->kind == TSR_CLASS_SIGNED));
}

static int64_t largest_of(const tsr_dtype_info *info) {
  return (int64_t)(UINT64_MAX >> (64 - info->bits + (info->kind == TSR_CLASS_SIGNED)));
}

static void truncate_block(tsr_dtype to, const double *in, int64_t *out, int64_t count) {
  const tsr_dtype_info *info = tsr_dtype_info_of(to);
  const double lowest = lowest_of(info), above = above_of(info);
  const int64_t largest = largest_of(info);
  for (int64_t i = 0; i < count; i++) {
    const double x = in[i];
    if (isnan(x))
      out[i] = 0;
    else if (x >= above)
      out[i] = largest;
    else if (x >= 0x1p63)  // of a u64
      out[i] = (int64_t)(uint64_t)x;
    else
      out[i] = (int64_t)(x < lowest ? lowest : x);
  }
}

static void load_f64(tsr_dtype from, const void *source, double *out, int64_t count) {
  if (from == TSR_F64) {
    memcpy(out, source, (size_t)count * sizeof *out);
    return;
  }
  float narrow[BLOCK];
  tsr_block_load_f32(from, source, narrow, count);
  for (int64_t i = 0; i < count; i++) out[i] = narrow[i];
}

static void to_integers(pair types, const void *source, void *target, int64_t count) {
  double floats[BLOCK];
  int64_t wide[BLOCK];
  load_f64(types.from, source, floats, count);
  if (types.to == TSR_BOOL)
    for (int64_t i = 0; i < count; i++) wide[i] = floats[i] != 0;
  else
    truncate_block(types.to, floats, wide, count);
  tsr_block_store_i64(types.to, wide, target, count);
}

// ---- the rest ----

static bool is_aligned(const void *pointer) { return (uintptr_t)pointer % sizeof(float) == 0; }

static void between_floats(pair types, const void *source, void *target, int64_t count) {
  block wide;
  if (types.from == TSR_F64) {
    load_f64(types.from, source, wide.f64, count);
    tsr_block_store_f64(types.to, wide.f64, target, count);
  } else if (types.from == TSR_F32 && is_aligned(source)) {
    tsr_block_store_f32(types.to, source, target, count);
  } else if (types.to == TSR_F32 && is_aligned(target)) {
    tsr_block_load_f32(types.from, source, target, count);
  } else {
    tsr_block_load_f32(types.from, source, wide.f32, count);
    tsr_block_store_f32(types.to, wide.f32, target, count);
  }
}

static void between_integers(pair types, const void *source, void *target, int64_t count) {
  int64_t wide[BLOCK];
  tsr_block_load_i64(types.from, source, wide, count);
  tsr_block_store_i64(types.to, wide, target, count);
}

static void convert_reals(pair types, const void *source, void *target, int64_t count) {
  if (is_float(types.from)) {
    if (is_float(types.to))
      between_floats(types, source, target, count);
    else
      to_integers(types, source, target, count);
  } else if (is_float(types.to)) {
    from_integers(types, source, target, count);
  } else {
    between_integers(types, source, target, count);
  }
}

// The dtype of the real and imaginary components.
static tsr_dtype component_of(tsr_dtype dtype) {
  return dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : TSR_DTYPE_NONE;
}

static void to_complex(pair types, const void *source, void *target, int64_t count) {
  const tsr_dtype component = component_of(types.to);
  const size_t width = component == TSR_F32 ? sizeof(float) : sizeof(double);
  block reals;
  convert_reals((pair){types.from, component}, source, &reals, count);
  memset(target, 0, 2 * width * (size_t)count);
  for (int64_t i = 0; i < count; i++)
    memcpy((char *)target + 2 * width * (size_t)i, (char *)&reals + width * (size_t)i, width);
}

static void convert_block(pair types, const void *source, void *target, int64_t count) {
  if (!component_of(types.to)) {
    convert_reals(types, source, target, count);
  } else if (!component_of(types.from)) {
    to_complex(types, source, target, count);
  } else {
    const pair components = {component_of(types.from), component_of(types.to)};
    between_floats(components, source, target, 2 * count);
  }
}

static void copy_elements(int bits, const void *source, int64_t source_at, void *target,
                          int64_t target_at, int64_t count) {
  const tsr_copy copy = {.from = source_at, .to = target_at, .length = count};
  tsr_copy_run(&copy, bits, source, target);
}

void tsr_convert_run(tsr_dtype from, const void *source, int64_t source_at, tsr_dtype to,
                     void *target, int64_t target_at, int64_t count) {
  assert(tsr_convertible(from, to));
  const int from_bits = tsr_dtype_info_of(from)->bits, to_bits = tsr_dtype_info_of(to)->bits;
  if (from == to) {
    copy_elements(from_bits, source, source_at, target, target_at, count);
    return;
  }
  uint8_t from_codes[BLOCK], to_codes[BLOCK];
  // Half a block, since a complex number has two components.
  for (int64_t i = 0; i < count; i += BLOCK / 2) {
    const int64_t step = count - i < BLOCK / 2 ? count - i : BLOCK / 2;
    const void *in = (const char *)source + (source_at + i) * (from_bits / 8);
    void *out = (char *)target + (target_at + i) * (to_bits / 8);
    if (from_bits < 8) tsr_unpack(from_bits, source, source_at + i, step, from_codes);
    convert_block((pair){from, to}, from_bits < 8 ? from_codes : in, to_bits < 8 ? to_codes : out,
                  step);
    if (to_bits < 8) tsr_pack(to_bits, to_codes, step, target, target_at + i);
  }
}

bool tsr_convertible(tsr_dtype from, tsr_dtype to) {
  if (!tsr_dtype_info_of(from) || !tsr_dtype_info_of(to)) return false;
  return !component_of(from) || component_of(to);
}

tsr_status tsr_convert(tsr_dtype from, const void *source, tsr_dtype to, void *target,
                       int64_t count) {
  const tsr_dtype_info *from_info = tsr_dtype_info_of(from), *to_info = tsr_dtype_info_of(to);
  if (!from_info || !to_info)
    return tsr_fail(BAD_ARGUMENT, "element type %d does not exist", (int)(from_info ? to : from));
  if (count < 0) return tsr_fail(BAD_ARGUMENT, "%lld elements, wanted 0 or more", (long long)count);
  if (!tsr_convertible(from, to))
    return tsr_fail(UNSUPPORTED, "%s does not become %s: the imaginary parts would be lost",
                    from_info->name, to_info->name);
  if (count && (!source || !target))
    return tsr_fail(BAD_ARGUMENT, "%lld elements of %s, but no memory to %s", (long long)count,
                    (source ? to_info : from_info)->name,
                    source ? "write them to" : "read them from");
  tsr_convert_run(from, source, 0, to, target, 0, count);
  return NULL;
}
