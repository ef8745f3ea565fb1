// Blocks of floats: one loop per format and direction, each vectorised by the compiler.
#include <assert.h>

#include "base/convert_blocks.h"
#include "base/float_format.h"

// As they stand in buffers of any alignment.
typedef uint16_t u16_any __attribute__((aligned(1), may_alias));
typedef float f32_any __attribute__((aligned(1), may_alias));
typedef double f64_any __attribute__((aligned(1), may_alias));

// ---- to f32 ----

#define LOAD(name, type, decode)                                                    \
  static void load_##name(const void *source, float *restrict out, int64_t count) { \
    const type *in = source;                                                        \
    for (int64_t i = 0; i < count; i++) out[i] = decode(in[i]);                     \
  }
#define ITSELF(value) (value)
LOAD(F16, u16_any, tsr_f16_decode)
LOAD(BF16, u16_any, tsr_bf16_decode)
LOAD(F8E8M0FNU, uint8_t, tsr_e8m0_decode)
LOAD(F32, f32_any, ITSELF)

// The formats of a byte or less, which have nothing special.
#define BYTE_FORMATS(X) \
  X(F8E3M4)             \
  X(F8E4M3)             \
  X(F8E4M3FN)           \
  X(F8E4M3FNUZ)         \
  X(F8E4M3B11FNUZ)      \
  X(F8E5M2)             \
  X(F8E5M2FNUZ)         \
  X(F6E2M3FN)           \
  X(F6E3M2FN)           \
  X(F4E2M1FN)
#define X(id)                                                                                     \
  TSR_INLINE float decode_##id(uint32_t code) { return tsr_float_decode(tsr_format_##id, code); } \
  TSR_INLINE uint32_t encode_##id(float value) {                                                  \
    return tsr_float_encode(tsr_format_##id, value);                                              \
  }                                                                                               \
  TSR_INLINE uint32_t encode_f64_##id(double value) {                                             \
    return tsr_float_encode_f64(tsr_format_##id, value);                                          \
  }                                                                                               \
  LOAD(id, uint8_t, decode_##id)
BYTE_FORMATS(X)
#undef X

typedef void load_fn(const void *source, float *out, int64_t count);
#define X(id) [TSR_##id] = load_##id,
static load_fn *const loads[TSR_DTYPE_COUNT] = {X(F16) X(BF16) X(F32) X(F8E8M0FNU) BYTE_FORMATS(X)};
#undef X

void tsr_block_load_f32(tsr_dtype dtype, const void *source, float *out, int64_t count) {
  assert(loads[dtype]);
  loads[dtype](source, out, count);
}

// ---- from f32 and f64 ----

#define STORE(name, wide, type, encode)                                                     \
  static void store_##name(const wide *restrict in, void *restrict target, int64_t count) { \
    type *out = target;                                                                     \
    for (int64_t i = 0; i < count; i++) out[i] = (type)encode(in[i]);                       \
  }
TSR_INLINE uint32_t bf16_encode(float value) { return tsr_float_encode(tsr_format_BF16, value); }
TSR_INLINE uint32_t bf16_encode_f64(double value) {
  return tsr_float_encode_f64(tsr_format_BF16, value);
}
STORE(F16, float, u16_any, tsr_f16_encode)
STORE(BF16, float, u16_any, bf16_encode)
STORE(F8E8M0FNU, float, uint8_t, tsr_e8m0_encode)
STORE(F32, float, f32_any, ITSELF)
STORE(F64, float, f64_any, ITSELF)
STORE(f64_F16, double, u16_any, tsr_f16_encode_f64)
STORE(f64_BF16, double, u16_any, bf16_encode_f64)
STORE(f64_F8E8M0FNU, double, uint8_t, tsr_e8m0_encode_f64)
STORE(f64_F32, double, f32_any, ITSELF)
STORE(f64_F64, double, f64_any, ITSELF)
#define X(id)                            \
  STORE(id, float, uint8_t, encode_##id) \
  STORE(f64_##id, double, uint8_t, encode_f64_##id)
BYTE_FORMATS(X)
#undef X

typedef void store_fn(const float *in, void *target, int64_t count);
typedef void store_f64_fn(const double *in, void *target, int64_t count);
#define X(id) [TSR_##id] = store_##id,
static store_fn *const stores[TSR_DTYPE_COUNT] = {X(F16) X(BF16) X(F32) X(F64) X(F8E8M0FNU)
                                                      BYTE_FORMATS(X)};
#undef X
#define X(id) [TSR_##id] = store_f64_##id,
static store_f64_fn *const stores_f64[TSR_DTYPE_COUNT] = {X(F16) X(BF16) X(F32) X(F64) X(F8E8M0FNU)
                                                              BYTE_FORMATS(X)};
#undef X

void tsr_block_store_f32(tsr_dtype dtype, const float *in, void *target, int64_t count) {
  assert(stores[dtype]);
  stores[dtype](in, target, count);
}

void tsr_block_store_f64(tsr_dtype dtype, const double *in, void *target, int64_t count) {
  assert(stores_f64[dtype]);
  stores_f64[dtype](in, target, count);
}
