int suite_tree(void);
int suite_tree_json(void);
int suite_tree_group(void);
int suite_plan(void);
int suite_plan_json(void);
int suite_match(void);
int suite_explain(void);
int suite_check(void);
int suite_diff(void);
int suite_lint(void);

// automatic plans
int suite_auto(void);
int suite_helper(void);
int suite_knapsack(void);
int suite_fit(void);
int suite_analyze(void);
int suite_convert(void);
int suite_companions(void);
int suite_quantised(void);
int suite_families(void);
int suite_together(void);
int suite_from_text(void);

int main(void) {
  int failed = suite_tree() + suite_tree_json() + suite_tree_group() + suite_plan() +
               suite_plan_json() + suite_match() + suite_explain() + suite_check() + suite_diff() +
               suite_lint();
  // and the automatic ones, on a line of their own
  failed += suite_auto() + suite_helper() + suite_knapsack() + suite_fit() + suite_analyze() +
            suite_convert() + suite_companions() + suite_quantised() + suite_families() +
            suite_together() + suite_from_text();
  return failed;
}
