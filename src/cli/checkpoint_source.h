// How commands open checkpoints and read the limits of --max-memory and --jobs.
#ifndef TESSERA_CLI_CHECKPOINT_SOURCE_H
#define TESSERA_CLI_CHECKPOINT_SOURCE_H

#include "cli/cli.h"
#include "tessera/checkpoint/open.h"

// Opens a checkpoint, with the plan of `option` ("from" or "from-second") and the dtype of
// --npy-dtype if they are given. Warnings go to standard error.
tsr_status cli_open_checkpoint(const cli_args *args, const char *path, const char *option,
                               tsr_checkpoint **out_checkpoint);

// The values of --max-memory and --jobs; 0 = not given.
tsr_status cli_read_limits(const cli_args *args, int64_t *out_memory, int *out_jobs);

#endif
