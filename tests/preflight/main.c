int suite_preflight(void);
int suite_preflight_corpus(void);

int main(void) {
  int failed = 0;
  failed += suite_preflight();
  failed += suite_preflight_corpus();
  return failed;
}
