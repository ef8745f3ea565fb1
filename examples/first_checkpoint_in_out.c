// A checkpoint out and in: weights that lie on four devices are saved, and loaded onto two.
#include <stdio.h>
#include <tessera/checkpoint.h>

static tsr_status run(const char *path) {
  float weights[8][16];
  for (int i = 0; i < 8 * 16; i++) weights[i / 16][i % 16] = (float)i;
  TSR_OWN(comm, comm);  // released at the end of the block, like all that follow
  TSR_OWN(mesh, four);
  TSR_OWN(mesh, two);
  TSR_OWN(array, array);
  TSR_OWN(array_tree, saved);
  TSR_OWN(array_tree, loaded);
  TSR_OWN(text, text);
  TSR_TRY(tsr_comm_create(4, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("dp=2,tp=2", NULL, &four));
  TSR_TRY(tsr_mesh_parse("tp=2", NULL, &two));
  TSR_TRY(tsr_array_put(comm, four, "dp, tp", TSR_SHAPE(8, 16), TSR_F32, weights, &array));
  const tsr_leaf leaf = {.tensor.path = "mlp.weight", .kind = TSR_LEAF_ARRAY, .array = array};
  TSR_TRY(tsr_array_tree_create(&leaf, 1, &saved));
  TSR_TRY(tsr_checkpoint_save(saved, path, comm, NULL));
  TSR_TRY(tsr_checkpoint_load_path(path, two, "weight$ -> _, tp\n", comm, NULL, &loaded));
  tsr_array_tree_print(saved, &text);
  tsr_array_tree_print(loaded, &text);
  printf("%s", tsr_text_string(&text));
  return NULL;
}

int main(int argc, char **argv) { return tsr_status_exit(run(argc > 1 ? argv[1] : "step-1000")); }
