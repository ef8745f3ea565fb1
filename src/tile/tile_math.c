// Which loop computes a function of a carrier: the vector loop where the processor can run it and
// there is one, else the loop for every processor.
#include "tile/tile_math.h"

enum { F32, F64, C64, C128, CARRIER_COUNT };
typedef tsr_tile_loop *loop_table[TSR_TILE_OP_COUNT][CARRIER_COUNT];

static const loop_table plain_loops = {
#define MATH_REAL(op, name) \
  [TSR_TILE_##op][F32] = tsr_tile_f32_##name, [TSR_TILE_##op][F64] = tsr_tile_f64_##name,
#define MATH_COMPLEX(op, name) \
  [TSR_TILE_##op][C64] = tsr_tile_c64_##name, [TSR_TILE_##op][C128] = tsr_tile_c128_##name,
#include "tile/tile_math.def"
};

#if defined __x86_64__
static const loop_table avx2_loops = {
#define MATH_AVX2_F32(op, name) [TSR_TILE_##op][F32] = tsr_tile_avx2_f32_##name,
#define MATH_AVX2_F64(op, name) [TSR_TILE_##op][F64] = tsr_tile_avx2_f64_##name,
#include "tile/tile_math.def"
};

static tsr_tile_loop *vector_loop(tsr_tile_op op, int carrier) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return NULL;
  return avx2_loops[op][carrier];
}
#else
static tsr_tile_loop *vector_loop(tsr_tile_op op, int carrier) {
  (void)op, (void)carrier;
  return NULL;
}
#endif

tsr_tile_loop *tsr_tile_math_loop(tsr_tile_op op, tsr_dtype carrier) {
  static const tsr_dtype carriers[CARRIER_COUNT] = {TSR_F32, TSR_F64, TSR_C64, TSR_C128};
  for (int i = 0; i < CARRIER_COUNT; i++) {
    if (carriers[i] != carrier) continue;
    tsr_tile_loop *const loop = vector_loop(op, i);
    return loop ? loop : plain_loops[op][i];
  }
  return NULL;
}
