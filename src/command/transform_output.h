// What the commands print that write a checkpoint.
#ifndef TESSERA_COMMAND_TRANSFORM_OUTPUT_H
#define TESSERA_COMMAND_TRANSFORM_OUTPUT_H

#include "cli/cli.h"
#include "tessera/checkpoint/transform.h"

// Prints what a job would read and write, as text or, with --json, as JSON.
void cli_print_certificate(cli_args *args, const tsr_transform_options *options,
                           const tsr_transform *transform);

// Reports a finished job: a summary and warnings to standard error and, with --json, JSON to
// standard output.
tsr_status cli_report_transform(cli_args *args, const tsr_transform_options *options,
                                const tsr_transform *transform, double seconds);

#endif
