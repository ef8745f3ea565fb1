// The functions behind tsr_tile_math_loop.
#ifndef TESSERA_TILE_TILE_MATH_H
#define TESSERA_TILE_TILE_MATH_H

#include "tile/tile_loops.h"

#define MATH_REAL(op, name) extern tsr_tile_loop tsr_tile_f32_##name, tsr_tile_f64_##name;
#define MATH_COMPLEX(op, name) extern tsr_tile_loop tsr_tile_c64_##name, tsr_tile_c128_##name;
#define MATH_AVX2_F32(op, name) extern tsr_tile_loop tsr_tile_avx2_f32_##name;
#define MATH_AVX2_F64(op, name) extern tsr_tile_loop tsr_tile_avx2_f64_##name;
#include "tile/tile_math.def"

// log(1/2) in f32
#define LOG_HALF32 -0x1.62e43p-1

// Functions that the C library lacks (tile_special.c), of f64; those of f32 are these, rounded.
double tsr_bessel_i1e(double x);
double tsr_digamma(double x);
double tsr_erf_inv(double x);
double tsr_lgamma(double x);
double tsr_polygamma(double order, double x);
double tsr_zeta(double s, double q);  // the sum of (q + k)^-s over k = 0, 1, 2 ...

#endif
