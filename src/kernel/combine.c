// The bodies that scatters mostly have, as loops over elements of one type.
#include <string.h>

#include "kernel/scatter.h"

// Integers wrap around, so they are added and multiplied without a sign. Narrow ones are promoted
// to int, whose products do not overflow if they are unsigned before.
#define SUM(T, U, a, b) ((T)(U)((U)(a) + (U)(b)))
#define PRODUCT(T, U, a, b) ((T)(U)(1U * (U)(a) * (U)(b)))
#define LARGER(T, U, a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(T, U, a, b) ((a) < (b) ? (a) : (b))
#define FLOAT_SUM(T, U, a, b) ((a) + (b))
#define FLOAT_PRODUCT(T, U, a, b) ((a) * (b))

#define LOOP(name, T, U, result)                                      \
  static void name(char *target, const char *source, int64_t count) { \
    for (int64_t i = 0; i < count; i++) {                             \
      T a, b;                                                         \
      memcpy(&a, target + i * (int64_t)sizeof a, sizeof a);           \
      memcpy(&b, source + i * (int64_t)sizeof b, sizeof b);           \
      a = result(T, U, a, b);                                         \
      memcpy(target + i * (int64_t)sizeof a, &a, sizeof a);           \
    }                                                                 \
  }
#define INTEGER_LOOPS(name, T, U)      \
  LOOP(add_##name, T, U, SUM)          \
  LOOP(multiply_##name, T, U, PRODUCT) \
  LOOP(maximum_##name, T, U, LARGER)   \
  LOOP(minimum_##name, T, U, SMALLER)
INTEGER_LOOPS(i8, int8_t, uint8_t)
INTEGER_LOOPS(i16, int16_t, uint16_t)
INTEGER_LOOPS(i32, int32_t, uint32_t)
INTEGER_LOOPS(i64, int64_t, uint64_t)
INTEGER_LOOPS(u8, uint8_t, uint8_t)
INTEGER_LOOPS(u16, uint16_t, uint16_t)
INTEGER_LOOPS(u32, uint32_t, uint32_t)
INTEGER_LOOPS(u64, uint64_t, uint64_t)

// A NaN wins; a positive zero is larger than a negative one.
#define FLOAT_ENDS(name, T, U)                          \
  static T larger_##name(T a, T b) {                    \
    U x, y;                                             \
    if (a != a || a > b) return a;                      \
    if (b != b || a < b) return b;                      \
    memcpy(&x, &a, sizeof x), memcpy(&y, &b, sizeof y); \
    x &= y;                                             \
    memcpy(&a, &x, sizeof x);                           \
    return a;                                           \
  }                                                     \
  static T smaller_##name(T a, T b) {                   \
    U x, y;                                             \
    if (a != a || a < b) return a;                      \
    if (b != b || a > b) return b;                      \
    memcpy(&x, &a, sizeof x), memcpy(&y, &b, sizeof y); \
    x |= y;                                             \
    memcpy(&a, &x, sizeof x);                           \
    return a;                                           \
  }
FLOAT_ENDS(f32, float, uint32_t)
FLOAT_ENDS(f64, double, uint64_t)
#define LARGER_F32(T, U, a, b) larger_f32(a, b)
#define SMALLER_F32(T, U, a, b) smaller_f32(a, b)
#define LARGER_F64(T, U, a, b) larger_f64(a, b)
#define SMALLER_F64(T, U, a, b) smaller_f64(a, b)
LOOP(add_f32, float, uint32_t, FLOAT_SUM)
LOOP(multiply_f32, float, uint32_t, FLOAT_PRODUCT)
LOOP(maximum_f32, float, uint32_t, LARGER_F32)
LOOP(minimum_f32, float, uint32_t, SMALLER_F32)
LOOP(add_f64, double, uint64_t, FLOAT_SUM)
LOOP(multiply_f64, double, uint64_t, FLOAT_PRODUCT)
LOOP(maximum_f64, double, uint64_t, LARGER_F64)
LOOP(minimum_f64, double, uint64_t, SMALLER_F64)

typedef struct combine_row {
  tsr_dtype dtype;
  tsr_combine_fn *add, *multiply, *maximum, *minimum;
} combine_row;
#define ROW(id, name) \
  { TSR_##id, add_##name, multiply_##name, maximum_##name, minimum_##name }
static const combine_row rows[] = {ROW(I8, i8),   ROW(I16, i16), ROW(I32, i32), ROW(I64, i64),
                                   ROW(U8, u8),   ROW(U16, u16), ROW(U32, u32), ROW(U64, u64),
                                   ROW(F32, f32), ROW(F64, f64)};

tsr_combine_fn *tsr_combine_of(tsr_tile_op op, tsr_dtype dtype) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].dtype != dtype) continue;
    switch ((int)op) {
      case TSR_TILE_ADD:
        return rows[i].add;
      case TSR_TILE_MULTIPLY:
        return rows[i].multiply;
      case TSR_TILE_MAXIMUM:
        return rows[i].maximum;
      case TSR_TILE_MINIMUM:
        return rows[i].minimum;
      default:
        return NULL;
    }
  }
  return NULL;
}
