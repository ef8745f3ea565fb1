#include "support/folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_folder_make(test_folder *folder) {
  strcpy(folder->path, "/tmp/tessera-test-XXXXXX");
  assert_non_null(mkdtemp(folder->path));
}

void test_folder_make_in_memory(test_folder *folder) {
  strcpy(folder->path, "/dev/shm/tessera-test-XXXXXX");
  if (!mkdtemp(folder->path)) test_folder_make(folder);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path);
}

void test_folder_remove(const test_folder *folder) {
  assert_int_equal(nftw(folder->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

const char *test_folder_path(const test_folder *folder, const char *name) {
  static _Thread_local char paths[4][256];
  static _Thread_local unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder->path, name);
  return path;
}
