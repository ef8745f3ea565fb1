// How `plan` and `convert` write a plan.
#ifndef TESSERA_COMMAND_PLAN_OUTPUT_H
#define TESSERA_COMMAND_PLAN_OUTPUT_H

#include "cli/cli.h"
#include "tessera/plan.h"

// Writes a table, or with --json data, to standard output or to the file of --output.
tsr_status cli_plan_output(const cli_args *args, const tsr_plan *plan);

#endif
