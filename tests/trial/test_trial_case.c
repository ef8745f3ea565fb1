// Case folders: what they hold, inputs by a formula, sums and samples.
#include <stdio.h>
#include <string.h>

#include "support/folder.h"
#include "support/test.h"
#include "tessera/own.h"
#include "trial_values.h"

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

// The four numbers are those of the formula, computed by Python.
static const char generated[] =
    "{\"generator\": \"...\","
    " \"tolerance\": {\"sum_relative_to_abs_sum\": 1e-6, \"sample_rtol\": 0, \"sample_atol\": "
    "1e-6},"
    " \"inputs\": [{\"scale\": 2.0, \"offset\": 0.5}, {\"high\": 100}],"
    " \"outputs\": [{\"sum\": 10, \"abs_sum\": 10, \"samples\": [[0, 1], [3, 4]]}]}";

static void a_recorded_case_names_its_files(void **state) {
  (void)state;
  tsr_trial_case trial;
  assert_true(tsr_trial_is_case("tests/programs/add_sharded"));
  assert_true(tsr_trial_is_case("tests/programs/exported_multi_platform"));
  assert_false(tsr_trial_is_case("tests/programs"));
  assert_false(tsr_trial_is_case("tests/programs/add_sharded/program.mlir"));
  assert_ok(tsr_trial_case_open("tests/programs/dtype_fp8_convert", true, &trial));
  assert_string_equal(trial.program, "tests/programs/dtype_fp8_convert/program.mlirbc");
  assert_string_equal(trial.inputs, "tests/programs/dtype_fp8_convert/inputs.safetensors");
  assert_string_equal(trial.wanted, "tests/programs/dtype_fp8_convert/outputs.safetensors");
  assert_true(trial.tolerance.absolute == 1e-6 && trial.tolerance.relative == 1e-6);
  assert_false(trial.tolerance.exact || trial.generated);
  tsr_trial_case_deinit(&trial);
  assert_fails(tsr_trial_case_open("tests/trial", false, &trial), NOT_FOUND,
               "tests/trial: no program.mlir and no exported.bin");
}

static void a_formula_fills_arguments(void **state) {
  (void)state;
  test_folder folder;
  tsr_trial_case trial;
  test_folder_make(&folder);
  write_file(test_folder_path(&folder, "program.mlir"), "module {}");
  write_file(test_folder_path(&folder, "case.json"), generated);
  assert_ok(tsr_trial_case_open(folder.path, false, &trial));
  assert_true(trial.generated);
  tsr_trial_values inputs =
      test_trial_values(false, (tsr_dtype[]){TSR_F32, TSR_I32}, 2, TSR_SHAPE(4));
  assert_ok(tsr_trial_case_fill(&trial, &inputs));
  const float floats[] = {-0.5F, 0.7360679F, -0.027864099F, 1.2082038F};
  const int32_t integers[] = {15, 89, 62, 52};
  const float *got = tsr_buffer_data(inputs.items[0].data);
  for (int i = 0; i < 4; i++) assert_float_equal(got[i], floats[i], 1e-6);
  assert_memory_equal(tsr_buffer_data(inputs.items[1].data), integers, sizeof integers);
  tsr_trial_values_deinit(&inputs);
  inputs = test_trial_values(false, (tsr_dtype[]){TSR_F32}, 1, TSR_SHAPE(4));
  assert_fails(tsr_trial_case_fill(&trial, &inputs), BAD_ARGUMENT,
               "the case has 2 inputs, and the program 1 arguments");
  tsr_trial_values_deinit(&inputs);
  tsr_trial_case_deinit(&trial);
  test_folder_remove(&folder);
}

static void sums_and_samples_are_checked(void **state) {
  (void)state;
  test_folder folder;
  tsr_trial_case trial;
  tsr_trial_verdict verdict;
  TSR_OWN(text, text);
  test_folder_make(&folder);
  write_file(test_folder_path(&folder, "program.mlir"), "module {}");
  write_file(test_folder_path(&folder, "case.json"), generated);
  assert_ok(tsr_trial_case_open(folder.path, false, &trial));
  tsr_trial_values got = test_trial_values(true, (tsr_dtype[]){TSR_F32}, 1, TSR_SHAPE(4));
  memcpy(tsr_buffer_data(got.items[0].data), (float[]){1, 2, 3, 4}, 16);
  assert_ok(tsr_trial_case_compare(&trial, &got, &text, &verdict));
  assert_int_equal(verdict.differing, 0);
  assert_int_equal(verdict.elements, 4);
  memcpy(tsr_buffer_data(got.items[0].data), (float[]){1, 3, 3, 5}, 16);
  assert_ok(tsr_trial_case_compare(&trial, &got, &text, &verdict));
  assert_string_equal(tsr_text_string(&text),
                      "out0, its sum, is 12, wanted 10 within 1e-05\n"
                      "out0, its sum of absolute values, is 12, wanted 10 within 1e-05\n"
                      "out0, element 3, is 5, wanted 4 within 1e-06\n");
  assert_int_equal(verdict.differing_values, 1);
  tsr_trial_values_deinit(&got);
  tsr_trial_case_deinit(&trial);
  test_folder_remove(&folder);
}

static tsr_status open_case(void *context) {
  tsr_trial_case trial;
  TSR_TRY(tsr_trial_case_open(context, false, &trial));
  tsr_trial_case_deinit(&trial);
  return NULL;
}

static void a_case_that_runs_out_of_memory_says_so(void **state) {
  (void)state;
  char folder[] = "tests/programs/add_sharded";
  test_allocation_sweep(open_case, folder);
}

SUITE(trial_case, TEST(a_recorded_case_names_its_files), TEST(a_formula_fills_arguments),
      TEST(sums_and_samples_are_checked), TEST(a_case_that_runs_out_of_memory_says_so))
