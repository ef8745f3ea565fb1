#include <stdio.h>
#include <stdlib.h>

int suite_memory(void);

// usage: test_memory FOLDER   the one that the command lies in
int main(int argc, char **argv) {
  char path[4096];
  snprintf(path, sizeof path, "%s:%s", argc > 1 ? argv[1] : "build", getenv("PATH"));
  if (setenv("PATH", path, 1)) return 1;
  return suite_memory();
}
