// Lists of values: made up, written, read, printed.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/folder.h"
#include "support/test.h"
#include "tessera/own.h"
#include "trial_values.h"

tsr_trial_values test_trial_values(bool results, const tsr_dtype *dtypes, int64_t count,
                                   const tsr_shape *shape) {
  tsr_trial_values values = {.results = results, .count = count};
  values.items = calloc((size_t)count + 1, sizeof *values.items);
  for (int64_t i = 0; i < count; i++) {
    tsr_trial_value *value = &values.items[i];
    *value = (tsr_trial_value){.name = "x", .dtype = dtypes[i], .shape = *shape, .next = -1};
    assert_ok(tsr_shape_count(shape, &value->count));
    const int bits = tsr_dtype_info_of(dtypes[i])->bits;
    value->bytes = value->count * (bits < 8 ? 1 : bits / 8);
    assert_ok(tsr_buffer_create(NULL, value->bytes, &value->data));
    memset(tsr_buffer_data(value->data), 0, (size_t)value->bytes);
  }
  return values;
}

static void *data_of(const tsr_trial_values *values, int64_t index) {
  return tsr_buffer_data(values->items[index].data);
}

static void random_floats_are_normal_and_depend_on_seed_and_argument(void **state) {
  (void)state;
  tsr_trial_values a =
      test_trial_values(false, (tsr_dtype[]){TSR_F32, TSR_F32}, 2, TSR_SHAPE(100, 100));
  tsr_trial_values b =
      test_trial_values(false, (tsr_dtype[]){TSR_F32, TSR_F32}, 2, TSR_SHAPE(100, 100));
  assert_ok(tsr_trial_values_random(&a, 1));
  assert_ok(tsr_trial_values_random(&b, 1));
  const float *x = data_of(&a, 0);
  double sum = 0, squares = 0;
  for (int i = 0; i < 10000; i++) {
    sum += (double)x[i];
    squares += (double)x[i] * (double)x[i];
  }
  assert_true(fabs(sum / 10000) < 0.05);
  assert_true(fabs(squares / 10000 - 1) < 0.05);
  assert_memory_equal(x, data_of(&b, 0), 40000);
  assert_memory_not_equal(x, data_of(&a, 1), 40000);
  assert_ok(tsr_trial_values_random(&b, 2));
  assert_memory_not_equal(x, data_of(&b, 0), 40000);
  tsr_trial_values_deinit(&a);
  tsr_trial_values_deinit(&b);
}

static void random_integers_are_small(void **state) {
  (void)state;
  tsr_trial_values values = test_trial_values(
      false, (tsr_dtype[]){TSR_I32, TSR_BOOL, TSR_I8, TSR_U4, TSR_I4}, 5, TSR_SHAPE(1000));
  assert_ok(tsr_trial_values_random(&values, 7));
  for (int i = 0; i < 1000; i++) {
    const int32_t wide = ((int32_t *)data_of(&values, 0))[i];
    const uint8_t boolean = ((uint8_t *)data_of(&values, 1))[i];
    const int8_t narrow = ((int8_t *)data_of(&values, 2))[i];
    assert_true(wide >= 0 && wide < 10);
    assert_true(boolean < 2);
    const int8_t nibble = ((int8_t *)data_of(&values, 4))[i];
    assert_true(narrow >= -5 && narrow < 5);
    assert_true(nibble >= -5 && nibble < 5);
    assert_true(((uint8_t *)data_of(&values, 3))[i] < 10);
  }
  tsr_trial_values_deinit(&values);
}

static void a_file_holds_what_was_written(void **state) {
  (void)state;
  static const tsr_dtype dtypes[] = {TSR_F32, TSR_I4, TSR_F4E2M1FN, TSR_BOOL, TSR_C64, TSR_BF16};
  test_folder folder;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "values.safetensors");
  tsr_trial_values wrote = test_trial_values(true, dtypes, COUNT_OF(dtypes), TSR_SHAPE(4, 6));
  tsr_trial_values found = test_trial_values(true, dtypes, COUNT_OF(dtypes), TSR_SHAPE(4, 6));
  assert_ok(tsr_trial_values_random(&wrote, 3));
  assert_ok(tsr_trial_values_write(&wrote, path));
  assert_ok(tsr_trial_values_read(&found, path));
  for (int64_t i = 0; i < wrote.count; i++)
    assert_memory_equal(data_of(&wrote, i), data_of(&found, i), (size_t)wrote.items[i].bytes);
  tsr_trial_values_deinit(&wrote);
  tsr_trial_values_deinit(&found);
  test_folder_remove(&folder);
}

static void tensors_that_no_value_takes_are_named(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "values.safetensors");
  const tsr_dtype dtypes[] = {TSR_F32, TSR_F32, TSR_F32};
  tsr_trial_values wrote = test_trial_values(true, dtypes, 3, TSR_SHAPE(2));
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_trial_values_random(&wrote, 1));
  assert_ok(tsr_trial_values_write(&wrote, path));
  static const char *const lines[] = {
      "3 of 3 tensors are no argument of the program, the first \"out0\"\n",
      "2 of 3 tensors are no argument of the program, the first \"out1\"\n",
      "1 of 3 tensors is no argument of the program, \"out2\"\n", ""};
  for (int64_t count = 0; count < 4; count++) {
    tsr_trial_values some = test_trial_values(true, dtypes, count, TSR_SHAPE(2));
    tsr_text_clear(&text);
    assert_ok(tsr_trial_values_unused(&some, path, &text));
    assert_string_equal(tsr_text_string(&text), lines[count]);
    tsr_trial_values_deinit(&some);
  }
  tsr_text_deinit(&text);
  tsr_trial_values_deinit(&wrote);
  test_folder_remove(&folder);
}

static void a_tensor_that_does_not_fit_is_refused(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "values.safetensors");
  tsr_trial_values wrote = test_trial_values(true, (tsr_dtype[]){TSR_F32}, 1, TSR_SHAPE(4, 6));
  tsr_trial_values longer = test_trial_values(true, (tsr_dtype[]){TSR_F32}, 1, TSR_SHAPE(4, 7));
  tsr_trial_values whole = test_trial_values(true, (tsr_dtype[]){TSR_I32}, 1, TSR_SHAPE(4, 6));
  tsr_trial_values inputs = test_trial_values(false, (tsr_dtype[]){TSR_F32}, 1, TSR_SHAPE(4, 6));
  tsr_trial_values complex = test_trial_values(true, (tsr_dtype[]){TSR_C128}, 1, TSR_SHAPE(2));
  assert_ok(tsr_trial_values_write(&wrote, path));
  assert_fails_with(tsr_trial_values_read(&longer, path), SHAPES_DIFFER,
                    "tensor \"out0\" is f32[4, 6], and the program has f32[4, 7]");
  assert_fails_with(tsr_trial_values_read(&whole, path), SHAPES_DIFFER,
                    "tensor \"out0\" is f32[4, 6], and the program has i32[4, 6]");
  assert_fails_with(tsr_trial_values_read(&inputs, path), NOT_FOUND, "no tensor \"arg0\"");
  assert_fails_with(tsr_trial_values_write(&complex, path), UNSUPPORTED,
                    "tensor \"out0\" is c128, which safetensors files cannot store");
  tsr_trial_values_deinit(&wrote);
  tsr_trial_values_deinit(&longer);
  tsr_trial_values_deinit(&whole);
  tsr_trial_values_deinit(&inputs);
  tsr_trial_values_deinit(&complex);
  test_folder_remove(&folder);
}

static void values_print_as_short_lines(void **state) {
  (void)state;
  TSR_OWN(text, text);
  tsr_trial_values values =
      test_trial_values(true, (tsr_dtype[]){TSR_F32, TSR_I4}, 2, TSR_SHAPE(2, 3));
  const float numbers[] = {1, 2.5F, -1, 0, 1e9F, NAN};
  memcpy(data_of(&values, 0), numbers, sizeof numbers);
  ((int8_t *)data_of(&values, 1))[1] = -3;
  assert_ok(tsr_trial_values_print(&values, &text));
  assert_string_equal(tsr_text_string(&text),
                      " result  type       range                           first elements\n"
                      " out0    f32[2, 3]  -1 to 1e+09, mean 2e+08, 1 nan  1.0, 2.5, -1.0, 0.0, "
                      "...\n"
                      " out1    i4[2, 3]   -3 to 0, mean -0.5              0, -3, 0, 0, ...\n");
  tsr_trial_values_deinit(&values);
}

SUITE(trial_values, TEST(random_floats_are_normal_and_depend_on_seed_and_argument),
      TEST(random_integers_are_small), TEST(a_file_holds_what_was_written),
      TEST(tensors_that_no_value_takes_are_named), TEST(a_tensor_that_does_not_fit_is_refused),
      TEST(values_print_as_short_lines))
