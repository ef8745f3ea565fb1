// Which preset cuts a model: the one that --preset names, or the one for the model.
#ifndef TESSERA_CLI_PRESET_SOURCE_H
#define TESSERA_CLI_PRESET_SOURCE_H

#include "cli/cli.h"

// The preset for the tensors of a model, with its variant: as --preset says, which must be one for
// the model_type in config.json; else the one for that type, or the only one that has rules for all
// tensors. `options` are those that its rules will be read with. `out_reason` gets why it is this
// one, in a few words; nothing where --preset says it all.
tsr_status cli_choose_preset(const cli_args *args, const char *model, const tsr_tree *tree,
                             const tsr_rules_options *options, tsr_text *out_name,
                             tsr_text *out_reason);

#endif
