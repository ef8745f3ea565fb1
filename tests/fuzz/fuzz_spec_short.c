#include "fuzz_spec.h"
#include "tessera/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_spec(data, size, TSR_FORM_SHORT);
}
