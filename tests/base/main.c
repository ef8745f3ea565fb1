#include "support/suites.h"

// One line a suite, so that suites added side by side merge.
#define SUITES(X) \
  X(status)       \
  X(text)         \
  X(arena)        \
  X(buffer)       \
  X(suggest)      \
  X(dtype)        \
  X(shape)        \
  X(slice)        \
  X(copy)         \
  X(convert)      \
  X(scope)        \
  X(hash)         \
  X(log)          \
  X(cursor)       \
  X(json)         \
  X(json_writer)  \
  X(pool)         \
  X(own)          \
  X(progress)     \
  X(sized)

MAIN_OF(SUITES)
