// The `tessera` command: finds the row of a command, runs it, and turns failures into exit codes.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "command/command.h"

const cli_command *const cli_commands[] = {
#define COMMAND(name) &cli_cmd_##name,
#include "command/commands.def"
#undef COMMAND
    NULL,
};

void cli_print_overview(FILE *file) {
  fprintf(file,
          "tessera %s: partition tensors and models over device meshes\n\n"
          "usage: tessera COMMAND [arguments]\n\ncommands:\n",
          tsr_version());
  for (int i = 0; cli_commands[i]; i++)
    fprintf(file, "  %-12s  %s\n", cli_commands[i]->name, cli_commands[i]->summary);
  fprintf(file,
          "\n`tessera COMMAND --help` describes a command. Try:\n"
          "  tessera show 8,16 'data, model' --mesh data=2,model=4\n"
          "  tessera reshard Llama-3-8B tp8 --tp 8\n");
}

static const cli_command *find_command(const char *name) {
  for (int i = 0; cli_commands[i]; i++)
    if (!strcmp(cli_commands[i]->name, name)) return cli_commands[i];
  return NULL;
}

static int unknown_command(const char *name) {
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; cli_commands[i]; i++) tsr_suggestion_offer(&near, cli_commands[i]->name);
  cli_say("tessera: no command \"%s\"" TSR_DID_YOU_MEAN
          "\nhint: `tessera help` lists the commands\n",
          name, TSR_SUGGESTED(near));
  return EXIT_USAGE;
}

static int print_manual(const char *name) {
  const cli_command *command = name ? find_command(name) : NULL;
  if (name && !command) return unknown_command(name);
  cli_print_manual(command, stdout);
  return EXIT_OK;
}

static int run(const cli_command *command, int argc, char **argv) {
  const char **positional = calloc((size_t)argc + 1, sizeof *positional);
  cli_args args = {.command = command};
  if (!positional) return cli_report(&args, tsr_fail(NO_MEMORY, "arguments"));
  bool help = false;
  tsr_status status = cli_parse(command, argc, argv, positional, &args, &help);
  if (!status && help)
    cli_print_help(command, stdout);
  else if (!status)
    status = cli_finish(command->run(&args), &args.out, NULL);
  if (status) args.exit_code = cli_report(&args, status);
  free(positional);
  return args.exit_code;
}

static int run_named(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "help";
  if (!strcmp(name, "--version") || !strcmp(name, "version")) {
    printf("tessera %s\n", tsr_version());
    return EXIT_OK;
  }
  const bool help = !strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h");
  if (help && argc < 3) {
    cli_print_overview(argc > 1 ? stdout : stderr);
    return argc > 1 ? EXIT_OK : EXIT_USAGE;
  }
  if (help) name = argv[2];
  // For the build: `tessera help --manual [COMMAND]` prints a manual page's source.
  if (help && !strcmp(name, "--manual")) return print_manual(argc > 3 ? argv[3] : NULL);
  const cli_command *command = find_command(name);
  if (!command) return unknown_command(name);
  if (help) {
    cli_print_help(command, stdout);
    return EXIT_OK;
  }
  return run(command, argc - 2, argv + 2);
}

// Help is output too: a full disk is a failure.
int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN);  // writing beyond the file size limit fails instead
  const int code = run_named(argc, argv);
  if (code != EXIT_OK || !fflush(stdout)) return code;
  fprintf(stderr, "tessera: cannot write the output: %s\n", strerror(errno));
  return EXIT_FAILED + (int)TSR_CODE_IO;
}
