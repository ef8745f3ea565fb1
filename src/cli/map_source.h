// The map of --map, applied to the tensors of a model.
#ifndef TESSERA_CLI_MAP_SOURCE_H
#define TESSERA_CLI_MAP_SOURCE_H

#include "cli/cli.h"
#include "tessera/checkpoint/map.h"
#include "tessera/tree.h"

// Applies the map of --map (a file or a built-in map) to the tensors of a model, with its facts.
// Warnings go to standard error. `*out_mapping` is unchanged without --map. Clears the bits of
// `*inout_unused` for the facts of --fact that the map uses.
tsr_status cli_open_map(const cli_args *args, const char *model, const tsr_tree *tree,
                        uint64_t *inout_unused, tsr_mapping **out_mapping);

// The same for one of two models: the one of --map-of, or else the one that the map fits. The
// choice goes to standard error.
tsr_status cli_open_map_of_either(const cli_args *args, const char *const paths[2],
                                  const tsr_tree *const trees[2], int64_t *out_which,
                                  tsr_mapping **out_mapping);

#endif
