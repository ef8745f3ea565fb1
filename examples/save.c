// A small train state on four devices is saved, and again after a step, in place of the first; then
// loaded into another layout, as a job on two devices would do it.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/tessera.h>
#include <tessera/checkpoint.h>
#include <tessera/engine.h>
#include <unistd.h>

enum { ROWS = 8, COLUMNS = 16 };

// ---- a train state ----

static tsr_status make_layout(const char *mesh_text, const char *spec_text,
                              tsr_layout **out_layout) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_mesh_parse(mesh_text, NULL, &mesh);
  if (!status) status = tsr_spec_parse(spec_text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status)
    status = tsr_layout_create(sharding, TSR_SHAPE(ROWS, COLUMNS), TSR_POLICY_ERROR, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

// Weights and their momentum on devices, the number of the step in host memory, where `step` is.
static tsr_status make_state(tsr_comm *comm, const int64_t *step, tsr_array_tree **out_state) {
  float weights[ROWS][COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; i++) weights[i / COLUMNS][i % COLUMNS] = (float)(i + *step);
  tsr_layout *layout = NULL;
  tsr_array *w = NULL, *momentum = NULL;
  tsr_status status = make_layout("dp=2,tp=2", "dp, tp", &layout);
  if (!status) status = tsr_array_shard(comm, layout, TSR_F32, weights, NULL, &w);
  if (!status) status = tsr_array_zeros(comm, layout, TSR_F32, &momentum);
  const tsr_leaf leaves[] = {
      {.tensor.path = "target/w", .kind = TSR_LEAF_ARRAY, .array = w},
      {.tensor.path = "state/param_states/w/m", .kind = TSR_LEAF_ARRAY, .array = momentum},
      {.tensor.path = "state/step", .kind = TSR_LEAF_HOST, .tensor.dtype = TSR_I64, .data = step}};
  if (!status) status = tsr_array_tree_create(leaves, 3, out_state);
  tsr_array_release(momentum);
  tsr_array_release(w);
  tsr_layout_release(layout);
  return status;
}

// ---- saving ----

static tsr_status save(tsr_comm *comm, int64_t step, const char *path) {
  tsr_save_options options = TSR_SAVE_OPTIONS;
  options.existing = TSR_EXISTING_REPLACE;
  tsr_array_tree *state = NULL;
  tsr_save *job = NULL;
  tsr_status status = make_state(comm, &step, &state);
  if (!status) status = tsr_save_create(state, path, comm, &options, &job);
  if (!status) status = tsr_save_run(job);
  if (!status) {
    const tsr_save_certificate *c = tsr_save_certificate_of(job);
    printf("step %" PRId64 ": %" PRId64 " tensors, %" PRId64 " bytes in %" PRId64 " files\n", step,
           c->tensors, c->bytes_written, c->files);
  }
  tsr_save_destroy(job);
  tsr_array_tree_release(state);
  return status;
}

// ---- and loading again ----

static void show(const tsr_array_tree *state) {
  for (int64_t i = 0; i < tsr_array_tree_count(state); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(state, i);
    tsr_text line = {0};
    tsr_array_print(leaf->array, &line);
    printf("%-22s  %s\n", leaf->tensor.path, tsr_text_string(&line));
    tsr_text_deinit(&line);
  }
  const int64_t *step = tsr_array_data(tsr_array_tree_find(state, "state/step")->array, 0);
  const float *w = tsr_array_data(tsr_array_tree_find(state, "target/w")->array, 1);
  printf("step %" PRId64 ", device 1 holds weights from %g on\n", *step, (double)*w);
}

static tsr_status load(const char *path) {
  tsr_comm *comm = NULL;
  tsr_checkpoint *saved = NULL;
  tsr_mesh *mesh = NULL;
  tsr_rules *rules = NULL;
  tsr_plan *plan = NULL;
  tsr_array_tree *state = NULL;
  tsr_status status = tsr_comm_create(2, NULL, &comm);
  if (!status) status = tsr_checkpoint_open(path, NULL, &saved);
  if (!status) status = tsr_mesh_parse("tp=2", NULL, &mesh);
  if (!status) status = tsr_rules_parse("w -> tp, _\n.* -> ()\n", "example", NULL, &rules);
  if (!status) status = tsr_plan_match(tsr_checkpoint_tree(saved), mesh, rules, NULL, &plan);
  if (!status) status = tsr_checkpoint_load(saved, plan, comm, NULL, &state);
  if (!status) show(state);
  tsr_array_tree_release(state);
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_checkpoint_release(saved);
  tsr_comm_release(comm);
  return status;
}

static void remove_saved(const char *path) {
  char file[128];
  for (int i = 1; i <= 4; i++) {
    snprintf(file, sizeof file, "%s/data-%05d-of-00004.safetensors", path, i);
    remove(file);
  }
  snprintf(file, sizeof file, "%s/manifest.json", path);
  remove(file);
  rmdir(path);
}

int main(void) {
  char path[] = "/tmp/tessera-example.XXXXXX";
  tsr_comm *comm = NULL;
  tsr_status status = mkdtemp(path) ? NULL : tsr_fail(IO, "%s cannot be made", path);
  if (!status) status = tsr_comm_create(4, NULL, &comm);
  if (!status) status = save(comm, 1000, path);
  if (!status) status = save(comm, 1001, path);
  if (!status) status = load(path);
  if (status) fprintf(stderr, "save: %s\n", tsr_status_text(status));
  const int code = status ? 1 : 0;
  tsr_status_free(status);
  tsr_comm_release(comm);
  remove_saved(path);
  return code;
}
