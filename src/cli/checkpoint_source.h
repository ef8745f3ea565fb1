// How checkpoints are named on the command line: a path, and --from for the plan of ranks' files.
#ifndef TESSERA_CLI_CHECKPOINT_SOURCE_H
#define TESSERA_CLI_CHECKPOINT_SOURCE_H

#include "cli/cli.h"

// The row of --from, for the tables of options.
#define CLI_OPTION_FROM \
  { "from", 0, "PLAN", NULL, "how ranks' files were cut, where no tessera-plan.json says so" }

// Opens a checkpoint. `plan` is a plan file, or NULL. What is odd about it goes to standard error.
tsr_status cli_open_checkpoint(const char *path, const char *plan, tsr_checkpoint **out_checkpoint);

#endif
