// Calls of compiled programs on arrays.
#include <stdio.h>
#include <string.h>

#include "array/array_internal.h"
#include "exec/shard_run.h"
#include "partitioned/step_programs.h"
#include "support/ranks.h"
#include "support/test.h"
#include "tessera/engine/array.h"
#include "tessera/own.h"

static void assert_results(tsr_array *const *results) {
  float loss = 0, w[WEIGHTS], b[OUTPUTS], wanted_loss = 0, wanted_w[WEIGHTS], wanted_b[OUTPUTS];
  run_whole(&wanted_loss, wanted_w, wanted_b);
  assert_ok(tsr_array_gather(results[RESULT_LOSS], &loss, sizeof loss, NULL));
  assert_ok(tsr_array_gather(results[RESULT_W], w, sizeof w, NULL));
  assert_ok(tsr_array_gather(results[RESULT_B], b, sizeof b, NULL));
  assert_true(loss == wanted_loss);
  assert_memory_equal(w, wanted_w, sizeof w);
  assert_memory_equal(b, wanted_b, sizeof b);
}

static void results_are_those_of_the_whole_program(void **state) {
  (void)state;
  static const char *const meshes[] = {"data=2,model=4", "data=4,model=2", "data=8,model=1",
                                       "data=1,model=1", "data=2,model=2 devices=[3,1,0,2]"};
  for (size_t i = 0; i < COUNT_OF(meshes); i++) {
    TSR_OWN(partitioned, step);
    TSR_OWN(comm, comm);
    TSR_OWN(compiled, run);
    tsr_array *arguments[ARGUMENT_COUNT] = {NULL}, *results[RESULT_COUNT] = {NULL};
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    bool same = false;
    step = step_on(meshes[i]);
    comm = comm_of(8);
    assert_ok(tsr_partitioned_compile(step, comm, NULL, &run));
    make_arguments(step, comm, arguments);
    assert_ok(tsr_compiled_call(run, arguments, NULL, results));
    assert_results(results);
    assert_ok(tsr_partitioned_result(step, RESULT_W, &value));
    assert_ok(tsr_layout_equivalent(value.layout, tsr_array_layout(results[RESULT_W]), &same));
    assert_true(same);
    release_arrays(arguments, ARGUMENT_COUNT);
    release_arrays(results, RESULT_COUNT);
  }
}

// A program, its comm and its arguments on data=2, model=2.
typedef struct called {
  tsr_partitioned *step;
  tsr_comm *comm;
  tsr_compiled *run;
  tsr_array *arguments[ARGUMENT_COUNT], *results[RESULT_COUNT];
} called;

static called open_called(void) {
  called c = {.step = step_on("data=2,model=2"), .comm = comm_of(4)};
  assert_ok(tsr_partitioned_compile(c.step, c.comm, NULL, &c.run));
  make_arguments(c.step, c.comm, c.arguments);
  return c;
}

static void close_called(called *c) {
  release_arrays(c->arguments, ARGUMENT_COUNT);
  release_arrays(c->results, RESULT_COUNT);
  tsr_compiled_release(c->run);
  tsr_comm_release(c->comm);
  tsr_partitioned_release(c->step);
}

static void donated_arrays_are_gone_unless_kept(void **state) {
  (void)state;
  const tsr_call_options keep = {.size = sizeof keep, .keep = true};
  called c = open_called();
  assert_ok(tsr_compiled_call(c.run, c.arguments, &keep, c.results));
  for (int i = 0; i < ARGUMENT_COUNT; i++) assert_false(tsr_array_is_deleted(c.arguments[i]));
  release_arrays(c.results, RESULT_COUNT);
  assert_ok(tsr_compiled_call(c.run, c.arguments, NULL, c.results));
  assert_results(c.results);
  for (int i = 0; i < ARGUMENT_COUNT; i++)
    assert_int_equal(tsr_array_is_deleted(c.arguments[i]), i < ARGUMENT_X);
  assert_fails_with(tsr_compiled_call(c.run, c.arguments, NULL, c.results), ARRAY_DELETED,
                    "argument params['w']");
  close_called(&c);
}

// Arrays of zeros for the arguments of a program.
static void make_zeros(const tsr_partitioned *step, tsr_comm *comm, tsr_array **out_arguments) {
  tsr_partitioned_info info = TSR_PARTITIONED_INFO;
  assert_ok(tsr_partitioned_describe(step, &info));
  for (int64_t i = 0; i < info.argument_count; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    assert_ok(tsr_partitioned_argument(step, i, &value));
    assert_ok(tsr_array_zeros(comm, value.layout, value.dtype, &out_arguments[i]));
  }
}

static void results_take_the_memory_of_donated_arrays(void **state) {
  (void)state;
  enum { PARAMETERS = 2, ALL = 3 };
  TSR_OWN(program, program);
  TSR_OWN(partitioned, step);
  TSR_OWN(comm, comm);
  TSR_OWN(compiled, run);
  tsr_array *arguments[ALL + 1] = {NULL}, *results[PARAMETERS] = {NULL};
  const void *before[PARAMETERS][8];
  assert_ok(tsr_program_open("tests/programs/donated_sgd_update/program.mlir", NULL, &program));
  assert_ok(tsr_program_partition(program, NULL, &step));
  comm = comm_of(8);
  assert_ok(tsr_partitioned_compile(step, comm, NULL, &run));
  make_zeros(step, comm, arguments);
  for (int i = 0; i < PARAMETERS; i++)
    for (int k = 0; k < 8; k++) before[i][k] = tsr_array_data(arguments[i], k);
  assert_ok(tsr_compiled_call(run, arguments, NULL, results));
  for (int i = 0; i < PARAMETERS; i++)
    for (int k = 0; k < 8; k++) assert_ptr_equal(tsr_array_data(results[i], k), before[i][k]);
  release_arrays(arguments, ALL + 1);
  release_arrays(results, PARAMETERS);
}

// How many results of a recorded step take the memory of donated arguments, and how many could.
static void count_taken(const char *name, int64_t *out_taken, int64_t *out_aliased) {
  TSR_OWN(program, program);
  TSR_OWN(partitioned, step);
  TSR_OWN(comm, comm);
  TSR_OWN(compiled, run);
  char path[256];
  tsr_partitioned_info info = TSR_PARTITIONED_INFO;
  snprintf(path, sizeof path, "tests/programs/%s/program.mlir", name);
  assert_ok(tsr_program_open(path, NULL, &program));
  assert_ok(tsr_program_partition(program, NULL, &step));
  assert_ok(tsr_partitioned_describe(step, &info));
  comm = comm_of(info.device_count);
  assert_ok(tsr_partitioned_compile(step, comm, NULL, &run));
  *out_taken = *out_aliased = 0;
  for (int64_t i = 0; i < info.result_count; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    assert_ok(tsr_partitioned_result(step, i, &value));
    *out_aliased += value.aliased >= 0;
    *out_taken += tsr_executable_shard_donor(tsr_compiled_executable(run), i) >= 0;
  }
}

// Gradients are summed over devices before the parameters are read for the last time; new
// parameters take the memory of the old ones all the same.
static void recorded_steps_update_their_state_in_place(void **state) {
  (void)state;
  static const char *const steps[] = {"hf_gpt2_train_step", "hf_bert_mlm_train_step",
                                      "gpt2_train_step_sgd", "gpt2_train_step_adam_fsdp",
                                      "flax_cnn_train_step"};
  for (size_t i = 0; i < COUNT_OF(steps); i++) {
    int64_t taken = 0, aliased = 0;
    count_taken(steps[i], &taken, &aliased);
    assert_int_equal(taken, aliased);
    assert_true(taken > 0);
  }
}

// An array that is listed twice is still read when the result is written.
static void an_array_that_is_listed_twice_is_not_taken(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(partitioned, step);
  TSR_OWN(mesh, mesh);
  TSR_OWN(comm, comm);
  TSR_OWN(compiled, run);
  TSR_OWN(array, x);
  tsr_array *results[2] = {NULL};
  float data[8], sum[8], twice[8];
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  const char *const donated = "x";
  program = program_of(
      "func.func @main(%x: tensor<8xf32> loc(\"x\"), %y: tensor<8xf32> loc(\"y\")) -> "
      "(tensor<8xf32>, tensor<8xf32>) {\n"
      "  %0 = stablehlo.add %x, %x : tensor<8xf32>\n"
      "  %1 = stablehlo.negate %y : tensor<8xf32>\n"
      "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n}\n");
  mesh = mesh_of("a=2");
  options.mesh = mesh;
  options.donated = &donated;
  options.donated_count = 1;
  assert_ok(tsr_program_partition(program, &options, &step));
  comm = comm_of(2);
  assert_ok(tsr_partitioned_compile(step, comm, NULL, &run));
  for (int i = 0; i < 8; i++) data[i] = (float)i;
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  assert_ok(tsr_partitioned_argument(step, 0, &value));
  assert_ok(tsr_array_shard(comm, value.layout, TSR_F32, data, NULL, &x));
  assert_ok(tsr_compiled_call(run, (tsr_array *[]){x, x}, NULL, results));
  assert_ok(tsr_array_gather(results[0], sum, sizeof sum, NULL));
  assert_ok(tsr_array_gather(results[1], twice, sizeof twice, NULL));
  for (int i = 0; i < 8; i++) {
    assert_true(sum[i] == (float)(2 * i));
    assert_true(twice[i] == (float)-i);
  }
  release_arrays(results, 2);
}

// Memory that another array holds stays as it is.
static void shared_memory_is_not_taken(void **state) {
  (void)state;
  called c = open_called();
  tsr_array *twin = NULL;
  float before[WEIGHTS], after[WEIGHTS];
  assert_ok(tsr_array_reshard_to(c.arguments[ARGUMENT_W], "_, model", &twin));
  assert_ptr_equal(tsr_array_data(twin, 0), tsr_array_data(c.arguments[ARGUMENT_W], 0));
  assert_ok(tsr_array_gather(twin, before, sizeof before, NULL));
  assert_ok(tsr_compiled_call(c.run, c.arguments, NULL, c.results));
  assert_results(c.results);
  assert_ok(tsr_array_gather(twin, after, sizeof after, NULL));
  assert_memory_equal(before, after, sizeof before);
  tsr_array_release(twin);
  close_called(&c);
}

static void another_layout_is_refused_or_moved(void **state) {
  (void)state;
  const tsr_call_options reshard = {.size = sizeof reshard, .reshard = true};
  called c = open_called();
  tsr_array *moved = NULL;
  assert_ok(tsr_array_reshard_to(c.arguments[ARGUMENT_X], "_, data", &moved));
  tsr_array_release(c.arguments[ARGUMENT_X]);
  c.arguments[ARGUMENT_X] = moved;
  assert_fails_with(tsr_compiled_call(c.run, c.arguments, NULL, c.results), LAYOUTS_DIFFER,
                    "x lies as (16, 8) over {data=2,model=2} as _, data, expected ");
  for (int i = 0; i < ARGUMENT_COUNT; i++) assert_false(tsr_array_is_deleted(c.arguments[i]));
  assert_ok(tsr_compiled_call(c.run, c.arguments, &reshard, c.results));
  assert_results(c.results);
  close_called(&c);
}

static void wrong_arrays_are_refused_by_name(void **state) {
  (void)state;
  called c = open_called();
  TSR_OWN(comm, other);
  TSR_OWN(mesh, mesh);
  tsr_array *const x = c.arguments[ARGUMENT_X];
  tsr_array *wrong = NULL;
  static const double numbers[BATCH * INPUTS] = {0};
  mesh = mesh_of("data=2,model=2");
  other = comm_of(4);
  c.arguments[ARGUMENT_X] = NULL;
  assert_fails(tsr_compiled_call(c.run, c.arguments, NULL, c.results), BAD_ARGUMENT,
               "argument 2 (x) is NULL");
  const struct {
    tsr_comm *comm;
    const tsr_shape *shape;
    tsr_dtype dtype;
    tsr_cause cause;
    const char *part;
  } cases[] = {
      {other, TSR_SHAPE(BATCH, INPUTS), TSR_F32, TSR_CAUSE_BAD_ARGUMENT,
       "x is on another comm than the program"},
      {c.comm, TSR_SHAPE(BATCH, INPUTS), TSR_F64, TSR_CAUSE_BAD_ARGUMENT,
       "x has dtype f64, expected f32"},
      {c.comm, TSR_SHAPE(INPUTS, INPUTS), TSR_F32, TSR_CAUSE_SHAPES_DIFFER, "x: "},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    assert_ok(tsr_array_put(cases[i].comm, mesh, "data, _", cases[i].shape, cases[i].dtype, numbers,
                            &wrong));
    c.arguments[ARGUMENT_X] = wrong;
    tsr_status status = tsr_compiled_call(c.run, c.arguments, NULL, c.results);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    assert_non_null(strstr(tsr_status_text(status), cases[i].part));
    tsr_status_free(status);
    tsr_array_release(wrong);
  }
  assert_fails_with(tsr_compiled_call(c.run, NULL, NULL, c.results), BAD_ARGUMENT, "inputs");
  c.arguments[ARGUMENT_X] = x;
  assert_fails_with(tsr_compiled_call(c.run, c.arguments, NULL, NULL), BAD_ARGUMENT, "outputs");
  close_called(&c);
}

static void a_comm_needs_the_devices_of_the_mesh(void **state) {
  (void)state;
  TSR_OWN(partitioned, step);
  TSR_OWN(comm, comm);
  tsr_compiled *run = NULL;
  step = step_on("data=2,model=2");
  comm = comm_of(3);
  assert_fails(tsr_partitioned_compile(step, comm, NULL, &run), TOO_FEW_DEVICES,
               "the mesh has device 3, the comm has 3 devices");
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.max_memory = 1;
  TSR_OWN(comm, enough);
  enough = comm_of(4);
  assert_fails_with(tsr_partitioned_compile(step, enough, &options, &run), TOO_LARGE, "needs");
}

static void narrow_elements_are_refused(void **state) {
  (void)state;
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  TSR_OWN(comm, comm);
  TSR_OWN(partitioned, step);
  tsr_compiled *run = NULL;
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  program = program_of(
      "func.func @main(%x: tensor<8xi4> loc(\"x\")) -> tensor<8xi4> {\n"
      "  return %x : tensor<8xi4>\n}\n");
  mesh = mesh_of("a=2");
  options.mesh = mesh;
  assert_ok(tsr_program_partition(program, &options, &step));
  comm = comm_of(2);
  assert_fails_with(tsr_partitioned_compile(step, comm, NULL, &run), UNSUPPORTED, "x has dtype i4");
}

// ---- ranks ----

typedef struct wanted_results {
  float loss, w[WEIGHTS], b[OUTPUTS];
} wanted_results;

static bool are_equal(const float *a, const float *b, int count) {
  for (int i = 0; i < count; i++)
    if (a[i] != b[i]) return false;
  return true;
}

// On one rank of several, where nothing may be asserted.
static tsr_status call_on_rank(void *context, tsr_comm *comm) {
  const wanted_results *wanted = context;
  float w[WEIGHTS], b[OUTPUTS], loss = 0;
  tsr_array *arguments[ARGUMENT_COUNT] = {NULL}, *results[RESULT_COUNT] = {NULL};
  TSR_OWN(partitioned, step);
  TSR_OWN(compiled, run);
  TSR_TRY(try_step("data=2,model=2", &step));
  TSR_TRY(tsr_partitioned_compile(step, comm, NULL, &run));
  TSR_TRY(try_arguments(step, comm, arguments));
  TSR_TRY(tsr_compiled_call(run, arguments, NULL, results));
  TSR_TRY(tsr_array_gather(results[RESULT_LOSS], &loss, sizeof loss, NULL));
  TSR_TRY(tsr_array_gather(results[RESULT_W], w, sizeof w, NULL));
  TSR_TRY(tsr_array_gather(results[RESULT_B], b, sizeof b, NULL));
  release_arrays(arguments, ARGUMENT_COUNT);
  release_arrays(results, RESULT_COUNT);
  if (loss != wanted->loss || !are_equal(w, wanted->w, WEIGHTS) ||
      !are_equal(b, wanted->b, OUTPUTS))
    return tsr_fail(CHECK_FAILED, "rank %d has other results", tsr_comm_rank(comm));
  return NULL;
}

static void ranks_compute_the_same(void **state) {
  (void)state;
  wanted_results wanted;
  run_whole(&wanted.loss, wanted.w, wanted.b);
  assert_ok(test_ranks_run(2, (const int64_t[]){0, 2, 4}, call_on_rank, &wanted));
  assert_ok(test_ranks_run(3, (const int64_t[]){0, 1, 3, 4}, call_on_rank, &wanted));
}

// Figures of a run come with the executable.
static void costs_are_those_of_the_executable(void **state) {
  (void)state;
  called c = open_called();
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  assert_ok(tsr_executable_describe(tsr_compiled_executable(c.run), &info));
  assert_int_equal(info.argument_count, ARGUMENT_COUNT);
  assert_true(info.peak_bytes > 0);
  close_called(&c);
}

SUITE(array_call, TEST(results_are_those_of_the_whole_program),
      TEST(donated_arrays_are_gone_unless_kept), TEST(results_take_the_memory_of_donated_arrays),
      TEST(recorded_steps_update_their_state_in_place),
      TEST(an_array_that_is_listed_twice_is_not_taken), TEST(shared_memory_is_not_taken),
      TEST(another_layout_is_refused_or_moved), TEST(wrong_arrays_are_refused_by_name),
      TEST(a_comm_needs_the_devices_of_the_mesh), TEST(narrow_elements_are_refused),
      TEST(ranks_compute_the_same), TEST(costs_are_those_of_the_executable))
