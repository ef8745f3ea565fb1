// Runs a fuzz target once over every file of the folders given, without libFuzzer: so that each
// build, with any compiler and sanitizer, tries again what fuzzing has found worth keeping.
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *path) {
  fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
  exit(2);
}

static void replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  struct stat info;
  if (!file || fstat(fileno(file), &info)) die(path);
  // Exactly as many bytes as the input has, so that a read past its end is seen by the sanitizer.
  const size_t size = (size_t)info.st_size;
  uint8_t *bytes = malloc(size ? size : 1);
  if (!bytes || fread(bytes, 1, size, file) != size) die(path);
  fclose(file);
  LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
}

static int replay_folder(const char *folder) {
  struct dirent **entries = NULL;
  const int entry_count = scandir(folder, &entries, NULL, alphasort);
  if (entry_count < 0) die(folder);
  int replayed = 0;
  for (int i = 0; i < entry_count; i++) {
    if (entries[i]->d_name[0] != '.') {
      char *path = NULL;
      if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0) die(folder);
      replay_file(path);
      free(path);
      replayed++;
    }
    free(entries[i]);
  }
  free(entries);
  return replayed;
}

int main(int argc, char **argv) {
  int replayed = 0;
  for (int i = 1; i < argc; i++) replayed += replay_folder(argv[i]);
  printf("%d inputs replayed\n", replayed);
  return replayed ? 0 : 1;  // a target without seeds tests nothing
}
