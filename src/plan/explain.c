// Why a tensor has its spec: its facts, its notes, and the rules that were tried.
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "layout/layout_internal.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "rules/rules_internal.h"

// ---- rules ----

static void print_rule(const tsr_rules *rules, int64_t index, tsr_text *out) {
  tsr_text_add(out, "  ");
  tsr_rules_print_name(rules, index, out);
  tsr_text_add_char(out, '\n');
}

// False for scalars and for plans without rules.
static bool tried_rules(const tsr_plan_row *row) {
  bool tried = tsr_plan_row_rule(row) >= 0;
  for (int64_t i = 0; i < row->note_count; i++) tried |= row->notes[i].why == TSR_WHY_NO_RULE;
  return tried;
}

static tsr_status explain_rules(const tsr_rules *rules, const tsr_plan_row *row, tsr_text *out) {
  const int64_t matched = tsr_plan_row_rule(row), count = tsr_rules_count(rules);
  const int64_t tried = matched < 0 ? count : matched;
  if (tried) tsr_text_add(out, matched < 0 ? "tried, no match\n" : "tried first, no match\n");
  for (int i = 0; i < tried; i++) print_rule(rules, i, out);
  bool any = false;
  for (int64_t i = matched + 1; matched >= 0 && i < count; i++) {
    bool matches = false;
    TSR_TRY(tsr_rules_match_one(rules, i, row->tensor->path, &matches));
    if (!matches) continue;
    if (!any) tsr_text_add(out, "would have matched too, but came later\n");
    any = true;
    print_rule(rules, i, out);
  }
  return NULL;
}

// ---- facts ----

static void explain_facts(const tsr_plan *plan, const tsr_plan_row *row, tsr_text *out) {
  const tsr_shape shape = tsr_tensor_shape(row->tensor);
  tsr_text_addf(out, "%s\n  type    %s ", row->tensor->path,
                tsr_dtype_info_of(row->tensor->dtype)->name);
  tsr_shape_print(&shape, out);
  tsr_text_add(out, "\n  spec    ");
  tsr_spec_add(row->final, out);
  if (row->wanted != row->final) {
    tsr_text_add(out, "\n  wanted  ");
    tsr_spec_add(row->wanted, out);
  }
  if (row->policy != TSR_POLICY_ERROR)
    tsr_text_addf(out, "\n  policy  %s", tsr_policy_name(row->policy));
  if (plan->mesh) {
    tsr_text_add(out, "\n  mesh    ");
    tsr_mesh_print(plan->mesh, out);
  }
  tsr_text_addf(out, "\n  bytes   %lld per device, %lld in all\n", (long long)row->bytes_per_device,
                (long long)tsr_tensor_bytes(row->tensor));
}

tsr_status tsr_plan_explain(const tsr_plan *plan, int64_t index, tsr_text *out) {
  tsr_plan_row row;
  TSR_TRY(tsr_plan_need(plan, index, &row));
  explain_facts(plan, &row, out);
  tsr_text_add(out, "because\n");
  for (int64_t i = 0; i < row.note_count; i++) {
    tsr_text_add(out, "  ");
    tsr_plan_note_print(plan, index, &row.notes[i], out);
    tsr_text_add_char(out, '\n');
  }
  if (plan->rules && tried_rules(&row)) TSR_TRY(explain_rules(plan->rules, &row, out));
  return tsr_text_check(out);
}
