// The options of t5x's partitioner, as commands take them: --partitions, --submesh, --ici, --dcn,
// --rules and --base.
#ifndef TESSERA_CLI_T5X_SOURCE_H
#define TESSERA_CLI_T5X_SOURCE_H

#include "cli/cli.h"
#include "tessera/compat/t5x_partitioner.h"

// The partitioner of these options on a machine. Warnings go to standard error.
tsr_status cli_open_partitioner(const cli_args *args, const tsr_topology *topology,
                                tsr_partitioner **out_partitioner);

// clang-format off
#define CLI_OPTIONS_T5X_MESH                                                                   \
    {"partitions", 0, "N", NULL, "t5x's mesh: number of model partitions"},                    \
    {"submesh", 0, "X,Y,Z,C", NULL, "t5x's mesh: model parallel submesh"},                     \
    {"ici", 0, "N,N,N", NULL, "t5x's mesh: sizes of replica, data, model within a slice"},     \
    {"dcn", 0, "N,N,N", NULL, "t5x's mesh: sizes of replica, data, model across slices"}
// clang-format on

#endif
