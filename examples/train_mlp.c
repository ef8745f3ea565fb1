// Trains a network by a step that JAX exported (export_mlp.py): 200 times loss, params =
// step(params, x, y). Parameters are donated: each run writes the new ones to the memory of the old
// ones.
//
//   train_mlp xor_step.bin
#include <stdio.h>
#include <string.h>
#include <tessera/engine/buffer.h>
#include <tessera/program.h>
#include <tessera/tessera.h>

// Arguments are the leaves of params in the order of JAX, then x and y; results are the loss, then
// params.
enum { PARAMS = 4, X = PARAMS, Y, ARGUMENTS, RESULTS = 1 + PARAMS, STEPS = 200 };

// Numbers from -1 to 1, the same on every machine.
static void fill(float *values, int64_t count) {
  static uint32_t state = 1;
  for (int64_t i = 0; i < count; i++) {
    state = state * 1664525 + 1013904223;
    values[i] = (float)(state >> 8) / 8388608.0F - 1;
  }
}

static tsr_status make_arguments(const tsr_executable *step, tsr_buffer **arguments) {
  static const float x[] = {0, 0, 0, 1, 1, 0, 1, 1}, y[] = {0, 1, 1, 0};
  for (int64_t i = 0; i < ARGUMENTS; i++) {
    tsr_executable_value value = TSR_EXECUTABLE_VALUE;
    TSR_TRY(tsr_executable_argument(step, i, &value));
    TSR_TRY(tsr_buffer_create(NULL, value.bytes, &arguments[i]));
    float *data = tsr_buffer_data(arguments[i]);
    if (i < PARAMS)
      fill(data, value.bytes / (int64_t)sizeof *data);
    else
      memcpy(data, i == X ? x : y, (size_t)value.bytes);
  }
  return NULL;
}

static tsr_status train(const tsr_executable *step, tsr_buffer **arguments) {
  for (int i = 0; i <= STEPS; i++) {
    tsr_buffer *results[RESULTS] = {NULL};
    TSR_TRY(tsr_executable_call(step, arguments, results));
    if (i % 50 == 0) printf("step %3d: loss %.2f\n", i, *(float *)tsr_buffer_data(results[0]));
    tsr_buffer_release(results[0]);
    for (int k = 0; k < PARAMS; k++) {  // the new parameters take the place of the old ones
      tsr_buffer_release(arguments[k]);
      arguments[k] = results[1 + k];
    }
  }
  return NULL;
}

static tsr_status run(const char *path) {
  tsr_buffer *arguments[ARGUMENTS] = {NULL};
  TSR_OWN(program, program);
  TSR_OWN(executable, step);
  TSR_TRY(tsr_program_open(path, NULL, &program));
  TSR_TRY(tsr_executable_compile(program, NULL, &step));
  tsr_status status = make_arguments(step, arguments);
  if (!status) status = train(step, arguments);
  for (int i = 0; i < ARGUMENTS; i++) tsr_buffer_release(arguments[i]);
  return status;
}

int main(int argc, char **argv) {
  if (argc == 2) return tsr_status_exit(run(argv[1]));
  fprintf(stderr, "usage: train_mlp PROGRAM\n");
  return 2;
}
