// Calls a function that JAX exported: y = predict(x), made by export_mlp.py.
#include <stdio.h>
#include <tessera/program.h>
#include <tessera/tessera.h>

static tsr_status run(const char *path) {
  const float x[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  float y[4][1];
  TSR_OWN(program, program);  // both are released at the end of the block
  TSR_OWN(executable, predict);
  TSR_TRY(tsr_program_open(path, NULL, &program));
  TSR_TRY(tsr_executable_compile(program, NULL, &predict));
  TSR_TRY(tsr_executable_run(predict, (const void *[]){x}, (void *[]){y}));
  for (int i = 0; i < 4; i++) printf("%g xor %g = %.1f\n", x[i][0], x[i][1], y[i][0]);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc == 2) return tsr_status_exit(run(argv[1]));
  fprintf(stderr, "usage: run_export PROGRAM\n");
  return 2;
}
