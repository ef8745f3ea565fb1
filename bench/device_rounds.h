// One program of bench/programs, partitioned for the devices of its mesh and run round by round on
// the shards that each device holds, as XLA runs it. Results are checked once by their sums.
//
// A result in the memory of a donated argument is that argument in the next round, as in training.
#ifndef TESSERA_BENCH_DEVICE_ROUNDS_H
#define TESSERA_BENCH_DEVICE_ROUNDS_H

#include <stdlib.h>

#include "exec/shard_run.h"
#include "program_rounds.h"
#include "tessera/array.h"
#include "tessera/comm.h"

typedef struct device_rounds {
  tsr_comm *comm;
  tsr_partitioned *step;
  tsr_compiled *compiled;
  const tsr_executable *executable;  // of `compiled`
  tsr_partitioned_info info;
  tsr_trial_values inputs, outputs;  // whole: what goes in at first, and comes out of the check
  tsr_array **from, **to;            // for each argument and result
  const void **read;                 // the memory of their shards
  void **written;
  rounds_costs costs;
} device_rounds;

static inline tsr_status device_rounds_compile(device_rounds *d, const char *path) {
  tsr_program *program = NULL;
  TSR_TRY(tsr_program_open(path, NULL, &program));
  tsr_status status = tsr_program_partition(program, NULL, &d->step);
  tsr_program_release(program);
  if (status) return status;
  d->info.size = sizeof d->info;
  TSR_TRY(tsr_partitioned_describe(d->step, &d->info));
  TSR_TRY(tsr_comm_create(d->info.device_count, NULL, &d->comm));
  TSR_TRY(tsr_partitioned_compile(d->step, d->comm, NULL, &d->compiled));
  d->executable = tsr_compiled_executable(d->compiled);
  const size_t devices = (size_t)d->info.device_count;
  const size_t arguments = (size_t)d->info.argument_count, results = (size_t)d->info.result_count;
  d->from = calloc(arguments + 1, sizeof(tsr_array *));
  d->to = calloc(results + 1, sizeof(tsr_array *));
  d->read = calloc(arguments * devices + 1, sizeof(void *));
  d->written = calloc(results * devices + 1, sizeof(void *));
  return d->from && d->to && d->read && d->written ? NULL : tsr_fail(NO_MEMORY, "%s", path);
}

// The memory of the shard on each device, in the order of the mesh; devices may share it.
static inline tsr_status device_rounds_addresses(const tsr_array *array, void **out) {
  for (int64_t i = 0; i < tsr_array_local_count(array); i++) {
    tsr_local_shard shard = TSR_LOCAL_SHARD;
    TSR_TRY(tsr_array_local_at(array, i, &shard));
    out[shard.position] = (void *)shard.data;
  }
  return NULL;
}

// An argument that the program does not use has no elements to give.
static inline tsr_status device_rounds_put(device_rounds *d, int64_t index) {
  const tsr_trial_value *whole = &d->inputs.items[index];
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  if (whole->dtype == TSR_DTYPE_NONE) return NULL;
  TSR_TRY(tsr_partitioned_argument(d->step, index, &value));
  TSR_TRY(tsr_array_shard(d->comm, value.layout, value.dtype, tsr_buffer_data(whole->data), NULL,
                          &d->from[index]));
  return device_rounds_addresses(d->from[index], (void **)d->read + index * d->info.device_count);
}

static inline tsr_status device_rounds_take(device_rounds *d, int64_t index) {
  const int64_t donor = tsr_executable_shard_donor(d->executable, index);
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  TSR_TRY(tsr_partitioned_result(d->step, index, &value));
  if (donor >= 0)
    d->to[index] = tsr_array_retain(d->from[donor]);
  else
    TSR_TRY(tsr_array_zeros(d->comm, value.layout, value.dtype, &d->to[index]));
  return device_rounds_addresses(d->to[index], d->written + index * d->info.device_count);
}

static inline tsr_status device_rounds_run(void *context) {
  device_rounds *d = context;
  return tsr_executable_run_shards(d->executable, d->read, d->written);
}

static inline tsr_status device_rounds_check(device_rounds *d, const tsr_trial_case *trial) {
  TSR_TRY(device_rounds_run(d));
  for (int64_t i = 0; i < d->outputs.count; i++)
    TSR_TRY(tsr_array_gather(d->to[i], tsr_buffer_data(d->outputs.items[i].data),
                             d->outputs.items[i].bytes, NULL));
  return compare_once(trial, &d->outputs);
}

static inline tsr_status device_rounds_fill(device_rounds *d, const tsr_trial_case *trial) {
  TSR_TRY(tsr_trial_values_create(d->executable, false, &d->inputs));
  TSR_TRY(tsr_trial_values_create(d->executable, true, &d->outputs));
  TSR_TRY(tsr_trial_case_fill(trial, &d->inputs));
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  TSR_TRY(tsr_executable_describe(d->executable, &info));
  TSR_TRY(count_costs(d->executable, &d->inputs, &d->outputs, &d->costs));
  d->costs.value_bytes -= (double)info.piece_bytes;  // rounds take shards
  for (int64_t i = 0; i < d->inputs.count; i++) TSR_TRY(device_rounds_put(d, i));
  for (int64_t i = 0; i < d->outputs.count; i++) TSR_TRY(device_rounds_take(d, i));
  TSR_TRY(device_rounds_check(d, trial));
  tsr_trial_values_deinit(&d->inputs);
  tsr_trial_values_deinit(&d->outputs);
  d->inputs = d->outputs = (tsr_trial_values){0};
  return NULL;
}

static inline void device_rounds_deinit(device_rounds *d) {
  for (int64_t i = 0; d->from && i < d->info.argument_count; i++) tsr_array_release(d->from[i]);
  for (int64_t i = 0; d->to && i < d->info.result_count; i++) tsr_array_release(d->to[i]);
  free(d->from);
  free(d->to);
  free(d->read);
  free(d->written);
  tsr_trial_values_deinit(&d->inputs);
  tsr_trial_values_deinit(&d->outputs);
  tsr_compiled_release(d->compiled);
  tsr_partitioned_release(d->step);
  tsr_comm_release(d->comm);
}

// Serves rounds, with what they cost if that is asked for. The exit code.
static inline int device_rounds_serve(const char *name, bool with_costs) {
  device_rounds d = {0};
  char folder[512];
  tsr_trial_case trial;
  snprintf(folder, sizeof folder, TSR_BENCH_PROGRAMS "/%s", name);
  tsr_status status = tsr_trial_case_open(folder, false, &trial);
  if (status) return rounds_fail(status);
  status = device_rounds_compile(&d, trial.program);
  if (!status) status = device_rounds_fill(&d, &trial);
  tsr_trial_case_deinit(&trial);
  const int code =
      status ? rounds_fail(status)
             : rounds_serve_costs(NULL, device_rounds_run, &d, with_costs ? &d.costs : NULL);
  device_rounds_deinit(&d);
  return code;
}

#endif
