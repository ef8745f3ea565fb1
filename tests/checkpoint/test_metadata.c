// Metadata goes wherever the tensors go, and comes back as it was.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text_internal.h"
#include "checkpoint/models.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"

// A file of one tensor of two words, or of none, with metadata given as JSON.
static void write_model(const char *path, const char *tensor, const char *metadata) {
  static const char words[8];
  tsr_text header = TSR_TEXT_EMPTY;
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  tsr_text_addf(&header, "{\"__metadata__\":%s", metadata);
  if (tensor)
    tsr_text_addf(&header, ",\"%s\":{\"dtype\":\"U32\",\"shape\":[2],\"data_offsets\":[0,8]}",
                  tensor);
  tsr_text_add(&header, "}");
  while (header.length % 8) tsr_text_add_char(&header, ' ');
  const uint64_t length = header.length;
  assert_int_equal(fwrite(&length, sizeof length, 1, file), 1);
  assert_int_equal(fwrite(tsr_text_string(&header), 1, length, file), length);
  if (tensor) assert_int_equal(fwrite(words, 1, sizeof words, file), sizeof words);
  assert_int_equal(fclose(file), 0);
  tsr_text_deinit(&header);
}

static void assert_same_bytes(const char *left, const char *right) {
  char *a = NULL, *b = NULL;
  size_t one = 0, other = 0;
  assert_ok(tsr_file_read(left, &a, &one));
  assert_ok(tsr_file_read(right, &b, &other));
  assert_int_equal(one, other);
  assert_memory_equal(a, b, one);
  free(a);
  free(b);
}

// From one format to the next, and back into a file.
static void check_way_back(const char *tensor, const char *metadata) {
  static const tsr_checkpoint_format formats[] = {
      TSR_FORMAT_NPY,     TSR_FORMAT_FOLDER, TSR_FORMAT_NPZ,   TSR_FORMAT_NPY,
      TSR_FORMAT_TESSERA, TSR_FORMAT_NPZ,    TSR_FORMAT_RANKS, TSR_FORMAT_FILE};
  char in[96], from[96], to[96], name[16];
  test_folder folder;
  test_folder_make(&folder);
  tsr_plan *plan = test_plan("{\"w\": {\"dtype\": \"u32\", \"shape\": [2]}}", "x=2", "w -> x\n");
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  write_model(in, tensor, metadata);
  strcpy(from, in);
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    const bool cut = formats[i] == TSR_FORMAT_TESSERA || formats[i] == TSR_FORMAT_RANKS;
    const tsr_transform_options options = {
        .size = sizeof options, .format = formats[i], .plan = cut ? plan : NULL, .no_sync = true};
    snprintf(name, sizeof name, "%zu%s", i, formats[i] == TSR_FORMAT_NPZ ? ".npz" : "");
    strcpy(to, test_folder_path(&folder, name));
    assert_ok(test_transform(from, to, &options));
    strcpy(from, to);
  }
  assert_same_bytes(in, from);
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

// ---- facts ----

static void metadata_goes_through_every_format_and_comes_back(void **state) {
  (void)state;
  check_way_back("w", "{\"format\":\"pt\"}");
  check_way_back("w",
                 "{\"\":\"\",\"PK\\u0005\\u0006\":\"\\\"\\\\\\n\\u0001\xc3\xa9\",\"schema\":"
                 "\"tessera-npz/9\"}");
  // Longer than a comment of an archive can be.
  tsr_text large = TSR_TEXT_EMPTY;
  tsr_text_add(&large, "{\"a\":\"");
  for (int i = 0; i < 100000; i++) tsr_text_add_char(&large, 'x');
  tsr_text_add(&large, "\",\"b\":\"2\"}");
  check_way_back("w", tsr_text_string(&large));
  tsr_text_deinit(&large);
}

// An archive of nothing must begin as NumPy wants it: there is no place for metadata.
static void an_archive_without_arrays_has_no_metadata(void **state) {
  (void)state;
  static const tsr_transform_options archive = {.size = sizeof archive, .format = TSR_FORMAT_NPZ};
  static const tsr_transform_options arrays = {.size = sizeof arrays, .format = TSR_FORMAT_NPY};
  static const tsr_transform_options whole = {.size = sizeof whole, .format = TSR_FORMAT_FILE};
  char in[96], npz[96], npy[96], back[96], *bytes = NULL;
  size_t length = 0;
  test_folder folder;
  test_folder_make(&folder);
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  strcpy(npz, test_folder_path(&folder, "out.npz"));
  strcpy(npy, test_folder_path(&folder, "out"));
  strcpy(back, test_folder_path(&folder, "back.safetensors"));
  write_model(in, NULL, "{\"format\":\"pt\"}");
  assert_ok(test_transform(in, npz, &archive));
  assert_ok(tsr_file_read(npz, &bytes, &length));
  assert_int_equal(length, 22);
  assert_memory_equal(bytes, "PK\5\6", 4);
  free(bytes);
  assert_ok(test_transform(in, npy, &arrays));
  assert_ok(test_transform(npy, back, &whole));
  assert_same_bytes(in, back);
  test_folder_remove(&folder);
}

static const char *value_of(const tsr_checkpoint *model, const char *key) {
  const tsr_metadata *items = NULL;
  const int64_t count = tsr_checkpoint_metadata(model, &items);
  for (int i = 0; i < count; i++)
    if (!strcmp(items[i].key, key)) return items[i].value;
  return NULL;
}

static void what_stages_say_is_joined(void **state) {
  (void)state;
  static const char *const metadata[] = {"{\"format\":\"pt\",\"stage\":\"0\"}",
                                         "{\"format\":\"pt\",\"stage\":\"1\",\"more\":\"2\"}",
                                         "{\"stage\":\"2\"}"};
  char path[128];
  tsr_checkpoint *model = NULL;
  test_folder folder;
  test_folder_make(&folder);
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/stage%d", folder.path, i);
    assert_int_equal(mkdir(path, 0777), 0);
    strcat(path, "/model.safetensors");
    write_model(path, "w", metadata[i]);
  }
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  assert_string_equal(value_of(model, "format"), "pt");
  assert_string_equal(value_of(model, "stage"), "0");
  assert_string_equal(value_of(model, "more"), "2");
  assert_string_equal(
      tsr_checkpoint_warnings(model),
      "metadata \"stage\" is not the same in all files: that of the first is kept\n");
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

typedef struct sweep {
  char from[96], to[96], back[96];
  tsr_checkpoint_format format;
} sweep;

static tsr_status go_and_come_back(void *context) {
  const sweep *s = context;
  tsr_transform_options options = {.size = sizeof options,
                                   .format = s->format,
                                   .jobs = 1,
                                   .existing = TSR_EXISTING_REPLACE,
                                   .no_sync = true};
  TSR_TRY(test_transform(s->from, s->to, &options));
  options.format = TSR_FORMAT_FILE;
  return test_transform(s->to, s->back, &options);
}

static void memory_may_be_out(void **state) {
  (void)state;
  test_folder folder;
  sweep s;
  test_folder_make(&folder);
  strcpy(s.from, test_folder_path(&folder, "in.safetensors"));
  strcpy(s.back, test_folder_path(&folder, "back.safetensors"));
  write_model(s.from, "w", "{\"format\":\"pt\",\"step\":\"7\"}");
  s.format = TSR_FORMAT_NPZ;
  strcpy(s.to, test_folder_path(&folder, "out.npz"));
  test_allocation_sweep(go_and_come_back, &s);
  assert_same_bytes(s.from, s.back);
  s.format = TSR_FORMAT_NPY;
  strcpy(s.to, test_folder_path(&folder, "out"));
  test_allocation_sweep(go_and_come_back, &s);
  assert_same_bytes(s.from, s.back);
  test_folder_remove(&folder);
}

SUITE(metadata, TEST(metadata_goes_through_every_format_and_comes_back),
      TEST(an_archive_without_arrays_has_no_metadata), TEST(what_stages_say_is_joined),
      TEST(memory_may_be_out))
