// The meshes that t5x and eformer make of a machine, and where t5x's standard rules put a tensor.
#include <stdio.h>
#include <tessera/compat/eformer.h>
#include <tessera/compat/t5x.h>
#include <tessera/tessera.h>

static void show(const char *name, const tsr_mesh *mesh) {
  TSR_OWN(text, text);
  tsr_mesh_print(mesh, &text);
  printf("%-8s %s\n", name, tsr_text_string(&text));
}

static tsr_status show_standard_rules(void) {
  TSR_OWN(logical_rules, rules);
  TSR_OWN(text, spec);
  TSR_TRY(tsr_logical_standard(1, 2, NULL, false, &rules));
  TSR_TRY(tsr_logical_to_spec_text("embed, mlp", rules, &spec));
  printf("embed, mlp lie as %s\n", tsr_text_string(&spec));
  return NULL;
}

static tsr_status run(void) {
  tsr_t5x_mesh_options partitions = TSR_T5X_MESH_OPTIONS;
  partitions.num_partitions = 4;
  tsr_eformer_mesh_options dims = TSR_EFORMER_MESH_OPTIONS;
  dims.axis_dims = (int64_t[]){1, 4, 1, -1, 1};
  dims.axis_dim_count = 5;
  TSR_OWN(topology, pod);
  TSR_OWN(mesh, t5x);
  TSR_OWN(mesh, eformer);
  TSR_TRY(tsr_topology_parse("tpu-v4:2x2x4", &pod));
  TSR_TRY(tsr_t5x_default_mesh(pod, &partitions, &t5x));
  TSR_TRY(tsr_eformer_create_mesh(pod, &dims, &eformer));
  show("t5x", t5x);
  show("eformer", eformer);
  return show_standard_rules();
}

int main(void) { return tsr_status_exit(run()); }
