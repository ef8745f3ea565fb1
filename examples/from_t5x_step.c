// A train step through t5x's front door: PjitPartitioner.partition with specs by logical axes, a
// static and a donated argument; lower, compile, and calls on sharded arrays.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tessera/compat/t5x_partitioner.h>
#include <tessera/program.h>
#include <tessera/tessera.h>

// w - rate * x^T x w, for a batch x of 16 rows: as jax.export writes it, here as text.
static const char step_text[] =
    "func.func @main(%w: tensor<8x4xf32> loc(\"params['w']\"), %x: tensor<16x8xf32> loc(\"x\"),\n"
    "                %rate: tensor<f32> loc(\"rate\")) -> tensor<8x4xf32> {\n"
    "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]\n"
    "      : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>\n"
    "  %1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0]\n"
    "      : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>\n"
    "  %2 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<8x4xf32>\n"
    "  %3 = stablehlo.multiply %1, %2 : tensor<8x4xf32>\n"
    "  %4 = stablehlo.subtract %w, %3 : tensor<8x4xf32>\n"
    "  return %4 : tensor<8x4xf32>\n"
    "}\n";

// partition: in_axis_resources and out_axis_resources are specs by name, of logical axes here.
static tsr_status partition(const tsr_partitioner *partitioner, tsr_partitioned **out_step) {
  static const float rate = 0.01F;
  static const tsr_value_constraint specs[] = {
      {"params", "embed, mlp"}, {"x", "batch, embed"}, {"out0", "embed, mlp"}};
  static const char *const donated[] = {"params"};
  static const tsr_static_argument statics[] = {{"rate", TSR_F32, NULL, &rate}};
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  options.specs = specs;
  options.spec_count = 3;
  options.logical = true;
  options.donated = donated;  // donate_argnums
  options.donated_count = 1;
  options.statics = statics;  // static_argnums
  options.static_count = 1;
  TSR_OWN(program, program);
  TSR_TRY(tsr_program_read("step", step_text, strlen(step_text), NULL, &program));
  return tsr_partitioner_partition(partitioner, program, &options, out_step);
}

// lower: the program that one device runs. Its collectives add up the gradients of the batch.
static tsr_status lower(const tsr_partitioned *step) {
  TSR_OWN(text, text);
  TSR_TRY(tsr_program_print(tsr_partitioned_lower(step, TSR_LOWERED_DEVICE), NULL, &text));
  printf("%s", tsr_text_string(&text));
  return NULL;
}

static tsr_status put(const tsr_partitioned *step, int64_t argument, tsr_comm *comm,
                      const float *data, tsr_array **out_array) {
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  TSR_TRY(tsr_partitioned_argument(step, argument, &value));
  return tsr_array_shard(comm, value.layout, value.dtype, data, NULL, out_array);
}

// compile, and the call, which takes the memory of the donated weights.
static tsr_status compile_and_call(const tsr_partitioned *step, tsr_comm *comm) {
  float weights[8 * 4], batch[16 * 8];
  for (int i = 0; i < 8 * 4; i++) weights[i] = 1;
  for (int i = 0; i < 16 * 8; i++) batch[i] = (float)(i % 3);
  TSR_OWN(compiled, compiled);
  TSR_OWN(array, w);
  TSR_OWN(array, x);
  TSR_OWN(array, next);
  TSR_TRY(tsr_partitioned_compile(step, comm, NULL, &compiled));
  TSR_TRY(put(step, 0, comm, weights, &w));
  TSR_TRY(put(step, 1, comm, batch, &x));
  TSR_TRY(tsr_compiled_call(compiled, (tsr_array *[]){w, x}, NULL, &next));
  TSR_TRY(tsr_array_gather(next, weights, sizeof weights, NULL));
  printf("after a step: %.2f, %.2f, ...\n", (double)weights[0], (double)weights[4]);
  return NULL;
}

static tsr_status run(void) {
  tsr_partitioner_options options = TSR_PARTITIONER_OPTIONS;
  options.num_partitions = 2;
  TSR_OWN(topology, machine);
  TSR_OWN(partitioner, partitioner);
  TSR_OWN(partitioned, step);
  TSR_OWN(comm, comm);
  TSR_TRY(tsr_topology_parse("gpu:1x4", &machine));
  TSR_TRY(tsr_partitioner_create(machine, &options, &partitioner));
  TSR_TRY(tsr_comm_create(4, NULL, &comm));
  TSR_TRY(partition(partitioner, &step));
  TSR_TRY(lower(step));
  return compile_and_call(step, comm);
}

int main(void) { return tsr_status_exit(run()); }
