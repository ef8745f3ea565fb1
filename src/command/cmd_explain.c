// `tessera explain`: why a tensor of a plan has its spec.
#include "command/command.h"
#include "plan/tree_internal.h"

static tsr_status run_explain(cli_args *args) {
  tsr_plan *plan = NULL;
  TSR_TRY(cli_plan_of(args, args->positional[0], &plan));
  const tsr_tree *tree = tsr_plan_tree(plan);
  const int64_t row = tsr_tree_find(tree, args->positional[1]);
  tsr_status status = NULL;
  if (row < 0) {
    const char *near = tsr_tree_nearest(tree, args->positional[1]);
    status = tsr_fail(NOT_FOUND, "tensor \"%s\" is not in the plan%s%s%s", args->positional[1],
                      near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
  }
  if (!status) status = tsr_plan_explain(plan, row, &args->out);
  tsr_plan_release(plan);
  return status;
}

static const cli_option explain_options[] = {CLI_OPTIONS_DECIDE, {0}};

const cli_command cli_cmd_explain = {
    .name = "explain",
    .summary = "explain why a tensor of a plan has its spec",
    .usage = "PLAN|MODEL TENSOR [--tp N|--mesh MESH ...] [options]",
    .options = explain_options,
    .description =
        "Shows the rules that were tried, the one that matched, and what was corrected. PLAN is\n"
        "a plan file or a checkpoint that is cut. A MODEL is planned first, as by `tessera\n"
        "plan` with the same options.\n" CLI_TEXT_CHOICE,
    .examples =
        "tessera explain plan.json model.layers.0.mlp.up_proj.weight\n"
        "tessera explain Llama-3-8B model.layers.0.self_attn.k_proj.weight --tp 16\n",
    .run = run_explain,
};
