int suite_logical_map(void);
int suite_logical_names(void);
int suite_logical_rules(void);
int suite_logical_spmd(void);

int main(void) {
  int failed = 0;
  failed += suite_logical_map();
  failed += suite_logical_names();
  failed += suite_logical_rules();
  failed += suite_logical_spmd();
  return failed;
}
