#include "support/suites.h"

// One line a suite, so that suites added side by side merge.
#define SUITES(X) \
  X(chunks)       \
  X(array)        \
  X(array_text)   \
  X(array_write)  \
  X(host)         \
  X(reshard)      \
  X(reshard_into) \
  X(ranks)        \
  X(dlpack)       \
  X(npy)          \
  X(memory)

MAIN_OF(SUITES)
