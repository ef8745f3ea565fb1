// Executables: what they say of themselves, memory in and out, donation, limits, threads, refusals.
#include <pthread.h>
#include <string.h>

#include "exec/runs.h"
#include "tessera/engine/buffer.h"

static const char step_text[] =
    "func.func public @main(%w: tensor<4x3xf32> {tf.aliasing_output = 0 : i32}, %x: "
    "tensor<4x3xf32>) "
    "-> (tensor<4x3xf32>, tensor<f32>, tensor<4x3xf32>) {\n"
    "  %s = stablehlo.add %w, %x : tensor<4x3xf32>\n"
    "  %c = stablehlo.constant dense<7.0> : tensor<f32>\n"
    "  return %s, %c, %x : tensor<4x3xf32>, tensor<f32>, tensor<4x3xf32>\n"
    "}\n";

static void it_says_what_it_takes_and_gives(void **state) {
  (void)state;
  TSR_OWN(executable, executable);
  executable = compile_text(step_text, 1);
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  assert_ok(tsr_executable_describe(executable, &info));
  assert_int_equal(info.argument_count, 2);
  assert_int_equal(info.result_count, 3);
  assert_int_equal(info.argument_bytes, 96);
  assert_int_equal(info.result_bytes, 100);
  assert_true(info.step_count >= 1);
  tsr_executable_value value = TSR_EXECUTABLE_VALUE;
  assert_ok(tsr_executable_argument(executable, 0, &value));
  assert_int_equal(value.dtype, TSR_F32);
  assert_int_equal(value.shape.rank, 2);
  assert_int_equal(value.bytes, 48);
  assert_true(value.donated);
  assert_int_equal(value.aliased, 0);
  assert_ok(tsr_executable_result(executable, 1, &value));
  assert_int_equal(value.shape.rank, 0);
  assert_fails(tsr_executable_result(executable, 3, &value), INDEX_OUT_OF_RANGE,
               "result 3, the executable has 3");
  assert_fails(tsr_executable_argument(executable, -1, &value), INDEX_OUT_OF_RANGE,
               "argument -1, the executable has 2");
}

static void results_may_be_constants_and_arguments(void **state) {
  (void)state;
  float w[12], x[12], sum[12], c = 0, same[12];
  for (int i = 0; i < 12; i++) w[i] = (float)i, x[i] = (float)(100 - 3 * i);
  run_text(step_text, IN(w, x), OUT_TO(sum, &c, same));
  for (int i = 0; i < 12; i++) assert_true(sum[i] == w[i] + x[i]);
  assert_true(c == 7);
  assert_memory_equal(same, x, sizeof x);
}

static void addresses_are_checked(void **state) {
  (void)state;
  TSR_OWN(executable, executable);
  executable = compile_text(step_text, 1);
  float w[12] = {0}, sum[12], c, same[12];
  assert_fails(tsr_executable_run(executable, IN(w, NULL), OUT_TO(sum, &c, same)), BAD_ARGUMENT,
               "the address of argument 1 (arg1, 48 bytes) is NULL");
  assert_fails(tsr_executable_run(executable, IN(w, w), OUT_TO(sum, NULL, same)), BAD_ARGUMENT,
               "the address of result 1 (out1, 4 bytes) is NULL");
  assert_fails(tsr_executable_run(executable, NULL, OUT_TO(sum, &c, same)), BAD_ARGUMENT,
               "the executable has 2 arguments, but their addresses are NULL");
}

static void a_donated_buffer_becomes_the_result(void **state) {
  (void)state;
  TSR_OWN(executable, executable);
  executable = compile_text(step_text, 1);
  tsr_buffer *inputs[2] = {NULL}, *outputs[3] = {NULL};
  for (int i = 0; i < 2; i++) {
    assert_ok(tsr_buffer_create(NULL, 48, &inputs[i]));
    for (int k = 0; k < 12; k++) ((float *)tsr_buffer_data(inputs[i]))[k] = (float)(k + i);
  }
  for (int shared = 0; shared < 2; shared++) {
    if (shared) (void)tsr_buffer_retain(inputs[0]);
    assert_ok(tsr_executable_call(executable, inputs, outputs));
    assert_int_equal(tsr_buffer_data(outputs[0]) == tsr_buffer_data(inputs[0]), !shared);
    assert_true(((float *)tsr_buffer_data(outputs[0]))[1] == (shared ? 5.0F : 3.0F));
    assert_true(*(float *)tsr_buffer_data(outputs[1]) == 7.0F);
    for (int i = 0; i < 3; i++) tsr_buffer_release(outputs[i]);
    if (shared) tsr_buffer_release(inputs[0]);
  }
  tsr_buffer *small = NULL;
  assert_ok(tsr_buffer_create(NULL, 40, &small));
  assert_fails(tsr_executable_call(executable, (tsr_buffer *[]){inputs[0], small}, outputs),
               BAD_ARGUMENT, "the buffer of argument 1 (arg1) has 40 bytes, wanted 48");
  tsr_buffer_release(small);
  for (int i = 0; i < 2; i++) tsr_buffer_release(inputs[i]);
}

static void memory_over_the_limit_is_refused(void **state) {
  (void)state;
  TSR_OWN(program, program);
  tsr_executable *executable = NULL;
  assert_ok(tsr_program_read("step", step_text, strlen(step_text), NULL, &program));
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.max_memory = 100;
  const tsr_status status = tsr_executable_compile(program, &options, &executable);
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_TOO_LARGE);
  assert_non_null(strstr(tsr_status_text(status), "more than 100: arguments 96, results 100"));
  assert_null(executable);
  tsr_status_free(status);
  options.max_memory = -1;
  assert_fails(tsr_executable_compile(program, &options, &executable), BAD_ARGUMENT,
               "max_memory is -1, wanted 0 or more");
}

static void programs_without_an_entry_and_ops_that_do_not_run_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"func.func private @a() { return }\nfunc.func private @b() { return }\n",
       "the program has no function main, and not just one function"},
      {"func.func @main(%t: !stablehlo.token) -> !stablehlo.token {\n"
       "  %0:2 = \"stablehlo.infeed\"(%t) {infeed_config = \"\"} : (!stablehlo.token) -> "
       "(tensor<2xf32>, !stablehlo.token)\n"
       "  return %0#1 : !stablehlo.token\n"
       "}\n",
       "stablehlo.infeed at line 2: the op runs in interpreter.run_parallel only"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(program, program);
    tsr_executable *executable = NULL;
    assert_ok(tsr_program_read("t", cases[i].text, strlen(cases[i].text), NULL, &program));
    const tsr_status status = tsr_executable_compile(program, NULL, &executable);
    assert_string_equal(tsr_status_text(status), cases[i].message);
    tsr_status_free(status);
  }
}

// ---- threads ----

enum { THREADS = 4, ROUNDS = 200 };

static void *run_often(void *context) {
  const tsr_executable *executable = context;
  for (int round = 0; round < ROUNDS; round++) {
    float w[12], x[12], sum[12], c, same[12];
    for (int i = 0; i < 12; i++) w[i] = (float)(i + round), x[i] = (float)i;
    assert_ok(tsr_executable_run(executable, IN(w, x), OUT_TO(sum, &c, same)));
    for (int i = 0; i < 12; i++) assert_true(sum[i] == w[i] + x[i]);
  }
  return NULL;
}

static void threads_run_it_at_once(void **state) {
  (void)state;
  TSR_OWN(executable, executable);
  executable = compile_text(step_text, 2);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run_often, executable), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

// ---- allocation ----

static tsr_status compile_and_run(void *context) {
  (void)context;
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.workers = 1;
  float w[12] = {0}, x[12] = {0}, sum[12], c, same[12];
  TSR_TRY(tsr_program_read("step", step_text, strlen(step_text), NULL, &program));
  TSR_TRY(tsr_executable_compile(program, &options, &executable));
  return tsr_executable_run(executable, IN(w, x), OUT_TO(sum, &c, same));
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_allocation_sweep(compile_and_run, NULL);
}

SUITE(executable, TEST(it_says_what_it_takes_and_gives),
      TEST(results_may_be_constants_and_arguments), TEST(addresses_are_checked),
      TEST(a_donated_buffer_becomes_the_result), TEST(memory_over_the_limit_is_refused),
      TEST(programs_without_an_entry_and_ops_that_do_not_run_are_refused),
      TEST(threads_run_it_at_once), TEST(every_allocation_may_fail))
