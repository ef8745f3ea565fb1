// Propagations as commands make them: the mesh, the plan or the rules of the options, and what the
// program says itself.
#include <string.h>

#include "cli/sources.h"

// ---- how ----

static tsr_propagate_strategy strategy_of(const cli_args *args) {
  const char *word = cli_value(args, "strategy");  // one of the allowed words
  if (!word || !strcmp(word, "aggressive")) return TSR_PROPAGATE_AGGRESSIVE;
  return !strcmp(word, "basic") ? TSR_PROPAGATE_BASIC : TSR_PROPAGATE_BASIC_FIRST;
}

static bool decides(const cli_args *args) {
  static const char *const ways[] = {"rules", "preset", "logical", "auto", "fit"};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (cli_has(args, ways[i])) return true;
  return false;
}

// Options about rules need rules.
static tsr_status check_options(const cli_args *args) {
  static const char *const with_rules[] = {
      "any-model-type", "copies",          "axes",         "fact", "min-size",
      "policy",         "allow-unmatched", "no-companions"};
  if (decides(args)) return NULL;
  for (size_t i = 0; i < sizeof with_rules / sizeof *with_rules; i++)
    if (cli_has(args, with_rules[i]))
      return tsr_fail(BAD_ARGUMENT,
                      "--%s has no effect without --preset, --rules, --logical, --auto or --fit",
                      with_rules[i]);
  return NULL;
}

tsr_status cli_program_mesh(const tsr_program *program, const char *path, tsr_mesh **out_mesh) {
  if (tsr_program_mesh_count(program)) return tsr_program_mesh_at(program, 0, out_mesh);
  return tsr_fail(BAD_ARGUMENT,
                  "%s has no mesh; give --tp N (or --fsdp, --ep, --dp) or --mesh MESH", path);
}

// ---- the plan ----

// Plans the arguments of the program by the options.
static tsr_status plan_arguments(const cli_args *args, const char *path, const tsr_program *program,
                                 const tsr_mesh *given, tsr_plan **out_plan) {
  uint64_t unused = UINT64_MAX;
  tsr_mesh *mesh = given ? tsr_mesh_retain(given) : NULL;
  tsr_tree *tree = NULL;
  tsr_status status = mesh ? NULL : cli_program_mesh(program, path, &mesh);
  if (!status) status = tsr_program_tree(program, &tree);
  if (!status) status = cli_make_plan(args, path, tree, mesh, &unused, out_plan);
  if (!status) status = cli_check_facts(args, unused);
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status open_plan(const cli_args *args, const char *path, const tsr_program *program,
                            const tsr_mesh *mesh, tsr_plan **out_plan) {
  TSR_TRY(cli_check_one_of(
      args, (const char *const[]){"plan", "rules", "preset", "logical", "auto", "fit", NULL}));
  if (cli_has(args, "plan")) return cli_open_plan(cli_value(args, "plan"), out_plan);
  return decides(args) ? plan_arguments(args, path, program, mesh, out_plan) : NULL;
}

tsr_status cli_propagate(const cli_args *args, const char *path, const tsr_program *program,
                         const tsr_value_constraint *constraints, int64_t constraint_count,
                         tsr_propagation **out_propagation) {
  tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
  tsr_mesh *mesh = NULL;
  tsr_plan *plan = NULL;
  TSR_TRY(check_options(args));
  if (cli_has_mesh(args)) TSR_TRY(cli_open_mesh(args, &mesh));
  tsr_status status = open_plan(args, path, program, mesh, &plan);
  options.mesh = mesh;
  options.plan = plan;
  options.constraints = constraints;
  options.constraint_count = constraint_count;
  options.strategy = strategy_of(args);
  options.no_op_priorities = cli_has(args, "no-op-priorities");
  options.conservative = cli_has(args, "conservative");
  options.shared_functions = cli_has(args, "shared-functions");
  if (!status) status = tsr_program_propagate(program, &options, out_propagation);
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);
  return status;
}
