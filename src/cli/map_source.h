// Where maps come from: --map, applied to the tensors of a model.
#ifndef TESSERA_CLI_MAP_SOURCE_H
#define TESSERA_CLI_MAP_SOURCE_H

#include "cli/cli.h"
#include "tessera/checkpoint/map.h"

// The map that --map names (a file, or one that ships with tessera), applied to the tensors of a
// model, with facts as rules have them. What is odd goes to standard error. NULL without --map.
// Bits of `*inout_unasked` are cleared for the facts of --fact that it asks for.
tsr_status cli_open_map(const cli_args *args, const char *model, const tsr_tree *tree,
                        uint64_t *inout_unasked, tsr_mapping **out_mapping);

// The same for two models, whichever of them it fits; or with --map-of, the one that this says.
// Which it is goes to standard error.
tsr_status cli_open_map_of_either(const cli_args *args, const char *const paths[2],
                                  const tsr_tree *const trees[2], int64_t *out_which,
                                  tsr_mapping **out_mapping);

#endif
