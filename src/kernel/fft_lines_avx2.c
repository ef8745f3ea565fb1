// Fourier transforms of lines for processors with AVX2, selected at run time (fft.c).
#include <string.h>

#include "kernel/fft_internal.h"

#ifdef TSR_FFT_AVX2
#define TARGET __attribute__((target("avx2")))

typedef float f32_vector __attribute__((vector_size(TSR_FFT_VECTOR_BYTES)));
#define REAL float
#define VEC f32_vector
#define LANES 8
#define NAMED(name) name##_f32_avx2
#include "kernel/fft_lines.inc"
const tsr_fft_functions tsr_fft_f32_avx2 = FUNCTIONS;
#undef REAL
#undef VEC
#undef LANES
#undef NAMED
#undef FUNCTIONS

typedef double f64_vector __attribute__((vector_size(TSR_FFT_VECTOR_BYTES)));
#define REAL double
#define VEC f64_vector
#define LANES 4
#define NAMED(name) name##_f64_avx2
#include "kernel/fft_lines.inc"
const tsr_fft_functions tsr_fft_f64_avx2 = FUNCTIONS;
#else
typedef int tsr_fft_no_avx2;  // a file must declare something
#endif
