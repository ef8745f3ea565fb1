// Custom calls: what their targets do, and what is said of targets that do not run. Those of LAPACK
// are left out where its module is not built.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel/blas/blas_module.h"

#include "exec/runs.h"

static tsr_status try_compile(const char *text) {
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  TSR_TRY(tsr_program_read("test", text, strlen(text), NULL, &program));
  return tsr_executable_compile(program, NULL, &executable);
}

static void notes_for_partitioners_change_nothing(void **state) {
  (void)state;
  static const char *const targets[] = {"Sharding", "SPMDFullToShardShape", "LayoutConstraint",
                                        "annotate_device_placement", "xla.sdy.FuncResultSharding"};
  for (size_t i = 0; i < COUNT_OF(targets); i++) {
    char text[512];
    snprintf(text, sizeof text,
             "func.func @main(%%a: tensor<3xf32>) -> tensor<3xf32> {\n"
             "  %%r = stablehlo.custom_call @%s(%%a) : (tensor<3xf32>) -> tensor<3xf32>\n"
             "  return %%r : tensor<3xf32>\n}\n",
             targets[i]);
    const float in[3] = {1, 2, 3};
    float out[3] = {0};
    run_text(text, IN(in), OUT_TO(out));
    assert_memory_equal(out, in, sizeof in);
  }
}

static void unknown_targets_are_refused_by_name(void **state) {
  (void)state;
  assert_fails(try_compile("func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {\n"
                           "  %r = stablehlo.custom_call @Shardin(%a) : (tensor<3xf32>) -> "
                           "tensor<3xf32>\n"
                           "  return %r : tensor<3xf32>\n}\n"),
               UNSUPPORTED,
               "stablehlo.custom_call at line 2: target \"Shardin\" is unknown; did you mean "
               "\"Sharding\"?");
  assert_fails(try_compile("func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
                           "  %r = stablehlo.custom_call @lapack_spotr_ffi(%a) : (tensor<2x2xf32>) "
                           "-> tensor<2x2xf32>\n"
                           "  return %r : tensor<2x2xf32>\n}\n"),
               UNSUPPORTED,
               "stablehlo.custom_call at line 2: target \"lapack_spotr_ffi\" is unknown; did you "
               "mean \"lapack_spotrf_ffi\"?");
}

static void shapes_of_one_device_are_refused(void **state) {
  (void)state;
  assert_fails(try_compile("func.func @main(%a: tensor<4xf32>) -> tensor<2xf32> {\n"
                           "  %r = stablehlo.custom_call @SPMDFullToShardShape(%a) : "
                           "(tensor<4xf32>) -> tensor<2xf32>\n"
                           "  return %r : tensor<2xf32>\n}\n"),
               UNSUPPORTED,
               "@SPMDFullToShardShape at line 2: it changes the shape of a value of one device");
}

static void checks_fail_when_they_run(void **state) {
  (void)state;
  TSR_OWN(executable, executable);
  executable = compile_text(
      "func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {\n"
      "  stablehlo.custom_call @check.expect_close(%a, %b) {has_side_effect = true} : "
      "(tensor<2xf32>, tensor<2xf32>) -> ()\n"
      "  stablehlo.custom_call @check.expect_almost_eq(%a, %b) {has_side_effect = true} : "
      "(tensor<2xf32>, tensor<2xf32>) -> ()\n"
      "  return\n}\n",
      1);
  const float a[] = {1, 2}, b[] = {1, 2.5F};
  assert_ok(tsr_executable_run(executable, IN(a, a), NULL));
  assert_fails(
      tsr_executable_run(executable, IN(a, b), NULL), CHECK_FAILED,
      "stablehlo.custom_call at line 2: element [1] is 2.0, expected 2.5 within 0 to 3 ULP, "
      "it differs by 2097152");
}

static void functions_of_mhlo_are_those_of_chlo(void **state) {
  (void)state;
  const double in[] = {0.25, -0.5};
  double out[2] = {0};
  run_text(
      "func.func @main(%a: tensor<2xf64>) -> tensor<2xf64> {\n"
      "  %r = stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64} : "
      "(tensor<2xf64>) -> tensor<2xf64>\n"
      "  return %r : tensor<2xf64>\n}\n",
      IN(in), OUT_TO(out));
  for (int i = 0; i < 2; i++) assert_true(fabs(out[i] - erf(in[i])) < 1e-15);
}

static void the_approximate_top_k_is_exact(void **state) {
  (void)state;
  const float in[] = {3, 9, 1, 7, 8, 2, 4, 6};
  float values[4] = {0};
  int32_t places[4] = {0};
  run_text(
      "func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {\n"
      "  %i = stablehlo.iota dim = 1 : tensor<2x4xi32>\n"
      "  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
      "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %r:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %c, %z) {called_computations = [@gt], "
      "mhlo.backend_config = {aggregate_to_topk = true, reduction_dim = 1 : i64, top_k = 2 : i64}} "
      ": (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, "
      "tensor<2x2xi32>)\n"
      "  return %r#0, %r#1 : tensor<2x2xf32>, tensor<2x2xi32>\n}\n"
      "func.func private @gt(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) "
      "-> "
      "tensor<i1> {\n"
      "  %0 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
      "  return %0 : tensor<i1>\n}\n",
      IN(in), OUT_TO(values, places));
  assert_memory_equal(values, ((float[]){9, 7, 8, 6}), sizeof values);
  assert_memory_equal(places, ((int32_t[]){1, 3, 0, 3}), sizeof places);
}

// ---- LAPACK ----

#define BY_COLUMNS "dense<[0, 1]> : tensor<2xindex>"

static void factors_and_solves_run_without_lapack(void **state) {
  (void)state;
  const float a[] = {4, 99, 2, 5}, bad[] = {4, 99, 2, -5}, b[] = {4, 2, 6, 5};
  float factor[4] = {0}, x[4] = {0};
  int32_t info = 9;
  static const char text[] =
      "func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>, "
      "tensor<2x2xf32>) {\n"
      "  %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : "
      "ui8}, operand_layouts = [" BY_COLUMNS "], result_layouts = [" BY_COLUMNS
      ", dense<> : tensor<0xindex>]} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)\n"
      "  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : "
      "ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, operand_layouts = [" BY_COLUMNS
      ", " BY_COLUMNS "], result_layouts = [" BY_COLUMNS
      "]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n"
      "  return %r#0, %r#1, %x : tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>\n}\n";
  run_text(text, IN(a, b), OUT_TO(factor, &info, x));
  assert_true(factor[0] == 2 && factor[2] == 1 && factor[3] == 2 && info == 0);
  assert_memory_equal(x, ((float[]){1, 0.5F, 0.8F, 0.8F}), sizeof x);
  run_text(text, IN(bad, b), OUT_TO(factor, &info, x));
  assert_int_equal(info, 1);
}

static void lapack_sees_matrices_by_columns(void **state) {
  (void)state;
  if (!tsr_blas_load()) skip();
  // Row 1 is the pivot. In rows, L is {1, 0.25} and U {{4, 2}, {0, 2.5}}.
  const double a[] = {1, 3, 4, 2};
  double lu[4] = {0};
  int32_t pivots[2] = {0}, info = 9;
  run_text(
      "func.func @main(%a: tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<i32>) {\n"
      "  %r:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) {operand_layouts = [" BY_COLUMNS
      "], result_layouts = [" BY_COLUMNS
      ", dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : (tensor<2x2xf64>) -> "
      "(tensor<2x2xf64>, tensor<2xi32>, tensor<i32>)\n"
      "  return %r#0, %r#1, %r#2 : tensor<2x2xf64>, tensor<2xi32>, tensor<i32>\n}\n",
      IN(a), OUT_TO(lu, pivots, &info));
  assert_memory_equal(lu, ((double[]){4, 2, 0.25, 2.5}), sizeof lu);
  assert_memory_equal(pivots, ((int32_t[]){2, 2}), sizeof pivots);
  assert_int_equal(info, 0);
}

static void batches_of_eigenvalues_are_found(void **state) {
  (void)state;
  if (!tsr_blas_load()) skip();
  const float a[] = {2, 1, 1, 2, 5, 0, 0, 3};
  float vectors[8], values[4];
  int32_t infos[2] = {9, 9};
  run_text(
      "func.func @main(%a: tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2x2xf32>, "
      "tensor<2xi32>) "
      "{\n"
      "  %r:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : "
      "ui8, uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], "
      "result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, "
      "dense<0> : tensor<1xindex>]} : (tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2x2xf32>, "
      "tensor<2xi32>)\n"
      "  return %r#0, %r#1, %r#2 : tensor<2x2x2xf32>, tensor<2x2xf32>, tensor<2xi32>\n}\n",
      IN(a), OUT_TO(vectors, values, infos));
  const float wanted[] = {1, 3, 3, 5};
  for (int i = 0; i < 4; i++) assert_true(fabsf(values[i] - wanted[i]) < 1e-6F);
  assert_memory_equal(infos, ((int32_t[2]){0}), sizeof infos);
  assert_true(fabsf(vectors[0] + vectors[2]) < 1e-6F);  // the first vector is (1, -1) / sqrt(2)
}

static void wrong_operands_of_lapack_are_refused(void **state) {
  (void)state;
  if (!tsr_blas_load()) skip();
  assert_fails(try_compile("func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, "
                           "tensor<2xf32>, tensor<i32>) {\n"
                           "  %r:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) : "
                           "(tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<i32>)\n"
                           "  return %r#0, %r#1, %r#2 : tensor<2x3xf32>, tensor<2xf32>, "
                           "tensor<i32>\n}\n"),
               CONSTRAINT,
               "@lapack_ssyevd_ffi at line 2: shapes of operands and results are not those of the "
               "LAPACK routine");
}

SUITE(custom_calls, TEST(notes_for_partitioners_change_nothing),
      TEST(unknown_targets_are_refused_by_name), TEST(shapes_of_one_device_are_refused),
      TEST(checks_fail_when_they_run), TEST(functions_of_mhlo_are_those_of_chlo),
      TEST(the_approximate_top_k_is_exact), TEST(factors_and_solves_run_without_lapack),
      TEST(lapack_sees_matrices_by_columns), TEST(batches_of_eigenvalues_are_found),
      TEST(wrong_operands_of_lapack_are_refused))
