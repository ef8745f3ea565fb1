// A stranger's program: it fails unless the headers, the library and the package have one version.
#include <stdio.h>
#include <string.h>
#include <tessera/tessera.h>

int main(int argc, char **argv) {
  if (argc != 2 || strcmp(tsr_version(), argv[1]) || strcmp(TSR_VERSION, argv[1])) {
    fprintf(stderr, "library %s, headers %s, package %s\n", tsr_version(), TSR_VERSION, argv[1]);
    return 1;
  }
  // Something that reaches into the library's own dependencies.
  tsr_text digest = TSR_TEXT_EMPTY;
  tsr_status status = tsr_hash_decimal("tessera", strlen("tessera"), "sha256", &digest);
  const int failed = status || !digest.length;
  if (failed) fprintf(stderr, "no digest: %s\n", tsr_status_text(status));
  tsr_status_free(status);
  tsr_text_deinit(&digest);
  return failed;
}
