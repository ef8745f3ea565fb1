// `tessera propagate`: the shardings of all values of a program.
#include <string.h>

#include "command/command.h"
#include "report/propagation_report.h"

static tsr_status print_program(const tsr_propagation *propagation, tsr_text *out) {
  return tsr_program_print(tsr_propagation_program(propagation), NULL, out);
}

static tsr_status print(const cli_args *args, const tsr_propagation *propagation, tsr_text *out) {
  const tsr_propagation_report report = {.propagation = propagation,
                                         .path = cli_program_name(args->positional[0]),
                                         .all = cli_has(args, "all")};
  if (cli_has(args, "mlir")) return print_program(propagation, out);
  return cli_has(args, "json") ? tsr_propagation_report_to_json(&report, out)
                               : tsr_propagation_report_print(&report, out);
}

// A file whose name ends with .mlir gets the program, also without --mlir; so does an artifact.
static tsr_status write_out(cli_args *args, const tsr_propagation *propagation) {
  const char *path = cli_value(args, "output");
  if (path && !cli_has(args, "json") && !cli_has(args, "mlir") && strcmp(path, "-") != 0)
    return tsr_program_save(tsr_propagation_program(propagation), path, NULL);
  TSR_TRY(print(args, propagation, &args->out));
  return path ? cli_finish(NULL, &args->out, path) : NULL;
}

static tsr_status run_propagate(cli_args *args) {
  tsr_program *program = NULL;
  tsr_propagation *propagation = NULL;
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"mlir", "json", NULL}));
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"mlir", "all", NULL}));
  TSR_TRY(cli_open_program(args->positional[0], false, &program));
  tsr_status status = cli_propagate(args, args->positional[0], program, NULL, 0, &propagation);
  if (!status) status = write_out(args, propagation);
  tsr_propagation_destroy(propagation);
  tsr_program_release(program);
  return status;
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTIONS_DECIDE,
    CLI_OPTIONS_PROPAGATE,
    CLI_OPTION_ALL,
    {"mlir", 0, NULL, NULL, "print the program with its shardings"},
    CLI_OPTION_JSON,
    CLI_OPTION_OUTPUT,
    {0},
};
// clang-format on

const cli_command cli_cmd_propagate = {
    .name = "propagate",
    .summary = "give every value of a program a sharding, as Shardy does in JAX",
    .usage = "PROGRAM [--mesh MESH] [--plan PLAN|--rules FILE ...] [options]",
    .options = options,
    .description =
        "PROGRAM is MLIR text, a portable artifact or a file of jax.export; - is standard input.\n"
        "Shardings of a few values, which the program has or the options give, become those of\n"
        "all. The table shows arguments and results; --all shows every value, with the numbers\n"
        "that `tessera opt PROGRAM` prints. `tessera explain PROGRAM VALUE` says why.\n"
        "\n"
        "--mesh is the mesh of a program that has none. Otherwise it replaces the program's, so\n"
        "that one can ask what other sizes would give. A plan or rules decide how arguments are\n"
        "cut, by name: params['layers'][0]['w'] has the path params/layers/0/w, and a row\n"
        "params.layers.0.w or layers.0.w means it too.\n"
        "\n"
        "With --output FILE and neither --json nor --mlir, FILE gets the program: text if its\n"
        "name ends with .mlir or .txt, else a portable artifact.\n",
    .examples =
        "tessera propagate step.mlir\n"
        "tessera propagate step.mlir --mesh data=64,model=64 --all\n"
        "tessera propagate step.bin --mesh data=2,model=4 --rules my.rules -o sharded.mlir\n"
        "tessera propagate step.mlir --plan plan.json --mlir\n",
    .run = run_propagate,
};
