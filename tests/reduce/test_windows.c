// Windows, cumulative reductions, argmax and the gradient of pooling, against loops over indices.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/arg_reduce.h"
#include "reduce/cumulate.h"
#include "reduce/select_scatter.h"
#include "reduce/window.h"
#include "reduce/kernel_runs.h"
#include "support/test.h"

// Whole numbers: sums are exact in any order.
static float *random_floats(test_random *random, int64_t count, int64_t most) {
  float *out = malloc((size_t)count * sizeof *out + 4);
  assert_non_null(out);
  for (int64_t i = 0; i < count; i++) out[i] = (float)test_random_range(random, -most, most);
  return out;
}

static float combined(tsr_tile_op op, float a, float b) {
  switch (op) {
    case TSR_TILE_ADD:
      return a + b;
    case TSR_TILE_MULTIPLY:
      return a * b;
    case TSR_TILE_MAXIMUM:
      return a > b ? a : b;
    default:
      return a < b ? a : b;
  }
}

// ---- cumulative ----

static void check_cumulate(test_random *random, int64_t outer, int64_t length, int64_t inner,
                           tsr_tile_op op, float start) {
  const int64_t all = outer * length * inner;
  float *in = random_floats(random, all, op == TSR_TILE_MULTIPLY ? 1 : 3);
  float *out = malloc((size_t)all * sizeof *out + 4);
  const size_t bytes = (size_t)all * sizeof *out;
  for (int reverse = 0; reverse < 2; reverse++) {
    const tsr_cumulate c = {{outer, length, inner, reverse != 0}, TSR_F32, op, 4};
    run_kernel(&(kernel_trial){tsr_cumulate_run, &c,
                               (const char *const[]){(char *)in, (const char *)&start}, 1,
                               (char *const[]){(char *)out}, &bytes, tsr_cumulate_scratch_bytes(&c),
                               tsr_cumulate_temp_bytes(&c)});
    for (int64_t o = 0; o < outer; o++)
      for (int64_t k = 0; k < inner; k++) {
        float sum = start;
        for (int64_t i = 0; i < length; i++) {
          const int64_t at = (o * length + (reverse ? length - 1 - i : i)) * inner + k;
          sum = combined(op, sum, in[at]);
          assert_true(out[at] == sum);
        }
      }
  }
  free(in), free(out);
}

static void elements_are_combined_up_to_each(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{1, 1, 1},    {3, 7, 1},     {9, 100, 1},  {2, 5, 3},
                                      {2, 6, 2100}, {2, 70000, 1}, {1, 65792, 1}};
  static const tsr_tile_op ops[] = {TSR_TILE_ADD, TSR_TILE_MULTIPLY, TSR_TILE_MAXIMUM,
                                    TSR_TILE_MINIMUM};
  test_random random = {1};
  for (size_t s = 0; s < COUNT_OF(shapes); s++)
    for (size_t i = 0; i < COUNT_OF(ops); i++)
      check_cumulate(&random, shapes[s][0], shapes[s][1], shapes[s][2], ops[i], i == 1 ? 1 : 0);
}

static void extremes_keep_nans_and_signs_of_zeros(void **state) {
  (void)state;
  const float in[6] = {-0.0f, 0.0f, -1, NAN, 5, -0.0f}, start = -INFINITY;
  float out[6];
  const size_t bytes = sizeof out;
  const tsr_cumulate c = {{1, 6, 1, false}, TSR_F32, TSR_TILE_MAXIMUM, 4};
  run_kernel(&(kernel_trial){tsr_cumulate_run, &c,
                             (const char *const[]){(const char *)in, (const char *)&start}, 1,
                             (char *const[]){(char *)out}, &bytes, 64, 64});
  assert_true(signbit(out[0]) && out[0] == 0);
  assert_true(!signbit(out[1]) && out[1] == 0);
  assert_true(out[2] == 0 && isnan(out[3]) && isnan(out[4]) && isnan(out[5]));
}

// ---- windows ----

static tsr_window_shape random_window(test_random *random, int rank) {
  tsr_window_shape w = {.rank = rank};
  for (int d = 0; d < rank; d++) {
    tsr_window_dim *dim = &w.dims[d];
    *dim = (tsr_window_dim){.input = test_random_range(random, 0, 6),
                            .size = test_random_range(random, 1, 3),
                            .stride = test_random_range(random, 1, 3),
                            .dilation = test_random_range(random, 1, 2),
                            .base_dilation = test_random_range(random, 1, 3),
                            .low = test_random_range(random, -1, 3)};
    if (test_random_range(random, 0, 3) == 0) *dim = (tsr_window_dim){4, 4, 1, 1, 1, 1, 0};
    const int64_t high = test_random_range(random, 0, 2);
    const int64_t wide = dim->input ? (dim->input - 1) * dim->base_dilation + 1 : 0;
    const int64_t room = wide + dim->low + high, reach = (dim->size - 1) * dim->dilation + 1;
    if (dim->windows == 0) dim->windows = room < reach ? 0 : (room - reach) / dim->stride + 1;
  }
  return w;
}

static int64_t product(const tsr_window_shape *w, bool windows) {
  int64_t all = 1;
  for (int d = 0; d < w->rank; d++) all *= windows ? w->dims[d].windows : w->dims[d].input;
  return all;
}

// The element under a cell of a window, all as row-major numbers; -1 = none.
static int64_t element_of(const tsr_window_shape *w, int64_t window, int64_t cell) {
  int64_t element = 0, stride = 1;
  for (int d = w->rank - 1; d >= 0; d--) {
    const tsr_window_dim *dim = &w->dims[d];
    const int64_t at = tsr_window_element(dim, window % dim->windows, cell % dim->size);
    if (at < 0) return -1;
    element += at * stride;
    stride *= dim->input;
    window /= dim->windows;
    cell /= dim->size;
  }
  return element;
}

static void check_fold(test_random *random, tsr_window_shape w, tsr_tile_op op, float start) {
  const int64_t inputs = product(&w, false), windows = product(&w, true);
  float *in = random_floats(random, inputs, 2), *out = malloc((size_t)windows * 4 + 4);
  const size_t bytes = (size_t)windows * 4;
  tsr_window_fold fold = {.window = w, .dtype = TSR_F32, .op = op, .element_bytes = 4};
  tsr_window_join(&fold.window);
  run_kernel(&(kernel_trial){
      tsr_window_fold_run, &fold, (const char *const[]){(char *)in, (const char *)&start}, 1,
      (char *const[]){(char *)out}, &bytes, tsr_window_fold_scratch_bytes(&fold), 0});
  for (int64_t i = 0; i < windows; i++) {
    float sum = start;
    for (int64_t c = 0; c < tsr_window_cell_count(&w); c++) {
      const int64_t at = element_of(&w, i, c);
      sum = combined(op, sum, at < 0 ? start : in[at]);
    }
    assert_true(out[i] == sum);
  }
  free(in), free(out);
}

static void windows_are_reduced(void **state) {
  (void)state;
  test_random random = {2};
  for (int i = 0; i < 400; i++) {
    const tsr_window_shape w = random_window(&random, (int)test_random_range(&random, 1, 4));
    check_fold(&random, w, TSR_TILE_ADD, i % 3 ? 0 : 2);  // 2 counts under padding too
    check_fold(&random, w, TSR_TILE_MAXIMUM, -INFINITY);
    check_fold(&random, w, TSR_TILE_MINIMUM, 1);
  }
}

static void long_rows_of_windows_go_in_pieces(void **state) {
  (void)state;
  static const tsr_window_dim rows[] = {{20000, 19998, 3, 1, 1, 1, 0},
                                        {20000, 10001, 3, 2, 1, 1, 2},
                                        {5000, 9997, 2, 1, 2, 2, 0},
                                        {9000, 9000, 20, 1, 1, 1, 10}};
  test_random random = {5};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    const tsr_window_shape w = {.rank = 2, .dims = {{2, 2, 1, 1, 1, 1, 0}, rows[i]}};
    check_fold(&random, w, TSR_TILE_ADD, i % 2 ? 3 : 0);
    check_fold(&random, w, TSR_TILE_MAXIMUM, -INFINITY);
  }
}

// ---- select and scatter ----

static void check_scatter(test_random *random, tsr_window_shape w, bool smallest) {
  const int64_t inputs = product(&w, false), windows = product(&w, true);
  float *in = random_floats(random, inputs, 4), *source = random_floats(random, windows, 9);
  float *out = malloc((size_t)inputs * 4 + 4), *wanted = malloc((size_t)inputs * 4 + 4);
  const float start = 1;
  const size_t bytes = (size_t)inputs * 4;
  tsr_select_scatter s = {.window = w,
                          .dtype = TSR_F32,
                          .element_bytes = 4,
                          .native = true,
                          .smallest = smallest,
                          .most = 3};
  tsr_window_join(&s.window);
  run_kernel(&(kernel_trial){
      tsr_select_scatter_run, &s,
      (const char *const[]){(char *)in, (char *)source, (const char *)&start}, 1,
      (char *const[]){(char *)out}, &bytes, tsr_select_scatter_scratch_bytes(&s), 0});
  for (int64_t i = 0; i < inputs; i++) wanted[i] = start;
  for (int64_t i = 0; i < windows; i++) {
    int64_t chosen = -1;
    for (int64_t c = 0; c < tsr_window_cell_count(&w); c++) {
      const int64_t at = element_of(&w, i, c);
      if (at < 0) continue;
      const bool stays = chosen >= 0 && (smallest ? in[chosen] <= in[at] : in[chosen] >= in[at]);
      if (!stays) chosen = at;
    }
    if (chosen >= 0) wanted[chosen] += source[i];
  }
  if (windows && inputs) assert_memory_equal(out, wanted, bytes);
  free(in), free(source), free(out), free(wanted);
}

static void chosen_elements_take_the_sources(void **state) {
  (void)state;
  test_random random = {3};
  for (int i = 0; i < 400; i++) {
    tsr_window_shape w = random_window(&random, (int)test_random_range(&random, 1, 4));
    for (int d = 0; d < w.rank; d++) {
      tsr_window_dim *dim = &w.dims[d];
      dim->base_dilation = dim->dilation = 1;
      if (dim->low < 0) dim->low = 0;
      const int64_t room = dim->input + dim->low;
      if (dim->size > 1 || dim->stride > 1 || dim->low)
        dim->windows = room < dim->size ? 0 : (room - dim->size) / dim->stride + 1;
      else
        dim->windows = dim->input;
    }
    check_scatter(&random, w, i % 2 != 0);
  }
}

// ---- argmax ----

static void check_arg(test_random *random, int64_t outer, int64_t length, int64_t inner,
                      bool nans) {
  const int64_t all = outer * length * inner, results = outer * inner;
  float *in = random_floats(random, all, 5), *values = malloc((size_t)results * 4 + 4);
  int64_t *places = malloc((size_t)results * 8 + 8);
  for (int64_t i = 0; nans && i < all; i++)
    if (test_random_range(random, 0, 40) == 0) in[i] = NAN;
  for (int smallest = 0; smallest < 2; smallest++) {
    const tsr_arg_reduce a = {TSR_F32, smallest != 0, 8, outer, length, inner};
    const size_t sizes[2] = {(size_t)results * 4, (size_t)results * 8};
    run_kernel(&(kernel_trial){tsr_arg_reduce_run, &a, (const char *const[]){(char *)in}, 2,
                               (char *const[]){(char *)values, (char *)places}, sizes, 0, 0});
    for (int64_t i = 0; i < results; i++) {
      const int64_t start = i / inner * length * inner + i % inner;
      int64_t best = 0;
      for (int64_t k = 1; k < length; k++) {
        const float x = in[start + k * inner], y = in[start + best * inner];
        if (!isnan(y) && (isnan(x) || (smallest ? x < y : x > y))) best = k;
      }
      assert_int_equal(places[i], best);
      assert_memory_equal(&values[i], &in[start + best * inner], 4);
    }
  }
  free(in), free(values), free(places);
}

static void the_first_extreme_element_is_found(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{1, 1, 1},    {5, 9, 1},   {3, 100, 1},  {2, 9000, 1},
                                      {2, 40, 130}, {1, 3, 300}, {40, 2000, 1}};
  test_random random = {4};
  for (size_t s = 0; s < COUNT_OF(shapes); s++)
    for (int nans = 0; nans < 2; nans++)
      check_arg(&random, shapes[s][0], shapes[s][1], shapes[s][2], nans != 0);
}

SUITE(windows, TEST(elements_are_combined_up_to_each), TEST(extremes_keep_nans_and_signs_of_zeros),
      TEST(windows_are_reduced), TEST(long_rows_of_windows_go_in_pieces),
      TEST(chosen_elements_take_the_sources), TEST(the_first_extreme_element_is_found))
