// Logical axes: tensors say what their dimensions mean, and rules say once where each meaning goes.
// The same tensors for training and for serving: only the rules differ.
#include <stdio.h>
#include <tessera/tessera.h>

static const char training[] =
    "batch -> data\n"
    "embed -> fsdp\n"
    "mlp   -> tp\n"
    "heads -> tp\n";

static const char serving[] =
    "batch -> data+fsdp\n"
    "mlp   -> tp\n"
    "heads -> tp\n";

static const struct {
  const char *path, *names;
  tsr_shape shape;
} tensors[] = {{"mlp/up", "embed, mlp", {2, {32, 64}}},
               {"attention/query", "embed, heads, _", {3, {32, 8, 4}}},
               {"activation", "batch, _, embed", {3, {8, 4, 32}}}};

static tsr_status show(tsr_comm *comm, const tsr_mesh *mesh, const char *rules_text) {
  static const float zeros[32 * 64];
  TSR_OWN(logical_rules, rules);  // released at the end of the block
  TSR_TRY(tsr_logical_rules_parse(rules_text, "rules", &rules));
  for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
    TSR_OWN(text, spec);
    TSR_OWN(text, text);
    TSR_OWN(array, array);
    TSR_TRY(tsr_logical_to_spec_text(tensors[i].names, rules, &spec));
    TSR_TRY(tsr_array_put(comm, mesh, tsr_text_string(&spec), &tensors[i].shape, TSR_F32, zeros,
                          &array));
    tsr_array_print(array, &text);
    printf("%-15s  %-15s  %s\n", tensors[i].path, tensors[i].names, tsr_text_string(&text));
  }
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_TRY(tsr_comm_create(8, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("data=2,fsdp=2,tp=2", NULL, &mesh));
  TSR_TRY(show(comm, mesh, training));
  return show(comm, mesh, serving);
}

int main(void) { return tsr_status_exit(run()); }
