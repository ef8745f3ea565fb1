// Files and folders on disk: what Hugging Face writes, and what goes wrong with it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/safetensors.h"
#include "support/test.h"

static char folder[] = "/tmp/tessera-folder-XXXXXX";

static const char *in_folder(const char *name) {
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static void write_file(const char *name, const char *bytes, size_t length) {
  FILE *file = fopen(in_folder(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void write_text(const char *name, const char *text) { write_file(name, text, strlen(text)); }

// A safetensors file with one U8 tensor of `size` elements.
static void write_tensor(const char *file, const char *tensor, int size) {
  char bytes[512] = {0};
  const int length = snprintf(bytes + 8, sizeof bytes - 8,
                              "{\"%s\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,%d]}}",
                              tensor, size, size);
  bytes[0] = (char)length;
  write_file(file, bytes, (size_t)(8 + length + size));
}

static int make_folder(void **state) {
  (void)state;
  strcpy(folder + sizeof folder - 7, "XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  static const char *const names[] = {"model.safetensors",
                                      "one.safetensors",
                                      "two.safetensors",
                                      "config.json",
                                      "model.safetensors.index.json",
                                      "short"};
  for (size_t i = 0; i < COUNT_OF(names); i++) unlink(in_folder(names[i]));
  return rmdir(folder);
}

static void a_folder_with_one_file_opens(void **state) {
  (void)state;
  write_tensor("model.safetensors", "w", 3);
  tsr_model *model = NULL;
  assert_ok(tsr_model_open(folder, &model));
  assert_int_equal(tsr_model_count(model), 1);
  tsr_model_destroy(model);
  assert_ok(tsr_model_open(in_folder("model.safetensors"), &model));
  tsr_model_destroy(model);
  assert_ok(tsr_safetensors_open(in_folder("model.safetensors"), &model));
  assert_string_equal(tsr_model_file(model, 0), in_folder("model.safetensors"));
  tsr_model_destroy(model);
}

static void write_index(const char *one, const char *two, int total) {
  char text[512];
  snprintf(text, sizeof text,
           "{\"metadata\":{\"total_size\":%d},\"weight_map\":{\"a\":\"%s\",\"b\":\"%s\"}}", total,
           one, two);
  write_text("model.safetensors.index.json", text);
}

static void an_index_joins_its_files(void **state) {
  (void)state;
  write_tensor("one.safetensors", "a", 3);
  write_tensor("two.safetensors", "b", 4);
  write_index("one.safetensors", "two.safetensors", 7);
  tsr_model *model = NULL;
  assert_ok(tsr_model_open(folder, &model));
  assert_int_equal(tsr_model_file_count(model), 2);
  assert_int_equal(tsr_model_tensor_at(model, 1)->file, 1);
  assert_int_equal(tsr_model_bytes(model), 7);
  assert_string_equal(tsr_model_warnings(model), "");
  tsr_model_destroy(model);
  assert_ok(tsr_model_open(in_folder("model.safetensors.index.json"), &model));
  tsr_model_destroy(model);
}

static void a_wrong_total_is_a_warning(void **state) {
  (void)state;
  write_tensor("one.safetensors", "a", 3);
  write_tensor("two.safetensors", "b", 4);
  write_index("one.safetensors", "two.safetensors", 8);
  tsr_model *model = NULL;
  assert_ok(tsr_model_open(folder, &model));
  assert_string_equal(tsr_model_warnings(model),
                      "index: total_size is 8, but the tensors take 7 bytes\n");
  tsr_model_destroy(model);
}

static void an_index_that_disagrees_is_refused(void **state) {
  (void)state;
  tsr_model *model = NULL;
  write_tensor("one.safetensors", "a", 3);
  write_tensor("two.safetensors", "b", 4);
  write_index("one.safetensors", "gone.safetensors", 7);
  assert_fails_with(tsr_model_open(folder, &model), IO, "gone.safetensors: No such file");
  write_index("one.safetensors", "one.safetensors", 7);
  assert_fails_with(tsr_model_open(folder, &model), BROKEN_FILE,
                    "one.safetensors holds tensor \"b\", but it does not");
  write_index("two.safetensors", "one.safetensors", 7);
  assert_fails_with(tsr_model_open(folder, &model), BROKEN_FILE,
                    "two.safetensors holds tensor \"a\", but one.safetensors does");
  write_text("model.safetensors.index.json", "{\"weight_map\":{\"a\":\"one.safetensors\"}}");
  write_tensor("one.safetensors", "x", 3);
  assert_fails_with(tsr_model_open(folder, &model), BROKEN_FILE,
                    "holds tensor \"a\", but it does not");
  write_index("../one.safetensors", "two.safetensors", 7);
  assert_fails_with(tsr_model_open(folder, &model), BROKEN_FILE, "which is not in its folder");
  write_text("model.safetensors.index.json", "{\"weight\":{}}");
  assert_fails_with(tsr_model_open(folder, &model), JSON_KIND, "weight_map: missing");
}

static void a_surplus_or_repeated_tensor_is_refused(void **state) {
  (void)state;
  tsr_model *model = NULL;
  write_tensor("one.safetensors", "a", 3);
  write_tensor("two.safetensors", "a", 3);
  write_index("one.safetensors", "two.safetensors", 7);
  assert_fails_with(tsr_model_open(folder, &model), JSON_DUPLICATE_KEY, "is in two files");
  write_tensor("two.safetensors", "c", 3);
  write_text("model.safetensors.index.json",
             "{\"weight_map\":{\"a\":\"one.safetensors\",\"c\":\"two.safetensors\"}}");
  assert_ok(tsr_model_open(folder, &model));
  tsr_model_destroy(model);
  char both[] =
      "        {\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
      "\"z\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}xx";
  memset(both, 0, 8);
  both[0] = (char)(sizeof both - 1 - 8 - 2);
  write_file("one.safetensors", both, sizeof both - 1);
  assert_fails_with(tsr_model_open(folder, &model), BROKEN_FILE,
                    "tensor \"z\" of one.safetensors is not in the index");
}

static void what_is_not_there_is_said(void **state) {
  (void)state;
  tsr_model *model = NULL;
  assert_fails_with(tsr_model_open(folder, &model), NOT_FOUND, "neither");
  assert_fails_with(tsr_model_open("/nonexistent/model", &model), IO, "No such file");
  assert_fails_with(tsr_safetensors_open(folder, &model), IO, "not a regular file");
  write_text("short", "abc");
  assert_fails_with(tsr_safetensors_open(in_folder("short"), &model), BROKEN_FILE, "too few");
}

#define FOLDER_TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

SUITE(folder, FOLDER_TEST(a_folder_with_one_file_opens), FOLDER_TEST(an_index_joins_its_files),
      FOLDER_TEST(a_wrong_total_is_a_warning), FOLDER_TEST(an_index_that_disagrees_is_refused),
      FOLDER_TEST(a_surplus_or_repeated_tensor_is_refused), FOLDER_TEST(what_is_not_there_is_said))
