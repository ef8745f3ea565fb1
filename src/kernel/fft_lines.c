// Fourier transforms of lines for every processor, and of lines one at a time.
#include <string.h>

#include "kernel/fft_internal.h"

#define TARGET

typedef float f32_vector __attribute__((vector_size(TSR_FFT_VECTOR_BYTES)));
#define REAL float
#define VEC f32_vector
#define LANES 8
#define NAMED(name) name##_f32
#include "kernel/fft_lines.inc"
const tsr_fft_functions tsr_fft_f32 = FUNCTIONS;
#undef VEC
#undef LANES
#undef NAMED
#undef FUNCTIONS

#define VEC float
#define LANES 1
#define NAMED(name) name##_f32_alone
#include "kernel/fft_lines.inc"
const tsr_fft_functions tsr_fft_f32_alone = FUNCTIONS;
#undef REAL
#undef VEC
#undef LANES
#undef NAMED
#undef FUNCTIONS

typedef double f64_vector __attribute__((vector_size(TSR_FFT_VECTOR_BYTES)));
#define REAL double
#define VEC f64_vector
#define LANES 4
#define NAMED(name) name##_f64
#include "kernel/fft_lines.inc"
const tsr_fft_functions tsr_fft_f64 = FUNCTIONS;
#undef VEC
#undef LANES
#undef NAMED
#undef FUNCTIONS

#define VEC double
#define LANES 1
#define NAMED(name) name##_f64_alone
#include "kernel/fft_lines.inc"
const tsr_fft_functions tsr_fft_f64_alone = FUNCTIONS;
