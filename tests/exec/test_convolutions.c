// Convolutions of random forms against plain loops: strides, padding (negative too), dilations of
// both sides, groups of features and of the batch, reversed windows, any order of dims. Elements
// are small whole numbers, so that sums are exact in every order.
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "element/convert_blocks.h"
#include "exec/runs.h"

enum { MOST_SPATIAL = 3, MOST_DIMS = MOST_SPATIAL + 2 };

// A tensor with named dims: 0 = batch (or output feature of the weights), 1 = feature (or input
// feature), 2 and on = spatial. `place` gives where each lies.
typedef struct conv_tensor {
  int rank;
  int place[MOST_DIMS];
  int64_t size[MOST_DIMS];  // by name
  int64_t count;
  float *numbers;
} conv_tensor;

typedef struct conv_form {
  int spatial;
  int64_t groups, batch_groups;
  int64_t stride[MOST_SPATIAL], low[MOST_SPATIAL], high[MOST_SPATIAL];
  int64_t input_dilation[MOST_SPATIAL], kernel_dilation[MOST_SPATIAL];
  bool reversed[MOST_SPATIAL];
  conv_tensor input, kernel, output;
} conv_form;

static int64_t offset_of(const conv_tensor *t, const int64_t *index) {
  int64_t sizes[MOST_DIMS], at[MOST_DIMS], offset = 0;
  for (int i = 0; i < t->rank; i++) {
    sizes[t->place[i]] = t->size[i];
    at[t->place[i]] = index[i];
  }
  for (int i = 0; i < t->rank; i++) offset = offset * sizes[i] + at[i];
  return offset;
}

static void shuffle_dims(test_random *random, conv_tensor *t, bool plain) {
  for (int i = 0; i < t->rank; i++) t->place[i] = i;
  for (int i = t->rank - 1; !plain && i > 0; i--) {
    const int other = (int)test_random_range(random, 0, i), kept = t->place[i];
    t->place[i] = t->place[other];
    t->place[other] = kept;
  }
}

// Features innermost, as most models have them.
static void put_features_last(conv_tensor *t, bool kernel) {
  const int last = t->rank - 1;
  for (int i = 2; i < t->rank; i++) t->place[i] = kernel ? i - 2 : i - 1;
  t->place[1] = kernel ? last - 1 : last;
  t->place[0] = kernel ? last : 0;
}

static void fill_tensor(test_random *random, conv_tensor *t) {
  t->count = 1;
  for (int i = 0; i < t->rank; i++) t->count *= t->size[i];
  t->numbers = calloc((size_t)t->count + 1, sizeof(float));
  for (int64_t i = 0; random && i < t->count; i++)
    t->numbers[i] = (float)test_random_range(random, -2, 2);
}

static void choose_spatial(test_random *random, conv_form *f, int d) {
  const int64_t input = test_random_range(random, 1, 9), kernel = test_random_range(random, 1, 4);
  f->stride[d] = test_random_range(random, 1, 3);
  f->input_dilation[d] = test_random_range(random, 0, 2) ? 1 : 2;
  f->kernel_dilation[d] = test_random_range(random, 0, 2) ? 1 : 2;
  f->reversed[d] = !test_random_range(random, 0, 3);
  const int64_t window = (kernel - 1) * f->kernel_dilation[d] + 1;
  int64_t padded = 0;
  do {
    f->low[d] = test_random_range(random, -2, 4);
    f->high[d] = test_random_range(random, -2, 4);
    padded = (input - 1) * f->input_dilation[d] + 1 + f->low[d] + f->high[d];
  } while (padded < window);
  f->input.size[2 + d] = input;
  f->kernel.size[2 + d] = kernel;
  f->output.size[2 + d] = (padded - window) / f->stride[d] + 1;
}

static void choose_form(test_random *random, int64_t index, conv_form *f) {
  *f = (conv_form){
      .spatial = (int)test_random_range(random, 0, MOST_SPATIAL), .groups = 1, .batch_groups = 1};
  f->input.rank = f->kernel.rank = f->output.rank = f->spatial + 2;
  for (int d = 0; d < f->spatial; d++) choose_spatial(random, f, d);
  const int64_t kind = index % 4;
  if (kind == 1) f->groups = test_random_range(random, 2, 3);
  if (kind == 2) f->batch_groups = test_random_range(random, 2, 3);
  int64_t inputs = test_random_range(random, 1, 5);
  int64_t outputs = test_random_range(random, 1, index % 5 ? 5 : 40);
  if (index % 12 == 1) {  // each channel by itself
    f->groups = test_random_range(random, 2, 40);
    inputs = outputs = 1;
  }
  f->input.size[0] = f->batch_groups * test_random_range(random, 1, 3);
  f->input.size[1] = f->groups * inputs;
  f->kernel.size[0] = f->output.size[1] = f->groups * f->batch_groups * outputs;
  f->kernel.size[1] = inputs;
  f->output.size[0] = f->input.size[0] / f->batch_groups;
  conv_tensor *all[] = {&f->input, &f->kernel, &f->output};
  for (int t = 0; t < 3; t++) {
    shuffle_dims(random, all[t], index % 3 == 0);
    if (index % 3 == 1) put_features_last(all[t], t == 1);
    fill_tensor(t < 2 ? random : NULL, all[t]);
  }
}

// ---- the plain loops ----

// The next index of some sizes; false after the last.
static bool next_index(int64_t *index, const int64_t *sizes, int count) {
  for (int i = count - 1; i >= 0; i--) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

static float plain_element(const conv_form *f, const int64_t *at) {
  const int64_t group = at[1] / (f->output.size[1] / (f->groups * f->batch_groups));
  int64_t k[MOST_DIMS] = {at[1]}, in[MOST_DIMS] = {0};
  in[0] = at[0] + (f->batch_groups > 1 ? group * f->output.size[0] : 0);
  float sum = 0;
  do {
    bool inside = true;
    k[0] = at[1];
    in[1] = k[1] + (f->groups > 1 ? group * f->kernel.size[1] : 0);
    int64_t weight[MOST_DIMS] = {k[0], k[1]};
    for (int d = 0; d < f->spatial; d++) {
      const int64_t place = at[2 + d] * f->stride[d] + k[2 + d] * f->kernel_dilation[d] - f->low[d];
      in[2 + d] = place / f->input_dilation[d];
      inside &= place >= 0 && place % f->input_dilation[d] == 0 && in[2 + d] < f->input.size[2 + d];
      weight[2 + d] = f->reversed[d] ? f->kernel.size[2 + d] - 1 - k[2 + d] : k[2 + d];
    }
    if (inside)
      sum += f->input.numbers[offset_of(&f->input, in)] *
             f->kernel.numbers[offset_of(&f->kernel, weight)];
  } while (next_index(k + 1, f->kernel.size + 1, f->spatial + 1));
  return sum;
}

static void run_plain(const conv_form *f) {
  int64_t at[MOST_DIMS] = {0};
  if (!f->output.count) return;
  do f->output.numbers[offset_of(&f->output, at)] = plain_element(f, at);
  while (next_index(at, f->output.size, f->output.rank));
}

// ---- the program ----

static void add_type(tsr_text *text, const conv_tensor *t, const char *dtype) {
  int64_t sizes[MOST_DIMS];
  for (int i = 0; i < t->rank; i++) sizes[t->place[i]] = t->size[i];
  tsr_text_addf(text, "tensor<");
  for (int i = 0; i < t->rank; i++) tsr_text_addf(text, "%lldx", (long long)sizes[i]);
  tsr_text_addf(text, "%s>", dtype);
}

static void add_dims(tsr_text *text, const conv_tensor *t, char batch, char feature) {
  char names[MOST_DIMS];
  names[t->place[0]] = batch;
  names[t->place[1]] = feature;
  for (int i = 2; i < t->rank; i++) names[t->place[i]] = (char)('0' + i - 2);
  tsr_text_addf(text, "[");
  for (int i = 0; i < t->rank; i++) tsr_text_addf(text, "%s%c", i ? ", " : "", names[i]);
  tsr_text_addf(text, "]");
}

static void add_list(tsr_text *text, const char *name, const int64_t *numbers, int count) {
  tsr_text_addf(text, ", %s = [", name);
  for (int i = 0; i < count; i++)
    tsr_text_addf(text, "%s%lld", i ? ", " : "", (long long)numbers[i]);
  tsr_text_addf(text, "]");
}

static void add_window(tsr_text *text, const conv_form *f) {
  tsr_text_addf(text, "window = {pad = [");
  for (int d = 0; d < f->spatial; d++)
    tsr_text_addf(text, "%s[%lld, %lld]", d ? ", " : "", (long long)f->low[d],
                  (long long)f->high[d]);
  tsr_text_addf(text, "]");
  add_list(text, "stride", f->stride, f->spatial);
  add_list(text, "lhs_dilate", f->input_dilation, f->spatial);
  add_list(text, "rhs_dilate", f->kernel_dilation, f->spatial);
  tsr_text_addf(text, ", reverse = [");
  for (int d = 0; d < f->spatial; d++)
    tsr_text_addf(text, "%s%s", d ? ", " : "", f->reversed[d] ? "true" : "false");
  tsr_text_addf(text, "]}");
}

static void write_program(const conv_form *f, const char *dtype, tsr_text *text) {
  tsr_text_addf(text, "func.func @main(%%a: ");
  add_type(text, &f->input, dtype);
  tsr_text_addf(text, ", %%b: ");
  add_type(text, &f->kernel, dtype);
  tsr_text_addf(text, ") -> ");
  add_type(text, &f->output, dtype);
  tsr_text_addf(text, " {\n  %%0 = stablehlo.convolution(%%a, %%b) dim_numbers = ");
  add_dims(text, &f->input, 'b', 'f');
  tsr_text_addf(text, "x");
  add_dims(text, &f->kernel, 'o', 'i');
  tsr_text_addf(text, "->");
  add_dims(text, &f->output, 'b', 'f');
  tsr_text_addf(text, ", ");
  if (f->spatial)
    add_window(text, f);
  else
    tsr_text_addf(text, "window = {}");
  tsr_text_addf(text, " {batch_group_count = %lld : i64, feature_group_count = %lld : i64} : (",
                (long long)f->batch_groups, (long long)f->groups);
  add_type(text, &f->input, dtype);
  tsr_text_addf(text, ", ");
  add_type(text, &f->kernel, dtype);
  tsr_text_addf(text, ") -> ");
  add_type(text, &f->output, dtype);
  tsr_text_addf(text, "\n  return %%0 : ");
  add_type(text, &f->output, dtype);
  tsr_text_addf(text, "\n}\n");
}

// Complex numbers are multiples of one: (1 + 2i) x (3 - i) = 5 + 5i.
static const float input_unit[] = {1, 2}, kernel_unit[] = {3, -1}, output_unit[] = {5, 5};

// Elements of another type.
static void *converted(const conv_tensor *t, tsr_dtype dtype, const float *unit) {
  const size_t bytes = (size_t)tsr_dtype_info_of(dtype)->bits / 8;
  char *elements = calloc((size_t)t->count + 1, bytes);
  for (int64_t i = 0; i < t->count; i++) {
    const int32_t whole = (int32_t)t->numbers[i];
    const float pair[] = {t->numbers[i] * unit[0], t->numbers[i] * unit[1]};
    if (dtype == TSR_C64)
      memcpy(elements + (size_t)i * bytes, pair, sizeof pair);
    else if (tsr_dtype_info_of(dtype)->kind == TSR_CLASS_FLOAT)
      tsr_block_store_f32(dtype, &t->numbers[i], elements + (size_t)i * bytes, 1);
    else
      memcpy(elements + (size_t)i * bytes, &whole, bytes);
  }
  return elements;
}

static void check_form(const conv_form *f, tsr_dtype dtype, int workers) {
  TSR_OWN(text, text);
  write_program(f, tsr_dtype_info_of(dtype)->stablehlo, &text);
  TSR_OWN(executable, executable);
  executable = compile_text(tsr_text_string(&text), workers);
  void *a = converted(&f->input, dtype, input_unit), *b = converted(&f->kernel, dtype, kernel_unit);
  void *wanted = converted(&f->output, dtype, output_unit);
  void *found = converted(&f->output, dtype, output_unit);
  const size_t bytes = (size_t)tsr_dtype_info_of(dtype)->bits / 8 * (size_t)f->output.count;
  memset(found, 0x5a, bytes);
  assert_ok(tsr_executable_run(executable, IN(a, b), OUT_TO(found)));
  if (memcmp(found, wanted, bytes)) print_error("%s", tsr_text_string(&text));
  assert_memory_equal(found, wanted, bytes);
  free(a);
  free(b);
  free(wanted);
  free(found);
}

static void convolutions_equal_plain_loops(void **state) {
  (void)state;
  test_random random = {1};
  static const tsr_dtype types[] = {TSR_F32, TSR_F64, TSR_BF16, TSR_I32, TSR_I8, TSR_F16, TSR_C64};
  static const int workers[] = {1, 2, 5};
  for (int64_t i = 0; i < 240; i++) {
    conv_form form;
    choose_form(&random, i, &form);
    run_plain(&form);
    check_form(&form, types[i % 2 ? 0 : i / 2 % (int64_t)COUNT_OF(types)], workers[i % 3]);
    free(form.input.numbers);
    free(form.kernel.numbers);
    free(form.output.numbers);
  }
}

// Large enough to be split into tasks, with edges.
static void large_convolutions_are_split(void **state) {
  (void)state;
  test_random random = {2};
  for (int kind = 0; kind < 3; kind++) {
    conv_form f = {.spatial = 2, .groups = kind == 2 ? 48 : 1, .batch_groups = 1};
    f.input.rank = f.kernel.rank = f.output.rank = 4;
    for (int d = 0; d < 2; d++) {
      f.stride[d] = f.input_dilation[d] = f.kernel_dilation[d] = 1;
      f.low[d] = f.high[d] = 1;
      f.input.size[2 + d] = f.output.size[2 + d] = 30;
      f.kernel.size[2 + d] = 3;
    }
    f.input.size[0] = f.output.size[0] = 2;
    f.input.size[1] = f.output.size[1] = f.kernel.size[0] = 48;
    f.kernel.size[1] = kind == 2 ? 1 : 48;
    conv_tensor *all[] = {&f.input, &f.kernel, &f.output};
    for (int t = 0; t < 3; t++) {
      shuffle_dims(&random, all[t], true);
      if (kind != 1) put_features_last(all[t], t == 1);
      fill_tensor(t < 2 ? &random : NULL, all[t]);
    }
    run_plain(&f);
    for (int workers = 1; workers <= 5; workers += 2) check_form(&f, TSR_F32, workers);
    for (int t = 0; t < 3; t++) free(all[t]->numbers);
  }
}

static void windows_beyond_all_bounds_are_refused(void **state) {
  (void)state;
  const char *text =
      "func.func @main(%a: tensor<1x4x1xf32>, %b: tensor<1x1x1xf32>) -> tensor<1x4x1xf32> {\n"
      "  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
      "window = {pad = [[4611686018427387904, -4611686018427387904]]} {batch_group_count = 1 : "
      "i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<1x1x1xf32>) -> "
      "tensor<1x4x1xf32>\n  return %0 : tensor<1x4x1xf32>\n}\n";
  TSR_OWN(program, program);
  tsr_executable *executable = NULL;
  const tsr_compile_options options = TSR_COMPILE_OPTIONS;
  assert_ok(tsr_program_read("test", text, strlen(text), NULL, &program));
  assert_fails_with(tsr_executable_compile(program, &options, &executable), TOO_LARGE,
                    "its window reaches over more than 2^60 elements");
}

SUITE(convolutions, TEST(convolutions_equal_plain_loops), TEST(large_convolutions_are_split),
      TEST(windows_beyond_all_bounds_are_refused))
