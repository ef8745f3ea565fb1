// A format that a test adds (format_raw.c) is detected, opened, read, written, verified and checked
// like those of the library, which knows nothing of it.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/format.h"
#include "format/fsck_report.h"
#include "store/checkpoint_internal.h"
#include "support/folder.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"

enum { RAW = TSR_FORMAT_COUNT };

static const char index_text[] =
    "{\"schema\": \"raw/1\", \"tensors\": {"
    "\"a\": {\"file\": \"tensors-0.bin\", \"offset\": 0, \"dtype\": \"u8\", \"shape\": [2, 3]}, "
    "\"b\": {\"file\": \"tensors-0.bin\", \"offset\": 6, \"dtype\": \"u8\", \"shape\": [4]}, "
    "\"c\": {\"file\": \"tensors-1.bin\", \"offset\": 0, \"dtype\": \"u16\", \"shape\": []}}}";

static void write_bytes(const char *path, const char *bytes, size_t length) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void write_model(const test_folder *folder) {
  write_bytes(test_folder_path(folder, "tensors-0.bin"), "abcdefwxyz", 10);
  write_bytes(test_folder_path(folder, "tensors-1.bin"), "\1\2", 2);
  write_bytes(test_folder_path(folder, "tensors.json"), index_text, strlen(index_text));
}

// Opens `path`, whose format must be found, and writes it as `format` to `to`.
static void transform(const char *path, tsr_checkpoint_format expected, const char *to,
                      const tsr_transform_options *options) {
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  assert_ok(tsr_checkpoint_open(path, NULL, &source));
  assert_int_equal(tsr_checkpoint_format_of(source), expected);
  assert_ok(tsr_transform_create(source, to, options, &job));
  assert_ok(tsr_transform_run(job));
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
}

static void assert_equal_models(const char *first, const char *second) {
  tsr_checkpoint *a = NULL, *b = NULL;
  tsr_verification *found = NULL;
  assert_ok(tsr_checkpoint_open(first, NULL, &a));
  assert_ok(tsr_checkpoint_open(second, NULL, &b));
  assert_ok(tsr_checkpoint_verify(a, b, NULL, &found));
  assert_true(tsr_verification_equal(found));
  assert_int_equal(tsr_verification_count(found), 3);
  tsr_verification_destroy(found);
  tsr_checkpoint_release(b);
  tsr_checkpoint_release(a);
}

static void assert_fault(const char *path, tsr_fault_kind kind, const char *message) {
  const tsr_fsck_options options = {.size = sizeof options, .deep = true};
  tsr_fsck *fsck = NULL;
  assert_ok(tsr_fsck_run(path, &options, &fsck));
  assert_int_equal(tsr_fsck_count(fsck), 1);
  assert_int_equal(tsr_fsck_at(fsck, 0)->kind, kind);
  assert_non_null(strstr(tsr_fsck_at(fsck, 0)->message, message));
  tsr_fsck_destroy(fsck);
}

static void its_name_and_number_follow_those_of_the_library(void **state) {
  (void)state;
  tsr_checkpoint_format format = TSR_FORMAT_ANY;
  assert_string_equal(tsr_checkpoint_format_name((tsr_checkpoint_format)RAW), "raw");
  assert_ok(tsr_checkpoint_format_parse("raw", &format));
  assert_int_equal(format, RAW);
  assert_null(tsr_checkpoint_format_name((tsr_checkpoint_format)(RAW + 1)));
  assert_fails_with(tsr_checkpoint_format_parse("rare", &format), BAD_ARGUMENT, "stages, raw");
  assert_true(tsr_formats_own("tensors-7.bin"));
  assert_false(tsr_formats_own("weights.bin"));
}

static void it_is_detected_and_read(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  char bytes[4] = "";
  test_folder_make(&folder);
  write_model(&folder);
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  assert_int_equal(tsr_checkpoint_format_of(model), RAW);
  assert_int_equal(tsr_tree_count(tsr_checkpoint_tree(model)), 3);
  assert_int_equal(tsr_checkpoint_file_count(model), 2);
  assert_ok(tsr_checkpoint_read(model, 0, (tsr_range[]){{0, 2}, {1, 3}}, bytes, sizeof bytes));
  assert_memory_equal(bytes, "bcef", 4);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void it_is_written_and_verified(void **state) {
  (void)state;
  static const tsr_checkpoint_format formats[] = {TSR_FORMAT_FOLDER, TSR_FORMAT_NPY,
                                                  (tsr_checkpoint_format)RAW};
  test_folder folder, results;
  test_folder_make(&folder);
  test_folder_make(&results);
  write_model(&folder);
  const char *raw = test_folder_path(&results, "raw"), *other = test_folder_path(&results, "other");
  tsr_transform_options options = {.size = sizeof options,
                                   .max_file_size = 5,
                                   .existing = TSR_EXISTING_REPLACE,
                                   .no_sync = true};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    options.format = formats[i];
    transform(folder.path, (tsr_checkpoint_format)RAW, other, &options);
    options.format = (tsr_checkpoint_format)RAW;
    transform(other, formats[i], raw, &options);
    assert_equal_models(folder.path, other);
    assert_equal_models(folder.path, raw);
  }
  assert_int_equal(access(test_folder_path(&results, "raw/tensors-2.bin"), F_OK), 0);
  test_folder_remove(&results);
  test_folder_remove(&folder);
}

static void its_faults_are_reported(void **state) {
  (void)state;
  test_folder folder;
  tsr_fsck *fsck = NULL;
  test_folder_make(&folder);
  write_model(&folder);
  assert_ok(tsr_fsck_run(test_folder_path(&folder, "tensors.json"), NULL, &fsck));
  assert_int_equal(tsr_fsck_count(fsck), 0);
  assert_int_equal(tsr_fsck_tensors(fsck), 3);
  assert_int_equal(tsr_fsck_files(fsck), 2);
  tsr_fsck_destroy(fsck);
  write_bytes(test_folder_path(&folder, "tensors-2.bin"), "", 0);
  assert_fault(folder.path, TSR_FAULT_FILE_SURPLUS, "tensors-2.bin");
  unlink(test_folder_path(&folder, "tensors-2.bin"));
  assert_int_equal(truncate(test_folder_path(&folder, "tensors-0.bin"), 9), 0);
  assert_fault(folder.path, TSR_FAULT_TRUNCATED, "bytes 6 to 10");
  unlink(test_folder_path(&folder, "tensors-1.bin"));
  write_bytes(test_folder_path(&folder, "tensors.json"), "{\"schema\": \"raw/2\"}", 19);
  assert_fault(folder.path, TSR_FAULT_BAD_INDEX, "raw/2");
  test_folder_remove(&folder);
}

static tsr_status open_and_check(void *context) {
  tsr_checkpoint *model = NULL;
  tsr_fsck *fsck = NULL;
  TSR_TRY(tsr_checkpoint_open(context, NULL, &model));
  tsr_checkpoint_release(model);
  TSR_TRY(tsr_fsck_run(context, NULL, &fsck));
  tsr_fsck_destroy(fsck);
  return NULL;
}

static void its_reader_survives_failing_allocations(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  write_model(&folder);
  test_allocation_sweep(open_and_check, folder.path);
  test_folder_remove(&folder);
}

SUITE(added_format, TEST(its_name_and_number_follow_those_of_the_library),
      TEST(it_is_detected_and_read), TEST(it_is_written_and_verified),
      TEST(its_faults_are_reported), TEST(its_reader_survives_failing_allocations))
