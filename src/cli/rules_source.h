// Where rules come from: --rules, --preset, or the preset for the model.
#ifndef TESSERA_CLI_RULES_SOURCE_H
#define TESSERA_CLI_RULES_SOURCE_H

#include "cli/cli.h"
#include "tessera/rules.h"
#include "tessera/tree.h"

// The rules for the tensors of a model, with facts from --fact and config.json, and axes renamed by
// --axes. The chosen preset and the reason go to standard error. `mesh` may be NULL with --rules
// and a preset's full name. Clears the bits of `*inout_unused` for the facts of --fact that they
// use.
tsr_status cli_open_rules(const cli_args *args, const char *model, const tsr_tree *tree,
                          const tsr_mesh *mesh, uint64_t *inout_unused, tsr_rules **out_rules);

// Fails if the mesh has no axis that the rules name: every device would hold the whole model. Warns
// of axes of the mesh that no rule names, except dp, which is meant for replicas.
tsr_status cli_check_rule_axes(const tsr_rules *rules, const tsr_mesh *mesh);

#endif
