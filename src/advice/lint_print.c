// Lints in words. Each line starts with the rule's file and line, as in a compiler.
#include "base/text_internal.h"
#include "plan/plan.h"
#include "advice/advice_internal.h"

static const struct {
  const char *word, *text;
} kinds[TSR_LINT_COUNT] = {
#define X(id, kind_word, kind_text) [TSR_LINT_##id] = {kind_word, kind_text},
    TSR_LINTS(X)
#undef X
};

const char *tsr_lint_word(tsr_lint_kind kind) {
  return (unsigned)kind < TSR_LINT_COUNT ? kinds[kind].word : NULL;
}
const char *tsr_lint_text(tsr_lint_kind kind) {
  return (unsigned)kind < TSR_LINT_COUNT ? kinds[kind].text : NULL;
}

static void print_place(const tsr_rules *rules, int64_t index, tsr_text *out) {
  const tsr_rule *rule = tsr_rules_at(rules, index);
  if (rule->line)
    tsr_text_addf(out, "%s:%lld", rule->file, (long long)rule->line);
  else
    tsr_text_addf(out, "rule %lld", (long long)index);
}

// `layers.0.w and 31 more like it (4096 bytes)`
static void print_tensors(const tsr_lint *lint, const tsr_tree *tree, const char *alike,
                          tsr_text *out) {
  tsr_text_add(out, tsr_tree_at(tree, lint->row)->path);
  if (lint->tensors > 1)
    tsr_text_addf(out, " and %lld more%s", (long long)lint->tensors - 1, alike);
  tsr_text_addf(out, " (%lld bytes)", (long long)lint->bytes);
}

static void print_dropped(const tsr_lint *lint, const tsr_tree *tree, tsr_text *out) {
  tsr_text_add(out, "cannot cut ");
  print_tensors(lint, tree, "", out);
  tsr_text_addf(out, ": dimension %d has size %lld", lint->dim,
                (long long)tsr_tree_at(tree, lint->row)->dims[lint->dim]);
}

static void print_rule_lint(const tsr_lint *lint, const tsr_rules *rules, const tsr_tree *tree,
                            tsr_text *out) {
  const tsr_rule *rule = tsr_rules_at(rules, lint->rule);
  print_place(rules, lint->rule, out);
  tsr_text_addf(out, ": \"%s\" ", rule->pattern);
  switch (lint->kind) {
    case TSR_LINT_NEAR_MISS:
      tsr_text_add(out, "matches no tensor, but nearly ");
      print_tensors(lint, tree, " like it", out);
      return;
    case TSR_LINT_AXIS_UNKNOWN:
      tsr_text_addf(out, "names axis \"%s\", which is not in the mesh", lint->axis);
      return;
    case TSR_LINT_AXIS_TWICE:
      tsr_text_addf(out, "uses axis \"%s\" twice", lint->axis);
      return;
    case TSR_LINT_AXIS_DROPPED:
      print_dropped(lint, tree, out);
      return;
    case TSR_LINT_TOO_LONG:
      tsr_text_addf(out, "has %d entries, more than there are dimensions in ",
                    tsr_spec_desc_of(rule->spec)->dim_count);
      print_tensors(lint, tree, "", out);
      return;
    case TSR_LINT_SHADOWED:
      tsr_text_add(out, "comes too late for ");
      print_tensors(lint, tree, "", out);
      tsr_text_add(out, ": see ");
      print_place(rules, lint->other_rule, out);
      tsr_text_addf(out, " \"%s\"", tsr_rules_at(rules, lint->other_rule)->pattern);
      return;
    case TSR_LINT_DUPLICATE:
      tsr_text_add(out, "repeats ");
      print_place(rules, lint->other_rule, out);
      return;
    default:
      tsr_text_add(out, tsr_lint_text(lint->kind));
  }
}

void tsr_lints_print(const tsr_lints *lints, const tsr_rules *rules, const tsr_tree *tree,
                     tsr_text *out) {
  for (int64_t i = 0; i < lints->count; i++) {
    const tsr_lint *lint = &lints->items[i];
    if (lint->kind == TSR_LINT_UNMATCHED) {
      tsr_text_add(out, "no rule for ");
      print_tensors(lint, tree, " like it", out);
    } else {
      print_rule_lint(lint, rules, tree, out);
    }
    tsr_text_add_char(out, '\n');
  }
}
