// A C++ program can include the library's headers and link against it.
#include "tessera/tessera.h"

#include <cstring>

int main() {
  // The C++ side sees plain C symbols, of the version it was compiled for.
  tsr_status status = tsr_fail(BAD_ARGUMENT, "from C++");
  const bool same = std::strcmp(tsr_status_text(status), "from C++") == 0;
  tsr_status_free(status);
  return same && std::strcmp(tsr_version(), TSR_VERSION) == 0 ? 0 : 1;
}
