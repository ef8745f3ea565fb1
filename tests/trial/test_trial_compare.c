// Results against recorded ones: what is equal, and what a difference looks like.
#include <math.h>
#include <string.h>

#include "support/folder.h"
#include "support/test.h"
#include "tessera/engine/kernels.h"
#include "tessera/own.h"
#include "trial_values.h"

typedef struct comparison {
  tsr_dtype dtype;
  double got[3], want[3];
  tsr_trial_tolerance tolerance;
  const char *difference;  // "" = equal
} comparison;

#define LOOSE \
  { 0.1, 0, false, false }
#define RELATIVE \
  { 0, 0.01, false, false }
#define EXACT \
  { 0.1, 0.1, true, false }
#define SCALED \
  { -1, -1, false, true }

static const comparison comparisons[] = {
    {TSR_F32, {1, 2, 3}, {1, 2, 3}, TSR_TRIAL_TOLERANCE, ""},
    {TSR_F32, {1.00001, 2, 3}, {1, 2, 3}, TSR_TRIAL_TOLERANCE, ""},
    {TSR_F32,
     {1, 2.25, 3},
     {1, 2, 3},
     TSR_TRIAL_TOLERANCE,
     "out0[1] is 2.25, wanted 2.0; 1 of 3 elements differ, by at most 0.25 (relative 0.125)\n"},
    {TSR_F32, {1.0625, 2, 3}, {1, 2, 3}, LOOSE, ""},
    {TSR_F32, {1, 201, 3}, {1, 200, 3}, RELATIVE, ""},
    {TSR_F32,
     {1, 2, 4},
     {1, 2, 3},
     RELATIVE,
     "out0[2] is 4.0, wanted 3.0; 1 of 3 elements differ, by at most 1 (relative 0.333)\n"},
    {TSR_F32, {NAN, INFINITY, 0}, {NAN, INFINITY, 0}, LOOSE, ""},
    {TSR_F32,
     {NAN, -INFINITY, 0},
     {1, INFINITY, 0},
     LOOSE,
     "out0[0] is nan, wanted 1.0; 2 of 3 elements differ, by at most 0 (relative 0)\n"},
    {TSR_F32, {-0.0, 1, 1}, {0.0, 1, 1}, LOOSE, ""},
    {TSR_F32,
     {-0.0, 1, 1},
     {0.0, 1, 1},
     EXACT,
     "out0[0] is -0.0, wanted 0.0; 1 of 3 elements differ, by at most 0 (relative 0)\n"},
    {TSR_F32, {1000, 1.0078125, -INFINITY}, {1000, 1, -INFINITY}, SCALED, ""},
    {TSR_F32,
     {1, 1.0078125, 3},
     {1, 1, 3},
     SCALED,
     "out0[1] is 1.0078125, wanted 1.0; 1 of 3 elements differ, by at most 0.00781 (relative "
     "0.00781)\n"},
    {TSR_I32,
     {1000000, 2, 3},
     {1000000, 2, 4},
     SCALED,
     "out0[2] is 3, wanted 4; 1 of 3 elements differ, by at most 1 (relative 0.25)\n"},
    {TSR_I32, {1, 2, 3}, {1, 2, 3}, LOOSE, ""},
    {TSR_I32,
     {1000, 2, 3},
     {1001, 2, 3},
     RELATIVE,
     "out0[0] is 1000, wanted 1001; 1 of 3 elements differ, by at most 1 (relative 0.000999)\n"},
    {TSR_I4, {1, -2, 3}, {1, -2, 3}, LOOSE, ""},
    {TSR_I4,
     {1, -2, 3},
     {1, -2, 4},
     LOOSE,
     "out0[2] is 3, wanted 4; 1 of 3 elements differ, by at most 1 (relative 0.25)\n"},
    {TSR_BF16, {1.0078125, 2, 3}, {1, 2, 3}, TSR_TRIAL_TOLERANCE, ""},
};

// Values of sub-byte integers are a byte each in memory.
static void set(const tsr_trial_value *value, const double *numbers) {
  const tsr_dtype memory = value->dtype == TSR_I4 ? TSR_I8 : value->dtype;
  assert_ok(tsr_convert(TSR_F64, numbers, memory, tsr_buffer_data(value->data), 3));
}

static void differences_are_shown_and_counted(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "want.safetensors");
  for (size_t i = 0; i < COUNT_OF(comparisons); i++) {
    const comparison *c = &comparisons[i];
    TSR_OWN(text, text);
    tsr_trial_verdict verdict = {0};
    tsr_trial_values got = test_trial_values(true, &c->dtype, 1, TSR_SHAPE(3));
    set(&got.items[0], c->want);
    assert_ok(tsr_trial_values_write(&got, path));
    set(&got.items[0], c->got);
    assert_ok(tsr_trial_compare(&got, path, &c->tolerance, &text, &verdict));
    assert_string_equal(tsr_text_string(&text), c->difference);
    assert_int_equal(verdict.differing_values, *c->difference != '\0');
    assert_int_equal(verdict.elements, 3);
    tsr_trial_values_deinit(&got);
  }
  test_folder_remove(&folder);
}

static void complex_numbers_are_compared_by_distance(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "want.safetensors");
  const tsr_trial_tolerance tolerance = {0, 0.01, false, false};
  TSR_OWN(text, text);
  tsr_trial_verdict verdict = {0};
  tsr_trial_values got = test_trial_values(true, (tsr_dtype[]){TSR_C64}, 1, TSR_SHAPE(2));
  float *parts = tsr_buffer_data(got.items[0].data);
  memcpy(parts, (float[]){100, 0, 1, 0}, 16);
  assert_ok(tsr_trial_values_write(&got, path));
  parts[1] = 0.5F;  // far from 0, but near for a number of size 100
  assert_ok(tsr_trial_compare(&got, path, &tolerance, &text, &verdict));
  assert_int_equal(verdict.differing, 0);
  parts[3] = 0.5F;
  assert_ok(tsr_trial_compare(&got, path, &tolerance, &text, &verdict));
  assert_string_equal(
      tsr_text_string(&text),
      "out0[1] is 1.0+0.5j, wanted 1.0+0.0j; 1 of 2 elements differ, by at most 0.5 "
      "(relative 0)\n");
  tsr_trial_values_deinit(&got);
  test_folder_remove(&folder);
}

SUITE(trial_compare, TEST(differences_are_shown_and_counted),
      TEST(complex_numbers_are_compared_by_distance))
