// Where the plan commands get their plans: made from a model by options, or read from a file.
#ifndef TESSERA_CLI_PLAN_SOURCE_H
#define TESSERA_CLI_PLAN_SOURCE_H

#include "cli/cli.h"

// A model: a list of tensors in JSON, or a checkpoint of any format. What its files are warned
// about goes to standard error.
tsr_status cli_open_tree(const char *path, tsr_tree **out_tree);

// Warnings about a file, one a line, to standard error.
void cli_warn(const char *path, const char *lines);

// A plan file, or "-" for standard input.
tsr_status cli_open_plan(const char *path, tsr_plan **out_plan);

// The rules that --rules or --preset name, with facts from --fact and the model's config.json, and
// axes renamed by --axes. `mesh` may be NULL. NULL rules when neither option is given.
tsr_status cli_open_rules(const cli_args *args, const char *model, const tsr_mesh *mesh,
                          tsr_rules **out_rules);

// A plan for the tensors of a model by the one of --preset, --rules, --logical, --auto and --fit
// that is given. `model` is its path, beside which config.json may lie.
tsr_status cli_make_plan(const cli_args *args, const char *model, const tsr_tree *tree,
                         const tsr_mesh *mesh, tsr_plan **out_plan);

#endif
