// `tessera translate`: a program from one form to another.
#include <string.h>

#include "base/text_internal.h"
#include "command/command.h"

static tsr_status print_text(cli_args *args, const tsr_program *program) {
  tsr_program_print_options options = TSR_PROGRAM_PRINT_OPTIONS;
  options.generic = cli_has(args, "generic");
  options.locations = cli_has(args, "locations");
  return tsr_program_print(program, &options, &args->out);
}

// Text goes through the same options as on standard output; artifacts are written as they are.
static tsr_status write_text(cli_args *args, const tsr_program *program, const char *path) {
  tsr_status status = print_text(args, program);
  return cli_finish(status, &args->out, path);
}

static bool wants_text(const cli_args *args, const char *path) {
  const char *to = cli_value(args, "to");
  if (to) return !strcmp(to, "text");
  return !path || !strcmp(path, "-") || tsr_ends_with(path, ".mlir") || tsr_ends_with(path, ".txt");
}

static tsr_status write_artifact(cli_args *args, const tsr_program *program, const char *path) {
  if (!path)
    return tsr_fail(BAD_ARGUMENT, "an artifact is binary; name a file: tessera translate %s OUT",
                    args->positional[0]);
  if (tsr_ends_with(path, ".mlir") || tsr_ends_with(path, ".txt"))
    return tsr_fail(BAD_ARGUMENT, "%s is the name of a text; name an artifact *.mlirbc", path);
  return tsr_program_save(program, path, cli_value(args, "version"));
}

static tsr_status check_options(const cli_args *args, bool text) {
  static const char *const of_text[] = {"generic", "locations"};
  if (text && cli_has(args, "version"))
    return tsr_fail(BAD_ARGUMENT, "--version is for artifacts, and the output is a text");
  for (size_t i = 0; !text && i < sizeof of_text / sizeof *of_text; i++)
    if (cli_has(args, of_text[i]))
      return tsr_fail(BAD_ARGUMENT, "--%s is for texts, and the output is an artifact", of_text[i]);
  return NULL;
}

static tsr_status run_translate(cli_args *args) {
  const char *path = args->count > 1 ? args->positional[1] : NULL;
  const bool text = wants_text(args, path);
  tsr_program *program = NULL;
  TSR_TRY(check_options(args, text));
  TSR_TRY(cli_open_program(args->positional[0], cli_has(args, "unchecked"), &program));
  tsr_status status = !text                            ? write_artifact(args, program, path)
                      : path && strcmp(path, "-") != 0 ? write_text(args, program, path)
                                                       : print_text(args, program);
  tsr_program_release(program);
  return status;
}

// clang-format off
static const cli_option options[] = {
    {"to", 't', "FORM", "text|artifact", "form of the output (default: by the name of OUT, else text)"},
    {"version", 'v', "VERSION", NULL, "StableHLO version of the artifact, such as 1.15.0"},
    {"generic", 'g', NULL, NULL, "print every op in MLIR's generic form"},
    {"locations", 'l', NULL, NULL, "print loc(...): where JAX made each op"},
    {"unchecked", 0, NULL, NULL, "do not check the program"},
    {0},
};
// clang-format on

const cli_command cli_cmd_translate = {
    .name = "translate",
    .summary = "translate a program between MLIR text and portable artifact",
    .usage = "PROGRAM [OUT] [options]",
    .options = options,
    .description =
        "PROGRAM is MLIR text, a portable artifact or a file of jax.export, recognised by\n"
        "content; - is standard input. OUT is a text if its name ends with .mlir or .txt, else\n"
        "a portable artifact (MLIR bytecode of VHLO), which jaxlib and every StableHLO of at\n"
        "least its version read. Without OUT the text goes to standard output.\n",
    .examples =
        "tessera translate step.bin step.mlir\n"
        "tessera translate step.mlir step.mlirbc --version 1.9.0\n"
        "tessera translate step.mlirbc --generic | less\n",
    .run = run_translate,
};
