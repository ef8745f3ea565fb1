int suite_axes(void);
int suite_axes_manager(void);
int suite_axes_resolve(void);
int suite_decide(void);
int suite_facts(void);
int suite_logical_map(void);
int suite_logical_names(void);
int suite_logical_rules(void);
int suite_logical_spmd(void);
int suite_preset_choice(void);
int suite_presets(void);
int suite_regex(void);
int suite_rules(void);
int suite_rules_json(void);
int suite_rules_pattern(void);
int suite_rules_text(void);

int main(void) {
  int failed = 0;
  failed += suite_axes();
  failed += suite_axes_manager();
  failed += suite_axes_resolve();
  failed += suite_decide();
  failed += suite_facts();
  failed += suite_logical_map();
  failed += suite_logical_names();
  failed += suite_logical_rules();
  failed += suite_logical_spmd();
  failed += suite_preset_choice();
  failed += suite_presets();
  failed += suite_regex();
  failed += suite_rules();
  failed += suite_rules_json();
  failed += suite_rules_pattern();
  failed += suite_rules_text();
  return failed;
}
