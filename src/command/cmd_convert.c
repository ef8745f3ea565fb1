// `tessera convert`: the specs of a plan for another mesh.
#include <string.h>

#include "base/text_internal.h"
#include "command/command.h"
#include "plan/plan_internal.h"
#include "rules/rules_internal.h"
#include "tessera/compat/eformer_plan.h"

// ---- heads ----

static bool has_attention(const tsr_plan *plan) {
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    const char *path = tsr_tree_at(tsr_plan_tree(plan), i)->path;
    if (strstr(path, "attn") || strstr(path, "ttention")) return true;
  }
  return false;
}

static bool knows_heads(const tsr_plan *plan, const tsr_facts *facts) {
  const tsr_rules *rules = tsr_plan_rules(plan);
  int64_t count = 0;
  if (rules) tsr_rules_facts(rules, &count);
  return count || facts->count;
}

// Reports only faults of attention; `tessera check` finds the others.
static tsr_status report_heads(const char *path, const tsr_plan *plan, const tsr_facts *facts) {
  const tsr_check_options options = {
      .size = sizeof options, .facts = facts->items, .fact_count = facts->count};
  tsr_findings findings = {0};
  tsr_text text = TSR_TEXT_EMPTY;
  int64_t kept = 0;
  TSR_TRY(tsr_plan_check(plan, &options, &findings));
  for (int64_t i = 0; i < findings.count; i++) {
    const tsr_finding_kind kind = findings.items[i].kind;
    if (kind == TSR_FINDING_SPLIT_HEADS || kind == TSR_FINDING_APART)
      findings.items[kept++] = findings.items[i];
  }
  findings.count = kept;
  tsr_findings_print(&findings, plan, &text);
  tsr_status status = tsr_text_check(&text);
  if (!status && text.length) cli_say("%s: as converted:\n%s", path, tsr_text_string(&text));
  tsr_text_deinit(&text);
  tsr_findings_deinit(&findings);
  return status;
}

// Attention cannot use a cut through heads, so such a cut is always reported.
static tsr_status warn_of_heads(const cli_args *args, const tsr_plan *before,
                                const tsr_plan *after) {
  const char *path = args->positional[0], *model = cli_value(args, "model");
  const tsr_rules *rules = tsr_plan_rules(after);
  tsr_facts facts = {0};
  tsr_status status = model ? cli_read_config(model, &facts) : NULL;
  if (rules) cli_warn(path, tsr_rules_warnings(rules));
  if (!status && knows_heads(before, &facts))
    status = report_heads(path, after, &facts);
  else if (!status && has_attention(after))
    cli_say(
        "warning: %s does not record the sizes of heads, so cuts may go through them; plan by a "
        "preset, or give --model\n",
        path);
  tsr_facts_deinit(&facts);
  return status;
}

static tsr_status run_convert(cli_args *args) {
  const char *strategy =
      cli_has(args, "strategy") ? cli_value(args, "strategy") : "preserve_balance";
  tsr_mesh *mesh = NULL;
  tsr_plan *plan = NULL, *converted = NULL;
  tsr_status status = cli_open_mesh(args, &mesh);
  if (!status) status = cli_open_plan(args->positional[0], &plan);
  if (!status) status = tsr_plan_convert(plan, mesh, strategy, &converted);
  if (!status) status = warn_of_heads(args, plan, converted);
  if (!status) status = cli_plan_output(args, converted);
  tsr_plan_release(converted);
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);
  return status;
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTIONS_MESH,
    {"model", 0, "MODEL", NULL, "model whose config.json has the sizes of heads, if the plan lacks them"},
    {"strategy", 0, "NAME", NULL, "how to choose specs (default: preserve_balance)"},
    CLI_OPTION_JSON,
    CLI_OPTION_OUTPUT,
    {0},
};
// clang-format on

const cli_command cli_cmd_convert = {
    .name = "convert",
    .summary = "convert a plan to another mesh",
    .usage = "PLAN --tp N|--mesh MESH ... [options]",
    .options = options,
    .description =
        "Axes keep their roles by name. Split factors and replication stay as close as the new\n"
        "mesh and the sizes allow. Rules that compute a cut from the model's facts compute it\n"
        "for the new mesh, so attention stays cut between heads. Every choice is noted in the\n"
        "new plan.\n",
    .examples =
        "tessera convert plan.json --mesh fsdp=16,tp=4\n"
        "tessera convert plan.json -m fsdp=16,tp=4 --json -o new.json; tessera diff plan.json "
        "new.json\n",
    .run = run_convert,
};
