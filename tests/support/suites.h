// The main function of a room's tests: the suites of a list, X(name) for each, one after the other.
#ifndef TESSERA_TESTS_SUPPORT_SUITES_H
#define TESSERA_TESTS_SUPPORT_SUITES_H

#define SUITE_DECLARED(name) int suite_##name(void);
#define SUITE_RUN(name) failed += suite_##name();
#define MAIN_OF(SUITES)  \
  SUITES(SUITE_DECLARED) \
  int main(void) {       \
    int failed = 0;      \
    SUITES(SUITE_RUN)    \
    return failed;       \
  }

#endif
