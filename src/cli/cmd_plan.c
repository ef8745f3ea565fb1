// `tessera plan`: a spec for every tensor of a model, each with its reason.
#include <string.h>

#include "cli/cli.h"
#include "cli/plan_report.h"
#include "cli/plan_source.h"
#include "cli/plan_table.h"

// ---- ways to decide ----

static tsr_status plan_by_rules(const cli_args *args, const tsr_tree *tree, const tsr_mesh *mesh,
                                tsr_plan **out_plan) {
  tsr_match_options options = {.size = sizeof options,
                               .allow_unmatched = cli_has(args, "allow-unmatched")};
  TSR_TRY(cli_int(args, "min-size", 0, &options.min_size));
  if (cli_has(args, "policy"))
    TSR_TRY(tsr_policy_parse(cli_value(args, "policy"), &options.policy));
  tsr_rules *rules = NULL;
  TSR_TRY(cli_open_rules(args, args->positional[0], mesh, &rules));
  tsr_status status = tsr_plan_match(tree, mesh, rules, &options, out_plan);
  tsr_rules_release(rules);
  return status;
}

static tsr_status plan_by_logical(const cli_args *args, const tsr_tree *tree, const tsr_mesh *mesh,
                                  tsr_plan **out_plan) {
  tsr_logical_rules *rules = NULL;
  TSR_TRY(tsr_logical_rules_read(cli_value(args, "logical"), &rules));
  tsr_status status = tsr_plan_logical(tree, mesh, rules, out_plan);
  tsr_logical_rules_release(rules);
  return status;
}

static tsr_status plan_auto(const cli_args *args, const tsr_tree *tree, const tsr_mesh *mesh,
                            tsr_plan **out_plan) {
  tsr_auto_options options = {.size = sizeof options};
  TSR_TRY(cli_int(args, "min-size", 0, &options.min_size));
  return tsr_plan_auto(tree, mesh, &options, out_plan);
}

static tsr_status plan_fit(const cli_args *args, const tsr_tree *tree, const tsr_mesh *mesh,
                           tsr_plan **out_plan) {
  tsr_fit_options options = {.size = sizeof options};
  int64_t copies = 0;
  TSR_TRY(cli_bytes(args, "fit", &options.limit));
  TSR_TRY(cli_int(args, "copies", 0, &copies));
  options.optimiser_copies = (double)copies;
  tsr_fit_report report;
  TSR_TRY(tsr_plan_fit(tree, mesh, &options, out_plan, &report));
  char used[32], smallest[32];
  cli_format_bytes(report.bytes_per_device, used, sizeof used);
  cli_format_bytes(report.smallest, smallest, sizeof smallest);
  fprintf(stderr, "%s on a device with all copies, %s would be the least possible; %s\n", used,
          smallest, report.optimal ? "no plan that fits costs less" : "a cheaper plan may exist");
  return NULL;
}

static tsr_status make_plan(const cli_args *args, const tsr_tree *tree, const tsr_mesh *mesh,
                            tsr_plan **out_plan) {
  static const struct {
    const char *option;
    tsr_status (*run)(const cli_args *, const tsr_tree *, const tsr_mesh *, tsr_plan **);
  } ways[] = {{"rules", plan_by_rules},
              {"preset", plan_by_rules},
              {"logical", plan_by_logical},
              {"auto", plan_auto},
              {"fit", plan_fit}};
  const size_t count = sizeof ways / sizeof *ways;
  size_t chosen = count;
  for (size_t i = 0; i < count; i++) {
    if (!cli_has(args, ways[i].option)) continue;
    if (chosen < count)
      return tsr_fail(BAD_ARGUMENT, "--%s and --%s exclude each other", ways[chosen].option,
                      ways[i].option);
    chosen = i;
  }
  if (chosen == count)
    return tsr_fail(BAD_ARGUMENT,
                    "how shall the tensors be cut? give --preset, --rules, --logical, "
                    "--auto or --fit");
  return ways[chosen].run(args, tree, mesh, out_plan);
}

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
  if (!status) status = make_plan(args, tree, mesh, &plan);
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
        "MODEL is a safetensors file, a Hugging Face folder or index (only headers are "
        "read), or a JSON\nlist of tensors. The table shows like tensors together: "
        "layers.*.mlp.up_proj.weight  x32.\n",
    .examples =
        "tessera plan Llama-3-8B --mesh fsdp=8,tp=4 --preset llama:fsdp+tp\n"
        "tessera plan model.safetensors -m data=2,model=4 --rules my.rules --json -o plan.json\n"
        "tessera plan Llama-3-70B -m fsdp=16,tp=8 --fit 16G --copies 3 --html report.html\n",
    .run = run_plan,
};
