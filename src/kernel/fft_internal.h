// What planning and running Fourier transforms share.
//
// A line is one transform along one axis. Lines are computed several at a time, one in each lane of
// a vector, so that every butterfly is vector arithmetic whatever the length. A line that is too
// long for that, or alone, is cut in columns and rows, which are lines of about the root of its
// length.
#ifndef TESSERA_KERNEL_FFT_INTERNAL_H
#define TESSERA_KERNEL_FFT_INTERNAL_H

#include "kernel/fft.h"

enum {
  TSR_FFT_FACTORS = 64,
  TSR_FFT_LARGEST_FACTOR = 31,
  TSR_FFT_VECTOR_BYTES = 32,
  // Vectors of neighbouring lines that are loaded together, so that memory is read in pieces of 256
  // bytes; for lines up to TSR_FFT_WIDE_MOST, whose buffers stay in the second cache.
  TSR_FFT_WIDE = 4,
  TSR_FFT_WIDE_MOST = 2048
};

// How to transform lines of one length, in memory of a worker.
typedef struct tsr_fft_line {
  int64_t length;
  int factor_count;
  int factors[TSR_FFT_FACTORS];
  // For each factor r but the last: r - 1 roots of unity for each index from 1 on.
  const void *twiddles[TSR_FFT_FACTORS];
  // For each odd factor r above 5: cosines and sines of 2 pi k / r.
  const void *roots[TSR_FFT_FACTORS];
  // Lengths with large prime factors are a convolution (Bluestein): `inner` is a longer line.
  const struct tsr_fft_line *inner;
  const void *chirp;   // exp(-pi i k^2 / length)
  const void *filter;  // the spectrum of its conjugate, divided by the inner length
} tsr_fft_line;

typedef enum tsr_fft_method {
  TSR_FFT_LANES,  // lines in lanes
  TSR_FFT_ALONE,  // one line at a time, without lanes
  TSR_FFT_SPLIT,  // lines cut in columns and rows
} tsr_fft_method;

// What happens at the ends of a line.
typedef enum tsr_fft_ends {
  TSR_FFT_COMPLEX,
  TSR_FFT_PAIRS_TO_SPECTRUM,  // pairs of real numbers in, half a spectrum out
  TSR_FFT_SPECTRUM_TO_PAIRS,
  TSR_FFT_REALS_TO_SPECTRUM,  // the same for odd lengths
  TSR_FFT_SPECTRUM_TO_REALS
} tsr_fft_ends;

// All lines along one axis. Line (o, i) starts at o * outer_bytes + i * complex bytes; its elements
// are `inner` complex numbers apart.
typedef struct tsr_fft_axis {
  tsr_fft_method method;
  tsr_fft_ends ends;
  bool inverse;
  double scale;
  int64_t outer, inner;
  int64_t in_bytes, out_bytes;  // from one outer index to the next
  int64_t points;               // numbers in time
  tsr_fft_line line;            // SPLIT: of the columns
  tsr_fft_line rows;            // SPLIT
  const void *coarse, *fine;    // SPLIT: roots between columns and rows, in two steps
  const void *half;             // PAIRS: exp(-2 pi i k / points)
} tsr_fft_axis;

struct tsr_fft {
  bool single;
  int axis_count;
  tsr_fft_axis axes[TSR_FFT_DIMS];  // in the order in which they run
  bool empty;
  int64_t spectrum_bytes;  // of the input of an IRFFT of several dims, which is copied; or 0
  int64_t scratch_bytes, temp_bytes, flops;
};

enum { TSR_FFT_FINE = 16 };  // rows of `fine`

// The functions of one instruction set and type.
typedef struct tsr_fft_functions {
  int lanes;
  // Lines `first` to `first + count - 1` of an axis; a SPLIT axis: of one line, its columns or
  // rows.
  void (*lines)(const tsr_fft_axis *axis, const char *in, char *out, int64_t first, int64_t count,
                char *scratch);
  void (*columns)(const tsr_fft_axis *axis, const char *in, char *temp, int64_t first,
                  int64_t count, char *scratch);
  void (*rows)(const tsr_fft_axis *axis, const char *temp, char *out, int64_t first, int64_t count,
               char *scratch);
  // The ends of a long line.
  void (*to_spectrum)(const tsr_fft_axis *axis, const char *in, char *out, int64_t first,
                      int64_t count);
  void (*from_spectrum)(const tsr_fft_axis *axis, const char *in, char *out, int64_t first,
                        int64_t count);
  // One transform of `line`, for plans: `in` is used up.
  void (*transform)(const tsr_fft_line *line, char *in, char *scratch);
} tsr_fft_functions;

extern const tsr_fft_functions tsr_fft_f32, tsr_fft_f64, tsr_fft_f32_alone, tsr_fft_f64_alone;
#if defined __x86_64__
#define TSR_FFT_AVX2
extern const tsr_fft_functions tsr_fft_f32_avx2, tsr_fft_f64_avx2;
#endif

// The longest that a line gets, and the room of a buffer for it, in complex numbers.
static inline int64_t tsr_fft_line_room(const tsr_fft_line *line) {
  return (line->inner ? line->inner->length : line->length) + 1;
}

// Buffers of a line in scratch memory: one to work with, then those of lines loaded together.
static inline int64_t tsr_fft_buffers(const tsr_fft_line *line) {
  return 1 + (tsr_fft_line_room(line) <= TSR_FFT_WIDE_MOST + 1 ? TSR_FFT_WIDE : 1);
}

#endif
