// A small train state on four devices is saved, and again after a step, in place of the first; then
// loaded into another layout, as a job on two devices would do it.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/checkpoint.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

enum { ROWS = 8, COLUMNS = 16 };

// Weights and their momentum on devices, the number of the step in host memory, where `step` is.
static tsr_status make_state(tsr_comm *comm, const int64_t *step, tsr_array_tree **out_state) {
  float weights[ROWS][COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; i++) weights[i / COLUMNS][i % COLUMNS] = (float)(i + *step);
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, w);
  TSR_OWN(array, momentum);
  TSR_TRY(tsr_mesh_parse("dp=2,tp=2", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, "dp, tp", TSR_SHAPE(ROWS, COLUMNS), TSR_F32, weights, &w));
  TSR_TRY(tsr_array_zeros(comm, tsr_array_layout(w), TSR_F32, &momentum));
  const tsr_leaf leaves[] = {
      {.tensor.path = "target/w", .kind = TSR_LEAF_ARRAY, .array = w},
      {.tensor.path = "state/param_states/w/m", .kind = TSR_LEAF_ARRAY, .array = momentum},
      {.tensor.path = "state/step", .kind = TSR_LEAF_HOST, .tensor.dtype = TSR_I64, .data = step}};
  return tsr_array_tree_create(leaves, 3, out_state);
}

static tsr_status save(tsr_comm *comm, int64_t step, const char *path) {
  tsr_save_options options = TSR_SAVE_OPTIONS;
  options.existing = TSR_EXISTING_REPLACE;
  TSR_OWN(array_tree, state);
  TSR_OWN(save, job);
  TSR_TRY(make_state(comm, &step, &state));
  TSR_TRY(tsr_save_create(state, path, comm, &options, &job));
  TSR_TRY(tsr_save_run(job));
  const tsr_save_certificate *c = tsr_save_certificate_of(job);
  printf("step %" PRId64 ": %" PRId64 " tensors, %" PRId64 " bytes in %" PRId64 " files\n", step,
         c->tensors, c->bytes_written, c->files);
  return NULL;
}

static tsr_status load(const char *path) {
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_OWN(array_tree, state);
  TSR_OWN(text, text);
  tsr_array *w = NULL, *step = NULL;
  TSR_TRY(tsr_comm_create(2, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("tp=2", NULL, &mesh));
  TSR_TRY(tsr_checkpoint_load_path(path, mesh, "w -> tp, _\n.* -> ()\n", comm, NULL, &state));
  tsr_array_tree_print(state, &text);
  printf("%s", tsr_text_string(&text));
  TSR_TRY(tsr_array_tree_get(state, "target/w", &w));
  TSR_TRY(tsr_array_tree_get(state, "state/step", &step));
  printf("step %" PRId64 ", device 1 holds weights from %g on\n",
         *(const int64_t *)tsr_array_data(step, 0), (double)*(const float *)tsr_array_data(w, 1));
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(comm, comm);
  TSR_TRY(tsr_comm_create(4, NULL, &comm));
  TSR_TRY(save(comm, 1000, "state"));
  TSR_TRY(save(comm, 1001, "state"));
  return load("state");
}

int main(void) { return tsr_status_exit(run()); }
