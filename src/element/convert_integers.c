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

#define WIDEN(type, expression)                                \
  do {                                                         \
    const type *in = source;                                   \
    for (int64_t i = 0; i < count; i++) out[i] = (expression); \
  } while (0)

void tsr_block_load_i64(tsr_dtype dtype, const void *source, int64_t *out, int64_t count) {
  switch (dtype) {
    case TSR_BOOL:
      WIDEN(uint8_t, in[i] != 0);
      return;
    case TSR_I2:
      WIDEN(uint8_t, extend_2(in[i]));
      return;
    case TSR_I4:
      WIDEN(uint8_t, extend_4(in[i]));
      return;
    case TSR_I8:
      WIDEN(int8_t, (int64_t)in[i]);  // NOLINT(bugprone-signed-char-misuse): a number
      return;
    case TSR_I16:
      WIDEN(i16_any, in[i]);
      return;
    case TSR_I32:
      WIDEN(i32_any, in[i]);
      return;
    case TSR_U2:
      WIDEN(uint8_t, in[i] & 3);
      return;
    case TSR_U4:
      WIDEN(uint8_t, in[i] & 15);
      return;
    case TSR_U8:
      WIDEN(uint8_t, in[i]);
      return;
    case TSR_U16:
      WIDEN(u16_any, in[i]);
      return;
    case TSR_U32:
      WIDEN(u32_any, in[i]);
      return;
    case TSR_I64:
    case TSR_U64:
      WIDEN(u64_any, (int64_t)in[i]);
      return;
    default:
      assert(tsr_dtype_info_of(dtype)->kind <= TSR_CLASS_UNSIGNED);
  }
}

#define NARROW(type, expression)                                     \
  do {                                                               \
    type *out = target;                                              \
    for (int64_t i = 0; i < count; i++) out[i] = (type)(expression); \
  } while (0)

void tsr_block_store_i64(tsr_dtype dtype, const int64_t *in, void *target, int64_t count) {
  switch (dtype) {
    case TSR_BOOL:
      NARROW(uint8_t, in[i] != 0);
      return;
    case TSR_I2:
    case TSR_U2:
      NARROW(uint8_t, in[i] & 3);
      return;
    case TSR_I4:
    case TSR_U4:
      NARROW(uint8_t, in[i] & 15);
      return;
    case TSR_I8:
    case TSR_U8:
      NARROW(uint8_t, in[i]);
      return;
    case TSR_I16:
    case TSR_U16:
      NARROW(u16_any, in[i]);
      return;
    case TSR_I32:
    case TSR_U32:
      NARROW(u32_any, in[i]);
      return;
    case TSR_I64:
    case TSR_U64:
      NARROW(u64_any, in[i]);
      return;
    default:
      assert(tsr_dtype_info_of(dtype)->kind <= TSR_CLASS_UNSIGNED);
  }
}
