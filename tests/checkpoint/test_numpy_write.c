// NumPy's archives and folders of arrays as results: of every source, resumed, under odd names.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash_internal.h"
#include "checkpoint/models.h"
#include "checkpoint/numpy_files.h"
#include "file/npy_internal.h"
#include "format/numpy_arrays.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"

static void assert_same(const char *left, const char *right, tsr_checkpoint_format format) {
  tsr_checkpoint *a = NULL, *b = NULL;
  assert_ok(tsr_checkpoint_open(left, NULL, &a));
  assert_ok(tsr_checkpoint_open(right, NULL, &b));
  assert_int_equal(tsr_checkpoint_format_of(b), format);
  const tsr_tree *tree = tsr_checkpoint_tree(a);
  assert_int_equal(tsr_tree_count(tree), tsr_tree_count(tsr_checkpoint_tree(b)));
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    tsr_hash128 one, other;
    const int64_t there = tsr_tree_find(tsr_checkpoint_tree(b), tsr_tree_at(tree, i)->path);
    assert_true(there >= 0);
    assert_ok(tsr_checkpoint_hash(a, i, NULL, &one));
    assert_ok(tsr_checkpoint_hash(b, there, NULL, &other));
    assert_true(tsr_hash128_equal(one, other));
  }
  assert_string_equal(tsr_checkpoint_warnings(b), "");
  tsr_checkpoint_release(a);
  tsr_checkpoint_release(b);
}

// Its checksums hold, and its elements lie where NumPy's do: aligned.
static void check_archive(const char *path) {
  tsr_npz *npz = NULL;
  assert_ok(tsr_npz_open(path, &npz));
  for (int64_t i = 0; i < tsr_npz_count(npz); i++) {
    assert_ok(tsr_npz_check(npz, i));
    assert_true(tsr_npz_is_stored(npz, i));
    assert_int_equal(tsr_npz_array(npz, i)->begin % 64, 0);
  }
  tsr_npz_destroy(npz);
}

static const test_array arrays[] = {
    TEST_ARRAY("a.w", ">f4", 4, 4, true, true, 2, 12, 8),
    TEST_ARRAY("half", "<V2", 2, 2, false, false, 2, 7, 4),
    TEST_ARRAY("none", "<i8", 8, 8, false, false, 2, 0, 4),
    TEST_ARRAY("scale/\xe6\x97\xa5 \"'%~:", "<f8", 8, 8, false, false, 1, 4),
    TEST_ARRAY("flags", "|b1", 1, 1, false, false, 1, 9),
    {"one", "<u2", 2, 2, false, false, {.rank = 0}},
    {"", "<u2", 2, 2, false, false, {.rank = 1, .dims = {3}}},
};

// ---- facts ----

static void models_go_through_numpys_formats_and_come_back(void **state) {
  (void)state;
  static const struct {
    const char *name;
    tsr_checkpoint_format format;
  } steps[] = {{"b.npz", TSR_FORMAT_NPZ}, {"c", TSR_FORMAT_NPY}, {"d.npz", TSR_FORMAT_NPZ},
               {"e", TSR_FORMAT_FOLDER},  {"f", TSR_FORMAT_NPY}, {"g.safetensors", TSR_FORMAT_FILE},
               {"h", TSR_FORMAT_NPZ}};
  test_folder folder;
  char first[96], from[96], to[96];
  test_folder_make(&folder);
  strcpy(first, test_folder_path(&folder, "a.npz"));
  test_write_npz(first, arrays, COUNT_OF(arrays), true);
  strcpy(from, first);
  for (size_t i = 0; i < COUNT_OF(steps); i++) {
    const tsr_transform_options options = {
        .size = sizeof options, .format = steps[i].format, .max_file_size = 50, .no_sync = i > 0};
    strcpy(to, test_folder_path(&folder, steps[i].name));
    assert_ok(test_transform(from, to, &options));
    assert_same(first, to, steps[i].format);
    if (steps[i].format == TSR_FORMAT_NPZ) check_archive(to);
    strcpy(from, to);
  }
  test_folder_remove(&folder);
}

static bool stop_soon(void *context, const tsr_progress_report *report) {
  (void)context;
  return report->finished || report->done < 8 << 20;
}

// Checksums of what was written before the job was stopped come from its journal.
static void resumed_archives_have_right_checksums(void **state) {
  (void)state;
  test_folder folder;
  char in[96], out[96], whole[96];
  test_folder_make(&folder);
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  strcpy(out, test_folder_path(&folder, "out.npz"));
  strcpy(whole, test_folder_path(&folder, "whole.npz"));
  test_tensor tensors[] = {test_tensor_whole("a", TSR_SHAPE(5000, 1001)),
                           test_tensor_whole("b", TSR_SHAPE(5)),
                           test_tensor_whole("none", TSR_SHAPE(0, 4))};
  test_write_safetensors(in, tensors, 3);
  tsr_transform_options options = {.size = sizeof options,
                                   .format = TSR_FORMAT_NPZ,
                                   .jobs = 1,
                                   .max_memory = 24 << 20,
                                   .progress = stop_soon,
                                   .progress_interval = 1e-9};
  assert_fails_with(test_transform(in, out, &options), CANCELLED, "cancelled");
  assert_int_not_equal(access(out, F_OK), 0);
  options.progress = NULL;
  options.existing = TSR_EXISTING_RESUME;
  assert_ok(test_transform(in, out, &options));
  assert_same(in, out, TSR_FORMAT_NPZ);
  check_archive(out);
  // One that was not stopped is the same, byte for byte.
  options.existing = TSR_EXISTING_REFUSE;
  options.max_memory = 0;
  options.jobs = 3;
  assert_ok(test_transform(in, whole, &options));
  char command[256];
  snprintf(command, sizeof command, "cmp %s %s", out, whole);
  assert_int_equal(system(command), 0);
  test_folder_remove(&folder);
}

static void names_become_names_of_files(void **state) {
  (void)state;
  static const struct {
    const char *tensor, *file;
  } cases[] = {
      {"model.layers.0.weight", "model.layers.0.weight.npy"},
      {"a/b", "a%2Fb.npy"},
      {"../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd.npy"},
      {"..", "%2E..npy"},
      {"", "%.npy"},
      {"-rf", "%2Drf.npy"},
      {"a-b.c", "a-b.c.npy"},
      {"100%~", "100%25%7E.npy"},
      {"tab\t\x7f\\", "tab%09%7F%5C.npy"},
      {"\xe6\x97\xa5", "\xe6\x97\xa5.npy"},
  };
  char name[TSR_NPY_FILE_NAME], other[TSR_NPY_FILE_NAME], tensor[600];
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_npy_file_name(cases[i].tensor, name);
    assert_string_equal(name, cases[i].file);
  }
  // As long as may be, and longer; a cut goes between characters.
  memset(tensor, 'x', sizeof tensor);
  tensor[251] = '\0';
  tsr_npy_file_name(tensor, name);
  assert_int_equal(strlen(name), 255);
  assert_null(strchr(name, '~'));
  tensor[251] = 'x';
  for (size_t length = 252; length < 600; length++) {
    tensor[length] = '\0';
    tsr_npy_file_name(tensor, name);
    assert_int_equal(strlen(name), 200 + 33 + 4);
    tensor[0] = 'y';
    tsr_npy_file_name(tensor, other);
    assert_string_not_equal(name, other);
    tensor[0] = tensor[length] = 'x';
  }
  for (int i = 0; i < 199; i++) memcpy(tensor + 3 * i, "\xe6\x97\xa5", 3);
  tensor[3 * 199] = '\0';
  tsr_npy_file_name(tensor, name);
  assert_int_equal(strcspn(name, "~"), 198);
  for (int i = 0; i < 251; i++) tensor[i] = '/';
  tensor[251] = '\0';
  tsr_npy_file_name(tensor, name);
  assert_true(strlen(name) < 256);
}

static void what_numpy_cannot_hold_is_refused(void **state) {
  (void)state;
  test_folder folder;
  char in[96];
  static const struct {
    const char *name, *dtype, *message;
    tsr_checkpoint_format format;
    tsr_cause cause;
  } cases[] = {
      {"w", "F4", "array \"w\": elements of f4e2m1fn share bytes", TSR_FORMAT_NPZ,
       TSR_CAUSE_UNSUPPORTED},
      {"w", "F4", "tensor \"w\": elements of f4e2m1fn share bytes", TSR_FORMAT_NPY,
       TSR_CAUSE_UNSUPPORTED},
      {"../w", "U8", "array \"../w\" would leave the folder", TSR_FORMAT_NPZ,
       TSR_CAUSE_BAD_ARGUMENT},
  };
  test_folder_make(&folder);
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[160];
    const int length = snprintf(text, sizeof text,
                                "{\"%s\":{\"dtype\":\"%s\",\"shape\":[%d],\"data_offsets\":[0,4]}}",
                                cases[i].name, cases[i].dtype, cases[i].dtype[0] == 'F' ? 8 : 4);
    FILE *file = fopen(in, "wb");
    assert_non_null(file);
    for (int b = 0; b < 8; b++) fputc(b ? 0 : length, file);
    fprintf(file, "%s1234", text);
    fclose(file);
    const tsr_transform_options options = {.size = sizeof options, .format = cases[i].format};
    test_assert_fails_with(test_transform(in, test_folder_path(&folder, "out"), &options),
                           cases[i].cause, cases[i].message, __FILE__, __LINE__);
  }
  test_folder_remove(&folder);
}

static void an_empty_model_is_one_too(void **state) {
  (void)state;
  test_folder folder;
  char in[96], npz[96], npy[96];
  test_folder_make(&folder);
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  strcpy(npz, test_folder_path(&folder, "out.npz"));
  strcpy(npy, test_folder_path(&folder, "out"));
  test_write_safetensors(in, NULL, 0);
  tsr_transform_options options = {.size = sizeof options, .format = TSR_FORMAT_NPZ};
  assert_ok(test_transform(in, npz, &options));
  assert_same(in, npz, TSR_FORMAT_NPZ);
  options.format = TSR_FORMAT_NPY;
  assert_ok(test_transform(npz, npy, &options));
  assert_same(npz, npy, TSR_FORMAT_NPY);
  test_folder_remove(&folder);
}

typedef struct sweep {
  char from[96], to[96];
  tsr_checkpoint_format format;
} sweep;

static tsr_status replace(void *context) {
  const sweep *s = context;
  const tsr_transform_options options = {.size = sizeof options,
                                         .format = s->format,
                                         .jobs = 1,
                                         .existing = TSR_EXISTING_REPLACE,
                                         .no_sync = true};
  return test_transform(s->from, s->to, &options);
}

static void memory_may_be_out(void **state) {
  (void)state;
  test_folder folder;
  sweep s;
  test_folder_make(&folder);
  strcpy(s.from, test_folder_path(&folder, "a.npz"));
  strcpy(s.to, test_folder_path(&folder, "out"));
  test_write_npz(s.from, arrays, 3, false);
  s.format = TSR_FORMAT_NPZ;
  test_allocation_sweep(replace, &s);
  check_archive(s.to);
  s.format = TSR_FORMAT_NPY;
  test_allocation_sweep(replace, &s);
  assert_same(s.from, s.to, TSR_FORMAT_NPY);
  test_folder_remove(&folder);
}

SUITE(numpy_write, TEST(models_go_through_numpys_formats_and_come_back),
      TEST(resumed_archives_have_right_checksums), TEST(names_become_names_of_files),
      TEST(what_numpy_cannot_hold_is_refused), TEST(an_empty_model_is_one_too),
      TEST(memory_may_be_out))
