// What commands that move bytes share: which engine, and that one rank speaks for all.
#ifndef TESSERA_CLI_ENGINE_H
#define TESSERA_CLI_ENGINE_H

#include "cli/cli.h"

// clang-format off
#define CLI_ENGINE_OPTIONS \
    {"engine", 0, "ENGINE", "threads|mpi", "what moves the bytes (default: threads)"}, \
    {"workers", 'w', "N", NULL, "threads of a process (default: one for each processor)"}, \
    {"timeout", 0, "SECONDS", NULL, "without progress until a rank is given up (default: 300)"}
// clang-format on

// Collective over the ranks: the comm that these options describe.
tsr_status cli_open_comm(const cli_args *args, int64_t devices, tsr_comm **out_comm);
// Collective. Ends a command that has done its work, with what came of it here: a failure of any
// rank is the exit code of all, and is said once, by the first rank if it has it too.
tsr_status cli_end_together(const cli_args *args, tsr_comm *comm, tsr_status status, int *out_exit);

#endif
