// Where the plan commands get their plans: made from a model by options, or read from a file.
#ifndef TESSERA_CLI_PLAN_SOURCE_H
#define TESSERA_CLI_PLAN_SOURCE_H

#include "cli/cli.h"

// A model; what its files are warned about goes to standard error.
tsr_status cli_open_tree(const char *path, tsr_tree **out_tree);

// A plan file, or "-" for standard input.
tsr_status cli_open_plan(const char *path, tsr_plan **out_plan);

// The rules that --rules or --preset name, with facts from --fact and the model's config.json, and
// axes renamed by --axes. `mesh` may be NULL. NULL rules when neither option is given.
tsr_status cli_open_rules(const cli_args *args, const char *model, const tsr_mesh *mesh,
                          tsr_rules **out_rules);

#endif
