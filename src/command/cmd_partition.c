// `tessera partition`: the program that each device of the mesh runs, with its collectives.
#include "command/command.h"
#include "report/partition_report.h"
#include "tessera/program.h"

static tsr_status print_report(cli_args *args, const tsr_program *partitioned, int64_t devices) {
  tsr_partition_report report;
  TSR_TRY(tsr_partition_report_fill(partitioned, devices, &report));
  if (!cli_has(args, "json")) return tsr_partition_report_print(&report, &args->out);
  tsr_json_writer json;
  tsr_json_begin_document(&json, &args->out);
  tsr_json_add_int(&json, "devices", devices);
  tsr_partition_report_to_json(&report, &json);
  tsr_json_end_document(&json);
  return NULL;
}

static tsr_status check_partition_options(const cli_args *args) {
  static const char *const printed[] = {"lanes", "elide", "generic", "locations"};
  if (cli_has(args, "json") && !cli_has(args, "report"))
    return tsr_fail(BAD_ARGUMENT, "--json is for --report: a program is printed as MLIR");
  for (size_t i = 0; cli_has(args, "report") && i < sizeof printed / sizeof *printed; i++)
    if (cli_has(args, printed[i]))
      return tsr_fail(BAD_ARGUMENT, "--%s is for printing the program, not for --report",
                      printed[i]);
  return NULL;
}

static tsr_status run_partition(cli_args *args) {
  tsr_program *program = NULL, *partitioned = NULL;
  TSR_TRY(check_partition_options(args));
  TSR_TRY(cli_open_program(args->positional[0], false, &program));
  tsr_status status = cli_put_on_mesh(args, &program);
  const int64_t devices = cli_device_count(program);
  if (!status && devices < 2)
    status = tsr_fail(BAD_ARGUMENT, "no sharding names a mesh of several devices");
  if (!status)
    status = tsr_program_transform(
        program, cli_has(args, "lanes") ? "partition,lanes" : "partition", &partitioned);
  tsr_program_release(program);
  if (status) return tsr_note(status, "%s", cli_program_name(args->positional[0]));
  status = cli_has(args, "report") ? print_report(args, partitioned, devices)
                                   : cli_print_program(args, partitioned, &args->out);
  tsr_program_release(partitioned);
  return status;
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTIONS_AXES, CLI_OPTION_MESH,
    {"report", 0, NULL, NULL, "print what it costs instead: collectives, memory, fallbacks"},
    CLI_OPTION_JSON,
    {"lanes", 0, NULL, NULL, "also print the entry that runs it on all devices: whole tensors in and out"},
    {"elide", 'e', "N", NULL, "leave out constants of more than N elements"},
    {"generic", 'g', NULL, NULL, "print every op in MLIR's generic form"},
    {"locations", 'l', NULL, NULL, "print loc(...): where JAX made each op"},
    {0},
};
// clang-format on

const cli_command cli_cmd_partition = {
    .name = "partition",
    .summary = "print the program of one device",
    .usage = "PROGRAM [options]",
    .options = options,
    .description =
        "PROGRAM is MLIR text, a portable artifact or a file of jax.export, recognised by\n"
        "content; - is standard input. Shardings of its arguments, results and constraints are\n"
        "propagated to all values, reshards become collectives, and the text of what each\n"
        "device of the mesh runs is printed: local shapes, collectives of StableHLO. --mesh is\n"
        "another mesh with the axes that the shardings name.\n"
        "\n"
        "A dimension that its axes do not divide stays whole inside the program.\n"
        "\n"
        "--report prints what each device holds and moves in one run, the steps of loops\n"
        "counted, and the fallbacks: operands that are gathered along a dimension because their\n"
        "op cannot be cut there, with the cause.\n",
    .examples =
        "tessera partition step.mlir\n"
        "tessera partition step.mlir --report\n"
        "tessera partition step.mlir --mesh data=2,model=2\n"
        "tessera partition step.bin --elide 16 | grep all_\n",
    .run = run_partition,
};
