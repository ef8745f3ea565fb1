// How the tensors of a model on disk are to be cut: by rules, or by the preset that the model's
// config.json asks for.
//
//   plan MODEL MESH [RULES]
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>

static tsr_status run(const char *model, const char *mesh_text, const char *rules) {
  TSR_OWN(mesh, mesh);  // given back at the end of the block, as is the plan
  TSR_OWN(plan, plan);
  TSR_TRY(tsr_mesh_parse(mesh_text, NULL, &mesh));
  if (rules)
    TSR_TRY(tsr_plan_from_text(model, mesh, rules, &plan));
  else
    TSR_TRY(tsr_plan_from_preset(model, mesh, NULL, &plan));
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    TSR_OWN(text, spec);
    tsr_plan_row row = TSR_PLAN_ROW;
    TSR_TRY(tsr_plan_at(plan, i, &row));
    TSR_TRY(tsr_spec_print(row.final, TSR_FORM_SHORT, &spec));
    printf("%-40s  %s\n", row.tensor->path, tsr_text_string(&spec));
  }
  printf("%" PRId64 " of %" PRId64 " bytes on each device\n", tsr_plan_bytes_per_device(plan),
         tsr_tree_bytes(tsr_plan_tree(plan)));
  return NULL;
}

int main(int argc, char **argv) {
  if (argc == 3 || argc == 4) return tsr_status_exit(run(argv[1], argv[2], argv[3]));
  fprintf(stderr, "usage: plan MODEL MESH [RULES]\n");
  return 2;
}
