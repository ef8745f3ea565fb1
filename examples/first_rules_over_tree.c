// The parameters of a small layer, cut by rules over their names: onto devices and back. With other
// rules as its argument, the program shows the failure for a parameter without a rule.
#include <stdio.h>
#include <tessera/tessera.h>

// A pattern, searched in the path, and a spec; the first pattern that matches wins.
static const char rules[] =
    "up$   -> fsdp, tp\n"
    "down$ -> tp, fsdp\n"
    "norm  -> ()\n";

static tsr_leaf host_leaf(const char *path, const tsr_shape *shape, const float *data) {
  return (tsr_leaf){
      .tensor = tsr_tensor_of(path, TSR_F32, shape), .kind = TSR_LEAF_HOST, .data = data};
}

static tsr_status run(const char *rules_text) {
  static float up[64 * 16], down[16 * 64], norm[16];
  for (int i = 0; i < 64 * 16; i++) up[i] = down[i] = (float)i;
  const tsr_leaf leaves[] = {host_leaf("mlp/up", TSR_SHAPE(64, 16), up),
                             host_leaf("mlp/down", TSR_SHAPE(16, 64), down),
                             host_leaf("norm/scale", TSR_SHAPE(16), norm)};
  TSR_OWN(comm, comm);  // released at the end of the block, like all that follow
  TSR_OWN(mesh, mesh);
  TSR_OWN(array_tree, parameters);
  TSR_OWN(array_tree, placed);
  TSR_OWN(array_tree, back);
  TSR_OWN(text, text);
  TSR_TRY(tsr_comm_create(8, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("fsdp=2,tp=4", NULL, &mesh));
  TSR_TRY(tsr_array_tree_create(leaves, 3, &parameters));
  TSR_TRY(tsr_array_tree_put(comm, mesh, rules_text, parameters, &placed));
  TSR_TRY(tsr_array_tree_gather(placed, -1, &back));
  tsr_array_tree_print(placed, &text);
  const float *values = tsr_array_tree_at(back, 1)->data;  // leaves keep their order
  printf("%smlp/down in host memory: %g %g ... %g\n", tsr_text_string(&text), values[0], values[1],
         values[16 * 64 - 1]);
  return NULL;
}

int main(int argc, char **argv) { return tsr_status_exit(run(argc > 1 ? argv[1] : rules)); }
