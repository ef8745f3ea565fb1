// The rows of all commands, the help that is printed from them, and what commands share.
#ifndef TESSERA_COMMAND_COMMAND_H
#define TESSERA_COMMAND_COMMAND_H

#include "cli/sources.h"
#include "cli/transforms.h"
#include "report/report.h"
#include "tessera/tessera.h"

#define COMMAND(name) extern const cli_command cli_cmd_##name;
#include "command/commands.def"
#undef COMMAND
extern const cli_command *const cli_commands[];  // sorted, ends with NULL

void cli_print_help(const cli_command *command, FILE *file);
void cli_print_overview(FILE *file);
// A manual page in scdoc's format; NULL is the page of `tessera` itself.
void cli_print_manual(const cli_command *command, FILE *file);

#endif
