// `tessera cost`: what a sharded program costs, before it runs anywhere.
#include "base/text_internal.h"
#include "command/command.h"
#include "report/preflight_report.h"
#include "tessera/program/preflight.h"

enum { TOP = 10, TOP_PAGE = 50 };

static tsr_status show(const cli_args *args, const tsr_preflight *preflight, tsr_text *out) {
  const char *html = cli_value(args, "html");
  tsr_preflight_report report = {.preflight = preflight,
                                 .path = cli_program_name(args->positional[0]),
                                 .topology = cli_value(args, "topology")};
  if (html) {
    tsr_text page = TSR_TEXT_EMPTY;
    TSR_TRY(cli_int(args, "top", TOP_PAGE, &report.top));
    TSR_TRY(cli_finish(tsr_preflight_report_to_html(&report, &page), &page, html));
    if (!cli_has(args, "json")) return NULL;
  }
  TSR_TRY(cli_int(args, "top", TOP, &report.top));
  return cli_has(args, "json") ? tsr_preflight_report_to_json(&report, out)
                               : tsr_preflight_report_print(&report, out);
}

static tsr_status read_rate(const cli_args *args, const char *option, double unit, double *out) {
  int64_t number = 0;
  TSR_TRY(cli_int(args, option, 0, &number));
  *out = unit * (double)number;
  return NULL;
}

static tsr_status fly(cli_args *args, const tsr_propagation *propagation) {
  tsr_preflight_options options = TSR_PREFLIGHT_OPTIONS;
  tsr_preflight *preflight = NULL;
  tsr_topology *topology = NULL;
  const char *machine = cli_value(args, "topology");
  if (machine) TSR_TRY_NOTE(tsr_topology_open(machine, &topology), "--topology %s", machine);
  options.topology = topology;
  tsr_status status = read_rate(args, "tflops", 1e12, &options.flops);
  if (!status) status = read_rate(args, "bandwidth", 1e9, &options.bandwidth);
  if (!status) status = tsr_preflight_create(propagation, &options, &preflight);
  if (!status) status = show(args, preflight, &args->out);
  tsr_preflight_release(preflight);
  tsr_topology_release(topology);
  return status;
}

static tsr_status run_cost(cli_args *args) {
  tsr_program *program = NULL;
  tsr_propagation *propagation = NULL;
  TSR_TRY(cli_open_program(args->positional[0], false, &program));
  tsr_status status = cli_propagate(args, args->positional[0], program, NULL, 0, &propagation);
  if (!status) status = fly(args, propagation);
  tsr_propagation_destroy(propagation);
  tsr_program_release(program);
  return status;
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTIONS_DECIDE,
    CLI_OPTIONS_PROPAGATE,
    {"tflops", 0, "N", "1..", "TFLOP/s of one device (default: of its kind)"},
    {"bandwidth", 0, "N", "1..", "GB/s of one device's memory (default: of its kind)"},
    {"top", 0, "N", "1..", "reshards to list (default: 10, on a page 50)"},
    CLI_OPTION_JSON,
    {"html", 0, "FILE", NULL, "write a page with the program as a graph, reshards in red"},
    {0},
};
// clang-format on

const cli_command cli_cmd_cost = {
    .name = "cost",
    .summary = "report what a sharded program costs: reshards, memory, time",
    .usage = "PROGRAM [--topology TOPOLOGY] [--mesh MESH] [--plan PLAN] [--html FILE] [options]",
    .options = options,
    .description =
        "PROGRAM is MLIR text, a portable artifact or a file of jax.export, - is standard\n"
        "input. It may be sharded at its inputs only: shardings are propagated as Shardy does,\n"
        "then reshards and collectives are made explicit. A program that has Shardy's\n"
        "collectives already is taken as it is. No devices are needed, and any number will do:\n"
        "--mesh gives the program's mesh other sizes. --plan and rules cut the arguments, as for\n"
        "`tessera propagate`, whose names of values the report has.\n"
        "\n"
        "Numbers are of one device in one run. Bytes moved: of an all-reduce twice its operand,\n"
        "of an all-gather its result without its operand, of a reduce-scatter its operand\n"
        "without its result, of others the operand; times the steps of the loops around.\n"
        "Steps are known where a counter goes from a constant to a constant, as in JAX's scan.\n"
        "\n"
        "Each reshard comes with the op that asks for it, the reason, and what may be changed.\n"
        "Times need --topology: links of the machine, and the peak speed of a device. The first\n"
        "time is of computing and communication overlapped, the second of one after the other.\n",
    .examples =
        "tessera cost step.mlir\n"
        "tessera cost step.mlir --topology gpu:4x8:h100 --top 20\n"
        "tessera cost step.mlir --mesh data=512,model=8 --topology tpu-v5p:16x16x16\n"
        "tessera cost step.bin --mesh data=8,model=4 --rules my.rules --html step.html\n"
        "tessera cost step.mlir --json | jq .collectives\n",
    .run = run_cost,
};
