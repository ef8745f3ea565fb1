// `tessera convert`: the specs of a plan for another mesh.
#include "cli/cli.h"
#include "cli/plan_source.h"
#include "cli/plan_table.h"

static tsr_status run_convert(const cli_args *args, int *out_exit) {
  (void)out_exit;
  const char *strategy =
      cli_has(args, "strategy") ? cli_value(args, "strategy") : "preserve_balance";
  tsr_mesh *mesh = NULL;
  tsr_plan *plan = NULL, *converted = NULL;
  tsr_status status = cli_open_mesh(args, &mesh);
  if (!status) status = cli_open_plan(args->positional[0], &plan);
  if (!status) status = tsr_plan_convert(plan, mesh, strategy, &converted);
  if (!status) status = cli_plan_output(args, converted);
  tsr_plan_release(converted);
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);
  return status;
}

// clang-format off
static const cli_option options[] = {
    {"mesh", 'm', "MESH", NULL, "the new mesh"},
    CLI_OPTIONS_AXES,
    {"topology", 't', "TOPOLOGY", NULL, "the machine the devices belong to"},
    {"strategy", 0, "NAME", NULL, "how to choose (default: preserve_balance)"},
    {"json", 'j', NULL, NULL, "print the plan as data"},
    {"output", 'o', "FILE", NULL, "write to a file instead of standard output"},
    {0},
};
// clang-format on

const cli_command cli_cmd_convert = {
    .name = "convert",
    .summary = "carry a plan over to another mesh",
    .usage = "PLAN --mesh MESH [options]",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .description =
        "Axes keep their roles by name; split factors and replication stay as close as the "
        "new mesh\nand the sizes allow. Every choice is noted in the new plan.\n",
    .examples =
        "tessera convert plan.json --mesh fsdp=16,tp=4\n"
        "tessera convert plan.json -m fsdp=16,tp=4 --json -o new.json; tessera diff plan.json "
        "new.json\n",
    .run = run_convert,
};
