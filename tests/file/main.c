#include "support/suites.h"

// One line a suite, so that suites added side by side merge.
#define SUITES(X)      \
  X(safetensors)       \
  X(safetensors_write) \
  X(folder)            \
  X(npy)               \
  X(npz)               \
  X(unpack)

MAIN_OF(SUITES)
