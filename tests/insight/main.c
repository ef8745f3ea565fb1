int suite_argument_paths(void);
int suite_explanation(void);
int suite_propagation(void);

int main(void) {
  int failed = 0;
  failed += suite_argument_paths();
  failed += suite_explanation();
  failed += suite_propagation();
  return failed;
}
