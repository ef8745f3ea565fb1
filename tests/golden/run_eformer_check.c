// eformer's validators: validate_sharding_config and ShardingAnalyzer.validate_partition_specs.
//
// They know two of our findings, sizes that do not divide by their one axis and small tensors; what
// else we find, they fail on.
#include "golden/golden.h"
#include "json/json.h"

static tsr_status check(const golden_case *c, golden_plan *of, tsr_findings *out) {
  // As eformer has it, P(None) counts as cut.
  const tsr_check_options options = {.size = sizeof options, .empty_entries_cut = true};
  TSR_TRY(golden_read_plan(c, of));
  return tsr_plan_check(of->plan, &options, out);
}

static void write_finding(const tsr_finding *finding, const tsr_plan *plan, tsr_json_writer *out) {
  const bool small = finding->kind == TSR_FINDING_SMALL;
  tsr_json_begin_inline_object(out);
  tsr_json_write_key(out, "kind");
  tsr_json_write_string(out, small ? "small" : "not_divisible");
  tsr_json_write_key(out, "path");
  tsr_json_write_string(out, tsr_tree_at(tsr_plan_tree(plan), finding->row)->path);
  if (!small) {
    tsr_json_write_key(out, "axis");
    tsr_json_write_string(out, finding->axis);
    tsr_json_write_key(out, "axis_size");
    tsr_json_write_int(out, finding->wanted);
  }
  tsr_json_end_object(out);
}

static bool is_eformers(const tsr_finding *finding) {
  return finding->kind == TSR_FINDING_INDIVISIBLE || finding->kind == TSR_FINDING_SMALL;
}

tsr_status golden_validate_sharding_config(const golden_case *c, const golden_answer *answer) {
  golden_plan of = {0};
  tsr_findings findings = {0};
  tsr_status status = check(c, &of, &findings);
  if (!status) {
    tsr_json_begin_array(answer->out);
    for (int64_t i = 0; i < findings.count; i++)
      if (is_eformers(&findings.items[i])) write_finding(&findings.items[i], of.plan, answer->out);
    tsr_json_end_array(answer->out);
  }
  tsr_findings_deinit(&findings);
  golden_release_plan(&of);
  return status;
}

tsr_status golden_validate_partition_specs(const golden_case *c, const golden_answer *answer) {
  golden_plan of = {0};
  tsr_findings findings = {0};
  int64_t issues = 0;
  tsr_status status = check(c, &of, &findings);
  for (int64_t i = 0; i < findings.count; i++) issues += is_eformers(&findings.items[i]);
  if (!status) tsr_json_write_int(answer->out, issues);
  tsr_findings_deinit(&findings);
  golden_release_plan(&of);
  return status;
}
