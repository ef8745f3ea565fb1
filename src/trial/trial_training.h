// Programs run step after step on sharded arrays: results that take the memory of arguments are the
// arguments of the next step, as in training.
#ifndef TESSERA_TRIAL_TRIAL_TRAINING_H
#define TESSERA_TRIAL_TRIAL_TRAINING_H

#include "tessera/program/partitioned.h"
#include "trial/trial.h"

typedef struct tsr_trial_training {
  tsr_comm *comm;
  tsr_partitioned *step;
  tsr_compiled *run;
  tsr_partitioned_info info;
  tsr_array **arguments, **results;  // of the next step and of the last one; NULL before
} tsr_trial_training;

// Collective, as all below. The program on the devices of the comm. NULL mesh = the program's.
TSR_MUST_USE tsr_status tsr_trial_training_open(const tsr_program *program, const tsr_mesh *mesh,
                                                tsr_comm *comm, const tsr_compile_options *options,
                                                tsr_trial_training *out_training);
void tsr_trial_training_deinit(tsr_trial_training *training);

// The train state from a checkpoint of any format and layout, by the paths of the arguments; and to
// a new one in the layout of the mesh. Both give the number of tensors.
TSR_MUST_USE tsr_status tsr_trial_training_load(tsr_trial_training *training, const char *path,
                                                int64_t *out_count);
TSR_MUST_USE tsr_status tsr_trial_training_save(const tsr_trial_training *training,
                                                const char *path, int64_t *out_count);
// Arguments that are not there yet, from whole values. One that is `missing` there is refused.
TSR_MUST_USE tsr_status tsr_trial_training_place(tsr_trial_training *training,
                                                 const tsr_trial_values *values);

TSR_MUST_USE tsr_status tsr_trial_training_step(tsr_trial_training *training);
// Whether a result is a number that no argument takes, such as the loss.
bool tsr_trial_training_is_number(const tsr_trial_training *training, int64_t result);
// The number, after a step.
TSR_MUST_USE tsr_status tsr_trial_training_number(const tsr_trial_training *training,
                                                  int64_t result, double *out_number);

#endif
