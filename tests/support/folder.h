// Folders of a test's own, for files that it makes.
#ifndef TESSERA_TESTS_SUPPORT_FOLDER_H
#define TESSERA_TESTS_SUPPORT_FOLDER_H

#include "support/test.h"

typedef struct test_folder {
  char path[64];
} test_folder;
void test_folder_make(test_folder *folder);
// In memory where there is such a place: for tests that make thousands of files.
void test_folder_make_in_memory(test_folder *folder);
void test_folder_remove(const test_folder *folder);  // with all that is in it
// A path in it, in a buffer that is overwritten by the fourth call after this one.
const char *test_folder_path(const test_folder *folder, const char *name);

#endif
