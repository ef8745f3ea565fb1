// `tessera check`: every problem of a plan, or of the plan that options make for a model.
#include "base/text_internal.h"
#include "command/command.h"
#include "json/json.h"
#include "plan/plan_internal.h"
#include "rules/rules_internal.h"

static void write_finding(const tsr_finding *finding, const tsr_plan *plan, tsr_json_writer *w) {
  tsr_json_begin_object(w);
  tsr_json_add_string(w, "kind", tsr_finding_word(finding->kind));
  tsr_json_add_bool(w, "error", finding->error);
  tsr_json_add_string(
      w, "tensor", finding->row < 0 ? NULL : tsr_tree_at(tsr_plan_tree(plan), finding->row)->path);
  if (finding->dim < 0)
    tsr_json_add_null(w, "dim");
  else
    tsr_json_add_int(w, "dim", finding->dim);
  tsr_json_add_string(w, "axis", finding->axis);
  tsr_json_add_int(w, "found", finding->found);
  tsr_json_add_int(w, "wanted", finding->wanted);
  tsr_json_end_object(w);
}

static void write_findings(const tsr_findings *findings, const tsr_plan *plan, tsr_text *out) {
  tsr_json_writer w;
  tsr_json_begin_document(&w, out);
  tsr_json_add_int(&w, "errors", findings->errors);
  tsr_json_add_int(&w, "warnings", findings->warnings);
  tsr_json_add_array(&w, "findings");
  for (int64_t i = 0; i < findings->count; i++) write_finding(&findings->items[i], plan, &w);
  tsr_json_end_array(&w);
  tsr_json_end_document(&w);
}

// Every tensor of the model must be in the plan, with its shape. Others in the plan are a warning.
static tsr_status check_model(const char *model, const tsr_plan *plan) {
  tsr_tree *tree = NULL;
  tsr_plan *fitted = NULL;
  TSR_TRY(cli_open_tree(model, &tree));
  tsr_status status = tsr_plan_for_tree(plan, tree, &fitted);
  const int64_t more = tsr_plan_count(plan) - tsr_tree_count(tree);
  if (!status && more > 0)
    cli_say("warning: %lld tensors of the plan are not in %s\n", (long long)more, model);
  tsr_plan_release(fitted);
  tsr_tree_release(tree);
  return tsr_note(status, "%s", model);
}

static tsr_status find_all(const cli_args *args, const tsr_plan *plan, tsr_findings *out_findings) {
  tsr_check_options options = {.size = sizeof options};
  const char *model = cli_value(args, "model");
  tsr_facts facts = {0};
  if (cli_has(args, "memory")) TSR_TRY(cli_bytes(args, "memory", &options.memory_limit));
  if (model) TSR_TRY(check_model(model, plan));
  if (model) TSR_TRY(cli_read_config(model, &facts));
  options.facts = facts.items;
  options.fact_count = facts.count;
  tsr_status status = tsr_plan_check(plan, &options, out_findings);
  tsr_facts_deinit(&facts);
  return status;
}

static tsr_status run_check(cli_args *args) {
  tsr_plan *plan = NULL;
  tsr_findings findings = {0};
  TSR_TRY(cli_plan_of(args, args->positional[0], &plan));
  tsr_status status = find_all(args, plan, &findings);
  if (!status && cli_has(args, "json")) {
    write_findings(&findings, plan, &args->out);
  } else if (!status) {
    tsr_findings_print(&findings, plan, &args->out);
    tsr_text_addf(&args->out, "%lld errors, %lld warnings\n", (long long)findings.errors,
                  (long long)findings.warnings);
  }
  if (findings.errors || (findings.warnings && cli_has(args, "warn-as-error")))
    args->exit_code = EXIT_CHECK_FAILED;
  tsr_findings_deinit(&findings);
  tsr_plan_release(plan);
  return status;
}

// clang-format off
static const cli_option check_options[] = {
    {"memory", 0, "SIZE", NULL, "memory of a device, such as 16G (default: from the plan's topology)"},
    {"model", 0, "MODEL", NULL, "model that the plan must fit; its config.json has the sizes of heads"},
    {"warn-as-error", 'W', NULL, NULL, "exit with 1 also for warnings"},
    CLI_OPTION_JSON,
    CLI_OPTIONS_DECIDE,
    {0},
};
// clang-format on

const cli_command cli_cmd_check = {
    .name = "check",
    .summary = "find every problem of a plan in one pass",
    .usage = "PLAN|MODEL [--tp N|--mesh MESH ...] [options]",
    .options = check_options,
    .description =
        "Exit code 1 if the plan has errors: unknown or repeated axes, sizes that do not\n"
        "divide, specs longer than the rank, cuts that do not fit, more memory than a device\n"
        "has. Warnings: cuts through attention heads, blocks that are only partly cut over tp,\n"
        "tensors too small to cut, unevenly filled devices.\n\n"
        "PLAN is a plan file or a checkpoint that is cut. A MODEL is planned first, as by\n"
        "`tessera plan` with the same options.\n" CLI_TEXT_CHOICE,
    .examples =
        "tessera check plan.json --memory 16G\n"
        "tessera check Llama-3-8B --tp 8 --memory 80GB\n"
        "tessera check plan.json --model Llama-3-8B\n"
        "tessera plan model -m tp=8 -p llama:tp --json | tessera check - --warn-as-error\n",
    .run = run_check,
};
