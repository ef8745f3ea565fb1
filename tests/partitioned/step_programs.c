#include "partitioned/step_programs.h"

#include <string.h>

#include "support/test.h"
#include "tessera/own.h"

static const char step_text[] =
    "func.func @main(%w: tensor<8x4xf32> loc(\"params['w']\"), %b: tensor<4xf32> "
    "loc(\"params['b']\"), %x: tensor<16x8xf32> loc(\"x\"), %rate: tensor<f32> loc(\"rate\"))\n"
    "    -> (tensor<f32> {jax.result_info = \"result[0]\"},\n"
    "        tensor<8x4xf32> {jax.result_info = \"result[1]['w']\"},\n"
    "        tensor<4xf32> {jax.result_info = \"result[1]['b']\"}) {\n"
    "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, "
    "tensor<8x4xf32>) -> tensor<16x4xf32>\n"
    "  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<16x4xf32>\n"
    "  %2 = stablehlo.add %0, %1 : tensor<16x4xf32>\n"
    "  %3 = stablehlo.multiply %2, %2 : tensor<16x4xf32>\n"
    "  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : "
    "(tensor<16x4xf32>, tensor<f32>) -> tensor<f32>\n"
    "  %5 = stablehlo.dot_general %x, %2, contracting_dims = [0] x [0] : (tensor<16x8xf32>, "
    "tensor<16x4xf32>) -> tensor<8x4xf32>\n"
    "  %6 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<8x4xf32>\n"
    "  %7 = stablehlo.multiply %5, %6 : tensor<8x4xf32>\n"
    "  %8 = stablehlo.subtract %w, %7 : tensor<8x4xf32>\n"
    "  %9 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : "
    "(tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>\n"
    "  %10 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
    "  %11 = stablehlo.multiply %9, %10 : tensor<4xf32>\n"
    "  %12 = stablehlo.subtract %b, %11 : tensor<4xf32>\n"
    "  return %4, %8, %12 : tensor<f32>, tensor<8x4xf32>, tensor<4xf32>\n}\n";

tsr_program *program_of(const char *text) {
  tsr_program *program = NULL;
  assert_ok(tsr_program_read("test", text, strlen(text), NULL, &program));
  return program;
}

tsr_program *step_program(void) { return program_of(step_text); }

tsr_mesh *mesh_of(const char *text) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse(text, NULL, &mesh));
  return mesh;
}

tsr_comm *comm_of(int64_t devices) {
  const tsr_comm_options options = {.size = sizeof options, .workers = 2};
  tsr_comm *comm = NULL;
  assert_ok(tsr_comm_create(devices, &options, &comm));
  return comm;
}

tsr_status try_step(const char *mesh_text, tsr_partitioned **out_step) {
  static const tsr_value_constraint specs[] = {{"x", "data, _"}, {"params['w']", "_, model"}};
  static const char *const donated[] = {"params"};
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  TSR_TRY(tsr_program_read("test", step_text, strlen(step_text), NULL, &program));
  TSR_TRY(tsr_mesh_parse(mesh_text, NULL, &mesh));
  options.mesh = mesh;
  options.specs = specs;
  options.spec_count = COUNT_OF(specs);
  options.donated = donated;
  options.donated_count = COUNT_OF(donated);
  return tsr_program_partition(program, &options, out_step);
}

tsr_partitioned *step_on(const char *mesh) {
  tsr_partitioned *step = NULL;
  assert_ok(try_step(mesh, &step));
  return step;
}

typedef struct step_values {
  float w[WEIGHTS], b[OUTPUTS], x[BATCH * INPUTS], rate;
} step_values;

// Sums of these are exact in any order.
static void fill(step_values *values) {
  for (int i = 0; i < WEIGHTS; i++) values->w[i] = (float)(i % 5 - 2);
  for (int i = 0; i < OUTPUTS; i++) values->b[i] = (float)i;
  for (int i = 0; i < BATCH * INPUTS; i++) values->x[i] = (float)(i % 7 - 3);
  values->rate = 0.125F;
}

tsr_status try_arguments(const tsr_partitioned *step, tsr_comm *comm, tsr_array **out_arguments) {
  step_values values;
  fill(&values);
  const void *const data[] = {values.w, values.b, values.x, &values.rate};
  for (int64_t i = 0; i < ARGUMENT_COUNT; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    TSR_TRY(tsr_partitioned_argument(step, i, &value));
    TSR_TRY(tsr_array_shard(comm, value.layout, value.dtype, data[i], NULL, &out_arguments[i]));
  }
  return NULL;
}

void make_arguments(const tsr_partitioned *step, tsr_comm *comm, tsr_array **out_arguments) {
  assert_ok(try_arguments(step, comm, out_arguments));
}

void release_arrays(tsr_array **arrays, int count) {
  for (int i = 0; i < count; i++) tsr_array_release(arrays[i]);
}

void run_whole(float *out_loss, float *out_w, float *out_b) {
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  step_values values;
  fill(&values);
  program = step_program();
  assert_ok(tsr_executable_compile(program, NULL, &executable));
  assert_ok(tsr_executable_run(executable,
                               (const void *[]){values.w, values.b, values.x, &values.rate},
                               (void *[]){out_loss, out_w, out_b}));
}

const char *spec_text(const tsr_partitioned_value *value, tsr_text *text) {
  tsr_text_clear(text);
  assert_ok(tsr_spec_print(value->spec, TSR_FORM_SHORT, text));
  return tsr_text_string(text);
}
