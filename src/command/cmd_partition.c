// `tessera partition`: the program that each device of the mesh runs, with its collectives.
#include "command/command.h"
#include "tessera/program.h"

static tsr_status run_partition(cli_args *args) {
  tsr_program *program = NULL, *partitioned = NULL;
  TSR_TRY(cli_open_program(args->positional[0], false, &program));
  tsr_status status = NULL;
  if (cli_device_count(program) < 2)
    status = tsr_fail(BAD_ARGUMENT, "no sharding names a mesh of several devices");
  if (!status)
    status = tsr_program_transform(
        program, cli_has(args, "lanes") ? "partition,lanes" : "partition", &partitioned);
  tsr_program_release(program);
  if (status) return tsr_note(status, "%s", cli_program_name(args->positional[0]));
  status = cli_print_program(args, partitioned, &args->out);
  tsr_program_release(partitioned);
  return status;
}

// clang-format off
static const cli_option options[] = {
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
        "device of the mesh runs is printed: local shapes, collectives of StableHLO.\n"
        "\n"
        "A dimension that its axes do not divide stays whole inside the program.\n",
    .examples =
        "tessera partition step.mlir\n"
        "tessera partition step.bin --elide 16 | grep all_\n",
    .run = run_partition,
};
