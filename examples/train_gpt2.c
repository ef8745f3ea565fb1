// Trains GPT-2 by a step that JAX exported, on 8 devices with data and tensor parallelism: 25 steps
// on a mesh of 2 x 4, a checkpoint of shards, and 25 more on 4 x 2. An uninterrupted run has the
// same losses; so has one that goes on where it was, to the last bit.
//
//   train_gpt2 PROGRAM INPUTS [ENGINE]          in one process
//   mpirun -n 4 train_gpt2 PROGRAM INPUTS mpi   on ranks of two devices each
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <tessera/checkpoint.h>
#include <tessera/program.h>
#include <tessera/tessera.h>

// Arguments are the parameters, tokens and targets; results are the loss and the parameters.
enum { PARAMS = 28, TOKENS = PARAMS, TARGETS, ARGUMENTS, RESULTS = 1 + PARAMS };
enum { HALF = 25, STEPS = 2 * HALF, DEVICES = 8, LONGEST_SUM = 64 };

// A step on a mesh, and its arguments there.
typedef struct training {
  tsr_comm *comm;
  tsr_partitioned *step;
  tsr_compiled *run;
  tsr_array *arguments[ARGUMENTS];
} training;

static bool talks(const training *t) { return tsr_comm_rank(t->comm) == 0; }

static void close(training *t) {
  for (int i = 0; i < ARGUMENTS; i++) tsr_array_release(t->arguments[i]);
  tsr_compiled_release(t->run);
  tsr_partitioned_release(t->step);
}

// ---- a step on a mesh ----

static tsr_status print_costs(const training *t) {
  tsr_partitioned_info info = TSR_PARTITIONED_INFO;
  tsr_executable_info run = TSR_EXECUTABLE_INFO;
  TSR_OWN(text, mesh);
  TSR_TRY(tsr_partitioned_describe(t->step, &info));
  TSR_TRY(tsr_executable_describe(tsr_compiled_executable(t->run), &run));
  tsr_mesh_print(info.mesh, &mesh);
  if (talks(t))
    printf(
        "mesh {%s}: a device holds %lld bytes of arguments and needs %lld in all,\n"
        "  runs %lld collectives a step and moves %lld bytes by them\n",
        tsr_text_string(&mesh), (long long)info.argument_bytes, (long long)run.device_bytes,
        (long long)info.collective_count, (long long)info.collective_bytes);
  return NULL;
}

// NULL mesh = the program's.
static tsr_status open_step(training *t, const tsr_program *program, const char *mesh_text) {
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  TSR_OWN(mesh, mesh);
  if (mesh_text) TSR_TRY(tsr_mesh_parse(mesh_text, NULL, &mesh));
  options.mesh = mesh;
  TSR_TRY(tsr_program_partition(program, &options, &t->step));
  TSR_TRY(tsr_partitioned_compile(t->step, t->comm, NULL, &t->run));
  return print_costs(t);
}

// ---- arguments ----

// Those of the file, whose tensors are arg0, arg1, ..., cut as the program says.
static tsr_status load_inputs(training *t, const tsr_program *program, const char *path) {
  TSR_OWN(plan, plan);
  TSR_OWN(checkpoint, file);
  TSR_OWN(array_tree, tree);
  TSR_TRY(tsr_program_plan(program, &plan));
  TSR_TRY(tsr_checkpoint_open_all(t->comm, path, NULL, &file));
  TSR_TRY(tsr_checkpoint_load(file, plan, t->comm, NULL, &tree));
  for (int i = 0; i < ARGUMENTS; i++) {
    char name[16];
    snprintf(name, sizeof name, "arg%d", i);
    TSR_TRY(tsr_array_tree_get(tree, name, &t->arguments[i]));
    tsr_array_retain(t->arguments[i]);
  }
  return NULL;
}

static tsr_status save_state(const training *t, const char *folder) {
  tsr_leaf leaves[PARAMS] = {0};
  TSR_OWN(array_tree, tree);
  for (int i = 0; i < PARAMS; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    TSR_TRY(tsr_partitioned_argument(t->step, i, &value));
    leaves[i] =
        (tsr_leaf){.tensor.path = value.path, .kind = TSR_LEAF_ARRAY, .array = t->arguments[i]};
  }
  TSR_TRY(tsr_array_tree_create(leaves, PARAMS, &tree));
  return tsr_checkpoint_save(tree, folder, t->comm, NULL);
}

// The checkpoint has the layout of the mesh it was saved on; the plan that of this one.
static tsr_status load_state(training *t, const char *folder) {
  TSR_OWN(plan, plan);
  TSR_OWN(checkpoint, saved);
  TSR_OWN(array_tree, tree);
  TSR_TRY(tsr_partitioned_state_plan(t->step, &plan));
  TSR_TRY(tsr_checkpoint_open_all(t->comm, folder, NULL, &saved));
  TSR_TRY(tsr_checkpoint_load(saved, plan, t->comm, NULL, &tree));
  for (int i = 0; i < PARAMS; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    TSR_TRY(tsr_partitioned_argument(t->step, i, &value));
    TSR_TRY(tsr_array_tree_get(tree, value.path, &t->arguments[i]));
    tsr_array_retain(t->arguments[i]);
  }
  return NULL;
}

// The same batch in every step.
static tsr_status take_batch(training *t, const training *from) {
  for (int i = TOKENS; i <= TARGETS; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    TSR_TRY(tsr_partitioned_argument(t->step, i, &value));
    TSR_TRY(tsr_array_reshard(from->arguments[i], value.layout, NULL, &t->arguments[i]));
  }
  return NULL;
}

// ---- training ----

// Parameters are donated: each call writes the new ones to the memory of the old ones.
static tsr_status train_once(training *t, float *out_loss) {
  tsr_array *results[RESULTS] = {NULL};
  TSR_TRY(tsr_compiled_call(t->run, t->arguments, NULL, results));
  tsr_status status = tsr_array_gather(results[0], out_loss, sizeof *out_loss, NULL);
  tsr_array_release(results[0]);
  for (int i = 0; i < PARAMS; i++) {
    tsr_array_release(t->arguments[i]);
    t->arguments[i] = results[1 + i];
  }
  return status;
}

static tsr_status train(training *t, int from, int to, float *losses, bool silent) {
  for (int i = from; i < to; i++) {
    TSR_TRY(train_once(t, &losses[i]));
    if (!silent && talks(t) && (i % 10 == 0 || i == STEPS - 1))
      printf("step %2d: loss %.2f\n", i, losses[i]);
  }
  return NULL;
}

// Goes on from the checkpoint on a mesh (NULL = the program's).
static tsr_status resume(const training *first, const tsr_program *program, const char *mesh,
                         const char *folder, float *losses, bool silent) {
  training t = {.comm = first->comm};
  tsr_status status = open_step(&t, program, mesh);
  if (!status) status = load_state(&t, folder);
  if (!status) status = take_batch(&t, first);
  if (!status) status = train(&t, HALF, STEPS, losses, silent);
  close(&t);
  return status;
}

// ---- the run ----

// Sums of at most LONGEST_SUM terms are added in another order on another mesh: each step may move
// the loss by so many roundings.
static void compare(const training *t, const float *whole, const float *other,
                    const float *same_mesh) {
  bool near = true, same = true;
  for (int i = HALF; i < STEPS; i++)
    near &= fabsf(whole[i] - other[i]) <=
            (float)((i - HALF + 1) * LONGEST_SUM) * FLT_EPSILON * fabsf(whole[i]);
  for (int i = HALF; i < STEPS; i++) same &= whole[i] == same_mesh[i];
  if (!talks(t)) return;
  printf("resumed on the other mesh: losses %s those of an uninterrupted run\n",
         near ? "are within rounding of" : "DIFFER from");
  printf("resumed on the same mesh: %s\n", same ? "the same bits" : "OTHER BITS");
}

static tsr_status run_all(training *t, const tsr_program *program, const char *inputs) {
  static float whole[STEPS], other[STEPS], same[STEPS];
  TSR_TRY(open_step(t, program, NULL));
  TSR_TRY(load_inputs(t, program, inputs));
  TSR_TRY(train(t, 0, HALF, whole, false));
  TSR_TRY(save_state(t, "gpt2.checkpoint"));
  TSR_TRY(train(t, HALF, STEPS, whole, true));
  TSR_TRY(resume(t, program, "data=4,model=2", "gpt2.checkpoint", other, false));
  TSR_TRY(resume(t, program, NULL, "gpt2.checkpoint", same, true));
  compare(t, whole, other, same);
  return NULL;
}

int main(int count, char **words) {
  training t = {0};
  TSR_OWN(comm, comm);
  TSR_OWN(program, program);
  if (count < 3) {
    fprintf(stderr, "usage: train_gpt2 PROGRAM INPUTS [threads|mpi]\n");
    return 2;
  }
  tsr_status status = tsr_comm_open(count > 3 ? words[3] : "threads", DEVICES, NULL, &comm);
  t.comm = comm;
  if (!status) status = tsr_program_open(words[1], NULL, &program);
  if (!status) status = run_all(&t, program, words[2]);
  close(&t);
  return tsr_status_exit(status);
}
