// Every recorded program: read from text and from bytecode, printed to a fixed point, written as an
// artifact and read back, simplified and still right.
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "tessera/own.h"
#include "tessera/program.h"

enum { MOST_FILES = 600 };

typedef struct corpus_files {
  char paths[MOST_FILES][600];
  int count;
} corpus_files;

static bool is_program(const char *name) {
  static const char *const ends[] = {".mlir", ".mlirbc", "exported.bin"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    const size_t length = strlen(name), end = strlen(ends[i]);
    if (length >= end && !strcmp(name + length - end, ends[i])) return true;
  }
  return false;
}

static void list_folder(const char *folder, corpus_files *files) {
  DIR *listing = opendir(folder);
  assert_non_null(listing);
  for (const struct dirent *entry; (entry = readdir(listing));) {
    if (!is_program(entry->d_name)) continue;
    assert_true(files->count < MOST_FILES);
    snprintf(files->paths[files->count++], sizeof *files->paths, "%s/%s", folder, entry->d_name);
  }
  closedir(listing);
}

static corpus_files *list_corpus(void) {
  corpus_files *files = test_calloc(1, sizeof *files);
  DIR *listing = opendir("tests/programs");
  assert_non_null(listing);
  for (const struct dirent *entry; (entry = readdir(listing));) {
    char folder[300];
    if (entry->d_name[0] == '.') continue;
    snprintf(folder, sizeof folder, "tests/programs/%s", entry->d_name);
    list_folder(folder, files);
  }
  closedir(listing);
  assert_true(files->count > 230);
  return files;
}

static void check_printing(const char *path, const tsr_program *program) {
  TSR_OWN(program, again);
  TSR_OWN(text, first);
  TSR_OWN(text, second);
  assert_ok(tsr_program_print(program, NULL, &first));
  assert_ok(tsr_program_read(path, first.data, first.length, NULL, &again));
  assert_true(tsr_program_equal(program, again));
  assert_ok(tsr_program_print(again, NULL, &second));
  assert_string_equal(tsr_text_string(&first), tsr_text_string(&second));
}

static void check_artifact(const char *path, const tsr_program *program) {
  TSR_OWN(program, again);
  TSR_OWN(program, twice);
  TSR_OWN(text, bytes);
  TSR_OWN(text, more);
  assert_ok(tsr_program_serialize(program, NULL, &bytes));
  assert_ok(tsr_program_read(path, bytes.data, bytes.length, NULL, &again));
  assert_ok(tsr_program_serialize(again, NULL, &more));
  assert_ok(tsr_program_read(path, more.data, more.length, NULL, &twice));
  assert_true(tsr_program_equal(again, twice));
}

static void check_simplified(const tsr_program *program) {
  TSR_OWN(program, changed);
  tsr_program_info before = TSR_PROGRAM_INFO, after = TSR_PROGRAM_INFO;
  assert_ok(tsr_program_transform(program, "simplify", &changed));
  assert_ok(tsr_program_check(changed));
  assert_ok(tsr_program_describe(program, &before));
  assert_ok(tsr_program_describe(changed, &after));
  assert_int_equal(before.device_count, after.device_count);
}

static void every_program_goes_through_everything(void **state) {
  (void)state;
  corpus_files *files = list_corpus();
  for (int i = 0; i < files->count; i++) {
    TSR_OWN(program, program);
    assert_ok(tsr_program_open(files->paths[i], NULL, &program));
    check_printing(files->paths[i], program);
    check_artifact(files->paths[i], program);
    check_simplified(program);
  }
  test_free(files);
}

// The module of a jax.export file is the artifact beside it, and the text that JAX prints of it.
static void export_files_hold_their_module(void **state) {
  (void)state;
  static const char *const names[] = {"captured_constants", "multi_platform", "prng_keys",
                                      "sharded_2x4_donated", "unsharded_named_donated"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    TSR_OWN(program, whole);
    TSR_OWN(program, module);
    char path[128];
    snprintf(path, sizeof path, "tests/programs/exported_%s/exported.bin", names[i]);
    assert_ok(tsr_program_open(path, NULL, &whole));
    snprintf(path, sizeof path, "tests/programs/exported_%s/module.mlirbc", names[i]);
    assert_ok(tsr_program_open(path, NULL, &module));
    assert_true(tsr_program_equal(whole, module));
    TSR_OWN(program, text);
    snprintf(path, sizeof path, "tests/programs/exported_%s/module.mlir", names[i]);
    assert_ok(tsr_program_open(path, NULL, &text));
    assert_true(tsr_program_equal(whole, text));
  }
}

// ---- the peers' own tests, which are not part of this tree ----

static const char suites[] = "../shared/suites";
static int suite_files;

static int check_suite_file(const char *path, const struct stat *about, int kind) {
  (void)about;
  if (kind != FTW_F || !is_program(path)) return 0;
  TSR_OWN(program, program);
  assert_ok(tsr_program_open(path, NULL, &program));
  check_printing(path, program);
  suite_files++;
  return 0;
}

static void suites_of_the_peers_are_read_checked_and_printed(void **state) {
  (void)state;
  DIR *there = opendir(suites);
  if (!there) {
    print_message("%s is not there: the peers' own tests are not read\n", suites);
    skip();
  }
  closedir(there);
  suite_files = 0;
  assert_int_equal(ftw(suites, check_suite_file, 16), 0);
  assert_true(suite_files > 400);
}

SUITE(program_corpus, TEST(every_program_goes_through_everything),
      TEST(export_files_hold_their_module), TEST(suites_of_the_peers_are_read_checked_and_printed))
