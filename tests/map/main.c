// One line a suite, so that suites added side by side merge.
#define SUITES(X) \
  X(text)         \
  X(either)       \
  X(apply)

#define X(name) int suite_##name(void);
SUITES(X)
#undef X

int main(void) {
  int failed = 0;
#define X(name) failed += suite_##name();
  SUITES(X)
#undef X
  return failed;
}
