// What the commands share: their tables, arguments, output and exit codes.
//
// Results go to stdout, everything else to stderr. A command is one row (name, summary, usage,
// options, examples); help, shell completions and manual pages are made from these rows.
#ifndef TESSERA_CLI_CLI_H
#define TESSERA_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"
#include "draw/draw.h"
#include "tessera/mesh.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/topology.h"

// Exit codes. EXIT_CHECK_FAILED is for a comparison or check that found something. A failure exits
// with EXIT_FAILED + its tsr_code, so that scripts can distinguish bad input (3) from a missing
// file (7).
enum { EXIT_OK = 0, EXIT_CHECK_FAILED = 1, EXIT_USAGE = 2, EXIT_FAILED = 2 };

enum { CLI_MAX_GIVEN = 64 };

typedef struct cli_option {
  const char *name;     // "mesh" is written --mesh
  char letter;          // 'm' is written -m; 0 = none
  const char *value;    // what it takes, as help shows it ("MESH"); NULL = a switch. "[=OPTIONS]":
                        // may be left out, is given as --name=value, and may be repeated
  const char *allowed;  // "text|svg", or a range of whole numbers: "1..4096", "1.."; NULL = any
  const char *help;
} cli_option;

typedef struct cli_args {
  const struct cli_command *command;
  int count;  // of positional arguments
  const char *const *positional;
  // Every option that was given, in the order they were.
  struct {
    int option;
    const char *value;
  } given[CLI_MAX_GIVEN];
  int given_count;
  // What the command answers.
  tsr_text out;   // printed to stdout if the command succeeds
  int exit_code;  // EXIT_OK unless the command sets it
} cli_args;

typedef struct cli_command {
  const char *name, *summary;
  const char *usage;  // after "tessera NAME ": positional arguments first, optional ones in [ ]
  const cli_option *options;  // ends with a row without a name
  const char *description;    // paragraphs; one that begins with a space is shown as it is
  const char *examples;       // one command a line
  tsr_status (*run)(cli_args *args);
  const struct cli_transform_kind *transform;  // of commands that write a checkpoint
} cli_command;

// Prints a failure to stderr, with a hint if an option of the command helps, frees it, and returns
// its exit code.
int cli_report(const cli_args *args, tsr_status status);

// Splits argv (after the command's name) by the command's table. Wrong usage fails with cause
// bad_argument; `--help` sets `*out_help`. `positional` must hold argc entries.
tsr_status cli_parse(const cli_command *command, int argc, char **argv, const char **positional,
                     cli_args *out_args, bool *out_help);
const char *cli_value(const cli_args *args, const char *option);  // NULL = not given
// All values of an option that may be repeated, CLI_MAX_GIVEN at most.
int cli_values(const cli_args *args, const char *option, const char **out_values);
bool cli_has(const cli_args *args, const char *option);
bool cli_takes(const cli_args *args, const char *option);  // whether the command has it
bool cli_option_wants_value(const cli_option *option);     // one that cannot be left out
// The bounds of an option whose values are a range; false = they are not.
bool cli_option_range(const cli_option *option, int64_t *out_least, int64_t *out_most);
// The value of an option that must be given; otherwise a message that shows how.
tsr_status cli_required(const cli_args *args, const char *option, const char **out_value);
tsr_status cli_int(const cli_args *args, const char *option, int64_t fallback, int64_t *out_value);
// A size such as 16G (binary), 16GB (decimal) or 16GiB, of an option that was given.
tsr_status cli_bytes(const cli_args *args, const char *option, int64_t *out_bytes);
// "2,4" or "2x4" as numbers.
tsr_status cli_ints(const char *what, const char *text, int max, int64_t *out_values,
                    int *out_count);
// "a,b" as names, which are stored in `buffer`.
tsr_status cli_names(const char *what, const char *text, int max, char *buffer, size_t buffer_size,
                     const char **out_names, int *out_count);

// Writes a finished text to stdout, or to the file of an option such as --svg ("-" = stdout).
// Escape sequences are not sent to stdout, except the colours of figures.
tsr_status cli_output(tsr_text *text, const char *path);
tsr_status cli_output_figure(const tsr_text *text, const char *path);
// As cli_output, unless `status` is a failure already; frees the text.
tsr_status cli_finish(tsr_status status, tsr_text *text, const char *path);
// Prints to stderr; long messages are truncated.
TSR_PRINTF(1, 2) void cli_say(const char *format, ...);

// Whether to colour: by --color, else if stdout is a terminal and NO_COLOR is not set.
bool cli_use_color(const cli_args *args);
int cli_width(void);  // columns of the terminal, or 100

// Parses a mesh: its text, or the name of a .json file from `tessera mesh --json`.
tsr_status cli_read_mesh(const char *text, const tsr_topology *topology, tsr_mesh **out_mesh);
bool cli_has_mesh(const cli_args *args);  // whether one of CLI_OPTIONS_AXES or --mesh is given
// The mesh of these options, on the devices of --topology. Warns of devices that it does not use.
tsr_status cli_open_mesh(const cli_args *args, tsr_mesh **out_mesh);

// Fails when more than one of these options is given; `options` ends with NULL.
tsr_status cli_check_one_of(const cli_args *args, const char *const *options);
// Larger meshes are neither drawn nor listed.
enum { CLI_MOST_DEVICES = 1 << 24 };

#endif
