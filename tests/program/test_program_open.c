// Opening by content, refusals, text and artifacts, passes and refinement through the public
// handle.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/folder.h"
#include "support/test.h"
#include "tessera/own.h"
#include "tessera/program.h"

static const char doubling[] =
    "module @m {\n"
    "  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %0 = call @twice(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n"
    "    return %0 : tensor<4xf32>\n"
    "  }\n"
    "  func.func private @twice(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n"
    "    return %0 : tensor<4xf32>\n"
    "  }\n"
    "}\n";

static tsr_program *read_text(const char *text) {
  tsr_program *program = NULL;
  assert_ok(tsr_program_read("test.mlir", text, strlen(text), NULL, &program));
  return program;
}

static void assert_prints(const tsr_program *program, const char *wanted) {
  TSR_OWN(text, text);
  assert_ok(tsr_program_print(program, NULL, &text));
  assert_string_equal(tsr_text_string(&text), wanted);
}

static void text_artifact_and_export_are_told_by_content(void **state) {
  (void)state;
  static const struct {
    const char *path;
    tsr_program_form form;
    const char *function;
  } cases[] = {
      {"tests/programs/add_sharded/program.mlir", TSR_PROGRAM_TEXT, ""},
      {"tests/programs/add_sharded/program.mlirbc", TSR_PROGRAM_ARTIFACT, ""},
      {"tests/programs/exported_prng_keys/exported.bin", TSR_PROGRAM_EXPORT, "prng"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TSR_OWN(program, program);
    tsr_program_info info = TSR_PROGRAM_INFO;
    assert_ok(tsr_program_open(cases[i].path, NULL, &program));
    assert_ok(tsr_program_describe(program, &info));
    assert_int_equal(info.form, cases[i].form);
    if (!*cases[i].function) assert_string_equal(info.function_name, "");
    assert_true(info.op_count > 0);
  }
}

static void what_is_wrong_is_named(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tsr_cause cause;
    const char *message;  // a part of it
  } cases[] = {
      {"func.func @f() {\n  retrun\n}\n", TSR_CAUSE_UNKNOWN_OP, "test.mlir:2:3: "},
      {"func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {\n"
       "  %0 = stablehlo.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>\n"
       "  return %0 : tensor<3xf32>\n}\n",
       TSR_CAUSE_CONSTRAINT, "stablehlo.add: (C1)"},
      {"func.func @f() {\n  func.call @g() : () -> ()\n  return\n}\n", TSR_CAUSE_CONSTRAINT, "@g"},
      {"ML\xefR", TSR_CAUSE_BROKEN_PROGRAM, "test.mlir: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsr_program *program = NULL;
    tsr_status status =
        tsr_program_read("test.mlir", cases[i].text, strlen(cases[i].text), NULL, &program);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    if (!strstr(tsr_status_text(status), cases[i].message))
      assert_string_equal(tsr_status_text(status), cases[i].message);
    assert_null(program);
    tsr_status_free(status);
  }
}

static void unchecked_programs_open_and_fail_the_check(void **state) {
  (void)state;
  static const char text[] =
      "func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {\n"
      "  %0 = stablehlo.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>\n"
      "  return %0 : tensor<3xf32>\n}\n";
  TSR_OWN(program, program);
  tsr_program_options options = TSR_PROGRAM_OPTIONS;
  options.unchecked = true;
  assert_ok(tsr_program_read("x.mlir", text, strlen(text), &options, &program));
  tsr_status status = tsr_program_check(program);
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_CONSTRAINT);
  tsr_status_free(status);
}

static void a_missing_file_is_named(void **state) {
  (void)state;
  tsr_program *program = NULL;
  tsr_status status = tsr_program_open("no/such.mlir", NULL, &program);
  assert_int_equal(tsr_status_code(status), TSR_CODE_IO);
  assert_non_null(strstr(tsr_status_text(status), "no/such.mlir"));
  tsr_status_free(status);
}

static void text_and_artifact_hold_the_same_program(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(program, again);
  TSR_OWN(text, bytes);
  program = read_text(doubling);
  assert_prints(program, doubling);
  assert_ok(tsr_program_serialize(program, "1.9.0", &bytes));
  assert_ok(tsr_program_read("artifact", bytes.data, bytes.length, NULL, &again));
  assert_true(tsr_program_equal(program, again));
  assert_prints(again, doubling);
}

static void a_version_that_does_not_exist_is_refused(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(text, bytes);
  program = read_text(doubling);
  tsr_status status = tsr_program_serialize(program, "99.0.0", &bytes);
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_UNKNOWN_VERSION);
  tsr_status_free(status);
}

static void files_are_written_by_their_names(void **state) {
  (void)state;
  test_folder folder;
  TSR_OWN(program, program);
  program = read_text(doubling);
  test_folder_make(&folder);
  static const struct {
    const char *name;
    tsr_program_form form;
  } cases[] = {{"a.mlir", TSR_PROGRAM_TEXT}, {"a.mlirbc", TSR_PROGRAM_ARTIFACT}};
  for (size_t i = 0; i < 2; i++) {
    TSR_OWN(program, again);
    tsr_program_info info = TSR_PROGRAM_INFO;
    const char *path = test_folder_path(&folder, cases[i].name);
    assert_ok(tsr_program_save(program, path, NULL));
    assert_ok(tsr_program_open(path, NULL, &again));
    assert_ok(tsr_program_describe(again, &info));
    assert_int_equal(info.form, cases[i].form);
    assert_true(tsr_program_equal(program, again));
  }
  tsr_status status = tsr_program_save(program, test_folder_path(&folder, "b.mlir"), "1.9.0");
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_BAD_ARGUMENT);
  tsr_status_free(status);
  test_folder_remove(&folder);
}

static void passes_make_a_new_program(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(program, changed);
  program = read_text(doubling);
  assert_ok(tsr_program_transform(program, "inline,dce", &changed));
  assert_prints(changed,
                "module @m {\n"
                "  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
                "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n"
                "    return %0 : tensor<4xf32>\n"
                "  }\n"
                "}\n");
  assert_prints(program, doubling);
  tsr_program *none = NULL;
  tsr_status status = tsr_program_transform(program, "inlin", &none);
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_UNKNOWN_PASS);
  assert_non_null(strstr(tsr_status_text(status), "\"inline\""));
  tsr_status_free(status);
}

// The constants of the changed program are views of the first one's file.
static void a_changed_program_outlives_the_first(void **state) {
  (void)state;
  TSR_OWN(program, changed);
  TSR_OWN(text, before);
  TSR_OWN(text, after);
  tsr_program *program = NULL;
  assert_ok(tsr_program_open("tests/programs/captured_constants/program.mlirbc", NULL, &program));
  assert_ok(tsr_program_print(program, NULL, &before));
  assert_ok(tsr_program_transform(program, "drop-locations", &changed));
  tsr_program_release(program);
  assert_ok(tsr_program_print(changed, NULL, &after));
  assert_string_equal(tsr_text_string(&after), tsr_text_string(&before));
}

static void unknown_sizes_are_filled_in(void **state) {
  (void)state;
  static const char text[] =
      "func.func public @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {\n"
      "  %0 = stablehlo.add %arg0, %arg0 : tensor<?x4xf32>\n"
      "  return %0 : tensor<?x4xf32>\n}\n";
  TSR_OWN(program, program);
  TSR_OWN(program, fixed);
  tsr_program_value value = TSR_PROGRAM_VALUE;
  program = read_text(text);
  assert_ok(tsr_program_argument(program, 0, 0, &value));
  assert_int_equal(value.shape.dims[0], TSR_UNKNOWN_SIZE);
  assert_ok(tsr_program_refine(program, TSR_SHAPE(8, 4), 1, &fixed));
  assert_ok(tsr_program_result(fixed, 0, 0, &value));
  assert_string_equal(value.type, "tensor<8x4xf32>");
  tsr_program *none = NULL;
  tsr_status status = tsr_program_refine(program, TSR_SHAPE(8, 5), 1, &none);
  assert_int_equal(tsr_status_code(status), TSR_CODE_INVALID);
  tsr_status_free(status);
}

static void constants_can_be_left_out_of_the_text(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(text, text);
  tsr_program_print_options options = TSR_PROGRAM_PRINT_OPTIONS;
  options.elide_elements = 2;
  program = read_text(
      "func.func @f() -> tensor<3xi32> {\n"
      "  %c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
      "  return %c : tensor<3xi32>\n}\n");
  assert_ok(tsr_program_print(program, &options, &text));
  assert_non_null(strstr(tsr_text_string(&text), "dense_resource<__elided__> : tensor<3xi32>"));
}

static void *print_program(void *program) {
  tsr_text *text = calloc(1, sizeof *text);
  if (text) tsr_status_free(tsr_program_print(program, NULL, text));
  return text;
}

static void threads_print_one_program(void **state) {
  (void)state;
  TSR_OWN(program, program);
  pthread_t threads[4];
  assert_ok(tsr_program_open("tests/programs/scan_nested/program.mlir", NULL, &program));
  tsr_text *first = print_program(program);
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, print_program, program), 0);
  for (int i = 0; i < 4; i++) {
    void *text = NULL;
    assert_int_equal(pthread_join(threads[i], &text), 0);
    assert_string_equal(tsr_text_string(text), tsr_text_string(first));
    tsr_text_deinit(text);
    free(text);
  }
  tsr_text_deinit(first);
  free(first);
}

static tsr_status open_print_and_write(void *context) {
  TSR_OWN(program, program);
  TSR_OWN(program, changed);
  TSR_OWN(text, text);
  TSR_OWN(text, bytes);
  TSR_TRY(tsr_program_open(context, NULL, &program));
  TSR_TRY(tsr_program_print(program, NULL, &text));
  TSR_TRY(tsr_program_serialize(program, NULL, &bytes));
  TSR_TRY(tsr_program_check(program));
  return tsr_program_transform(program, "inline,fold,cse,dce", &changed);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  static char text[] = "tests/programs/cond_switch/program.mlir";
  static char artifact[] = "tests/programs/add_sharded/program.mlirbc";
  static char export[] = "tests/programs/exported_prng_keys/exported.bin";
  test_allocation_sweep(open_print_and_write, text);
  test_allocation_sweep(open_print_and_write, artifact);
  test_allocation_sweep(open_print_and_write, export);
}

SUITE(program_open, TEST(text_artifact_and_export_are_told_by_content),
      TEST(what_is_wrong_is_named), TEST(unchecked_programs_open_and_fail_the_check),
      TEST(a_missing_file_is_named), TEST(text_and_artifact_hold_the_same_program),
      TEST(a_version_that_does_not_exist_is_refused), TEST(files_are_written_by_their_names),
      TEST(passes_make_a_new_program), TEST(a_changed_program_outlives_the_first),
      TEST(unknown_sizes_are_filled_in), TEST(constants_can_be_left_out_of_the_text),
      TEST(threads_print_one_program), TEST(every_allocation_may_fail))
