#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "element/shape_internal.h"
#include "plan/tree_internal.h"
#include "support/models.h"
#include "support/test.h"

static void tensors_are_found_by_path(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  assert_int_equal(tsr_tree_count(tree), 6);
  assert_int_equal(tsr_tree_find(tree, "layers.1.norm.weight"), 4);
  assert_int_equal(tsr_tree_find(tree, "layers.2.norm.weight"), -1);
  assert_string_equal(tsr_tree_nearest(tree, "layers.1.nrom.weight"), "layers.1.norm.weight");
  assert_string_equal(tsr_tree_nearest(tree, "layers.1.norm"), "layers.1.norm.weight");
  assert_null(tsr_tree_nearest(tree, "something else entirely"));
  assert_null(tsr_tree_nearest(tree, ""));
  const tsr_tensor *up = tsr_tree_at(tree, 1);
  assert_string_equal(up->path, "layers.0.mlp.up.weight");
  assert_int_equal(up->rank, 2);
  assert_int_equal(up->dims[0], 64);
  assert_int_equal(tsr_tensor_elements(up), 1024);
  assert_int_equal(tsr_tensor_bytes(up), 4096);
  const tsr_shape shape = tsr_tensor_shape(up);
  assert_true(tsr_shape_equal(&shape, TSR_SHAPE(64, 16)));
  assert_int_equal(tsr_tree_bytes(tree), 6400 + 2 * 4096 + 2 * 64 + 8);
  tsr_tree_release(tree);
}

static void everything_is_copied(void **state) {
  (void)state;
  char path[] = "w", name[] = "embed";
  int64_t dims[] = {3, 5};
  const char *logical[] = {name, ""};
  const tsr_tensor tensor = {path, TSR_BF16, 2, dims, logical};
  tsr_tree *tree = make_tree(&tensor, 1);
  path[0] = name[0] = 'x';
  dims[0] = 7;
  const tsr_tensor *copy = tsr_tree_at(tree, 0);
  assert_string_equal(copy->path, "w");
  assert_int_equal(copy->dims[0], 3);
  assert_string_equal(copy->logical[0], "embed");
  assert_null(copy->logical[1]);
  tsr_tree_release(tree);
}

static void equality_looks_at_everything(void **state) {
  (void)state;
  const char *const names[] = {"a", NULL}, *const others[] = {"b", NULL};
  const tsr_tensor base = {"w", TSR_F32, 2, (int64_t[]){2, 3}, names};
  tsr_tensor changed[6] = {base, base, base, base, base, base};
  changed[1].path = "v";
  changed[2].dtype = TSR_BF16;
  changed[3].dims = (int64_t[]){2, 4};
  changed[4].logical = NULL;
  changed[5].logical = others;
  tsr_tree *tree = make_tree(&base, 1);
  for (size_t i = 0; i < COUNT_OF(changed); i++) {
    tsr_tree *other = make_tree(&changed[i], 1);
    assert_int_equal(tsr_tree_equal(tree, other), i == 0);
    tsr_tree_release(other);
  }
  tsr_tree *empty = make_tree(NULL, 0);
  assert_false(tsr_tree_equal(tree, empty));
  tsr_tree_release(empty);
  tsr_tree_release(tree);
}

static void faults_are_named(void **state) {
  (void)state;
  tsr_tree *tree = NULL;
  const tsr_tensor twice[] = {TENSOR("a", 1), TENSOR("b", 1), TENSOR("a", 2)};
  assert_fails(tsr_tree_create(twice, 3, &tree), DUPLICATE_PATH,
               "path \"a\" is given twice, to tensors 0 and 2");
  const tsr_tensor nameless = {.dtype = TSR_F32};
  assert_fails(tsr_tree_create(&nameless, 1, &tree), BAD_ARGUMENT, "tensor 0 has no path");
  const tsr_tensor broken = {.path = "\xff", .dtype = TSR_F32};
  assert_fails(tsr_tree_create(&broken, 1, &tree), BAD_ARGUMENT,
               "the path of tensor 0 is not UTF-8");
  const tsr_tensor negative = TENSOR("a", 2, -1);
  assert_fails(tsr_tree_create(&negative, 1, &tree), BAD_ARGUMENT,
               "tensor \"a\": dimension 1 has size -1, wanted 0 or more");
  const tsr_tensor typeless = {.path = "a"};
  assert_fails(tsr_tree_create(&typeless, 1, &tree), UNKNOWN_DTYPE,
               "tensor \"a\": type 0 is not known");
  const char *const bad[] = {"\xff"};
  const tsr_tensor named = {"a", TSR_F32, 1, (int64_t[]){1}, bad};
  assert_fails(tsr_tree_create(&named, 1, &tree), BAD_ARGUMENT,
               "tensor \"a\": the logical name of dimension 0 is not UTF-8");
  const tsr_tensor huge[] = {TENSOR("a", INT64_C(1) << 60), TENSOR("b", INT64_C(1) << 60)};
  assert_fails(tsr_tree_create(huge, 2, &tree), OVERFLOW,
               "tensor \"b\": the tensors up to here take more than 2^63 bytes");
  assert_fails(tsr_tree_create(NULL, -1, &tree), TOO_LARGE,
               "a tree of -1 tensors, wanted 0 to 2147483647");
}

static void write_file(const char *path, const char *bytes, size_t length) {
  FILE *out = fopen(path, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(bytes, 1, length, out), length);
  fclose(out);
}

// One tensor of 12 bytes in safetensors' form.
static void write_safetensors(const char *path) {
  static const char header[] =
      "{\"w\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]}}";
  char bytes[8 + sizeof header - 1 + 12] = {sizeof header - 1};
  memcpy(bytes + 8, header, sizeof header - 1);
  write_file(path, bytes, sizeof bytes);
}

// A folder of the form models are published in, and its tensors as a list.
static void models_are_opened_where_they_lie(void **state) {
  (void)state;
  char folder[] = "/tmp/tessera_tree_XXXXXX", file[64];
  static const char list[] = "{\"w\": {\"dtype\": \"bf16\", \"shape\": [2, 3]}}";
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/model.safetensors", folder);
  write_safetensors(file);
  tsr_tree *tree = NULL;
  assert_ok(tsr_tree_open(folder, &tree));
  assert_int_equal(tsr_tree_count(tree), 1);
  assert_int_equal(tsr_tree_at(tree, 0)->dtype, TSR_BF16);
  assert_int_equal(tsr_tree_bytes(tree), 12);
  assert_string_equal(tsr_tree_warnings(tree), "");
  tsr_tree_release(tree);
  unlink(file);
  snprintf(file, sizeof file, "%s/model.json", folder);
  write_file(file, list, sizeof list - 1);
  assert_ok(tsr_tree_open(file, &tree));
  assert_int_equal(tsr_tree_bytes(tree), 12);
  tsr_tree_release(tree);
  assert_fails_with(tsr_tree_open("/tmp/tessera_no_such.json", &tree), IO, "tessera_no_such.json");
  unlink(file);
  rmdir(folder);
}

static tsr_status open_and_release(void *context) {
  tsr_tree *tree = NULL;
  TSR_TRY(tsr_tree_open(context, &tree));
  tsr_tree_release(tree);
  return NULL;
}

static void what_is_odd_about_a_model_is_kept(void **state) {
  (void)state;
  char folder[] = "/tmp/tessera_tree_XXXXXX", file[64], index[64];
  static const char odd[] =
      "{\"metadata\": {\"total_size\": 8}, \"weight_map\": {\"w\": \"one.safetensors\"}}";
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/one.safetensors", folder);
  snprintf(index, sizeof index, "%s/model.safetensors.index.json", folder);
  write_safetensors(file);
  write_file(index, odd, sizeof odd - 1);
  tsr_tree *tree = NULL;
  assert_ok(tsr_tree_open(folder, &tree));
  assert_string_equal(tsr_tree_warnings(tree),
                      "index: total_size is 8, but the tensors take 12 bytes\n");
  tsr_tree_release(tree);
  test_allocation_sweep(open_and_release, folder);
  unlink(file);
  unlink(index);
  rmdir(folder);
}

static tsr_status create_and_release(void *context) {
  tsr_tree *tree = NULL;
  TSR_TRY(tsr_tree_create(context, 3, &tree));
  tsr_tree_release(tree);
  return NULL;
}

static void memory_may_run_out(void **state) {
  (void)state;
  tsr_tensor tensors[] = {TENSOR("a", 1), TENSOR("b", 2, 3), TENSOR("c", 4)};
  test_allocation_sweep(create_and_release, tensors);
}

SUITE(tree, TEST(tensors_are_found_by_path), TEST(everything_is_copied),
      TEST(equality_looks_at_everything), TEST(faults_are_named),
      TEST(models_are_opened_where_they_lie), TEST(what_is_odd_about_a_model_is_kept),
      TEST(memory_may_run_out))
