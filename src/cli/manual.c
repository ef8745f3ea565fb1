// Manual pages from the tables of the commands, in the format that scdoc reads: what --help shows
// and what `man` shows cannot differ.
#include <string.h>

#include "cli/cli.h"

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

// Paragraphs are apart by an empty line; one that begins with a space is a table.
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
      fputs(" ", file);
      print_plain(file, o->value, strlen(o->value));
    }
    fputs("\n\t", file);
    print_plain(file, o->help, strlen(o->help));
    if (o->choices) {
      fputs("; one of ", file);
      for (const char *c = o->choices; *c; c++) fputs(*c == '|' ? ", " : (char[]){*c, 0}, file);
    }
    fputs("\n\n", file);
  }
  fprintf(file, "*-h*, *--help*\n\tshow a summary\n\n");
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
  fprintf(file, "*tessera help*, *tessera version*\n\tlist the commands, tell the version\n\n");
  print_exit_status(file);
  fprintf(
      file,
      "# ENVIRONMENT\n\n*LOG\\_SHARDING\\_MOVE*\n\ttrue, yes, 1 or on: log each correction of a "
      "spec\n\n*MEGASCALE\\_NUM\\_SLICES*\n\tnumber of slices where devices do not tell "
      "(tessera mesh --builder eformer)\n\n*NO\\_COLOR*\n\tset: no colours\n\n"
      "# SEE ALSO\n\n*tessera-notation*(7)\n");
}
