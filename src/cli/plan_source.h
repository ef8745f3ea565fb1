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

// A plan for the tensors of a model by the one of --preset, --rules, --logical, --auto and --fit
// that is given, or by the preset for it. `model` is its path, beside which config.json may lie.
// Bits of `*inout_unasked` are cleared for the facts of --fact that were asked for.
tsr_status cli_make_plan(const cli_args *args, const char *model, const tsr_tree *tree,
                         const tsr_mesh *mesh, uint64_t *inout_unasked, tsr_plan **out_plan);

// The same for the model at a path, on the mesh of the options. Facts that nothing asks for are
// refused.
tsr_status cli_plan_model(const cli_args *args, const char *path, tsr_plan **out_plan);

// What an argument that is a plan or a model stands for: with a mesh, a model that is planned as
// the options say; else a plan file, or the plan that a checkpoint was cut by.
tsr_status cli_plan_of(const cli_args *args, const char *path, tsr_plan **out_plan);

// Fails if an option of CLI_OPTIONS_DECIDE is given, --fact apart; `why` says why it cannot count.
tsr_status cli_refuse_deciding(const cli_args *args, const char *why);

#endif
