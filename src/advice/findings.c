// Findings in words. Layers with the same problem share a line.
#include "base/text_internal.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"

static const struct {
  const char *word, *text;
} kinds[TSR_FINDING_COUNT] = {
#define X(id, error, kind_word, kind_text) [TSR_FINDING_##id] = {kind_word, kind_text},
    TSR_FINDINGS(X)
#undef X
};

const char *tsr_finding_word(tsr_finding_kind kind) {
  return (unsigned)kind < TSR_FINDING_COUNT ? kinds[kind].word : NULL;
}
const char *tsr_finding_text(tsr_finding_kind kind) {
  return (unsigned)kind < TSR_FINDING_COUNT ? kinds[kind].text : NULL;
}

static void print_reason(const tsr_finding *finding, const tsr_plan *plan, tsr_text *out) {
  const long long found = (long long)finding->found, wanted = (long long)finding->wanted;
  const char *const axis = finding->axis ? finding->axis : "";
  if (finding->dim >= 0) tsr_text_addf(out, "dimension %d: ", finding->dim);
  switch (finding->kind) {
    case TSR_FINDING_UNKNOWN_AXIS:
      tsr_text_addf(out, "axis \"%s\" is not in the mesh", axis);
      return;
    case TSR_FINDING_DUPLICATE_AXIS:
      tsr_text_addf(out, "axis \"%s\" is used before", axis);
      return;
    case TSR_FINDING_INDIVISIBLE:
      tsr_text_addf(out, "size %lld is not divisible by %s%s%lld", found, axis, *axis ? "=" : "",
                    wanted);
      return;
    case TSR_FINDING_TOO_LONG:
      tsr_text_addf(out, "the spec has %lld entries, the tensor %lld dimensions", found, wanted);
      return;
    case TSR_FINDING_BAD_CUT:
      if (*axis)
        tsr_text_addf(out, "a sub-axis of \"%s\" does not divide its size %lld", axis, found);
      else if (!wanted)
        tsr_text_addf(out, "its blocks or parts come out uneven on size %lld", found);
      else
        tsr_text_addf(out, "its sizes or parts do not fit size %lld in %lld shards", found, wanted);
      return;
    case TSR_FINDING_SPLIT_HEADS:
      tsr_text_addf(out, "cut in pieces of %lld, through heads of %lld", found, wanted);
      return;
    case TSR_FINDING_APART:
      tsr_text_addf(out, "not cut over \"%s\", but %s beside it is", axis,
                    tsr_tree_at(tsr_plan_tree(plan), finding->found)->path);
      return;
    case TSR_FINDING_SMALL:
      tsr_text_addf(out, "%lld elements are too few to be worth cutting; %lld would be", found,
                    wanted);
      return;
    case TSR_FINDING_IMBALANCE:
      tsr_text_addf(out, "the fullest device holds %lld bytes, the mean one %lld", found, wanted);
      return;
    case TSR_FINDING_OVER_LIMIT:
      tsr_text_addf(out, "the fullest device holds %lld bytes, the limit is %lld", found, wanted);
      return;
    case TSR_FINDING_COUNT:
      return;
  }
}

// Finds groups by their first member, in ascending order of rows.
typedef struct group_cursor {
  tsr_tree_groups groups;
  int64_t next;  // the first group whose first member has not been passed
} group_cursor;

// The group whose first member is `row`, or NULL. Rows and first members both ascend.
static const tsr_tree_group *group_at(group_cursor *at, int64_t row) {
  while (at->next < at->groups.count && at->groups.items[at->next].members[0] < row) at->next++;
  if (at->next == at->groups.count || at->groups.items[at->next].members[0] != row) return NULL;
  return &at->groups.items[at->next];
}

static void print_finding(const tsr_finding *finding, const tsr_plan *plan,
                          const tsr_tree_group *group, tsr_text *out) {
  tsr_text_add(out, finding->error ? "error: " : "warning: ");
  if (group)
    tsr_tree_group_print(group, tsr_plan_tree(plan), out);
  else
    tsr_text_add(out, "the plan");
  tsr_text_add(out, ": ");
  print_reason(finding, plan, out);
  tsr_text_add_char(out, '\n');
}

void tsr_findings_print(const tsr_findings *findings, const tsr_plan *plan, tsr_text *out) {
  group_cursor at = {.next = 0};
  const tsr_status status = tsr_plan_group(plan, &at.groups);
  if (status) out->failed = true;
  for (int64_t i = 0; i < findings->count && !status; i++) {
    const tsr_finding *finding = &findings->items[i];
    const tsr_tree_group *group = finding->row < 0 ? NULL : group_at(&at, finding->row);
    if (group || finding->row < 0) print_finding(finding, plan, group, out);
  }
  tsr_status_free(status);
  tsr_tree_groups_deinit(&at.groups);
}
