// Commands that write a checkpoint: reshard, shard, gather, split, merge.
#ifndef TESSERA_CLI_TRANSFORMS_H
#define TESSERA_CLI_TRANSFORMS_H

#include "cli/sources.h"
#include "tessera/checkpoint/transform.h"

// What a command reads and writes.
typedef struct cli_transform_kind {
  bool whole_source, cut_source;
  bool cuts;      // writes shards by a plan; otherwise whole tensors
  bool one_file;  // all tensors in one file
  bool folder;    // always a folder, whatever its name
} cli_transform_kind;

// Runs such a command: reads the first argument and writes the second.
tsr_status cli_run_transform(cli_args *args);

// Sets the format of the destination and, if the command cuts, its plan, which the caller owns.
// Warns of tensors that are cut less than wanted. Clears the bits of `*inout_unused` as
// cli_make_plan does.
tsr_status cli_choose_destination(const cli_args *args, const tsr_checkpoint *source,
                                  tsr_transform_options *options, uint64_t *inout_unused,
                                  tsr_plan **out_plan);

// Prints what a job would read and write, as text or, with --json, as JSON.
void cli_print_certificate(cli_args *args, const tsr_transform_options *options,
                           const tsr_transform *transform);

// Reports a finished job: a summary and warnings to standard error and, with --json, JSON to
// standard output.
tsr_status cli_report_transform(cli_args *args, const tsr_transform_options *options,
                                const tsr_transform *transform, double seconds);

#endif
