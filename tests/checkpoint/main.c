#include "support/suites.h"

// One line a suite, so that suites added side by side merge.
#define SUITES(X) \
  X(store)        \
  X(io)           \
  X(open)         \
  X(numpy)        \
  X(numpy_write)  \
  X(metadata)     \
  X(mapped)       \
  X(view)         \
  X(verify)       \
  X(fsck)         \
  X(inspect)      \
  X(transform)    \
  X(select)       \
  X(replace)      \
  X(casts)        \
  X(damage)       \
  X(stages)       \
  X(load)         \
  X(load_runs)    \
  X(load_ranks)   \
  X(save)

MAIN_OF(SUITES)
