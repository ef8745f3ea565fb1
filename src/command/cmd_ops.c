// `tessera ops`: what Tessera knows of each op.
#include "command/command.h"
#include "report/program_report.h"

static tsr_status run_ops(cli_args *args) {
  return tsr_op_coverage_print(cli_has(args, "json"), &args->out);
}

static const cli_option options[] = {CLI_OPTION_JSON, {0}};

const cli_command cli_cmd_ops = {
    .name = "ops",
    .summary = "list every op of programs, and what is there for it",
    .usage = "[options]",
    .options = options,
    .description =
        "One line for each op of StableHLO, CHLO, Shardy and their tests: whether it has a text\n"
        "form of its own, whether it has checks of its own, whether the types of its results\n"
        "are inferred, whether it is computed when its operands are constants, and whether it\n"
        "runs. The numbers and types of operands, results and attributes are checked for every\n"
        "op.\n",
    .examples = "tessera ops\ntessera ops --json\n",
    .run = run_ops,
};
