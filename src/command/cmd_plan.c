// `tessera plan`: a spec for every tensor of a model, each with its reason.
#include "command/command.h"

static tsr_status show_plan(const cli_args *args, const tsr_plan *plan) {
  const char *html = cli_value(args, "html");
  tsr_text page = TSR_TEXT_EMPTY;
  if (html) TSR_TRY(cli_finish(tsr_plan_report(plan, args->positional[0], &page), &page, html));
  if (html && !cli_has(args, "json") && !cli_has(args, "output")) return NULL;
  return cli_plan_output(args, plan);
}

// Whether an option says how to cut.
static bool decides(const cli_args *args) {
  static const cli_option deciding[] = {CLI_OPTIONS_DECIDE, {0}};
  for (const cli_option *at = deciding; at->name; at++)
    if (cli_has(args, at->name)) return true;
  return false;
}

static tsr_status plan_of_program(const char *path, tsr_plan **out_plan) {
  tsr_program *program = NULL;
  TSR_TRY(cli_open_program(path, false, &program));
  tsr_status status = tsr_program_plan(program, out_plan);
  tsr_program_release(program);
  return tsr_note(status, "%s", path);
}

static tsr_status run_plan(cli_args *args) {
  tsr_plan *plan = NULL;
  const char *path = args->positional[0];
  const bool own = !decides(args) && cli_is_program(path);
  tsr_status status = own ? plan_of_program(path, &plan) : cli_plan_model(args, path, &plan);
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
        "layers.*.mlp.up_proj.weight  x32.\n"
        "\nMODEL may be a program, whose arguments are the tensors: params['layers'][0]['w'] has\n"
        "the path params/layers/0/w. Without options that say how to cut, the plan is made of the\n"
        "shardings that the program gives its arguments.\n" CLI_TEXT_CHOICE,
    .examples =
        "tessera plan Llama-3-8B --tp 8\n"
        "tessera plan Llama-3-8B --mesh fsdp=8,tp=4 --preset llama:fsdp+tp\n"
        "tessera plan model.safetensors -m data=2,model=4 --rules my.rules --json -o plan.json\n"
        "tessera plan Llama-3-70B -m fsdp=16,tp=8 --fit 16G --copies 3 --html report.html\n",
    .run = run_plan,
};
