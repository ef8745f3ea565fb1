// Training runs: a compiled step, its arguments on the devices, and what is carried over.
#include "trial/trial_training.h"

#include <stdlib.h>

#include "base/text_internal.h"
#include "ir/ir.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/engine/kernels.h"
#include "tessera/own.h"
#include "tessera/place.h"

tsr_status tsr_trial_training_open(const tsr_program *program, const tsr_mesh *mesh, tsr_comm *comm,
                                   const tsr_compile_options *options,
                                   tsr_trial_training *out_training) {
  tsr_partition_options how = TSR_PARTITION_OPTIONS;
  tsr_trial_training *t = out_training;
  *t = (tsr_trial_training){.comm = tsr_comm_retain(comm)};
  t->info.size = sizeof t->info;
  how.mesh = mesh;
  TSR_TRY(tsr_program_partition(program, &how, &t->step));
  TSR_TRY(tsr_partitioned_describe(t->step, &t->info));
  TSR_TRY(tsr_partitioned_compile(t->step, comm, options, &t->run));
  t->arguments = calloc((size_t)t->info.argument_count + 1, sizeof *t->arguments);
  t->results = calloc((size_t)t->info.result_count + 1, sizeof *t->results);
  TSR_NEED(t->arguments && t->results);
  return NULL;
}

static void drop(tsr_array **arrays, int64_t count) {
  for (int64_t i = 0; arrays && i < count; i++) {
    tsr_array_release(arrays[i]);
    arrays[i] = NULL;
  }
}

void tsr_trial_training_deinit(tsr_trial_training *training) {
  drop(training->arguments, training->info.argument_count);
  drop(training->results, training->info.result_count);
  free(training->arguments);
  free(training->results);
  tsr_compiled_release(training->run);
  tsr_partitioned_release(training->step);
  tsr_comm_release(training->comm);
}

static tsr_partitioned_value argument_at(const tsr_trial_training *t, int64_t index) {
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  tsr_status_free(tsr_partitioned_argument(t->step, index, &value));  // the index is right
  return value;
}

static tsr_partitioned_value result_at(const tsr_trial_training *t, int64_t index) {
  tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
  tsr_status_free(tsr_partitioned_result(t->step, index, &value));
  return value;
}

// ---- arguments ----

tsr_status tsr_trial_training_load(tsr_trial_training *training, const char *path,
                                   int64_t *out_count) {
  tsr_trial_training *t = training;
  TSR_OWN(plan, plan);
  TSR_OWN(checkpoint, saved);
  TSR_OWN(array_tree, tree);
  tsr_load_options options = TSR_LOAD_OPTIONS;
  options.planned_only = true;
  TSR_TRY(tsr_partitioned_state_plan(t->step, &plan));
  TSR_TRY(tsr_checkpoint_open_all(t->comm, path, NULL, &saved));
  TSR_TRY(tsr_checkpoint_load(saved, plan, t->comm, &options, &tree));
  for (int64_t i = 0; i < t->info.argument_count; i++) {
    const tsr_partitioned_value value = argument_at(t, i);
    tsr_array *array = NULL;
    if (value.aliased < 0) continue;
    TSR_TRY(tsr_array_tree_get(tree, value.path, &array));
    t->arguments[i] = tsr_array_retain(array);
  }
  *out_count = tsr_array_tree_count(tree);
  return NULL;
}

tsr_status tsr_trial_training_save(const tsr_trial_training *training, const char *path,
                                   int64_t *out_count) {
  const tsr_trial_training *t = training;
  TSR_OWN(array_tree, tree);
  tsr_leaf *leaves = calloc((size_t)t->info.argument_count + 1, sizeof *leaves);
  int64_t count = 0;
  TSR_NEED(leaves);
  for (int64_t i = 0; i < t->info.argument_count; i++) {
    const tsr_partitioned_value value = argument_at(t, i);
    if (value.aliased < 0) continue;
    leaves[count++] =
        (tsr_leaf){.tensor.path = value.path, .kind = TSR_LEAF_ARRAY, .array = t->arguments[i]};
  }
  tsr_status status = tsr_array_tree_create(leaves, count, &tree);
  free(leaves);
  if (status) return status;
  *out_count = count;
  return tsr_checkpoint_save(tree, path, t->comm, NULL);
}

tsr_status tsr_trial_training_place(tsr_trial_training *training, const tsr_trial_values *values) {
  tsr_trial_training *t = training;
  for (int64_t i = 0; i < t->info.argument_count; i++) {
    const tsr_partitioned_value value = argument_at(t, i);
    if (t->arguments[i]) continue;
    if (values->items[i].missing)
      return tsr_fail(NOT_FOUND, "no input and no checkpoint has a value for %s, which is %s",
                      value.name, tsr_trial_value_name(values, i).text);
    TSR_TRY(tsr_array_shard(t->comm, value.layout, value.dtype,
                            tsr_buffer_data(values->items[i].data), NULL, &t->arguments[i]));
  }
  return NULL;
}

// ---- steps ----

tsr_status tsr_trial_training_step(tsr_trial_training *training) {
  tsr_trial_training *t = training;
  drop(t->results, t->info.result_count);
  TSR_TRY(tsr_compiled_call(t->run, t->arguments, NULL, t->results));
  for (int64_t i = 0; i < t->info.argument_count; i++) {
    const tsr_partitioned_value value = argument_at(t, i);
    if (value.aliased < 0) continue;
    tsr_array_release(t->arguments[i]);
    t->arguments[i] = t->results[value.aliased];
    t->results[value.aliased] = NULL;
  }
  return NULL;
}

bool tsr_trial_training_is_number(const tsr_trial_training *training, int64_t result) {
  const tsr_partitioned_value value = result_at(training, result);
  const tsr_dtype_class kind = tsr_dtype_info_of(value.dtype)->kind;
  return value.aliased < 0 && !tsr_layout_shape(value.layout).rank && kind != TSR_CLASS_COMPLEX;
}

tsr_status tsr_trial_training_number(const tsr_trial_training *training, int64_t result,
                                     double *out_number) {
  char element[16];
  tsr_array *array = training->results[result];
  TSR_TRY(tsr_array_gather(array, element, sizeof element, NULL));
  return tsr_convert(tsr_array_dtype(array), element, TSR_F64, out_number, 1);
}
