// Which preset cuts a model: the one of --preset, or the one for its model_type.
#ifndef TESSERA_CLI_PRESET_SOURCE_H
#define TESSERA_CLI_PRESET_SOURCE_H

#include "cli/cli.h"
#include "tessera/rules.h"
#include "tessera/tree.h"

// The preset for the tensors of a model, with its variant: the one of --preset, which must be for
// the model_type in config.json, else the one for that type or the only one with rules for all
// tensors. `options` are those that its rules will be read with. `out_reason` gets the reason in a
// few words; nothing if --preset is complete.
tsr_status cli_choose_preset(const cli_args *args, const char *model, const tsr_tree *tree,
                             const tsr_rules_options *options, tsr_text *out_name,
                             tsr_text *out_reason);

#endif
