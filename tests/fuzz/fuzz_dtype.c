// A name that is known is a name of the type it was found to be; others get a message.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "element/dtype_internal.h"
#include "tessera/dtype.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *name = malloc(size + 1);
  if (!name) return 0;
  memcpy(name, data, size);
  name[size] = '\0';
  tsr_dtype dtype = TSR_DTYPE_NONE;
  tsr_status status = tsr_dtype_parse(name, &dtype);
  bool named = false;
  for (int e = 0; e < TSR_ECOSYSTEM_COUNT; e++) {
    const char *known = tsr_dtype_name(dtype, (tsr_ecosystem)e);
    named |= known && !strcmp(known, name);
    const tsr_dtype found = tsr_dtype_find_in((tsr_ecosystem)e, (const char *)data, size);
    assert(!found || found == dtype);
  }
  assert(named == !status);
  tsr_status_free(status);
  free(name);
  return 0;
}
