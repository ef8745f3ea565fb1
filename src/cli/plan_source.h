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

// Rows of options: the mesh, and a way to decide how tensors are cut on it.
// clang-format off
#define CLI_OPTIONS_DECIDE                                                                         \
    CLI_OPTIONS_AXES,                                                                              \
    {"mesh", 'm', "MESH", NULL, "or the whole mesh, as fsdp=8,tp=4"},                              \
    {"topology", 't', "TOPOLOGY", NULL, "the machine the devices belong to"},                      \
    {"preset", 'p', "FAMILY[:AXES]", NULL, "rules that ship with tessera, as llama or llama:fsdp+tp (default: by config.json)"}, \
    {"any-model-type", 0, NULL, NULL, "take the preset also for a model_type that it is not for"}, \
    {"rules", 'r', "FILE", NULL, "rules of your own: a regex, ->, a spec on each line"},           \
    {"logical", 'l', "FILE", NULL, "rules for logical axes: a name, ->, mesh axes on each line"},  \
    {"auto", 0, NULL, NULL, "largest dimensions over largest axes"},                               \
    {"fit", 0, "SIZE", NULL, "cut until a device holds at most this much, as 16G"},                \
    {"copies", 0, "N", NULL, "--fit: gradient and optimiser copies of each tensor"},               \
    {"axes", 0, "OLD=NEW,...", NULL, "new names for the axes of rules, as tp=model"},              \
    {"fact", 0, "NAME=N,...", NULL, "numbers that rules ask for, where config.json lacks them"},   \
    {"min-size", 0, "N", NULL, "do not cut tensors with fewer elements"},                          \
    {"policy", 0, "POLICY", "error|trim|pad|uneven", "for sizes that do not divide (default: they are not cut)"}, \
    {"allow-unmatched", 0, NULL, NULL, "replicate tensors without a rule instead of refusing"},    \
    {"no-companions", 0, NULL, NULL, "treat optimiser states and scales as any other tensors"}
// clang-format on

// For the descriptions of commands that have these options.
#define CLI_TEXT_CHOICE                                                                        \
  "\nWithout --preset, --rules, --logical, --auto and --fit, the preset is the one for the "   \
  "model_type in\nconfig.json, with those of its axes that the mesh has; which one, and why, " \
  "goes "                                                                                      \
  "to standard error.\n"

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
