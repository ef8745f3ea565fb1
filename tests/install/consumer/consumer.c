// A stranger's program: it fails unless the headers, the library and the package have one version.
#include <stdio.h>
#include <string.h>
#include <tessera/tessera.h>

int main(int argc, char **argv) {
  if (argc != 2 || strcmp(tsr_version(), argv[1]) || strcmp(TSR_VERSION, argv[1])) {
    fprintf(stderr, "library %s, headers %s, package %s\n", tsr_version(), TSR_VERSION, argv[1]);
    return 1;
  }
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "tessera %s", tsr_version());
  const int failed = strcmp(tsr_text_string(&text) + strlen("tessera "), argv[1]) != 0;
  tsr_text_deinit(&text);
  return failed;
}
