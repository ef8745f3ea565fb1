// What commands that move bytes share: the engine, and one report for all ranks.
#ifndef TESSERA_CLI_ENGINE_H
#define TESSERA_CLI_ENGINE_H

#include "cli/cli.h"
#include "tessera/comm.h"

// Collective over the ranks. Opens the comm of CLI_OPTIONS_ENGINE.
tsr_status cli_open_comm(const cli_args *args, int64_t devices, tsr_comm **out_comm);
// Collective over `comm`. Ends a command with its status on this rank. A failure of any rank is the
// exit code of all. It is printed once, by rank 0 if that failed too.
tsr_status cli_end_together(cli_args *args, tsr_comm *comm, tsr_status status);

#endif
