// `tessera plan`: a spec for every tensor of a model, each with its reason.
#include "command/command.h"

static tsr_status show_plan(const cli_args *args, const tsr_plan *plan) {
  const char *html = cli_value(args, "html");
  tsr_text page = TSR_TEXT_EMPTY;
  if (html) TSR_TRY(cli_finish(tsr_plan_report(plan, args->positional[0], &page), &page, html));
  if (html && !cli_has(args, "json") && !cli_has(args, "output")) return NULL;
  return cli_plan_output(args, plan);
}

static tsr_status run_plan(cli_args *args) {
  tsr_plan *plan = NULL;
  tsr_status status = cli_plan_model(args, args->positional[0], &plan);
  if (!status) status = show_plan(args, plan);
  tsr_plan_release(plan);
  return status;
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTIONS_DECIDE,
    CLI_OPTION_JSON,
    {"html", 0, "FILE", NULL, "write a report as one HTML page"},
    CLI_OPTION_OUTPUT,
    {0},
};
// clang-format on

const cli_command cli_cmd_plan = {
    .name = "plan",
    .summary = "decide how each tensor of a model is cut, and say why",
    .usage = "MODEL --tp N|--mesh MESH ... [--preset|--rules|--logical|--auto|--fit ...] [options]",
    .options = options,
    .description =
        "MODEL is a checkpoint of any format, as for `tessera inspect` (only headers are read),\n"
        "or a JSON list of tensors. The table groups similar tensors:\n"
        "layers.*.mlp.up_proj.weight  x32.\n" CLI_TEXT_CHOICE,
    .examples =
        "tessera plan Llama-3-8B --tp 8\n"
        "tessera plan Llama-3-8B --mesh fsdp=8,tp=4 --preset llama:fsdp+tp\n"
        "tessera plan model.safetensors -m data=2,model=4 --rules my.rules --json -o plan.json\n"
        "tessera plan Llama-3-70B -m fsdp=16,tp=8 --fit 16G --copies 3 --html report.html\n",
    .run = run_plan,
};
