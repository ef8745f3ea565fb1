// What is wrong with a checkpoint: one is saved and is sound, then a byte of it changes on the
// disk.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/checkpoint.h>
#include <tessera/tessera.h>

static tsr_status save(const char *path) {
  static const float weights[8][4] = {{1, 2, 3, 4}};
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, array);
  TSR_OWN(array_tree, tree);
  TSR_TRY(tsr_comm_create(2, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("x=2", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, "x, _", TSR_SHAPE(8, 4), TSR_F32, weights, &array));
  const tsr_leaf leaf = {.tensor.path = "weights", .kind = TSR_LEAF_ARRAY, .array = array};
  TSR_TRY(tsr_array_tree_create(&leaf, 1, &tree));
  return tsr_checkpoint_save(tree, path, comm, NULL);
}

static tsr_status look(const char *path) {
  tsr_fsck_options options = TSR_FSCK_OPTIONS;
  options.deep = true;                  // read every element
  options.progress = tsr_progress_bar;  // drawn on a terminal, if it takes long
  options.progress_context = stderr;
  TSR_OWN(fsck, report);
  TSR_TRY(tsr_fsck_run(path, &options, &report));
  printf("faults: %" PRId64 "\n", tsr_fsck_count(report));
  for (int64_t i = 0; i < tsr_fsck_count(report); i++) {
    const tsr_fault *fault = tsr_fsck_at(report, i);
    printf("  %s, %s: %s\n", fault->severity == TSR_SEVERITY_ERROR ? "error" : "warning",
           tsr_fault_name(fault->kind), fault->message);
  }
  return NULL;
}

static tsr_status run(void) {
  TSR_TRY(save("model"));
  TSR_TRY(look("model"));
  FILE *file = fopen("model/data-00001-of-00002.safetensors", "r+b");
  if (!file || fseek(file, -1, SEEK_END) || fputc(1, file) == EOF || fclose(file))
    return tsr_fail(IO, "the file cannot be changed");
  return look("model");
}

int main(void) { return tsr_status_exit(run()); }
