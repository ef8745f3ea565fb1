// Shardings of a program: given for a few arguments, propagated to all values, and asked why.
//
//   propagate PROGRAM MESH RULES VALUE
#include <inttypes.h>
#include <stdio.h>
#include <tessera/program.h>
#include <tessera/tessera.h>

// A plan for the arguments of the program, whose names are paths: params['w'] is params/w.
static tsr_status plan_arguments(const tsr_program *program, const char *mesh_text,
                                 const char *rules_text, tsr_plan **out_plan) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(tree, tree);
  TSR_OWN(rules, rules);
  TSR_TRY(tsr_mesh_parse(mesh_text, NULL, &mesh));
  TSR_TRY(tsr_program_tree(program, &tree));
  TSR_TRY(tsr_rules_parse(rules_text, "rules", NULL, &rules));
  return tsr_plan_match(tree, mesh, rules, NULL, out_plan);
}

static tsr_status run(const char *path, const char *mesh, const char *rules, const char *name) {
  TSR_OWN(program, program);
  TSR_OWN(plan, plan);
  TSR_OWN(propagation, step);
  TSR_OWN(propagation, constrained);
  TSR_OWN(text, text);
  TSR_TRY(tsr_program_open(path, NULL, &program));
  TSR_TRY(plan_arguments(program, mesh, rules, &plan));
  tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
  options.plan = plan;
  TSR_TRY(tsr_program_propagate(program, &options, &step));

  tsr_propagation_info info = TSR_PROPAGATION_INFO;
  TSR_TRY(tsr_propagation_describe(step, &info));
  printf("%" PRId64 " of %" PRId64 " values are sharded, %" PRId64 " were given\n",
         info.sharded_count, info.value_count, info.given_count);
  tsr_sharded_value value = TSR_SHARDED_VALUE;
  TSR_TRY(tsr_propagation_find(step, name, &value));
  printf("%s is %s\n\n", name, value.sharding ? value.sharding : "not sharded");
  TSR_TRY(tsr_propagation_explain(step, name, -1, &text));

  // What if it were not cut?
  const tsr_value_constraint whole = {.value = name, .spec = "()"};
  int64_t changes = 0;
  options.constraints = &whole;
  options.constraint_count = 1;
  TSR_TRY(tsr_program_propagate(program, &options, &constrained));
  TSR_TRY(tsr_propagation_compare(step, constrained, &changes, &text));
  printf("%s\n%" PRId64 " values change if %s is not cut\n", tsr_text_string(&text), changes, name);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc == 5) return tsr_status_exit(run(argv[1], argv[2], argv[3], argv[4]));
  fprintf(stderr, "usage: propagate PROGRAM MESH RULES VALUE\n");
  return 2;
}
