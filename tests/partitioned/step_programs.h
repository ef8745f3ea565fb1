// A small training step, as the tests of this room want it.
#ifndef TESSERA_TESTS_PARTITIONED_STEP_PROGRAMS_H
#define TESSERA_TESTS_PARTITIONED_STEP_PROGRAMS_H

#include "tessera/program.h"
#include "tessera/tessera.h"

enum { BATCH = 16, INPUTS = 8, OUTPUTS = 4, WEIGHTS = INPUTS * OUTPUTS };
enum { ARGUMENT_W, ARGUMENT_B, ARGUMENT_X, ARGUMENT_RATE, ARGUMENT_COUNT };
enum { RESULT_LOSS, RESULT_W, RESULT_B, RESULT_COUNT };

// loss, params = step(params, x, rate) without shardings; params are 'w' and 'b'.
tsr_program *step_program(void);
tsr_program *program_of(const char *text);
tsr_mesh *mesh_of(const char *text);
tsr_comm *comm_of(int64_t devices);
// The step for a mesh, with the batch cut over "data" and w over "model".
tsr_partitioned *step_on(const char *mesh);
TSR_MUST_USE tsr_status try_step(const char *mesh, tsr_partitioned **out_step);
// Arrays of the arguments, in their layouts: the same numbers for every mesh.
void make_arguments(const tsr_partitioned *step, tsr_comm *comm, tsr_array **out_arguments);
TSR_MUST_USE tsr_status try_arguments(const tsr_partitioned *step, tsr_comm *comm,
                                      tsr_array **out_arguments);
void release_arrays(tsr_array **arrays, int count);
// What the program computes whole, as on one device.
void run_whole(float *out_loss, float *out_w, float *out_b);
// "data, _"
const char *spec_text(const tsr_partitioned_value *value, tsr_text *text);

#endif
