// Plans of Fourier transforms: factors of lengths, roots of unity, and which method each axis
// takes. Roots are computed in double precision, each by itself, from an angle of at most an eighth
// turn.
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "kernel/fft_internal.h"

enum {
  LONGEST = 1 << 30,
  LONGEST_IN_LANES_F32 = 4096,  // two buffers of a line stay in the second cache
  LONGEST_IN_LANES_F64 = 2048,
  SHORTEST_SPLIT = 128,  // of a line that has no neighbours
  SHORTEST_SIDE = 8
};

typedef struct fft_maker {
  tsr_arena *arena;
  bool single;
  int64_t plane;  // from a real part to its imaginary part, or 0: they follow each other
} fft_maker;

// ---- roots of unity ----

// exp(-2 pi i k / n) for 0 <= k < n.
static void root_of_unity(int64_t k, int64_t n, double *out_re, double *out_im) {
  const int64_t quarter = 4 * k / n, rest = 4 * k - quarter * n;
  const double right = 1.57079632679489661923;
  const double angle = right * (double)(2 * rest <= n ? rest : n - rest) / (double)n;
  const double small = sin(angle), large = cos(angle);
  const double c = 2 * rest <= n ? large : small, s = 2 * rest <= n ? small : large;
  const double re[] = {c, -s, -c, s}, im[] = {-s, -c, s, c};
  *out_re = re[quarter];
  *out_im = im[quarter];
}

static void *new_numbers(const fft_maker *maker, int64_t count) {
  return tsr_arena_zeros(maker->arena, (size_t)count, maker->single ? 8 : 16);
}

static void put_number(const fft_maker *maker, void *numbers, int64_t at, double re, double im) {
  const int64_t first = maker->plane ? at : 2 * at;
  const int64_t second = maker->plane ? at + maker->plane : 2 * at + 1;
  if (maker->single) {
    ((float *)numbers)[first] = (float)re;
    ((float *)numbers)[second] = (float)im;
  } else {
    ((double *)numbers)[first] = re;
    ((double *)numbers)[second] = im;
  }
}

static void put_root(const fft_maker *maker, void *numbers, int64_t at, int64_t k, int64_t n) {
  double re = 0, im = 0;
  root_of_unity(k % n, n, &re, &im);
  put_number(maker, numbers, at, re, im);
}

// exp(-2 pi i step k / n) for k < count, step * count <= n. In f32 most are products of two roots,
// which differ from the exact ones by less than a rounding; in f64 each is computed by itself.
static void put_roots(const fft_maker *maker, void *numbers, int64_t count, int64_t step,
                      int64_t n) {
  enum { NEAR = 64 };
  double near[NEAR][2];
  for (int64_t k = 0; k < NEAR && k < count && maker->single; k++)
    root_of_unity(k * step % n, n, &near[k][0], &near[k][1]);
  for (int64_t k = 0; k < count; k++) {
    double re = 0, im = 0;
    if (k % NEAR == 0 || !maker->single) {
      put_root(maker, numbers, k, k * step, n);
      continue;
    }
    root_of_unity(k / NEAR * NEAR * step % n, n, &re, &im);
    for (int64_t end = tsr_least(k / NEAR * NEAR + NEAR, count); k < end; k++) {
      const double *w = near[k % NEAR];
      put_number(maker, numbers, k, re * w[0] - im * w[1], re * w[1] + im * w[0]);
    }
    k--;
  }
}

// ---- lines ----

// Fours first, then a two, then odd factors. False if one is too large.
static bool factorise(int64_t length, tsr_fft_line *line) {
  int count = 0;
  while (length % 4 == 0) line->factors[count++] = 4, length /= 4;
  if (length % 2 == 0) line->factors[count++] = 2, length /= 2;
  for (int r = 3; r <= TSR_FFT_LARGEST_FACTOR; r += 2)
    while (length % r == 0) line->factors[count++] = r, length /= r;
  line->factor_count = count;
  return length == 1;
}

static bool is_smooth(int64_t length) {
  tsr_fft_line line = {0};
  return factorise(length, &line);
}

static tsr_status make_twiddles(const fft_maker *maker, tsr_fft_line *line) {
  int64_t groups = 1;
  for (int i = 0; i < line->factor_count; i++) {
    const int r = line->factors[i];
    const int64_t width = line->length / (groups * r);
    void *twiddles = new_numbers(maker, (width - 1) * (r - 1) + 1);
    if (!twiddles) return tsr_fail(NO_MEMORY, "roots of a transform");
    for (int64_t k = 1; k < width; k++)
      for (int j = 1; j < r; j++)
        put_root(maker, twiddles, (k - 1) * (r - 1) + j - 1, j * groups * k, line->length);
    line->twiddles[i] = twiddles;
    if (r > 5) {
      void *roots = new_numbers(maker, r);
      if (!roots) return tsr_fail(NO_MEMORY, "roots of a transform");
      for (int k = 0; k < r; k++) {
        double re = 0, im = 0;
        root_of_unity(k, r, &re, &im);
        put_number(maker, roots, k, re, -im);
      }
      line->roots[i] = roots;
    }
    groups *= r;
  }
  return NULL;
}

// The least product of a few small factors that is at least `length`.
static int64_t smooth_length(int64_t length) {
  static const int odd[] = {1, 3, 5, 9, 15, 25, 27};
  int64_t best = INT64_MAX;
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    int64_t candidate = odd[i];
    while (candidate < length) candidate *= 2;
    best = tsr_least(best, candidate);
  }
  return best;
}

// exp(-pi i k^2 / n).
static void chirp_at(int64_t k, int64_t n, double *out_re, double *out_im) {
  const uint64_t square = (uint64_t)k * (uint64_t)k % (2 * (uint64_t)n);
  root_of_unity((int64_t)square, 2 * n, out_re, out_im);
}

// The spectrum of the conjugate chirp, computed in double precision in memory of its own.
static tsr_status make_filter(const fft_maker *maker, tsr_fft_line *line, tsr_arena *own) {
  const int64_t n = line->length, m = line->inner->length;
  const fft_maker wide = {own, false, 0};
  tsr_fft_line exact = {.length = m};
  factorise(m, &exact);
  TSR_TRY(make_twiddles(&wide, &exact));
  double *numbers = new_numbers(&wide, m), *scratch = new_numbers(&wide, m);
  void *filter = new_numbers(maker, m);
  if (!numbers || !scratch || !filter) return tsr_fail(NO_MEMORY, "roots of a transform");
  for (int64_t k = 0; k < n; k++) {
    double re = 0, im = 0;
    chirp_at(k, n, &re, &im);
    put_number(&wide, numbers, k, re, -im);
    if (k) put_number(&wide, numbers, m - k, re, -im);
  }
  tsr_fft_f64_alone.transform(&exact, (char *)numbers, (char *)scratch);
  for (int64_t k = 0; k < m; k++)
    put_number(maker, filter, k, numbers[2 * k] / (double)m, numbers[2 * k + 1] / (double)m);
  line->filter = filter;
  return NULL;
}

static tsr_status make_line(const fft_maker *maker, int64_t length, tsr_fft_line *line) {
  *line = (tsr_fft_line){.length = length};
  if (factorise(length, line)) return make_twiddles(maker, line);
  tsr_fft_line *inner = tsr_arena_zeros(maker->arena, 1, sizeof *inner);
  void *chirp = new_numbers(maker, length);
  if (!inner || !chirp) return tsr_fail(NO_MEMORY, "roots of a transform");
  TSR_TRY(make_line(maker, smooth_length(2 * length - 1), inner));
  for (int64_t k = 0; k < length; k++) {
    double re = 0, im = 0;
    chirp_at(k, length, &re, &im);
    put_number(maker, chirp, k, re, im);
  }
  line->inner = inner;
  line->chirp = chirp;
  tsr_arena own = TSR_ARENA_EMPTY;
  const tsr_status status = make_filter(maker, line, &own);
  tsr_arena_deinit(&own);
  return status;
}

// ---- axes ----

static int64_t least_side(int64_t length) {
  int64_t side = (int64_t)sqrt((double)length);
  while (side > 1 && length % side) side--;
  return side;
}

static int64_t bytes_of(bool single) { return single ? 8 : 16; }

static tsr_status make_split(const fft_maker *maker, int64_t length, tsr_fft_axis *axis) {
  const int64_t height = least_side(length), width = length / height;
  TSR_TRY(make_line(maker, height, &axis->line));
  TSR_TRY(make_line(maker, width, &axis->rows));
  const int64_t coarse_rows = (height + TSR_FFT_FINE - 1) / TSR_FFT_FINE;
  char *coarse = new_numbers(maker, coarse_rows * width);
  char *fine = new_numbers(maker, TSR_FFT_FINE * width);
  if (!coarse || !fine) return tsr_fail(NO_MEMORY, "roots of a transform");
  const int64_t row = width * (maker->single ? 8 : 16);
  const fft_maker planar = {maker->arena, maker->single, width};
  for (int64_t k = 0; k < coarse_rows; k++)
    put_roots(&planar, coarse + k * row, width, k * TSR_FFT_FINE, length);
  for (int64_t k = 0; k < TSR_FFT_FINE; k++) put_roots(&planar, fine + k * row, width, k, length);
  axis->coarse = coarse;
  axis->fine = fine;
  return NULL;
}

static tsr_fft_method method_of(bool single, int64_t length, int64_t lines, tsr_fft_ends ends) {
  const int lanes = single ? 8 : 4;
  const int64_t longest = single ? LONGEST_IN_LANES_F32 : LONGEST_IN_LANES_F64;
  const bool pairs = ends <= TSR_FFT_SPECTRUM_TO_PAIRS;
  const bool splits = pairs && is_smooth(length) && least_side(length) >= SHORTEST_SIDE;
  if (splits && (length > longest || (lines < lanes && length >= SHORTEST_SPLIT)))
    return TSR_FFT_SPLIT;
  const bool smooth = is_smooth(length);
  return length <= (smooth ? longest : longest / 2) ? TSR_FFT_LANES : TSR_FFT_ALONE;
}

// The roots that join the halves of a spectrum.
static tsr_status make_half(const fft_maker *maker, tsr_fft_axis *axis) {
  const int64_t half = axis->points / 2;
  void *numbers = new_numbers(maker, half + 1);
  if (!numbers) return tsr_fail(NO_MEMORY, "roots of a transform");
  put_roots(maker, numbers, half + 1, 1, axis->points);
  axis->half = numbers;
  return NULL;
}

static tsr_status make_axis(const fft_maker *maker, tsr_fft_axis *axis) {
  const bool pairs =
      axis->ends == TSR_FFT_PAIRS_TO_SPECTRUM || axis->ends == TSR_FFT_SPECTRUM_TO_PAIRS;
  const int64_t length = pairs ? axis->points / 2 : axis->points;
  axis->method = method_of(maker->single, length, axis->outer * axis->inner, axis->ends);
  if (pairs) TSR_TRY(make_half(maker, axis));
  if (axis->method == TSR_FFT_SPLIT) return make_split(maker, length, axis);
  return make_line(maker, length, &axis->line);
}

static tsr_fft_ends ends_of(tsr_fft_kind kind, int64_t points) {
  if (kind == TSR_RFFT) return points % 2 ? TSR_FFT_REALS_TO_SPECTRUM : TSR_FFT_PAIRS_TO_SPECTRUM;
  if (kind == TSR_IRFFT) return points % 2 ? TSR_FFT_SPECTRUM_TO_REALS : TSR_FFT_SPECTRUM_TO_PAIRS;
  return TSR_FFT_COMPLEX;
}

static int64_t buffers_bytes(const tsr_fft_line *line, int64_t number) {
  return tsr_fft_buffers(line) * tsr_fft_line_room(line) * number;
}

// The memory of a worker and of the run that an axis needs.
static void add_memory(tsr_fft *fft, const tsr_fft_axis *axis) {
  const int64_t lanes = axis->method == TSR_FFT_ALONE ? 1 : fft->single ? 8 : 4;
  const int64_t number = bytes_of(fft->single) * lanes;
  int64_t scratch = buffers_bytes(&axis->line, number), temp = 0;
  if (axis->method == TSR_FFT_SPLIT) {
    const int64_t rows = buffers_bytes(&axis->rows, number);
    if (rows > scratch) scratch = rows;
    const int64_t length = axis->line.length * axis->rows.length;
    temp = length * bytes_of(fft->single) * (axis->ends == TSR_FFT_COMPLEX ? 1 : 2);
  }
  if (scratch > fft->scratch_bytes) fft->scratch_bytes = scratch;
  if (temp > fft->temp_bytes) fft->temp_bytes = temp;
}

// Axes run from the last dim to the first, those of an IRFFT the other way round.
static tsr_status fill_axes(const fft_maker *maker, tsr_fft *fft, tsr_fft_kind kind,
                            int64_t batches, int dims, const int64_t *lengths) {
  const bool inverse = kind == TSR_IFFT || kind == TSR_IRFFT;
  const bool real = kind == TSR_RFFT || kind == TSR_IRFFT;
  const int64_t spectrum = real ? lengths[dims - 1] / 2 + 1 : lengths[dims - 1];
  int64_t total = 1;
  for (int i = 0; i < dims; i++) total *= lengths[i];
  for (int i = 0; i < dims; i++) {
    const int dim = kind == TSR_IRFFT ? i : dims - 1 - i;
    tsr_fft_axis *axis = &fft->axes[i];
    *axis = (tsr_fft_axis){.inverse = inverse,
                           .scale = inverse && i == dims - 1 ? 1.0 / (double)total : 1.0,
                           .outer = batches,
                           .inner = 1,
                           .points = lengths[dim]};
    for (int d = 0; d < dim; d++) axis->outer *= lengths[d];
    for (int d = dim + 1; d < dims; d++) axis->inner *= d == dims - 1 ? spectrum : lengths[d];
    const bool last = dim == dims - 1;
    axis->ends = last ? ends_of(kind, lengths[dim]) : TSR_FFT_COMPLEX;
    axis->in_bytes = axis->out_bytes =
        (last ? spectrum : lengths[dim]) * axis->inner * bytes_of(fft->single);
    if (last && kind == TSR_RFFT) axis->in_bytes = lengths[dim] * bytes_of(fft->single) / 2;
    if (last && kind == TSR_IRFFT) axis->out_bytes = lengths[dim] * bytes_of(fft->single) / 2;
    TSR_TRY(make_axis(maker, axis));
    add_memory(fft, axis);
  }
  if (kind == TSR_IRFFT && dims > 1)
    fft->spectrum_bytes = batches * (total / lengths[dims - 1]) * spectrum * bytes_of(fft->single);
  fft->flops = (int64_t)(5.0 * (double)batches * (double)total * log2((double)total + 1));
  return NULL;
}

tsr_status tsr_fft_plan(tsr_arena *arena, tsr_fft_kind kind, bool single, int64_t batches, int dims,
                        const int64_t *lengths, tsr_fft **out_fft) {
  tsr_fft *fft = tsr_arena_zeros(arena, 1, sizeof *fft);
  if (!fft) return tsr_fail(NO_MEMORY, "plan of a transform");
  fft->single = single;
  fft->empty = batches == 0;
  fft->axis_count = dims;
  for (int i = 0; i < dims; i++) {
    if (lengths[i] > LONGEST)
      return tsr_fail(TOO_LARGE, "a transform of length %lld, at most %d", (long long)lengths[i],
                      LONGEST);
    if (lengths[i] == 0) fft->empty = true;
  }
  const fft_maker maker = {arena, single, 0};
  if (!fft->empty) TSR_TRY(fill_axes(&maker, fft, kind, batches, dims, lengths));
  fft->temp_bytes += fft->spectrum_bytes;
  *out_fft = fft;
  return NULL;
}

int64_t tsr_fft_scratch_bytes(const tsr_fft *fft) { return fft->scratch_bytes; }
int64_t tsr_fft_temp_bytes(const tsr_fft *fft) { return fft->temp_bytes; }
int64_t tsr_fft_flops(const tsr_fft *fft) { return fft->flops; }
