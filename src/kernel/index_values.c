// Reading indices: one loop for each width and sign. Those narrower than a byte are bytes here.
#include "kernel/index_values.h"

#include <string.h>

#define READ(name, type, value)                                                     \
  static void name(const char *from, int64_t stride, int64_t count, int64_t *out) { \
    for (int64_t i = 0; i < count; i++) {                                           \
      type number;                                                                  \
      memcpy(&number, from + i * stride * (int64_t)sizeof number, sizeof number);   \
      out[i] = (value);                                                             \
    }                                                                               \
  }
READ(read_i8, int8_t, number)
READ(read_i16, int16_t, number)
READ(read_i32, int32_t, number)
READ(read_i64, int64_t, number)
READ(read_u8, uint8_t, number)
READ(read_u16, uint16_t, number)
READ(read_u32, uint32_t, number)
READ(read_u64, uint64_t, number > INT64_MAX ? INT64_MAX : (int64_t)number)

typedef void read_fn(const char *from, int64_t stride, int64_t count, int64_t *out);
static read_fn *const readers[TSR_DTYPE_COUNT] = {
    [TSR_BOOL] = read_u8, [TSR_I2] = read_i8,   [TSR_I4] = read_i8,   [TSR_I8] = read_i8,
    [TSR_I16] = read_i16, [TSR_I32] = read_i32, [TSR_I64] = read_i64, [TSR_U2] = read_u8,
    [TSR_U4] = read_u8,   [TSR_U8] = read_u8,   [TSR_U16] = read_u16, [TSR_U32] = read_u32,
    [TSR_U64] = read_u64,
};

void tsr_read_indices(tsr_dtype dtype, const char *from, int64_t stride, int64_t count,
                      int64_t *out) {
  readers[dtype](from, stride, count, out);
}
