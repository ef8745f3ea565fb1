// usage: test_corpus [--update]
//
// With --update, what is said now is written into the .cases: read the difference.
#include <string.h>

#include "corpus/corpus.h"

// One line a suite, so that suites added side by side merge.
#define SUITES(X) \
  X(cases)        \
  X(sweeps)       \
  X(journal)

#define X(name) int suite_##name(void);
SUITES(X)
#undef X

int main(int argc, char **argv) {
  int failed = 0;
  if (argc == 2 && !strcmp(argv[1], "--update")) {
    corpus_update();
    return 0;
  }
#define X(name) failed += suite_##name();
  SUITES(X)
#undef X
  return failed;
}
