// Trains by a step that JAX exported with a mesh, shardings and donated parameters
// (export_gpt2.py): 25 steps on the mesh of the program, a checkpoint, and 25 steps from it on
// another mesh.
//
//   train_step gpt2_step.bin gpt2_start.safetensors
#include <stdio.h>
#include <tessera/checkpoint.h>
#include <tessera/program.h>
#include <tessera/tessera.h>

enum { STEPS = 25, MOST = 64 };

typedef struct training {
  tsr_comm *comm;
  tsr_partitioned *step;
  tsr_compiled *run;
  tsr_partitioned_info info;
  tsr_array *arguments[MOST];
} training;

static void release(training *t) {
  for (int i = 0; i < MOST; i++) tsr_array_release(t->arguments[i]);
  tsr_compiled_release(t->run);
  tsr_partitioned_release(t->step);
}

static tsr_status prepare(training *t, const tsr_program *program, const tsr_mesh *mesh) {
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  options.mesh = mesh;  // NULL = the program's
  t->info = TSR_PARTITIONED_INFO;
  TSR_TRY(tsr_program_partition(program, &options, &t->step));
  TSR_TRY(tsr_partitioned_describe(t->step, &t->info));
  return tsr_partitioned_compile(t->step, t->comm, NULL, &t->run);
}

// The tensors of a plan, each device's shards only, become the arguments of their paths.
static tsr_status load(training *t, const char *path, const tsr_plan *plan) {
  TSR_OWN(checkpoint, file);
  TSR_OWN(array_tree, tree);
  tsr_load_options options = TSR_LOAD_OPTIONS;
  options.planned_only = true;
  TSR_TRY(tsr_checkpoint_open_all(t->comm, path, NULL, &file));
  TSR_TRY(tsr_checkpoint_load(file, plan, t->comm, &options, &tree));
  for (int64_t i = 0; i < t->info.argument_count; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    TSR_TRY(tsr_partitioned_argument(t->step, i, &value));
    const tsr_leaf *leaf = tsr_array_tree_find(tree, value.path);
    if (!leaf) continue;
    tsr_array_release(t->arguments[i]);
    t->arguments[i] = tsr_array_retain(leaf->array);
  }
  return NULL;
}

static tsr_status load_all(training *t, const char *path) {
  TSR_OWN(plan, plan);  // of all arguments, as they are cut
  TSR_TRY(tsr_program_plan(tsr_partitioned_lower(t->step, TSR_LOWERED_WHOLE), &plan));
  return load(t, path, plan);
}

static tsr_status load_state(training *t, const char *path) {
  TSR_OWN(plan, plan);  // of the arguments that results replace
  TSR_TRY(tsr_partitioned_state_plan(t->step, &plan));
  return load(t, path, plan);
}

static tsr_status save_state(const training *t, const char *path) {
  tsr_leaf leaves[MOST];
  int64_t count = 0;
  TSR_OWN(array_tree, tree);
  for (int64_t i = 0; i < t->info.argument_count; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    TSR_TRY(tsr_partitioned_argument(t->step, i, &value));
    if (value.aliased < 0) continue;
    leaves[count++] =
        (tsr_leaf){.tensor.path = value.path, .kind = TSR_LEAF_ARRAY, .array = t->arguments[i]};
  }
  TSR_TRY(tsr_array_tree_create(leaves, count, &tree));
  return tsr_checkpoint_save(tree, path, t->comm, NULL);
}

// One step: results that take the memory of arguments are the arguments of the next one.
static tsr_status train(training *t, float *out_loss) {
  tsr_array *results[MOST] = {NULL};
  TSR_TRY(tsr_compiled_call(t->run, t->arguments, NULL, results));
  tsr_status status = tsr_array_gather(results[0], out_loss, sizeof *out_loss, NULL);
  for (int64_t i = 0; i < t->info.result_count; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    if (!status) status = tsr_partitioned_result(t->step, i, &value);
    tsr_array **place = status || value.aliased < 0 ? &results[i] : &t->arguments[value.aliased];
    tsr_array_release(*place);
    if (place != &results[i]) *place = results[i];
  }
  return status;
}

static tsr_status train_steps(training *t) {
  float loss = 0;
  for (int i = 0; i < STEPS; i++) {
    TSR_TRY(train(t, &loss));
    if (i % 8 == 0) printf("  step %2d: loss %.2f\n", i + 1, loss);
  }
  return NULL;
}

static tsr_status first_half(training *t, const tsr_program *program, const char *start) {
  TSR_TRY(prepare(t, program, NULL));
  TSR_TRY(load_all(t, start));
  printf("on the mesh of the program, %lld devices:\n", (long long)t->info.device_count);
  TSR_TRY(train_steps(t));
  return save_state(t, "half");
}

static tsr_status second_half(training *t, const tsr_program *program, const char *start) {
  TSR_OWN(mesh, mesh);
  TSR_TRY(tsr_mesh_parse("data=4,model=2", NULL, &mesh));
  TSR_TRY(prepare(t, program, mesh));
  TSR_TRY(load_all(t, start));
  TSR_TRY(load_state(t, "half"));
  printf("from the checkpoint, on data=4,model=2:\n");
  return train_steps(t);
}

static tsr_status run(const char *path, const char *start) {
  TSR_OWN(program, program);
  TSR_OWN(comm, comm);
  TSR_TRY(tsr_program_open(path, NULL, &program));
  TSR_TRY(tsr_comm_create(8, NULL, &comm));  // 8 devices in this process
  training before = {.comm = comm}, after = {.comm = comm};
  tsr_status status = first_half(&before, program, start);
  if (!status) status = second_half(&after, program, start);
  release(&before);
  release(&after);
  return status;
}

int main(int argc, char **argv) {
  if (argc == 3) return tsr_status_exit(run(argv[1], argv[2]));
  fprintf(stderr, "usage: train_step PROGRAM START\n");
  return 2;
}
