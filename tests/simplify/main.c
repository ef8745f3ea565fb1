int suite_evaluate(void);
int suite_evaluate_regions(void);
int suite_evaluate_shapes(void);
int suite_passes(void);
int suite_passes_calls(void);
int suite_passes_list(void);
int suite_passes_programs(void);

int main(void) {
  int failed = 0;
  failed += suite_evaluate();
  failed += suite_evaluate_regions();
  failed += suite_evaluate_shapes();
  failed += suite_passes();
  failed += suite_passes_calls();
  failed += suite_passes_list();
  failed += suite_passes_programs();
  return failed;
}
