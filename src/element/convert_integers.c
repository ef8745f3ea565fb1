// Blocks of integers and bools, widened to and narrowed from 64 bits.
#include <assert.h>

#include "element/convert_blocks.h"

typedef uint16_t u16_any __attribute__((aligned(1), may_alias));
typedef uint32_t u32_any __attribute__((aligned(1), may_alias));
typedef uint64_t u64_any __attribute__((aligned(1), may_alias));
typedef int16_t i16_any __attribute__((aligned(1), may_alias));
typedef int32_t i32_any __attribute__((aligned(1), may_alias));

// The sign of an element of 2 or 4 bits is the highest of them.
static inline int64_t extend_2(uint8_t code) { return ((code & 3) ^ 2) - 2; }
static inline int64_t extend_4(uint8_t code) { return ((code & 15) ^ 8) - 8; }

// clang-format off
#define WIDEN(dtype, type, expression)                                                     \
  case dtype: {                                                                            \
    const type *in = source;                                                               \
    for (int64_t i = 0; i < count; i++) out[i] = (expression);                             \
    return;                                                                                \
  }

void tsr_block_load_i64(tsr_dtype dtype, const void *source, int64_t *out, int64_t count) {
  switch (dtype) {
    WIDEN(TSR_BOOL, uint8_t, in[i] != 0)
    WIDEN(TSR_I2,   uint8_t, extend_2(in[i]))
    WIDEN(TSR_I4,   uint8_t, extend_4(in[i]))
    WIDEN(TSR_I8,   int8_t,  (int64_t)in[i])  // NOLINT(bugprone-signed-char-misuse): a number
    WIDEN(TSR_I16,  i16_any, in[i])
    WIDEN(TSR_I32,  i32_any, in[i])
    WIDEN(TSR_I64,  u64_any, (int64_t)in[i])
    WIDEN(TSR_U2,   uint8_t, in[i] & 3)
    WIDEN(TSR_U4,   uint8_t, in[i] & 15)
    WIDEN(TSR_U8,   uint8_t, in[i])
    WIDEN(TSR_U16,  u16_any, in[i])
    WIDEN(TSR_U32,  u32_any, in[i])
    WIDEN(TSR_U64,  u64_any, (int64_t)in[i])
    default:
      assert(tsr_dtype_info_of(dtype)->kind <= TSR_CLASS_UNSIGNED);
  }
}

#define NARROW(dtype, twin, type, expression)                                              \
  case dtype:                                                                              \
  case twin: {                                                                             \
    type *out = target;                                                                    \
    for (int64_t i = 0; i < count; i++) out[i] = (type)(expression);                       \
    return;                                                                                \
  }

void tsr_block_store_i64(tsr_dtype dtype, const int64_t *in, void *target, int64_t count) {
  if (dtype == TSR_BOOL) {
    uint8_t *out = target;
    for (int64_t i = 0; i < count; i++) out[i] = in[i] != 0;
    return;
  }
  switch (dtype) {
    NARROW(TSR_I2,  TSR_U2,  uint8_t, in[i] & 3)
    NARROW(TSR_I4,  TSR_U4,  uint8_t, in[i] & 15)
    NARROW(TSR_I8,  TSR_U8,  uint8_t, in[i])
    NARROW(TSR_I16, TSR_U16, u16_any, in[i])
    NARROW(TSR_I32, TSR_U32, u32_any, in[i])
    NARROW(TSR_I64, TSR_U64, u64_any, in[i])
    default:
      assert(tsr_dtype_info_of(dtype)->kind <= TSR_CLASS_UNSIGNED);
  }
}
// clang-format on
