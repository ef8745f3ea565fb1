// `tessera plan`: a spec for every tensor of a model, each with its reason.

#include "cli/cli.h"
#include "cli/plan_report.h"
#include "cli/plan_source.h"
#include "cli/plan_table.h"

// ---- showing ----

static tsr_status write_report(const cli_args *args, const tsr_plan *plan) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = cli_plan_report(plan, args->positional[0], &text);
  if (!status) status = cli_output(&text, cli_value(args, "html"));
  tsr_text_deinit(&text);
  return status;
}

static tsr_status show_plan(const cli_args *args, const tsr_plan *plan) {
  const bool report = cli_has(args, "html");
  if (report) TSR_TRY(write_report(args, plan));
  return report && !cli_has(args, "json") && !cli_has(args, "output") ? NULL
                                                                      : cli_plan_output(args, plan);
}

static tsr_status run_plan(const cli_args *args, int *out_exit) {
  (void)out_exit;
  tsr_tree *tree = NULL;
  tsr_mesh *mesh = NULL;
  tsr_plan *plan = NULL;
  tsr_status status = cli_open_mesh(args, &mesh);
  if (!status) status = cli_open_tree(args->positional[0], &tree);
  if (!status) status = cli_make_plan(args, args->positional[0], tree, mesh, &plan);
  if (!status) status = show_plan(args, plan);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
  return status;
}

// clang-format off
static const cli_option options[] = {
    {"mesh", 'm', "MESH", NULL, "the mesh, as fsdp=8,tp=4"},
    {"topology", 't', "TOPOLOGY", NULL, "the machine the devices belong to"},
    {"preset", 'p', "FAMILY:AXES", NULL, "rules that ship with tessera, as llama:fsdp+tp"},
    {"rules", 'r', "FILE", NULL, "rules of your own: a regex, ->, a spec on each line"},
    {"logical", 'l', "FILE", NULL, "rules for logical axes: a name, ->, mesh axes on each line"},
    {"auto", 0, NULL, NULL, "largest dimensions over largest axes"},
    {"fit", 0, "SIZE", NULL, "cut until a device holds at most this much, as 16G"},
    {"copies", 0, "N", NULL, "--fit: gradient and optimiser copies of each tensor"},
    {"axes", 0, "OLD=NEW,...", NULL, "new names for the axes of rules, as tp=model"},
    {"fact", 0, "NAME=N,...", NULL, "numbers that rules ask for, where config.json lacks them"},
    {"min-size", 0, "N", NULL, "do not cut tensors with fewer elements"},
    {"policy", 0, "POLICY", "error|trim|pad|uneven", "for sizes that do not divide (default: they are not cut)"},
    {"allow-unmatched", 0, NULL, NULL, "replicate tensors without a rule instead of refusing"},
    {"no-companions", 0, NULL, NULL, "let rules decide on optimiser states and scales too"},
    {"json", 'j', NULL, NULL, "print the plan as data, for check, explain, diff"},
    {"html", 0, "FILE", NULL, "write a report as one page"},
    {"output", 'o', "FILE", NULL, "write to a file instead of standard output"},
    {0},
};
// clang-format on

const cli_command cli_cmd_plan = {
    .name = "plan",
    .summary = "decide how each tensor of a model is cut, and say why",
    .usage = "MODEL --mesh MESH --preset|--rules|--logical|--auto|--fit ... [options]",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .description =
        "MODEL is a checkpoint of any format, as `tessera inspect` takes it (only headers are "
        "read), or a JSON\nlist of tensors. The table shows like tensors together: "
        "layers.*.mlp.up_proj.weight  x32.\n",
    .examples =
        "tessera plan Llama-3-8B --mesh fsdp=8,tp=4 --preset llama:fsdp+tp\n"
        "tessera plan model.safetensors -m data=2,model=4 --rules my.rules --json -o plan.json\n"
        "tessera plan Llama-3-70B -m fsdp=16,tp=8 --fit 16G --copies 3 --html report.html\n",
    .run = run_plan,
};
