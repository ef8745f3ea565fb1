// Elements are converted to doubles, a few thousand at a time, so one loop serves every dtype with
// little memory. A complex number is a pair.
#include "inspect/elements.h"

#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "inspect/verify_internal.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

enum { CHUNK = 2048 };  // elements; a multiple of 8, so that chunks begin with a byte

// The real type that an element is made of, and how many of them.
static tsr_dtype real_of(tsr_dtype dtype, int *out_parts) {
  *out_parts = dtype == TSR_C64 || dtype == TSR_C128 ? 2 : 1;
  return dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
}

static const char *element_at(tsr_dtype real, const void *elements, int64_t index) {
  return (const char *)elements + index * tsr_dtype_info_of(real)->bits / 8;
}

static void as_doubles(tsr_dtype real, const void *elements, int64_t first, int64_t count,
                       double *out) {
  // Every real type becomes a double.
  tsr_status_free(tsr_convert(real, element_at(real, elements, first), TSR_F64, out, count));
}

// ---- sums ----

static void add_doubles(tsr_sums *sums, const double *values, int64_t count) {
  double sum = 0, squares = 0;  // of this chunk alone, which loses fewer digits
  for (int64_t i = 0; i < count; i++) {
    const double value = values[i];
    if (!isfinite(value)) {
      sums->nans += isnan(value) != 0;
      sums->infinities += isinf(value) != 0;
      continue;
    }
    sums->min = value < sums->min ? value : sums->min;
    sums->max = value > sums->max ? value : sums->max;
    sum += value;
    squares += value * value;
  }
  sums->count += count;
  sums->sum += sum;
  sums->squares += squares;
}

void tsr_sums_add(tsr_sums *sums, tsr_dtype dtype, const void *elements, int64_t count) {
  int components = 1;
  const tsr_dtype real = real_of(dtype, &components);
  double values[CHUNK];
  for (int64_t i = 0; i < count * components; i += CHUNK) {
    const int64_t some = tsr_least(CHUNK, count * components - i);
    as_doubles(real, elements, i, some, values);
    add_doubles(sums, values, some);
  }
}

void tsr_sums_join(tsr_sums *sums, const tsr_sums *more) {
  sums->count += more->count;
  sums->nans += more->nans;
  sums->infinities += more->infinities;
  sums->min = more->min < sums->min ? more->min : sums->min;
  sums->max = more->max > sums->max ? more->max : sums->max;
  sums->sum += more->sum;
  sums->squares += more->squares;
}

tsr_tensor_stats tsr_sums_stats(const tsr_sums *sums) {
  const int64_t finite = sums->count - sums->nans - sums->infinities;
  return (tsr_tensor_stats){.count = sums->count,
                            .nans = sums->nans,
                            .infinities = sums->infinities,
                            .min = finite ? sums->min : NAN,
                            .max = finite ? sums->max : NAN,
                            .mean = finite ? sums->sum / (double)finite : NAN,
                            .norm = finite ? sqrt(sums->squares) : NAN};
}

void tsr_tensor_stats_join(tsr_tensor_stats *stats, const tsr_tensor_stats *more) {
  const int64_t a = stats->count - stats->nans - stats->infinities;
  const int64_t b = more->count - more->nans - more->infinities;
  stats->count += more->count;
  stats->nans += more->nans;
  stats->infinities += more->infinities;
  if (b == 0 && a > 0) return;
  const double share = a + b > 0 ? (double)b / (double)(a + b) : 1;
  stats->min = a > 0 ? fmin(stats->min, more->min) : more->min;
  stats->max = a > 0 ? fmax(stats->max, more->max) : more->max;
  stats->mean = a > 0 ? stats->mean + (more->mean - stats->mean) * share : more->mean;
  stats->norm = a > 0 ? hypot(stats->norm, more->norm) : more->norm;
}

// ---- differences ----

static bool is_near(double a, double b, const tsr_verify_options *options) {
  if (a == b || (isnan(a) && isnan(b))) return true;
  if (!isfinite(a) || !isfinite(b)) return false;
  return fabs(a - b) <= options->absolute + options->relative * fabs(b);
}

// Complex numbers by their distance; their parts if they are not finite.
static bool are_near(const double *a, const double *b, int components,
                     const tsr_verify_options *options) {
  if (components == 1) return is_near(a[0], b[0], options);
  const double distance = hypot(a[0] - b[0], a[1] - b[1]), size = hypot(b[0], b[1]);
  if (isfinite(distance)) return distance <= options->absolute + options->relative * size;
  return is_near(a[0], b[0], options) && is_near(a[1], b[1], options);
}

static void note_error(tsr_errors *errors, double a, double b) {
  if (!isfinite(a) || !isfinite(b) || a == b) return;
  const double absolute = fabs(a - b), relative = b != 0 ? absolute / fabs(b) : 0;
  if (absolute > errors->absolute) errors->absolute = absolute;
  if (relative > errors->relative) errors->relative = relative;
}

static bool same_bits(int bits, const void *const blocks[2], int64_t element) {
  if (bits % 8 == 0) {
    const int64_t width = bits / 8;
    return !memcmp((const char *)blocks[0] + element * width,
                   (const char *)blocks[1] + element * width, (size_t)width);
  }
  unsigned char codes[2] = {0, 0};
  for (int i = 0; i < 2; i++)
    tsr_copy_run(&(tsr_copy){.from = element, .length = 1}, bits, blocks[i], &codes[i]);
  return codes[0] == codes[1];
}

static void note_difference(tsr_errors *errors, int64_t element) {
  if (errors->first < 0) errors->first = element;
  errors->differing++;
}

void tsr_errors_find(const tsr_dtype dtypes[2], const void *const blocks[2], int64_t count,
                     const tsr_verify_options *options, tsr_errors *out_errors) {
  const int bits = tsr_dtype_info_of(dtypes[0])->bits;
  int components = 1;
  const tsr_dtype reals[2] = {real_of(dtypes[0], &components), real_of(dtypes[1], &components)};
  double values[2][CHUNK];
  tsr_errors errors = {.first = -1};
  for (int64_t i = 0; i < count * components; i += CHUNK) {
    const int64_t some = tsr_least(CHUNK, count * components - i);
    for (int w = 0; w < 2; w++) as_doubles(reals[w], blocks[w], i, some, values[w]);
    for (int64_t k = 0; k < some; k += components) {
      const int64_t element = (i + k) / components;
      const bool near = are_near(&values[0][k], &values[1][k], components, options);
      for (int p = 0; p < components; p++) note_error(&errors, values[0][k + p], values[1][k + p]);
      if (!(options->tolerant ? near : same_bits(bits, blocks, element)))
        note_difference(&errors, element);
    }
  }
  *out_errors = errors;
}

void tsr_errors_join(tsr_errors *errors, const tsr_errors *more, int64_t offset) {
  if (errors->first < 0 && more->first >= 0) errors->first = offset + more->first;
  errors->differing += more->differing;
  if (more->absolute > errors->absolute) errors->absolute = more->absolute;
  if (more->relative > errors->relative) errors->relative = more->relative;
}
