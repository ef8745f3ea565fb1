// Where commands get plans: made for a model by options, or read from a file.
#ifndef TESSERA_CLI_PLAN_SOURCE_H
#define TESSERA_CLI_PLAN_SOURCE_H

#include "cli/cli.h"
#include "tessera/plan.h"
#include "tessera/tree.h"

// Opens a model: a list of tensors in JSON, or a checkpoint of any format. Warnings go to standard
// error.
tsr_status cli_open_tree(const char *path, tsr_tree **out_tree);

// Prints warnings about a file, one per line, to standard error.
void cli_warn(const char *path, const char *lines);

// Opens a plan file; "-" is standard input.
tsr_status cli_open_plan(const char *path, tsr_plan **out_plan);

// Plans the tensors of a model by --preset, --rules, --logical, --auto or --fit, or by the preset
// for the model. `model` is its path; config.json may be beside it. Clears the bits of
// `*inout_unused` for the facts of --fact that the rules use.
tsr_status cli_make_plan(const cli_args *args, const char *model, const tsr_tree *tree,
                         const tsr_mesh *mesh, uint64_t *inout_unused, tsr_plan **out_plan);

// The same for the model at a path, on the mesh of the options. Refuses unused facts.
tsr_status cli_plan_model(const cli_args *args, const char *path, tsr_plan **out_plan);

// The plan of an argument that is a plan or a model: with a mesh, a model to plan by the options;
// otherwise a plan file, or a checkpoint that is cut.
tsr_status cli_plan_of(const cli_args *args, const char *path, tsr_plan **out_plan);

// Fails if an option of CLI_OPTIONS_DECIDE other than --fact is given; `why` is the reason.
tsr_status cli_refuse_deciding(const cli_args *args, const char *why);

#endif
