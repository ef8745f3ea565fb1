// Help and manual pages, both made from the tables of the commands, so that they cannot differ.
// Manual pages are in the format that scdoc reads.
#include <string.h>

#include "command/command.h"

// The values that an option allows, after its help text.
static void print_allowed(FILE *file, const cli_option *o) {
  int64_t least = 0, most = 0;
  if (cli_option_range(o, &least, &most)) {
    if (most < INT64_MAX) fprintf(file, "; %lld to %lld", (long long)least, (long long)most);
  } else if (o->allowed) {
    fputs("; one of ", file);
    for (const char *c = o->allowed; *c; c++) fputs(*c == '|' ? ", " : (char[]){*c, 0}, file);
  }
}

void cli_print_help(const cli_command *command, FILE *file) {
  fprintf(file, "tessera %s: %s\n\nusage: tessera %s %s\n", command->name, command->summary,
          command->name, command->usage);
  int width = 0;
  for (const cli_option *o = command->options; o->name; o++) {
    const int length = (int)(strlen(o->name) + (o->value ? strlen(o->value) + 1 : 0));
    if (length > width) width = length;
  }
  fprintf(file, "\noptions:\n");
  for (const cli_option *o = command->options; o->name; o++) {
    char left[80];
    snprintf(left, sizeof left, "%s%s%s", o->name, cli_option_wants_value(o) ? " " : "",
             o->value ? o->value : "");
    fprintf(file, "  %c%c --%-*s  %s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ', width,
            left, o->help);
    print_allowed(file, o);
    fputc('\n', file);
  }
  fprintf(file, "  -h --%-*s  show this help\n", width, "help");
  if (*command->description) fprintf(file, "\n%s", command->description);
  fprintf(file, "\nexamples:\n");
  for (const char *line = command->examples; *line;) {
    const size_t length = strcspn(line, "\n");
    fprintf(file, "  %.*s\n", (int)length, line);
    line += length + (line[length] == '\n');
  }
}

// ---- manual pages ----

// scdoc takes these for markup; a backslash makes them plain.
static void print_plain(FILE *file, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (strchr("\\*_`<>#[]|~.-", text[i])) fputc('\\', file);
    fputc(text[i], file);
  }
}

static void print_literal(FILE *file, const char *text, size_t length) {
  fprintf(file, "```\n%.*s\n```\n", (int)length, text);
}

// An empty line separates paragraphs; one that begins with a space is a table.
static void print_paragraphs(FILE *file, const char *text) {
  while (*text) {
    const char *end = strstr(text, "\n\n");
    size_t length = end ? (size_t)(end - text) : strlen(text);
    const size_t next = end ? length + 2 : length;
    while (length && text[length - 1] == '\n') length--;
    if (*text == ' ') {
      print_literal(file, text, length);
    } else {
      print_plain(file, text, length);
      fputc('\n', file);
    }
    fputc('\n', file);
    text += next;
  }
}

static void print_options(FILE *file, const cli_command *command) {
  fprintf(file, "# OPTIONS\n\n");
  for (const cli_option *o = command->options; o->name; o++) {
    if (o->letter) fprintf(file, "*-%c*, ", o->letter);
    fprintf(file, "*--%s*", o->name);
    if (o->value) {
      if (cli_option_wants_value(o)) fputs(" ", file);
      print_plain(file, o->value, strlen(o->value));
    }
    fputs("\n\t", file);
    print_plain(file, o->help, strlen(o->help));
    print_allowed(file, o);
    fputs("\n\n", file);
  }
  fprintf(file, "*-h*, *--help*\n\tshow this help\n\n");
}

static void print_exit_status(FILE *file) {
  fprintf(file,
          "# EXIT STATUS\n\n0 on success, 1 when the answer is no (a comparison that differs), "
          "2 for wrong usage");
#define PRINT_EXIT_CODE(id, number, text) \
  fprintf(file, ", %d for %s", EXIT_FAILED + TSR_CODE_##id, text);
  TSR_CODES(PRINT_EXIT_CODE)
#undef PRINT_EXIT_CODE
  fputs(".\n\n", file);
}

static void print_command_page(const cli_command *command, FILE *file) {
  fprintf(file, "tessera-%s(1)\n\n# NAME\n\ntessera-%s - %s\n\n# SYNOPSIS\n\n*tessera %s* ",
          command->name, command->name, command->summary, command->name);
  print_plain(file, command->usage, strlen(command->usage));
  fprintf(file, "\n\n# DESCRIPTION\n\n");
  print_paragraphs(file, *command->description ? command->description : command->summary);
  print_options(file, command);
  print_exit_status(file);
  fprintf(file, "# EXAMPLES\n\n");
  print_literal(file, command->examples, strlen(command->examples) - 1);
  fprintf(file, "\n# SEE ALSO\n\n*tessera*(1), *tessera-notation*(7)\n");
}

void cli_print_manual(const cli_command *command, FILE *file) {
  if (command) {
    print_command_page(command, file);
    return;
  }
  fprintf(file,
          "tessera(1)\n\n# NAME\n\ntessera - partition tensors over device meshes\n\n"
          "# SYNOPSIS\n\n*tessera* COMMAND [arguments]\n\n# COMMANDS\n\n");
  for (int i = 0; cli_commands[i]; i++)
    fprintf(file, "*tessera-%s*(1)\n\t%s\n\n", cli_commands[i]->name, cli_commands[i]->summary);
  fprintf(file, "*tessera help*, *tessera version*\n\tlist the commands, print the version\n\n");
  print_exit_status(file);
  fprintf(
      file,
      "# ENVIRONMENT\n\n*LOG\\_SHARDING\\_MOVE*\n\ttrue, yes, 1 or on: log each correction of a "
      "spec\n\n*MEGASCALE\\_NUM\\_SLICES*\n\tnumber of slices if the devices do not record it "
      "(tessera mesh --builder eformer)\n\n*NO\\_COLOR*\n\tset: no colours\n\n"
      "*TESSERA\\_MPI*\n\tMPI that --engine mpi loads: openmpi, mpich or the path of a library "
      "(default: that of the launcher)\n\n"
      "# SEE ALSO\n\n*tessera-notation*(7)\n");
}
