// Fourier transforms against their definition, computed in long double: all kinds, types, methods
// and ends, for many lengths.
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/fft.h"
#include "support/test.h"

typedef long double complex number;

static number root(int64_t k, int64_t n) {
  const long double angle = 2 * acosl(-1.0L) * (long double)(k % n) / (long double)n;
  return cosl(angle) - sinl(angle) * I;
}

// In place, along one axis: `outer` x n x `inner` numbers.
static void transform_axis(number *x, int64_t outer, int64_t n, int64_t inner, bool inverse) {
  number *line = malloc(sizeof *line * (size_t)n), *roots = malloc(sizeof *roots * (size_t)n);
  for (int64_t k = 0; k < n; k++) roots[k] = inverse ? conjl(root(k, n)) : root(k, n);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      number *at = x + o * n * inner + i;
      for (int64_t k = 0; k < n; k++) {
        line[k] = 0;
        for (int64_t j = 0; j < n; j++) line[k] += at[j * inner] * roots[j * k % n];
        if (inverse) line[k] /= (long double)n;
      }
      for (int64_t k = 0; k < n; k++) at[k * inner] = line[k];
    }
  free(roots);
  free(line);
}

typedef struct shape_case {
  int dims;
  int64_t batches, lengths[3];
} shape_case;

static int64_t total_of(const shape_case *c) {
  int64_t total = c->batches;
  for (int i = 0; i < c->dims; i++) total *= c->lengths[i];
  return total;
}

// Real numbers, or the numbers of a spectrum that real numbers have.
static number *make_input(const shape_case *c, tsr_fft_kind kind) {
  const int64_t total = total_of(c);
  number *x = malloc(sizeof *x * (size_t)(total + 1));
  test_random random = {(uint64_t)total};
  for (int64_t i = 0; i < total; i++) {
    const long double re = (long double)test_random_range(&random, -1000, 1000) / 1000;
    const long double im = (long double)test_random_range(&random, -1000, 1000) / 1000;
    x[i] = kind == TSR_FFT || kind == TSR_IFFT ? re + im * I : re;
  }
  return x;
}

static void transform(const shape_case *c, number *x, bool inverse) {
  int64_t inner = 1, outer = total_of(c);
  for (int i = c->dims - 1; i >= 0; i--) {
    outer /= c->lengths[i];
    transform_axis(x, outer, c->lengths[i], inner, inverse);
    inner *= c->lengths[i];
  }
}

// ---- memory of kernels: whole or half spectra, real numbers ----

static void put(char *memory, bool single, int64_t at, long double value) {
  if (single)
    ((float *)(void *)memory)[at] = (float)value;
  else
    ((double *)(void *)memory)[at] = (double)value;
}

static long double get(const char *memory, bool single, int64_t at) {
  return single ? (long double)((const float *)(const void *)memory)[at]
                : (long double)((const double *)(const void *)memory)[at];
}

// Number i of the half spectrum is number `i / half * n + i % half` of the whole one.
static char *pack(const shape_case *c, const number *x, bool single, bool real, bool half,
                  int64_t *out_count) {
  const int64_t n = c->lengths[c->dims - 1], kept = half ? n / 2 + 1 : n;
  const int64_t count = total_of(c) / n * kept;
  char *memory = calloc((size_t)count * 2 + 1, single ? 4 : 8);
  for (int64_t i = 0; i < count; i++) {
    const number value = x[i / kept * n + i % kept];
    put(memory, single, real ? i : 2 * i, creall(value));
    if (!real) put(memory, single, 2 * i + 1, cimagl(value));
  }
  *out_count = real ? count : 2 * count;
  return memory;
}

static void check_transform(const shape_case *c, tsr_fft_kind kind, bool single) {
  const bool inverse = kind == TSR_IFFT || kind == TSR_IRFFT;
  const bool real = kind == TSR_RFFT || kind == TSR_IRFFT;
  number *x = make_input(c, kind), *wanted = malloc(sizeof *x * (size_t)(total_of(c) + 1));
  memcpy(wanted, x, sizeof *x * (size_t)total_of(c));
  if (kind == TSR_IRFFT)
    transform(c, x, false);
  else
    transform(c, wanted, inverse);
  int64_t in_count = 0, out_count = 0;
  char *in = pack(c, x, single, kind == TSR_RFFT, kind == TSR_IRFFT, &in_count);
  char *expected = pack(c, wanted, single, kind == TSR_IRFFT, kind == TSR_RFFT, &out_count);
  char *out = calloc((size_t)out_count + 1, single ? 4 : 8);

  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_fft *fft = NULL;
  assert_ok(tsr_fft_plan(&arena, kind, single, c->batches, c->dims, c->lengths, &fft));
  char *scratch = aligned_alloc(64, (size_t)(tsr_fft_scratch_bytes(fft) + 127) / 64 * 64);
  char *temp = malloc((size_t)tsr_fft_temp_bytes(fft) + 1);
  assert_ok(tsr_fft_run(fft, &(tsr_kernel_call){.inputs = (const char *[]){in},
                                                .outputs = (char *[]){out},
                                                .scratch = scratch,
                                                .temp = temp}));
  long double error = 0, norm = 0;
  for (int64_t i = 0; i < out_count; i++) {
    const long double a = get(out, single, i), b = get(expected, single, i);
    error += (a - b) * (a - b);
    norm += b * b;
  }
  const long double limit = (single ? 4e-7L : 8e-16L) * (real ? 2 : 1);
  if (!(sqrtl(error) <= limit * sqrtl(norm)))
    fail_msg("kind %d, single %d, lengths %lld %lld %lld: error %Lg of %Lg", kind, single,
             (long long)c->lengths[0], (long long)c->lengths[1], (long long)c->lengths[2],
             sqrtl(error), sqrtl(norm));
  free(temp);
  free(scratch);
  tsr_arena_deinit(&arena);
  free(out);
  free(expected);
  free(in);
  free(wanted);
  free(x);
}

static void check_all(const shape_case *c) {
  for (tsr_fft_kind kind = TSR_FFT; kind <= TSR_IRFFT; kind++)
    for (int single = 0; single < 2; single++) check_transform(c, kind, single);
}

static void lengths_of_every_kind_are_transformed(void **state) {
  (void)state;
  for (int64_t n = 1; n <= 70; n++) check_all(&(shape_case){1, 1 + n % 11, {n}});
  const int64_t lengths[] = {127, 128, 144, 210, 360, 509, 625, 1024};
  for (size_t i = 0; i < COUNT_OF(lengths); i++) check_all(&(shape_case){1, 1, {lengths[i]}});
  check_all(&(shape_case){1, 9, {210}});
}

static void several_dims_are_transformed(void **state) {
  (void)state;
  const shape_case cases[] = {{2, 1, {4, 4}},    {2, 3, {5, 6}},    {2, 2, {16, 9}},
                              {2, 1, {1, 8}},    {2, 1, {37, 12}},  {3, 2, {3, 4, 5}},
                              {3, 1, {8, 8, 8}}, {3, 2, {2, 3, 1}}, {2, 1, {128, 16}},
                              {2, 1, {144, 1}},  {3, 1, {1, 1, 7}}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) check_all(&cases[i]);
}

static void long_lines_are_split(void **state) {
  (void)state;
  check_transform(&(shape_case){1, 1, {4608}}, TSR_FFT, true);
  check_transform(&(shape_case){1, 2, {2304}}, TSR_IFFT, false);
  check_transform(&(shape_case){1, 1, {2053}}, TSR_FFT, false);  // a prime
}

static void empty_tensors_are_left_alone(void **state) {
  (void)state;
  const shape_case cases[] = {{1, 0, {17}}, {1, 3, {0}}, {2, 1, {0, 4}}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_arena arena = TSR_ARENA_EMPTY;
    tsr_fft *fft = NULL;
    assert_ok(tsr_fft_plan(&arena, TSR_FFT, true, cases[i].batches, cases[i].dims, cases[i].lengths,
                           &fft));
    assert_ok(tsr_fft_run(
        fft, &(tsr_kernel_call){.inputs = (const char *[]){NULL}, .outputs = (char *[]){NULL}}));
    tsr_arena_deinit(&arena);
  }
}

static void infinite_lines_do_not_touch_others(void **state) {
  (void)state;
  float in[16] = {1, 2, 3, 4, INFINITY, 0, NAN, 1}, out[24];
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_fft *fft = NULL;
  assert_ok(tsr_fft_plan(&arena, TSR_RFFT, true, 4, 1, (int64_t[]){4}, &fft));
  char *scratch = aligned_alloc(64, (size_t)(tsr_fft_scratch_bytes(fft) + 127) / 64 * 64);
  assert_ok(tsr_fft_run(fft, &(tsr_kernel_call){.inputs = (const char *[]){(const char *)in},
                                                .outputs = (char *[]){(char *)out},
                                                .scratch = scratch}));
  const float wanted[] = {10, 0, -2, 2, -2, 0};
  assert_memory_equal(out, wanted, sizeof wanted);
  assert_true(isnan(out[6]) && out[12] == 0 && out[18] == 0);
  free(scratch);
  tsr_arena_deinit(&arena);
}

static tsr_status plan_twice(void *context) {
  (void)context;
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_fft *fft = NULL;
  tsr_status status = tsr_fft_plan(&arena, TSR_IRFFT, true, 2, 2, (int64_t[]){37, 4096}, &fft);
  tsr_arena_deinit(&arena);
  return status;
}

static void plans_survive_a_lack_of_memory(void **state) {
  (void)state;
  test_allocation_sweep(plan_twice, NULL);
}

SUITE(fft, TEST(lengths_of_every_kind_are_transformed), TEST(several_dims_are_transformed),
      TEST(long_lines_are_split), TEST(empty_tensors_are_left_alone),
      TEST(infinite_lines_do_not_touch_others), TEST(plans_survive_a_lack_of_memory))
