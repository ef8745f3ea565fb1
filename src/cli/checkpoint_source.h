// How checkpoints are named on the command line: a path, and --from for the plan of ranks' files.
#ifndef TESSERA_CLI_CHECKPOINT_SOURCE_H
#define TESSERA_CLI_CHECKPOINT_SOURCE_H

#include "cli/cli.h"
#include "tessera/checkpoint/open.h"

// The row of --from, for the tables of options.
#define CLI_OPTION_FROM \
  { "from", 0, "PLAN", NULL, "how ranks' files were cut, where no tessera-plan.json says so" }

// And of --npy-dtype.
#define CLI_OPTION_NPY_DTYPE                                               \
  {                                                                        \
    "npy-dtype", 0, "DTYPE", NULL,                                         \
        "element type of NumPy arrays that do not record one, as f8e4m3fn" \
  }

// The rows of --map, and of --fact for commands that have no rules.
#define CLI_OPTION_MAP \
  { "map", 0, "MAP", NULL, "apply a map file, or a built-in map such as llama-fuse" }
#define CLI_OPTION_MAP_FACT \
  { "fact", 0, "NAME=N,...", NULL, "numbers that a map asks for, where config.json lacks them" }

// Opens a checkpoint, whose plan is the value of an option, "from" or one like it, if that is
// given; --npy-dtype is asked too. What is odd about it goes to standard error.
tsr_status cli_open_checkpoint(const cli_args *args, const char *path, const char *option,
                               tsr_checkpoint **out_checkpoint);

// Rows of options of commands that read much, and what they say. 0 = not given.
#define CLI_OPTIONS_LIMITS                                               \
  {"max-memory", 0, "SIZE", NULL, "memory it may take (default: 1G)"}, { \
    "jobs", 0, "N", NULL, "threads (default: one for each core)"         \
  }
tsr_status cli_read_limits(const cli_args *args, int64_t *out_memory, int *out_jobs);

#endif
